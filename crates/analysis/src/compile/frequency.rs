//! What is too rare: an entity or relation that some snapshot has, but with fewer triples than asked for. Being absent is
//! allowed.

use quadcast_core::{Names, Triple, Vocabulary};

use super::lists::{ENTITIES, Lists, RELATIONS, elements};
use super::normalise::Update;
use super::options::{FrequencyFilter, FrequencyRule};
use quadcast_data::OperationStream;

/// Which entities and relations are frequent enough, and how many passes it took to know.
pub(super) struct Frequent {
    /// By kind and id.
    kept: [Vec<bool>; 2],
    pub passes: usize,
}

impl Frequent {
    /// Applies the filter to the updates.
    pub(super) fn of(stream: &OperationStream, updates: &[Update], filter: FrequencyFilter) -> Self {
        let sizes = [stream.vocabulary.entities.len(), stream.vocabulary.relations.len()];
        let mut frequent = Self { kept: sizes.map(|size| vec![true; size]), passes: 0 };
        let FrequencyFilter { rule, min_entity, min_relation } = filter;
        match rule {
            FrequencyRule::Off => {}
            FrequencyRule::Joint => {
                frequent.pass(stream, updates, [min_entity, min_relation]);
            }
            FrequencyRule::Sequential => {
                frequent.pass(stream, updates, [min_entity, 0]);
                frequent.pass(stream, updates, [0, min_relation]);
            }
            FrequencyRule::Fixpoint => {
                let mut peeling = Peeling::new(stream, updates);
                loop {
                    frequent.passes += 2;
                    let entities = peeling.remove_rare(ENTITIES, min_entity);
                    if peeling.remove_rare(RELATIONS, min_relation) + entities == 0 {
                        break;
                    }
                }
                frequent.kept = peeling.kept();
            }
        }
        frequent
    }

    /// Whether a triple is left.
    pub(super) fn has(&self, triple: Triple) -> bool {
        elements(triple).iter().all(|&(kind, id)| self.kept[kind][id])
    }

    /// How many entities and relations are too rare.
    pub(super) fn removed(&self) -> [usize; 2] {
        self.kept.each_ref().map(|kept| kept.iter().filter(|kept| !**kept).count())
    }

    /// Replays the updates over what is left and removes what is too rare at the end of one of them. The counts are those
    /// of the beginning of the pass. Returns how much was removed.
    fn pass(&mut self, stream: &OperationStream, updates: &[Update], thresholds: [u32; 2]) -> usize {
        self.passes += 1;
        let mut counts = self.kept.each_ref().map(|kept| vec![0_u32; kept.len()]);
        let mut rare = self.kept.each_ref().map(|kept| vec![false; kept.len()]);
        for update in updates {
            for &at in update {
                let entry = stream.entries()[at as usize];
                let triple = stream.triples()[entry.triple()];
                if !self.has(triple) {
                    continue;
                }
                let change = if entry.insert() { 1 } else { u32::MAX };
                for (kind, id) in elements(triple) {
                    counts[kind][id] = counts[kind][id].wrapping_add(change);
                }
            }
            for ((counts, rare), threshold) in counts.iter().zip(&mut rare).zip(thresholds) {
                for (count, rare) in counts.iter().zip(rare) {
                    *rare |= (1..threshold).contains(count);
                }
            }
        }
        let mut removed = 0;
        for (kept, rare) in self.kept.iter_mut().flatten().zip(rare.into_iter().flatten()) {
            removed += usize::from(rare);
            *kept &= !rare;
        }
        removed
    }
}

/// How the number of triples with an element changes at a step.
#[derive(Clone, Copy)]
struct Change {
    step: u32,
    difference: i32,
}

/// Elements of one kind.
struct Elements {
    /// By element, its changes in order of the steps, one per step.
    changes: Vec<Vec<Change>>,
    /// By element, the triples that have it.
    triples: Lists<u32>,
    kept: Vec<bool>,
    /// What lost a triple since it was looked at last, each once.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

impl Elements {
    /// Counts an operation. Steps come in order.
    fn count(&mut self, element: usize, step: u32, insert: bool) {
        let difference = if insert { 1 } else { -1 };
        match self.changes[element].last_mut() {
            Some(last) if last.step == step => last.difference += difference,
            _ => self.changes[element].push(Change { step, difference }),
        }
    }

    /// Takes an operation back.
    fn uncount(&mut self, element: usize, step: u32, insert: bool) {
        let changes = &mut self.changes[element];
        if let Ok(at) = changes.binary_search_by_key(&step, |change| change.step) {
            changes[at].difference -= if insert { 1 } else { -1 };
        }
        if !std::mem::replace(&mut self.is_touched[element], true) {
            self.touched.push(element as u32);
        }
    }

