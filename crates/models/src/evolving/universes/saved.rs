//! Universes to and from safetensors bytes, exactly.
//!
//! Universes are written and read one by one: besides the bytes, at most one is in memory.

use std::path::Path;

use quadcast_core::{GraphSizes, ModelError};
use quadcast_kernels::triples::{TableView, Tables, TablesView};
use safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};

use super::settings::unreadable;
use super::storage::{StoredUniverse, UniverseWriter};
use super::universe::Universe;
use super::view::UniverseView;
use crate::evolving::space::Space;

/// Arrays of ids: their names, and the ids of a universe that they hold.
const LISTS: [(&str, Ids); 3] = [
    ("entities", |universe| universe.entities),
    ("relations", |universe| universe.relations),
    ("triples", |universe| universe.triples.as_flattened()),
];
/// Suffix of the arrays that count the ids of each universe.
const COUNTS: &str = " by universe";
/// Prefix of the names of segments, and the table they belong to.
const SIDES: [(&str, Side); 2] =
    [("entity", |tables| &tables.entities), ("relation", |tables| &tables.relations)];
/// Headers are padded to multiples of this many bytes.
const HEADER: usize = 8;

type Ids = for<'a> fn(&UniverseView<'a>) -> &'a [u32];
type Side = for<'a, 'b> fn(&'b TablesView<'a, f32>) -> &'b TableView<'a, f32>;

/// An array of the file.
struct Array {
    name: String,
    content: Content,
}

/// What an array holds of each universe.
enum Content {
    /// Ids.
    Ids(Ids),
    /// The number of ids.
    Count(Ids),
    /// A segment of all rows, without padding: where it starts in a row, and its width.
    Segment(Side, usize, usize),
}

impl Array {
    fn kind(&self) -> Dtype {
        match self.content {
            Content::Ids(_) | Content::Count(_) => Dtype::U32,
            Content::Segment(..) => Dtype::F32,
        }
    }

    /// Numbers of a universe, four bytes each.
    fn len(&self, universe: &UniverseView<'_>) -> usize {
        match self.content {
            Content::Ids(ids) => ids(universe).len(),
            Content::Count(_) => 1,
            Content::Segment(side, _, width) => side(&universe.tables).rows() * width,
        }
    }

    fn write(&self, universe: &UniverseView<'_>, out: &mut Vec<u8>) {
        match self.content {
            Content::Ids(ids) => out.extend(ids(universe).iter().flat_map(|id| id.to_le_bytes())),
            Content::Count(ids) => out.extend((ids(universe).len() as u32).to_le_bytes()),
            Content::Segment(side, place, width) => {
                let table = side(&universe.tables);
                for row in 0..table.rows() as u32 {
                    let numbers = &table.row(row).values[place..place + width];
                    out.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
                }
            }
        }
    }
}

/// The arrays of universes, in the order of the file: that of the library, by type and then by name.
fn arrays<M: Space>(space: &M, none: bool) -> Vec<Array> {
    let mut arrays = Vec::new();
    for (name, ids) in LISTS {
        arrays.push(Array { name: name.to_owned(), content: Content::Ids(ids) });
        arrays.push(Array { name: format!("{name}{COUNTS}"), content: Content::Count(ids) });
    }
    for ((name, side), layout) in SIDES.into_iter().zip([space.entity(), space.relation()]) {
        // Without universes there are no segments.
        for (place, segment) in layout.places().filter(|_| !none) {
            let content = Content::Segment(side, place, segment.width);
            arrays.push(Array { name: format!("{name} {}", segment.name), content });
        }
    }
    arrays.sort_by(|a, b| b.kind().cmp(&a.kind()).then_with(|| a.name.cmp(&b.name)));
    arrays
}

