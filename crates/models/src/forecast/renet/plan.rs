//! What a computation reads, worked out before it starts: neighbourhoods in two layers, and sequences of different lengths.

use std::sync::Arc;

use quadcast_core::{DirectedRelation, Direction, EntityId, Step};
use rustc_hash::FxHashMap;

use super::past::Past;
use crate::blocks::{Edge, Edges};
use crate::forecast::state::pad_rows;

/// An entity at a step.
pub(super) type Place = (Step, EntityId);

/// Distinct values in the order of their first occurrence, and their numbers.
pub(super) struct Numbered<T> {
    numbers: FxHashMap<T, u32>,
    pub list: Vec<T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { numbers: FxHashMap::default(), list: Vec::new() }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Numbered<T> {
    /// The number of a value, a new one if it has none.
    pub fn number(&mut self, value: T) -> u32 {
        let next = self.list.len() as u32;
        *self.numbers.entry(value).or_insert_with(|| {
            self.list.push(value);
            next
        })
    }
}

/// The rows of two graph layers that give the vectors of some entities at some steps.
pub(super) struct Neighbourhoods {
    /// The entity of each row of the first layer.
    pub entities: Arc<[u32]>,
    /// From rows of the embeddings to rows of the first layer.
    pub first: Arc<Edges>,
    /// The row of the first layer that each row of the second one belongs to.
    pub own: Arc<[u32]>,
    /// From rows of the first layer to rows of the second one.
    pub second: Arc<Edges>,
}

impl Neighbourhoods {
    /// For distinct places; the rows of the second layer are in their order, and may be followed by repetitions. `entities` and
    /// `relations` are sizes of tables.
    pub fn new(
        past: &Past<'_>,
        places: &[Place],
        direction: Direction,
        entities: usize,
        relations: usize,
    ) -> Self {
        // A message comes from the other side of a fact. For questions about subjects, relations are read backwards.
        let message = |relation: DirectedRelation| match direction {
            Direction::Subject => relation.0,
            Direction::Object => (relation.0 + relations as u32) % (2 * relations as u32),
        };
        let mut vertices = Numbered::default();
        let own: Vec<u32> = pad_rows(places).iter().map(|&place| vertices.number(place)).collect();
        let edges_into = |destination: usize, place: Place, source: &mut dyn FnMut(EntityId) -> u32| {
            let (step, entity) = place;
            let degree = past.at(entity, step).count().max(1) as f32;
            let edge = |edge: &quadcast_core::Edge| Edge {
                source: source(edge.other),
                relation: message(edge.relation),
                destination: destination as u32,
                weight: 1.0 / degree,
            };
            past.at(entity, step).map(edge).collect::<Vec<Edge>>()
        };
        let mut second = Vec::new();
        for (row, &place) in pad_rows(places).iter().enumerate() {
            second.extend(edges_into(row, place, &mut |other| vertices.number((place.0, other))));
        }
        let rows = pad_rows(&vertices.list);
        let mut first = Vec::new();
        for (row, &place) in rows.iter().enumerate() {
            first.extend(edges_into(row, place, &mut |other| other.0));
        }
        Self {
            entities: rows.iter().map(|(_, entity)| entity.0).collect(),
            first: Arc::new(Edges::new(first, entities, 2 * relations, rows.len())),
            second: Arc::new(Edges::new(second, rows.len(), 2 * relations, own.len())),
            own: own.into(),
        }
    }
}

/// Sequences of steps, the longest first.
pub(super) struct Sequences {
    /// The sequence of each input.
    pub of_input: Vec<u32>,
    /// Number of sequences.
    pub count: usize,
    /// How many sequences have more than so many members.
    pub members: Arc<[usize]>,
    /// The first members of all sequences, then the second ones, and so on: input and step.
    pub places: Vec<(u32, Step)>,
}

impl Sequences {
    /// Arranges the sequence of each input. Where members of few sequences are computed, the longest one is repeated.
    pub fn new(inputs: &[Vec<Step>]) -> Self {
        let mut order: Vec<u32> = (0..inputs.len() as u32).collect();
        order.sort_by_key(|&input| std::cmp::Reverse(inputs[input as usize].len()));
        let repeated = pad_rows(&order[..order.len().min(1)]).len().saturating_sub(1);
        let mut of_input = vec![0; inputs.len()];
        order.iter().zip(repeated as u32..).for_each(|(&input, row)| of_input[input as usize] = row);
        let rows: Vec<u32> =
            std::iter::repeat_n(order.first().copied(), repeated).flatten().chain(order).collect();
        let (mut members, mut places) = (Vec::new(), Vec::new());
        for place in 0.. {
            let longer = rows.iter().take_while(|&&input| inputs[input as usize].len() > place);
            let before = places.len();
            places.extend(longer.map(|&input| (input, inputs[input as usize][place])));
            if places.len() == before {
                break;
            }
            members.push(places.len() - before);
        }
        Self { of_input, count: rows.len(), members: members.into(), places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_arranged_by_length() {
        let steps = |list: &[u32]| list.iter().map(|&step| Step(step)).collect::<Vec<Step>>();
        let inputs = [steps(&[4]), steps(&[]), steps(&[1, 2, 3]), steps(&[5, 6])];
        let sequences = Sequences::new(&inputs);
        // The longest one stands 16 times.
        assert_eq!(sequences.count, 4 + 15);
        assert_eq!(sequences.members[..], [18, 17, 16]);
        assert_eq!(sequences.of_input, [17, 18, 15, 16]);
        let of_row = |row: usize| sequences.places[row];
        assert_eq!(
            [of_row(0), of_row(15), of_row(16), of_row(17)],
            [(2, Step(1)), (2, Step(1)), (3, Step(5)), (0, Step(4))]
        );
        assert_eq!(sequences.places[18 + 16], (3, Step(6)));
        assert_eq!(sequences.places.len(), 18 + 17 + 16);
        assert_eq!(Sequences::new(&[]).count, 0);
    }
}
