//! Universes in a file, out of the way of the memory that training needs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quadcast_core::ModelError;
use quadcast_kernels::triples::{RowShape, TableView, TablesView};

use super::scratch::{Words, Writer};
use super::view::UniverseView;
use crate::evolving::space::Space;

/// A file of universes. Each begins at a cache line with its rows, as the kernels read them.
#[derive(Debug)]
struct Volume {
    words: Words,
    /// Of the rows of entities and of relations.
    shapes: [RowShape; 2],
}

/// Where a universe begins in its file, and how large it is.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    entities: u32,
    relations: u32,
    triples: u32,
}

/// A universe in a file. The file is there for as long as one of its universes is.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    volume: Arc<Volume>,
    place: Place,
}

impl Kept {
    pub fn view(&self) -> UniverseView<'_> {
        let Place { start, entities, relations, triples } = self.place;
        let [entities, relations, triples] = [entities, relations, triples].map(|count| count as usize);
        let [entity, relation] = self.volume.shapes;
        let mut rest = &self.volume.words[start..];
        let mut take = |words: usize| {
            let (own, others) = rest.split_at(words);
            rest = others;
            own
        };
        let mut numbers = |words: usize| bytemuck::cast_slice::<u32, f32>(take(words));
        let values = [numbers(entities * entity.stride), numbers(relations * relation.stride)];
        let scales = [numbers(entities * entity.units), numbers(relations * relation.units)];
        UniverseView {
            tables: TablesView {
                entities: TableView::new(entity, entities, values[0], scales[0]),
                relations: TableView::new(relation, relations, values[1], scales[1]),
            },
            entities: take(entities),
            relations: take(relations),
            triples: take(3 * triples).as_chunks().0,
            factor: 1.0,
        }
    }
}

/// Puts universes into a file.
pub(super) struct VolumeWriter {
    out: Writer,
    folder: PathBuf,
    shapes: [RowShape; 2],
    places: Vec<Place>,
}

impl VolumeWriter {
    pub fn new<M: Space>(space: &M, folder: &Path) -> Result<Self, ModelError> {
        let out = Writer::new(folder).map_err(|error| trouble(folder, &error))?;
        let shapes = [space.entity().shape(), space.relation().shape()];
        Ok(Self { out, folder: folder.to_owned(), shapes, places: Vec::new() })
    }

    pub fn add(&mut self, universe: &UniverseView<'_>) -> Result<(), ModelError> {
        self.put(universe).map_err(|error| trouble(&self.folder, &error))
    }

    /// In the order in which [`Kept::view`] takes them.
    fn put(&mut self, universe: &UniverseView<'_>) -> io::Result<()> {
        let UniverseView { entities, relations, triples, tables, .. } = universe;
        self.out.align()?;
        self.places.push(Place {
            start: self.out.words(),
            entities: entities.len() as u32,
            relations: relations.len() as u32,
            triples: triples.len() as u32,
        });
        self.out.put(tables.entities.values())?;
        self.out.put(tables.relations.values())?;
        self.out.put(tables.entities.scales())?;
        self.out.put(tables.relations.scales())?;
        self.out.put(entities)?;
        self.out.put(relations)?;
        self.out.put(triples.as_flattened())
    }

    /// The universes, in order.
    pub fn finish(self) -> Result<Vec<Kept>, ModelError> {
        let Self { out, folder, shapes, places } = self;
        let words = out.finish().map_err(|error| trouble(&folder, &error))?;
        let volume = Arc::new(Volume { words, shapes });
        Ok(places.into_iter().map(|place| Kept { volume: volume.clone(), place }).collect())
    }
}

fn trouble(folder: &Path, error: &io::Error) -> ModelError {
    ModelError::Workshop(format!("a file of universes in {}: {error}", folder.display()))
}