/// The bytes of universes. Written by hand: the library wants each array in one piece and copies it, and one array is nearly
/// the whole file.
pub(super) fn to_bytes<M: Space>(space: &M, universes: &[UniverseView<'_>]) -> Result<Vec<u8>, ModelError> {
    let arrays = arrays(space, universes.is_empty());
    let mut end = 0;
    let mut tensors = Vec::new();
    for array in &arrays {
        let numbers: usize = universes.iter().map(|universe| array.len(universe)).sum();
        let data_offsets = (end, end + 4 * numbers);
        end = data_offsets.1;
        let info = TensorInfo { dtype: array.kind(), shape: vec![numbers], data_offsets };
        tensors.push((array.name.clone(), info));
    }
    let header = Metadata::new(None, tensors).map_err(unreadable)?;
    let mut header = serde_json::to_vec(&header).map_err(unreadable)?;
    header.resize(header.len().next_multiple_of(HEADER), b' ');
    let mut out = Vec::with_capacity(HEADER + header.len() + end);
    out.extend((header.len() as u64).to_le_bytes());
    out.extend(header);
    for array in &arrays {
        universes.iter().for_each(|universe| array.write(universe, &mut out));
    }
    Ok(out)
}

/// The universes of bytes, in a file of the given folder.
pub(super) fn from_bytes<M: Space>(
    space: &M,
    bytes: &[u8],
    sizes: GraphSizes,
    folder: &Path,
) -> Result<Vec<StoredUniverse>, ModelError> {
    let file = SafeTensors::deserialize(bytes).map_err(unreadable)?;
    let mut lists = Vec::new();
    for (name, _) in LISTS {
        let counts = ArrayReader::open(&file, &format!("{name}{COUNTS}"), Dtype::U32)?;
        lists.push((ArrayReader::open(&file, name, Dtype::U32)?, counts));
    }
    let universes = lists[0].1.len();
    if lists.iter().any(|(_, counts)| counts.len() != universes) {
        return Err(unreadable("lists of different lengths"));
    }
    let mut segments = Vec::new();
    for (side, layout) in [space.entity(), space.relation()].iter().enumerate() {
        for (index, segment) in layout.0.iter().enumerate().filter(|_| universes > 0) {
            let name = format!("{} {}", SIDES[side].0, segment.name);
            let numbers = ArrayReader::open(&file, &name, Dtype::F32)?;
            // Checked before rows are allocated: wrong settings could ask for rows of any length.
            let (rows, width) = (lists[side].0.len(), segment.width);
            if rows.checked_mul(width) != Some(numbers.len()) {
                let found = numbers.len();
                return Err(unreadable(format!("{name} has {found} numbers for {rows} rows of {width}")));
            }
            segments.push((side, index, width, numbers));
        }
    }
    let mut kept = Vec::new();
    if universes > 0 {
        let mut writer = UniverseWriter::new(space, folder)?;
        for _ in 0..universes {
            let mut universe = next_universe(space, &mut lists, sizes)?;
            for (side, index, width, numbers) in &mut segments {
                let tables = &mut universe.tables;
                let table = if *side == 0 { &mut tables.entities } else { &mut tables.relations };
                let numbers: Vec<f32> = numbers.take(table.rows() * *width)?.map(f32::from_bits).collect();
                table.replace_segment(*index, &numbers);
            }
            writer.add(&universe.view())?;
        }
        kept = writer.finish()?;
    }
    let rest = |numbers: &ArrayReader<'_>| numbers.len() > 0;
    if lists.iter().any(|(ids, _)| rest(ids)) || segments.iter().any(|(.., numbers)| rest(numbers)) {
        return Err(unreadable("too many numbers"));
    }
    Ok(kept)
}

/// The next universe of the lists, with rows of zeros.
fn next_universe<M: Space>(
    space: &M,
    lists: &mut [(ArrayReader<'_>, ArrayReader<'_>)],
    sizes: GraphSizes,
) -> Result<Universe, ModelError> {
    let mut ids = Vec::new();
    for (list, counts) in lists {
        let count: usize = counts.take(1)?.map(|count| count as usize).sum();
        ids.push(list.take(count)?.collect::<Vec<u32>>());
    }
    let [entities, relations, triples] =
        <[Vec<u32>; 3]>::try_from(ids).map_err(|_| unreadable("no lists"))?;
    let (triples, rest) = triples.as_chunks();
    let ascending = |ids: &[u32]| ids.is_sorted_by(|a, b| a < b);
    if !ascending(&entities) || !ascending(&relations) || !rest.is_empty() {
        return Err(unreadable("ids that do not ascend"));
    }
    let outside = |ids: &[u32], size: usize| ids.last().is_some_and(|&id| id as usize >= size);
    if outside(&entities, sizes.entities) || outside(&relations, sizes.relations) {
        return Err(unreadable("ids out of range"));
    }
    let tables = Tables::new(space, entities.len(), relations.len());
    Ok(Universe { entities, relations, triples: triples.to_vec(), tables })
}

/// The unread rest of an array.
struct ArrayReader<'a>(&'a [[u8; 4]]);

impl<'a> ArrayReader<'a> {
    fn open(file: &SafeTensors<'a>, name: &str, kind: Dtype) -> Result<Self, ModelError> {
        let tensor = file.tensor(name).map_err(unreadable)?;
        if tensor.dtype() != kind {
            return Err(unreadable(format!("{name} of another type")));
        }
        Ok(Self(tensor.data().as_chunks().0))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// The next `count` numbers.
    fn take(&mut self, count: usize) -> Result<impl Iterator<Item = u32> + use<'a>, ModelError> {
        let (own, others) = self.0.split_at_checked(count).ok_or_else(|| unreadable("too few numbers"))?;
        self.0 = others;
        Ok(own.iter().map(|&bytes| u32::from_le_bytes(bytes)))
    }
}