    /// Of what was touched, what some snapshot has with fewer triples than asked for.
    fn rare(&mut self, threshold: u32) -> Vec<u32> {
        let touched = std::mem::take(&mut self.touched);
        for &element in &touched {
            self.is_touched[element as usize] = false;
        }
        let is_rare = |element: &u32| {
            let mut count = 0;
            self.changes[*element as usize].iter().any(|change| {
                count += i64::from(change.difference);
                (1..i64::from(threshold)).contains(&count)
            })
        };
        touched.into_iter().filter(is_rare).collect()
    }
}

/// What is left of a stream while what is rare is removed until nothing is, without replaying the whole stream for every
/// little that goes.
///
/// The rounds are those of replaying: entities that are too rare in what is left of some snapshot go together, then relations,
/// and so on. The order matters, because what loses its last triple of a snapshot is absent from it and no longer rare. But a
/// round looks only at what lost a triple since it was looked at last, so that all rounds together cost about as much as the
/// triples that go.
struct Peeling<'a> {
    triples: &'a [Triple],
    /// By triple, its operations: the step, doubled, plus 1 for an insertion.
    operations: Lists<u32>,
    left: Vec<bool>,
    by_kind: [Elements; 2],
}

impl<'a> Peeling<'a> {
    fn new(stream: &'a OperationStream, updates: &[Update]) -> Self {
        let triples = stream.triples();
        let operations = updates.iter().zip(0_u32..).flat_map(|(update, step)| {
            update.iter().map(move |&at| {
                let entry = stream.entries()[at as usize];
                (entry.triple(), step << 1 | u32::from(entry.insert()))
            })
        });
        let of_kind = |kind: usize, names: &Names| {
            let having = triples.iter().zip(0_u32..).flat_map(|(&triple, number)| {
                let own = elements(triple).into_iter().filter(move |(of, _)| *of == kind);
                own.map(move |(_, element)| (element, number))
            });
            Elements {
                changes: vec![Vec::new(); names.len()],
                triples: Lists::new(names.len(), having),
                kept: vec![true; names.len()],
                touched: (0..names.len() as u32).collect(),
                is_touched: vec![true; names.len()],
            }
        };
        let Vocabulary { entities, relations } = &stream.vocabulary;
        let mut peeling = Self {
            triples,
            operations: Lists::new(triples.len(), operations.clone()),
            left: vec![true; triples.len()],
            by_kind: [of_kind(ENTITIES, entities), of_kind(RELATIONS, relations)],
        };
        for (number, operation) in operations {
            for (kind, element) in elements(triples[number]) {
                peeling.by_kind[kind].count(element, operation >> 1, operation & 1 == 1);
            }
        }
        peeling
    }

    /// Removes the elements of a kind that are too rare in what is left, and their triples. Returns how many.
    fn remove_rare(&mut self, kind: usize, threshold: u32) -> usize {
        let rare = self.by_kind[kind].rare(threshold);
        for &element in &rare {
            self.by_kind[kind].kept[element as usize] = false;
        }
        let having = rare.iter().flat_map(|&element| self.by_kind[kind].triples.of(element as usize));
        let triples: Vec<u32> = having.copied().collect();
        for number in triples {
            if !std::mem::replace(&mut self.left[number as usize], false) {
                continue;
            }
            for &operation in self.operations.of(number as usize) {
                for (kind, element) in elements(self.triples[number as usize]) {
                    self.by_kind[kind].uncount(element, operation >> 1, operation & 1 == 1);
                }
            }
        }
        rare.len()
    }

    /// Which entities and relations are left.
    fn kept(self) -> [Vec<bool>; 2] {
        self.by_kind.map(|elements| elements.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth_operations;
    use quadcast_data::{FaultPolicy, StreamBuilder, StreamClock};

    fn everything(stream: &OperationStream) -> Vec<u32> {
        (0..stream.len() as u32).collect()
    }

    fn fixpoint(min_entity: u32, min_relation: u32) -> FrequencyFilter {
        FrequencyFilter { rule: FrequencyRule::Fixpoint, min_entity, min_relation }
    }

    /// The fixpoint by replaying all operations in every pass.
    fn replayed(stream: &OperationStream, updates: &[Update], [entity, relation]: [u32; 2]) -> Frequent {
        let mut frequent = Frequent::of(stream, updates, FrequencyFilter::OFF);
        while frequent.pass(stream, updates, [entity, 0]) + frequent.pass(stream, updates, [0, relation]) > 0
        {
        }
        frequent
    }

    #[test]
    fn the_fixpoint_is_that_of_replaying() {
        let mut some_left = false;
        for seed in 0..30 {
            let stream = synth_operations(600, seed);
            let updates: Vec<Update> = everything(&stream).chunks(97).map(<[u32]>::to_vec).collect();
            let thresholds = [1 + seed as u32 % 6, 1 + seed as u32 % 4];
            let expected = replayed(&stream, &updates, thresholds);
            let found = Frequent::of(&stream, &updates, fixpoint(thresholds[0], thresholds[1]));
            assert_eq!((&found.kept, found.passes), (&expected.kept, expected.passes), "{seed}");
            some_left |= found.passes > 4 && found.kept[ENTITIES].contains(&true);
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
        let frequent = Frequent::of(&stream, &[everything(&stream)], fixpoint(2, 1));
        assert_eq!((frequent.removed(), frequent.passes), ([sizes[0], 0], sizes[0] + 2));
    }
}
