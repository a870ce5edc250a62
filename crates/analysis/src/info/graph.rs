//! Statistics of a graph without time.

use quadcast_core::{Splits, StaticGraph};
use rustc_hash::FxHashSet;
use serde::Serialize;

use super::Details;
use super::counting::{IdSpace, Novelties, Share, SharedBySplits, count_ids, repeated, self_loops};

/// Statistics of a graph without time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StaticInfo {
    /// Facts per split.
    pub facts: Splits<usize>,
    /// Rows that repeat an earlier row of their split.
    pub duplicates: Splits<usize>,
    /// Facts whose subject is their object.
    pub self_loops: Splits<usize>,
    /// Distinct triples that stand in two splits.
    pub shared_triples: SharedBySplits<usize>,
    /// Ids that the test split brings.
    #[serde(flatten)]
    pub novelty: Novelties,
    /// Test facts `(s, r, o)` for which train holds `(o, any relation, s)`.
    pub reversed_pair_in_train: Share,
    /// Whether the dataset lists the entities that may stand on either side of a relation.
    pub type_constraints: bool,
}

impl StaticInfo {
    /// Computes everything; also returns the id spaces, which belong to the general part.
    pub(super) fn of(data: &StaticGraph) -> (Details, [IdSpace; 2]) {
        let (ids, novelty) = count_ids(&data.vocabulary, &data.splits);
        let sorted = data.splits.map(|triples| {
            let mut sorted = triples.clone();
            sorted.sort_unstable();
            sorted
        });
        let pairs: FxHashSet<[u32; 2]> =
            data.splits.train.iter().map(|triple| [triple.subject.0, triple.object.0]).collect();
        let test = &data.splits.test;
        let reversed =
            test.iter().filter(|triple| pairs.contains(&[triple.object.0, triple.subject.0])).count();
        let info = Self {
            facts: data.splits.map(Vec::len),
            duplicates: sorted.map(|triples| repeated(triples)),
            self_loops: data.splits.map(|triples| self_loops(triples)),
            // Distinct triples of the one that are in the other, both sorted.
            shared_triples: SharedBySplits::of(&sorted, |a, b| {
                b.chunk_by(PartialEq::eq).filter(|group| a.binary_search(&group[0]).is_ok()).count()
            }),
            novelty,
            reversed_pair_in_train: Share::of(reversed, test.len()),
            type_constraints: data.type_constraints.is_some(),
        };
        (Details::Static(Box::new(info)), ids)
    }
}
