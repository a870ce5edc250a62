//! Universes to and from safetensors bytes, exactly.

use quadcast_core::{EntityId, ModelError, RelationId, Triple};
use quadcast_kernels::triples::{Table, Tables};
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};

use super::settings::unreadable;
use super::universe::Universe;
use crate::evolving::space::Space;

/// Names of the arrays of ids.
const ENTITIES: &str = "entities";
const RELATIONS: &str = "relations";
const TRIPLES: &str = "triples";
/// What is added to a name for how many of its rows each universe has.
const COUNTS: &str = " by universe";

/// The bytes of universes.
pub(super) fn to_bytes(universes: &[Universe]) -> Result<Vec<u8>, ModelError> {
    let mut arrays: Vec<(String, Dtype, Vec<u8>)> = Vec::new();
    let mut ids = |name: &str, of: &dyn Fn(&Universe) -> Vec<u32>| {
        let lists: Vec<Vec<u32>> = universes.iter().map(of).collect();
        let bytes =
            |numbers: &mut dyn Iterator<Item = u32>| numbers.flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
        arrays.push((name.to_owned(), Dtype::U32, bytes(&mut lists.iter().flatten().copied())));
        let counts = bytes(&mut lists.iter().map(|list| list.len() as u32));
        arrays.push((format!("{name}{COUNTS}"), Dtype::U32, counts));
    };
    ids(ENTITIES, &|universe| universe.entities.iter().map(|id| id.0).collect());
    ids(RELATIONS, &|universe| universe.relations.iter().map(|id| id.0).collect());
    ids(TRIPLES, &|universe| {
        universe.triples.iter().flat_map(|t| [t.subject.0, t.relation.0, t.object.0]).collect()
    });
    if let Some(first) = universes.first() {
        for (side, pick) in SIDES {
            for (index, segment) in pick(&first.tables).layout().0.iter().enumerate() {
                let numbers = universes.iter().flat_map(|universe| pick(&universe.tables).segment(index));
                let bytes = numbers.flat_map(f32::to_le_bytes).collect();
                arrays.push((format!("{side} {}", segment.name), Dtype::F32, bytes));
            }
        }
    }
    let views: Vec<(&str, TensorView<'_>)> = arrays
        .iter()
        .map(|(name, kind, bytes)| Ok((name.as_str(), TensorView::new(*kind, vec![bytes.len() / 4], bytes)?)))
        .collect::<Result<_, safetensors::SafeTensorError>>()
        .map_err(unreadable)?;
    serialize(views, None).map_err(unreadable)
}

type Pick = for<'a> fn(&'a Tables<f32>) -> &'a Table<f32>;
const SIDES: [(&str, Pick); 2] =
    [("entity", |tables| &tables.entities), ("relation", |tables| &tables.relations)];

/// The universes of bytes.
pub(super) fn from_bytes<M: Space>(space: &M, bytes: &[u8]) -> Result<Vec<Universe>, ModelError> {
    let file = SafeTensors::deserialize(bytes).map_err(unreadable)?;
    let entities = lists(&file, ENTITIES)?;
    let relations = lists(&file, RELATIONS)?;
    let triples = lists(&file, TRIPLES)?;
    if entities.len() != relations.len() || entities.len() != triples.len() {
        return Err(unreadable("lists of different lengths"));
    }
    let mut universes = Vec::with_capacity(entities.len());
    for ((entities, relations), triples) in entities.into_iter().zip(relations).zip(triples) {
        let ascending = |ids: &[u32]| ids.is_sorted_by(|a, b| a < b);
        if !ascending(&entities) || !ascending(&relations) || !triples.len().is_multiple_of(3) {
            return Err(unreadable("ids that do not ascend"));
        }
        universes.push(Universe {
            tables: Tables::new(space, entities.len(), relations.len()),
            entities: entities.into_iter().map(EntityId).collect(),
            relations: relations.into_iter().map(RelationId).collect(),
            triples: triples.chunks_exact(3).map(|t| Triple::new(t[0], t[1], t[2])).collect(),
        });
    }
    let layouts = [space.entity(), space.relation()];
    for (place, ((side, _), layout)) in SIDES.iter().zip(&layouts).enumerate() {
        for (index, segment) in layout.0.iter().enumerate() {
            let numbers = floats(&file, &format!("{side} {}", segment.name), universes.is_empty())?;
            let mut rest = &numbers[..];
            for universe in &mut universes {
                let tables = &mut universe.tables;
                let table = if place == 0 { &mut tables.entities } else { &mut tables.relations };
                let (own, others) = rest
                    .split_at_checked(table.rows() * segment.width)
                    .ok_or_else(|| unreadable("too few numbers"))?;
                table.replace_segment(index, own);
                rest = others;
            }
            if !rest.is_empty() {
                return Err(unreadable("too many numbers"));
            }
        }
    }
    Ok(universes)
}

/// The ids of each universe.
fn lists(file: &SafeTensors<'_>, name: &str) -> Result<Vec<Vec<u32>>, ModelError> {
    let numbers = words(file, name, Dtype::U32)?;
    let counts = words(file, &format!("{name}{COUNTS}"), Dtype::U32)?;
    let mut rest = &numbers[..];
    let mut lists = Vec::with_capacity(counts.len());
    for count in counts {
        let (own, others) = rest.split_at_checked(count as usize).ok_or_else(|| unreadable("too few ids"))?;
        lists.push(own.to_vec());
        rest = others;
    }
    if rest.is_empty() { Ok(lists) } else { Err(unreadable("too many ids")) }
}

fn words(file: &SafeTensors<'_>, name: &str, kind: Dtype) -> Result<Vec<u32>, ModelError> {
    let tensor = file.tensor(name).map_err(unreadable)?;
    if tensor.dtype() != kind {
        return Err(unreadable(format!("{name} of another type")));
    }
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Ok(tensor.data().chunks_exact(4).map(word).collect())
}

/// The numbers of a segment; without universes there are none.
fn floats(file: &SafeTensors<'_>, name: &str, none: bool) -> Result<Vec<f32>, ModelError> {
    if none {
        return Ok(Vec::new());
    }
    Ok(words(file, name, Dtype::F32)?.into_iter().map(f32::from_bits).collect())
}
