//! What is too rare: an entity or relation that some snapshot has, but with fewer triples than asked for. Being absent is
//! allowed.

use quadcast_core::Triple;

use super::fixpoint::Peeling;
use super::normalise::Update;
use super::options::{FrequencyFilter, FrequencyRule};
use quadcast_data::OperationStream;

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
            FrequencyRule::Fixpoint => {
                let mut peeling = Peeling::new(stream, updates);
                loop {
                    kept.passes += 2;
                    let entities = peeling.entities(min_entity);
                    if peeling.relations(min_relation) + entities == 0 {
                        break;
                    }
                }
                [kept.entities, kept.relations] = peeling.kept();
            }
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
                let entry = stream.entries()[at as usize];
                let triple = stream.triples()[entry.triple()];
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

#[cfg(test)]
mod tests {
    use quadcast_core::{Names, Vocabulary};

    use super::*;
    use crate::synth_operations;
    use quadcast_data::StreamBuilder;
    use quadcast_data::{FaultPolicy, StreamClock};

    fn everything(stream: &OperationStream) -> Vec<u32> {
        (0..stream.len() as u32).collect()
    }

    fn fixpoint(min_entity: u32, min_relation: u32) -> FrequencyFilter {
        FrequencyFilter { rule: FrequencyRule::Fixpoint, min_entity, min_relation }
    }

    /// The fixpoint by replaying all operations in every pass.
    fn replayed(stream: &OperationStream, updates: &[Update], [entity, relation]: [u32; 2]) -> Kept {
        let off = FrequencyFilter { rule: FrequencyRule::Off, ..FrequencyFilter::default() };
        let mut kept = Kept::of(stream, updates, off);
        while kept.pass(stream, updates, entity, 0) + kept.pass(stream, updates, 0, relation) > 0 {}
        kept
    }

    #[test]
    fn the_fixpoint_is_that_of_replaying() {
        let mut some_left = false;
        for seed in 0..30 {
            let stream = synth_operations(600, seed);
            let updates: Vec<Update> = everything(&stream).chunks(97).map(<[u32]>::to_vec).collect();
            let thresholds = [1 + seed as u32 % 6, 1 + seed as u32 % 4];
            let expected = replayed(&stream, &updates, thresholds);
            let found = Kept::of(&stream, &updates, fixpoint(thresholds[0], thresholds[1]));
            assert_eq!(
                (&found.entities, &found.relations),
                (&expected.entities, &expected.relations),
                "{seed}"
            );
            assert_eq!(found.passes, expected.passes, "{seed}");
            some_left |= found.passes > 4 && found.entities.contains(&true);
        }
        assert!(some_left);
    }

    /// A chain loses its two ends in every round; replaying all of it each time would take more than a minute.
    #[test]
    fn long_chains_lose_their_ends_round_by_round() {
        const LENGTH: u32 = 150_001;
        let mut builder = StreamBuilder::new(String::new(), StreamClock::Order, FaultPolicy::Error);
        for id in 0..LENGTH {
            builder.push(Triple::new(id, 0, id + 1), true, 0).expect("new triples in order");
        }
        let sizes = [LENGTH as usize + 1, 1];
        let [entities, relations] = sizes.map(Names::anonymous);
        let stream = builder.finish(Vocabulary { entities, relations }, None);
        let kept = Kept::of(&stream, &[everything(&stream)], fixpoint(2, 1));
        assert_eq!((kept.removed(), kept.passes), ([sizes[0], 0], sizes[0] + 2));
    }
}
