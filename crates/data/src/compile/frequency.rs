//! What is too rare: an entity or relation that some snapshot has, but with fewer triples than asked for. Being absent is
//! allowed.

use quadcast_core::Triple;

use super::normalise::Update;
use super::options::{FrequencyFilter, FrequencyRule};
use crate::OperationStream;

/// Which entities and relations are frequent enough, and how many passes it took to know.
pub(super) struct Kept {
    entities: Vec<bool>,
    relations: Vec<bool>,
    pub passes: usize,
}

impl Kept {
    /// Applies the filter to the updates.
    pub(super) fn of(stream: &OperationStream, updates: &[Update], filter: FrequencyFilter) -> Self {
        let sizes = [stream.vocabulary.entities.len(), stream.vocabulary.relations.len()];
        let mut kept = Self { entities: vec![true; sizes[0]], relations: vec![true; sizes[1]], passes: 0 };
        let FrequencyFilter { rule, min_entity, min_relation } = filter;
        match rule {
            FrequencyRule::Off => {}
            FrequencyRule::Joint => {
                kept.pass(stream, updates, min_entity, min_relation);
            }
            FrequencyRule::Sequential => {
                kept.pass(stream, updates, min_entity, 0);
                kept.pass(stream, updates, 0, min_relation);
            }
            FrequencyRule::Fixpoint => loop {
                let entities = kept.pass(stream, updates, min_entity, 0);
                if kept.pass(stream, updates, 0, min_relation) + entities == 0 {
                    break;
                }
            },
        }
        kept
    }

    /// Whether a triple is left.
    pub(super) fn has(&self, triple: Triple) -> bool {
        self.entities[triple.subject.index()]
            && self.entities[triple.object.index()]
            && self.relations[triple.relation.index()]
    }

    /// How many entities and relations are too rare.
    pub(super) fn removed(&self) -> [usize; 2] {
        [&self.entities, &self.relations].map(|kept| kept.iter().filter(|kept| !**kept).count())
    }

    /// Replays the updates over what is left and removes what is too rare at the end of one of them. The counts are those
    /// of the beginning of the pass. Returns how much was removed.
    fn pass(&mut self, stream: &OperationStream, updates: &[Update], entity: u32, relation: u32) -> usize {
        self.passes += 1;
        let mut counts = [vec![0_u32; self.entities.len()], vec![0_u32; self.relations.len()]];
        let mut rare = [vec![false; self.entities.len()], vec![false; self.relations.len()]];
        for update in updates {
            for &at in update {
                let entry = stream.entries[at as usize];
                let triple = stream.triples[entry.triple()];
                if !self.has(triple) {
                    continue;
                }
                let change = if entry.insert() { 1 } else { u32::MAX };
                for count in [triple.subject.index(), triple.object.index()] {
                    counts[0][count] = counts[0][count].wrapping_add(change);
                }
                let count = &mut counts[1][triple.relation.index()];
                *count = count.wrapping_add(change);
            }
            for ((counts, rare), threshold) in counts.iter().zip(&mut rare).zip([entity, relation]) {
                for (count, rare) in counts.iter().zip(rare) {
                    *rare |= (1..threshold).contains(count);
                }
            }
        }
        let mut removed = 0;
        for (kept, rare) in [&mut self.entities, &mut self.relations].into_iter().zip(rare) {
            for (kept, rare) in kept.iter_mut().zip(rare) {
                removed += usize::from(rare);
                *kept &= !rare;
            }
        }
        removed
    }
}
