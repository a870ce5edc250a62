//! One operation per triple and interval: an even number of them cancels out, of an odd number one is left.

use std::ops::Range;

use quadcast_core::{EntityId, Names, Triple};
use rayon::slice::ParallelSliceMut;

use super::options::{CompileOptions, KeptOperation, OperationOrder};
use quadcast_data::{NameNumbers, OperationStream};

/// The operations of one interval that are left, as their places in the stream.
pub(super) type Update = Vec<u32>;

/// A triple that no operation of the interval has touched yet.
const UNTOUCHED: u32 = u32::MAX;

/// What is left of every interval, in the order of the files.
pub(super) fn normalise(
    stream: &OperationStream,
    intervals: &[Range<usize>],
    options: &CompileOptions,
    order: &TotalOrder,
) -> Vec<Update> {
    let mut places = vec![UNTOUCHED; stream.triples().len()];
    let mut updates = Vec::with_capacity(intervals.len());
    for interval in intervals {
        let mut update = leave_one(stream, interval.clone(), options.keep, &mut places);
        // The published code sorted these updates and lost the result.
        if !options.compat {
            order.sort(stream, &mut update);
        }
        updates.push(update);
    }
    updates
}

/// The operations that stand for an odd number, in order of first appearance of their triples.
fn leave_one(
    stream: &OperationStream,
    interval: Range<usize>,
    keep: KeptOperation,
    places: &mut [u32],
) -> Update {
    let mut update: Update = Vec::new();
    let mut odd: Vec<bool> = Vec::new();
    for at in interval {
        let place = &mut places[stream.entries()[at].triple()];
        if *place == UNTOUCHED {
            *place = update.len() as u32;
            update.push(at as u32);
            odd.push(true);
            continue;
        }
        odd[*place as usize] ^= true;
        if keep == KeptOperation::Last {
            update[*place as usize] = at as u32;
        }
    }
    for &at in &update {
        places[stream.entries()[at as usize].triple()] = UNTOUCHED;
    }
    let mut odd = odd.into_iter();
    update.retain(|_| odd.next() == Some(true));
    update
}

/// The order of operations: by time, head, tail, relation, then insertions before deletions.
pub(super) struct TotalOrder {
    /// Ranks by id.
    entities: Vec<u32>,
    relations: Vec<u32>,
}

impl TotalOrder {
    pub(super) fn of(stream: &OperationStream, order: OperationOrder) -> Self {
        let ranks = |names: &Names, numbers: &NameNumbers| {
            let mut ids: Vec<u32> = (0..names.len() as u32).collect();
            match order {
                OperationOrder::Numeric => ids.sort_by_key(|&id| numbers.of_id(id)),
                OperationOrder::Lexical => ids.sort_by_cached_key(|&id| names.name(id).into_owned()),
            }
            let mut ranks = vec![0; ids.len()];
            for (rank, id) in ids.into_iter().enumerate() {
                ranks[id as usize] = rank as u32;
            }
            ranks
        };
        let [entities, relations] = NameNumbers::of(&stream.vocabulary);
        Self {
            entities: ranks(&stream.vocabulary.entities, &entities),
            relations: ranks(&stream.vocabulary.relations, &relations),
        }
    }

    /// Sorts operations. They are on different triples, so that the sign never decides; and the stream is in order of
    /// time, so that places stand for times and only operations of the same time are compared.
    pub(super) fn sort(&self, stream: &OperationStream, update: &mut Update) {
        let key = |at: &u32| {
            let Triple { subject, relation, object } =
                stream.triples()[stream.entries()[*at as usize].triple()];
            let rank = |entity: EntityId| self.entities[entity.index()];
            (rank(subject), rank(object), self.relations[relation.index()])
        };
        update.par_sort_unstable();
        let moment = |at: u32| stream.moments()[at as usize];
        for same in update.chunk_by_mut(|&a, &b| moment(a) == moment(b)) {
            same.sort_unstable_by_key(key);
        }
    }
}
