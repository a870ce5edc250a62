//! Universes in an unnamed temporary file that is mapped into memory.
//!
//! The operating system keeps as much of the file in memory as fits and reads the rest from the disk, so that universes leave
//! room for training.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::Mmap;
use quadcast_core::ModelError;
use quadcast_kernels::triples::{RowShape, TableView, TablesView};

use super::view::UniverseView;
use crate::evolving::space::Space;

/// Words of a cache line.
const LINE: usize = 16;

/// A file of universes. Each starts at a cache line with its rows, in the layout of the kernels.
#[derive(Debug)]
struct UniverseFile {
    map: Mmap,
    /// Of the rows of entities and of relations.
    shapes: [RowShape; 2],
}

/// Where a universe starts in its file, in words, and its sizes.
#[derive(Clone, Copy, Debug)]
struct Extent {
    start: usize,
    entities: u32,
    relations: u32,
    triples: u32,
}

impl UniverseFile {
    fn words(&self) -> &[u32] {
        // Maps start at a page, and only whole words were written.
        bytemuck::cast_slice(&self.map)
    }
}

/// A universe in a file. The file lives as long as one of its universes.
#[derive(Clone, Debug)]
pub(super) struct StoredUniverse {
    file: Arc<UniverseFile>,
    extent: Extent,
}

impl StoredUniverse {
    pub fn view(&self) -> UniverseView<'_> {
        let Extent { start, entities, relations, triples } = self.extent;
        let [entities, relations, triples] = [entities, relations, triples].map(|count| count as usize);
        let [entity, relation] = self.file.shapes;
        let mut rest = &self.file.words()[start..];
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

/// Writes universes to a file.
pub(super) struct UniverseWriter {
    out: WordWriter,
    folder: PathBuf,
    shapes: [RowShape; 2],
    extents: Vec<Extent>,
}

impl UniverseWriter {
    pub fn new<M: Space>(space: &M, folder: &Path) -> Result<Self, ModelError> {
        let out = WordWriter::new(folder).map_err(|error| io_error(folder, &error))?;
        let shapes = [space.entity().shape(), space.relation().shape()];
        Ok(Self { out, folder: folder.to_owned(), shapes, extents: Vec::new() })
    }

    pub fn add(&mut self, universe: &UniverseView<'_>) -> Result<(), ModelError> {
        self.put(universe).map_err(|error| io_error(&self.folder, &error))
    }

    /// In the order in which [`StoredUniverse::view`] takes them.
    fn put(&mut self, universe: &UniverseView<'_>) -> io::Result<()> {
        let UniverseView { entities, relations, triples, tables, .. } = universe;
        self.out.align()?;
        self.extents.push(Extent {
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
    pub fn finish(self) -> Result<Vec<StoredUniverse>, ModelError> {
        let Self { out, folder, shapes, extents } = self;
        let map = out.finish().map_err(|error| io_error(&folder, &error))?;
        let file = Arc::new(UniverseFile { map, shapes });
        Ok(extents.into_iter().map(|extent| StoredUniverse { file: file.clone(), extent }).collect())
    }
}

fn io_error(folder: &Path, error: &io::Error) -> ModelError {
    ModelError::Checkpoint(format!("a file of universes in {}: {error}", folder.display()))
}

/// Writes words of four bytes to an unnamed file.
struct WordWriter {
    out: BufWriter<File>,
    words: usize,
}

impl WordWriter {
    fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self { out: BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(folder)?), words: 0 })
    }

    /// Words written so far.
    fn words(&self) -> usize {
        self.words
    }

    /// Writes numbers of four bytes.
    fn put<T: Pod>(&mut self, numbers: &[T]) -> io::Result<()> {
        const { assert!(size_of::<T>() == size_of::<u32>(), "a word has four bytes") };
        self.words += numbers.len();
        self.out.write_all(bytemuck::cast_slice(numbers))
    }

    /// Pads to the next cache line.
    fn align(&mut self) -> io::Result<()> {
        self.put(&[0_u32; LINE][..self.words.next_multiple_of(LINE) - self.words])
    }

    #[expect(unsafe_code, reason = "a memory map: see below why the file never changes")]
    fn finish(self) -> io::Result<Mmap> {
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        // SAFETY: the file must not change while the map exists. It was opened above without a name (or had one only while it
        // was opened), so no other process has it, and after this function nothing can write to it.
        unsafe { Mmap::map(&file) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_from_a_folder_that_stays_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = WordWriter::new(folder.path()).expect("a file");
        writer.put(&[1_u32, 2, 3]).expect("room");
        writer.align().expect("room");
        assert_eq!(writer.words(), 16);
        writer.put(&[1.5_f32]).expect("room");
        let map = writer.finish().expect("a map");
        let words: &[u32] = bytemuck::cast_slice(&map);
        assert_eq!(words.len(), 17);
        assert_eq!((&words[..4], words[16]), (&[1, 2, 3, 0][..], 1.5_f32.to_bits()));
        assert_eq!(words[16..].as_ptr().align_offset(64), 0, "a cache line");
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(WordWriter::new(&folder.path().join("nowhere")).is_err());
    }
}
