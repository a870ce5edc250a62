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
        // Maps start at a page, and only whole words were written.
        let mut rest: &[u32] = &bytemuck::cast_slice(&self.file.map)[start..];
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

/// Writes universes to an unnamed file, in words of four bytes.
pub(super) struct UniverseWriter {
    out: BufWriter<File>,
    /// Words written so far.
    words: usize,
    folder: PathBuf,
    shapes: [RowShape; 2],
    extents: Vec<Extent>,
}

impl UniverseWriter {
    pub fn new<M: Space>(space: &M, folder: &Path) -> Result<Self, ModelError> {
        let file = tempfile::tempfile_in(folder).map_err(|error| io_error(folder, &error))?;
        let shapes = [space.entity().shape(), space.relation().shape()];
        let out = BufWriter::with_capacity(1 << 18, file);
        Ok(Self { out, words: 0, folder: folder.to_owned(), shapes, extents: Vec::new() })
    }

    pub fn add(&mut self, universe: &UniverseView<'_>) -> Result<(), ModelError> {
        self.put_universe(universe).map_err(|error| io_error(&self.folder, &error))
    }

    /// In the order in which [`StoredUniverse::view`] takes them.
    fn put_universe(&mut self, universe: &UniverseView<'_>) -> io::Result<()> {
        let UniverseView { entities, relations, triples, tables, .. } = universe;
        self.align()?;
        self.extents.push(Extent {
            start: self.words,
            entities: entities.len() as u32,
            relations: relations.len() as u32,
            triples: triples.len() as u32,
        });
        self.put(tables.entities.values())?;
        self.put(tables.relations.values())?;
        self.put(tables.entities.scales())?;
        self.put(tables.relations.scales())?;
        self.put(entities)?;
        self.put(relations)?;
        self.put(triples.as_flattened())
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

    /// The universes, in order.
    pub fn finish(self) -> Result<Vec<StoredUniverse>, ModelError> {
        let map = mapped(self.out).map_err(|error| io_error(&self.folder, &error))?;
        let file = Arc::new(UniverseFile { map, shapes: self.shapes });
        Ok(self.extents.into_iter().map(|extent| StoredUniverse { file: file.clone(), extent }).collect())
    }
}

fn io_error(folder: &Path, error: &io::Error) -> ModelError {
    ModelError::Checkpoint(format!("a file of universes in {}: {error}", folder.display()))
}

#[expect(unsafe_code, reason = "a memory map: see below why the file never changes")]
fn mapped(out: BufWriter<File>) -> io::Result<Mmap> {
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    // SAFETY: the file must not change while the map exists. The writer opened it without a name (or it had one only while it
    // was opened), so no other process has it, and after this function nothing can write to it.
    unsafe { Mmap::map(&file) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::storage::FLAT;
    use super::*;

    #[test]
    fn words_come_back_from_a_folder_that_stays_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = UniverseWriter::new(&FLAT, folder.path()).expect("a file");
        writer.put(&[1_u32, 2, 3]).expect("room");
        writer.align().expect("room");
        assert_eq!(writer.words, 16);
        writer.put(&[1.5_f32]).expect("room");
        let map = mapped(writer.out).expect("a map");
        let words: &[u32] = bytemuck::cast_slice(&map);
        assert_eq!(words.len(), 17);
        assert_eq!((&words[..4], words[16]), (&[1, 2, 3, 0][..], 1.5_f32.to_bits()));
        assert_eq!(words[16..].as_ptr().align_offset(64), 0, "a cache line");
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
    }
}
