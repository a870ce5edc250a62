//! Removing what is rare until nothing is, without replaying the whole stream for every little that goes.
//!
//! The rounds are those of replaying: entities that are too rare in what is left of some snapshot go together, then relations,
//! and so on. The order matters, because what loses its last triple of a snapshot is absent from it and no longer rare. But a
//! round looks only at what lost a triple since it was looked at last, so that all rounds together cost about as much as the
//! triples that go.

use quadcast_core::Triple;

use super::normalise::Update;
use quadcast_data::OperationStream;

/// Lists of different lengths in one array.
struct Lists<T> {
    starts: Vec<usize>,
    items: Vec<T>,
}

impl<T: Copy + Default> Lists<T> {
    /// The items of every list, in the order in which they come.
    fn new(lists: usize, items: impl Iterator<Item = (usize, T)> + Clone) -> Self {
        let mut starts = vec![0; lists + 1];
        items.clone().for_each(|(list, _)| starts[list + 1] += 1);
        for list in 0..lists {
            starts[list + 1] += starts[list];
        }
        let mut next = starts.clone();
        let mut filled = vec![T::default(); starts[lists]];
        for (list, item) in items {
            filled[next[list]] = item;
            next[list] += 1;
        }
        Self { starts, items: filled }
    }

    fn of(&self, list: usize) -> &[T] {
        &self.items[self.starts[list]..self.starts[list + 1]]
    }
}

/// How the number of triples with an element changes at a step.
#[derive(Clone, Copy, Default)]
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
    fn new(size: usize, triples: Lists<u32>) -> Self {
        Self {
            changes: vec![Vec::new(); size],
            triples,
            kept: vec![true; size],
            touched: (0..size as u32).collect(),
            is_touched: vec![true; size],
        }
    }

    /// Counts an operation. Steps come in order.
    fn count(&mut self, element: u32, step: u32, insert: bool) {
        let difference = if insert { 1 } else { -1 };
        match self.changes[element as usize].last_mut() {
            Some(last) if last.step == step => last.difference += difference,
            _ => self.changes[element as usize].push(Change { step, difference }),
        }
    }

    /// Takes an operation back.
    fn uncount(&mut self, element: u32, step: u32, insert: bool) {
        let changes = &mut self.changes[element as usize];
        if let Ok(at) = changes.binary_search_by_key(&step, |change| change.step) {
            changes[at].difference -= if insert { 1 } else { -1 };
        }
        if !std::mem::replace(&mut self.is_touched[element as usize], true) {
            self.touched.push(element);
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

    /// Removes what is too rare. Returns how many elements that are, and the triples that have them.
    fn remove_rare(&mut self, threshold: u32) -> (usize, Vec<u32>) {
        let rare = self.rare(threshold);
        for &element in &rare {
            self.kept[element as usize] = false;
        }
        let triples = rare.iter().flat_map(|&element| self.triples.of(element as usize)).copied().collect();
        (rare.len(), triples)
    }
}

/// What is left of a stream.
pub(super) struct Peeling<'a> {
    triples: &'a [Triple],
    /// By triple, its operations: the step, doubled, plus 1 for an insertion.
    operations: Lists<u32>,
    left: Vec<bool>,
    entities: Elements,
    relations: Elements,
}

impl<'a> Peeling<'a> {
    pub(super) fn new(stream: &'a OperationStream, updates: &[Update]) -> Self {
        let triples = stream.triples();
        let sizes = [stream.vocabulary.entities.len(), stream.vocabulary.relations.len()];
        let operations = updates.iter().zip(0_u32..).flat_map(|(update, step)| {
            update.iter().map(move |&at| {
                let entry = stream.entries()[at as usize];
                (entry.triple(), step << 1 | u32::from(entry.insert()))
            })
        });
        let numbered = || triples.iter().zip(0_u32..);
        let ends = numbered()
            .flat_map(|(triple, number)| [triple.subject, triple.object].map(|end| (end.index(), number)));
        let relations = numbered().map(|(triple, number)| (triple.relation.index(), number));
        let mut peeling = Self {
            triples,
            operations: Lists::new(triples.len(), operations.clone()),
            left: vec![true; triples.len()],
            entities: Elements::new(sizes[0], Lists::new(sizes[0], ends)),
            relations: Elements::new(sizes[1], Lists::new(sizes[1], relations)),
        };
        for (number, operation) in operations {
            let (triple, step, insert) = (triples[number], operation >> 1, operation & 1 == 1);
            peeling.entities.count(triple.subject.0, step, insert);
            peeling.entities.count(triple.object.0, step, insert);
            peeling.relations.count(triple.relation.0, step, insert);
        }
        peeling
    }

    /// Removes the entities that are too rare in what is left, and their triples. Returns how many.
    pub(super) fn entities(&mut self, threshold: u32) -> usize {
        let (removed, triples) = self.entities.remove_rare(threshold);
        self.take_away(&triples);
        removed
    }

    /// The same for relations.
    pub(super) fn relations(&mut self, threshold: u32) -> usize {
        let (removed, triples) = self.relations.remove_rare(threshold);
        self.take_away(&triples);
        removed
    }

    fn take_away(&mut self, triples: &[u32]) {
        for &number in triples {
            if !std::mem::replace(&mut self.left[number as usize], false) {
                continue;
            }
            let triple = self.triples[number as usize];
            for &operation in self.operations.of(number as usize) {
                let (step, insert) = (operation >> 1, operation & 1 == 1);
                self.entities.uncount(triple.subject.0, step, insert);
                self.entities.uncount(triple.object.0, step, insert);
                self.relations.uncount(triple.relation.0, step, insert);
            }
        }
    }

    /// Which entities and relations are left.
    pub(super) fn kept(self) -> [Vec<bool>; 2] {
        [self.entities.kept, self.relations.kept]
    }
}
