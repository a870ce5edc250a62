//! All universes, indexed by their entities and relations.

use quadcast_core::{EntityId, GraphSizes, Query, RelationId, Triple};
use quadcast_kernels::triples::Question;

use super::storage::StoredUniverse;
use super::view::UniverseView;

/// Universes, with lists of those that know each entity and each relation.
#[derive(Clone, Debug, Default)]
pub(super) struct UniverseIndex {
    universes: Vec<StoredUniverse>,
    /// Universes that are no longer used.
    retired: Vec<bool>,
    /// Factor of the energies of each universe.
    factors: Vec<f32>,
    /// Universes by entity, ascending.
    by_entity: Vec<Vec<u32>>,
    /// Universes by relation. Relations are few and in many universes: a bit set is smaller than a list.
    by_relation: Vec<UniverseSet>,
}

/// A set of universes, as bits.
#[derive(Clone, Debug, Default)]
struct UniverseSet(Vec<u64>);

impl UniverseSet {
    fn insert(&mut self, number: u32) {
        let word = number as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }

    fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Keeps those below `count`.
    fn truncate(&mut self, count: usize) {
        self.0.truncate(count.div_ceil(64));
        if let Some(last) = self.0.get_mut(count / 64) {
            *last &= (1 << (count % 64)) - 1;
        }
    }
}

impl UniverseIndex {
    pub fn new(sizes: GraphSizes) -> Self {
        Self {
            by_entity: vec![Vec::new(); sizes.entities],
            by_relation: vec![UniverseSet::default(); sizes.relations],
            ..Self::default()
        }
    }

    /// Makes room for entities and relations that are new.
    pub fn grow(&mut self, sizes: GraphSizes) {
        self.by_entity.resize(sizes.entities.max(self.by_entity.len()), Vec::new());
        self.by_relation.resize(sizes.relations.max(self.by_relation.len()), UniverseSet::default());
    }

    pub fn len(&self) -> usize {
        self.universes.len()
    }

    pub fn universes(&self) -> impl Iterator<Item = UniverseView<'_>> {
        self.universes.iter().map(StoredUniverse::view)
    }

    pub fn extend(&mut self, universes: Vec<StoredUniverse>) {
        for stored in universes {
            let number = self.universes.len() as u32;
            let universe = stored.view();
            universe.entities.iter().for_each(|&id| self.by_entity[id as usize].push(number));
            universe.relations.iter().for_each(|&id| self.by_relation[id as usize].insert(number));
            self.universes.push(stored);
            self.retired.push(false);
            self.factors.push(1.0);
        }
    }

    /// Keeps the first `count` universes.
    pub fn truncate(&mut self, count: usize) {
        self.universes.truncate(count);
        self.retired.truncate(count);
        self.factors.truncate(count);
        for list in &mut self.by_entity {
            list.truncate(list.partition_point(|&number| (number as usize) < count));
        }
        self.by_relation.iter_mut().for_each(|members| members.truncate(count));
    }

    fn of(&self, entity: EntityId) -> &[u32] {
        self.by_entity.get(entity.index()).map_or(&[], Vec::as_slice)
    }

    /// The universes among `numbers` that know a relation.
    fn knowing_relation(&self, numbers: &[u32], relation: RelationId) -> impl Iterator<Item = u32> {
        let members = self.by_relation.get(relation.index());
        let knows = move |number: u32| members.is_some_and(|members| members.contains(number));
        numbers.iter().copied().filter(move |&number| knows(number))
    }

    /// As above, without retired ones.
    fn active_with(&self, numbers: &[u32], relation: RelationId) -> impl Iterator<Item = u32> {
        self.knowing_relation(numbers, relation).filter(|&number| !self.retired[number as usize])
    }

    /// A universe with its factor.
    fn universe(&self, number: u32) -> UniverseView<'_> {
        let number = number as usize;
        UniverseView { factor: self.factors[number], ..self.universes[number].view() }
    }

    /// The universes that know the entity and the relation of a question, without the first `skipped` of all.
    pub fn knowing(
        &self,
        query: &Query,
        skipped: usize,
    ) -> impl Iterator<Item = (UniverseView<'_>, Question)> {
        let numbers = self.of(query.known);
        let new = &numbers[numbers.partition_point(|&number| (number as usize) < skipped)..];
        self.active_with(new, query.relation).filter_map(|number| {
            let universe = self.universe(number);
            Some((universe, universe.local_question(query)?))
        })
    }

    /// The universes that know all three parts of a triple.
    pub fn around(&self, triple: &Triple) -> impl Iterator<Item = UniverseView<'_>> {
        let (mut rarer, mut other) = (self.of(triple.subject), self.of(triple.object));
        if rarer.len() > other.len() {
            (rarer, other) = (other, rarer);
        }
        self.active_with(rarer, triple.relation)
            .filter(|number| other.binary_search(number).is_ok())
            .map(|number| self.universe(number))
    }

    /// Makes all universes active again, with factor 1.
    pub fn reset(&mut self) {
        self.retired.fill(false);
        self.factors.fill(1.0);
    }

    /// Retires the first `count` universes.
    pub fn retire_first(&mut self, count: usize) {
        self.retired.iter_mut().take(count).for_each(|retired| *retired = true);
    }

    /// Multiplies the energies of each universe by 1 + `weight` · the share of its training triples that were deleted.
    pub fn weigh<'a>(&mut self, deleted: impl IntoIterator<Item = &'a Triple>, weight: f64) {
        let mut lost = vec![0_u32; self.len()];
        for triple in deleted {
            for number in self.knowing_relation(self.of(triple.subject), triple.relation) {
                lost[number as usize] += u32::from(self.universe(number).contains(triple));
            }
        }
        let factors = self.universes().zip(&lost).map(|(universe, &lost)| {
            // Avoids a division by zero for a universe without triples.
            let trained = universe.triples.len().max(1);
            (1.0 + weight * f64::from(lost) / trained as f64) as f32
        });
        self.factors = factors.collect();
    }

    /// Retires universes that fulfil a condition, among the first `first` that know the subject and the relation of a triple.
    pub fn retire(&mut self, triple: &Triple, first: usize, condition: impl Fn(&UniverseView<'_>) -> bool) {
        let numbers = self.knowing_relation(self.of(triple.subject), triple.relation);
        let retired: Vec<u32> = numbers
            .take_while(|&number| (number as usize) < first)
            .filter(|&number| condition(&self.universe(number)))
            .collect();
        for number in retired {
            self.retired[number as usize] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::UniverseSet;

    #[test]
    fn members_are_those_that_were_inserted() {
        for count in [0, 1, 63, 64, 65, 128, 200, 300] {
            let mut members = UniverseSet::default();
            (0..250).filter(|number| number % 3 == 0).for_each(|number| members.insert(number));
            members.truncate(count as usize);
            for number in 0..400 {
                let expected = number < count.min(250) && number % 3 == 0;
                assert_eq!(members.contains(number), expected, "{number} of {count}");
            }
        }
    }
}
