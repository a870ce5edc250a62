//! All universes, found by who is in them.

use quadcast_core::{EntityId, GraphSizes, Query, Triple};

use super::universe::{Asked, Universe};

/// Universes and where everybody is.
#[derive(Clone, Debug, Default)]
pub(super) struct Shelf {
    pub universes: Vec<Universe>,
    /// Universes that are not asked any more.
    retired: Vec<bool>,
    /// Universes by entity, ascending.
    by_entity: Vec<Vec<u32>>,
}

impl Shelf {
    pub fn new(sizes: GraphSizes) -> Self {
        Self { by_entity: vec![Vec::new(); sizes.entities], ..Self::default() }
    }

    /// Makes room for entities that are new.
    pub fn grow(&mut self, sizes: GraphSizes) {
        self.by_entity.resize(sizes.entities.max(self.by_entity.len()), Vec::new());
    }

    pub fn len(&self) -> usize {
        self.universes.len()
    }

    pub fn extend(&mut self, universes: Vec<Universe>) {
        for universe in universes {
            let number = self.universes.len() as u32;
            universe.entities.iter().for_each(|id| self.by_entity[id.index()].push(number));
            self.universes.push(universe);
            self.retired.push(false);
        }
    }

    /// Keeps the first so many.
    pub fn truncate(&mut self, count: usize) {
        self.universes.truncate(count);
        self.retired.truncate(count);
        for list in &mut self.by_entity {
            list.truncate(list.partition_point(|&number| (number as usize) < count));
        }
    }

    fn of(&self, entity: EntityId) -> impl Iterator<Item = (usize, &Universe)> {
        let numbers = self.by_entity.get(entity.index()).map_or(&[][..], Vec::as_slice);
        numbers.iter().map(|&number| (number as usize, &self.universes[number as usize]))
    }

    fn asked_of(&self, entity: EntityId) -> impl Iterator<Item = &Universe> {
        self.of(entity).filter(|(number, _)| !self.retired[*number]).map(|(_, universe)| universe)
    }

    /// The universes that know the entity and the relation of a question.
    pub fn knowing(&self, query: &Query) -> impl Iterator<Item = (&Universe, Asked)> {
        self.asked_of(query.known).filter_map(|universe| Some((universe, universe.asked(query)?)))
    }

    /// The universes that may know all of a triple.
    pub fn around(&self, triple: &Triple) -> impl Iterator<Item = &Universe> {
        let rarer = |a: EntityId, b: EntityId| {
            if self.by_entity[a.index()].len() <= self.by_entity[b.index()].len() { a } else { b }
        };
        self.asked_of(rarer(triple.subject, triple.object))
    }

    /// All universes are asked again.
    pub fn recall_all(&mut self) {
        self.retired.fill(false);
    }

    /// Retires the universes that a condition holds for, among those that know the subject of a triple.
    pub fn retire(&mut self, triple: &Triple, condition: impl Fn(&Universe) -> bool) {
        let numbers: Vec<usize> = self
            .of(triple.subject)
            .filter(|(_, universe)| condition(universe))
            .map(|(number, _)| number)
            .collect();
        for number in numbers {
            self.retired[number] = true;
        }
    }
}
