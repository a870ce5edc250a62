//! What looks at validation have found so far. All looks of a step ask the same questions, and a minimum over universes only
//! has to be compared with the new ones.

use std::sync::{Mutex, PoisonError};

use quadcast_core::Query;
use rustc_hash::FxHashMap;

/// Bytes that all rows together may take. Questions that come later are answered anew at every look.
const MOST_BYTES: usize = 2 << 30;

/// The lowest energies of every answer to the questions that were asked, by question.
#[derive(Debug)]
pub(super) struct Remembered {
    shared: Mutex<Shared>,
}

#[derive(Debug)]
struct Shared {
    rows: FxHashMap<Query, Row>,
    /// Bytes that may still be taken.
    room: usize,
}

/// The lowest energies of the answers that were reached.
#[derive(Debug)]
struct Row {
    /// How many universes were asked.
    asked: usize,
    /// A bit for every entity that was reached.
    reached: Box<[u64]>,
    /// Their energies, in the order of the entities.
    energies: Box<[f32]>,
}

impl Row {
    fn bytes(&self) -> usize {
        size_of::<Query>() + size_of::<Self>() + size_of_val(&*self.reached) + size_of_val(&*self.energies)
    }
}

impl Default for Remembered {
    fn default() -> Self {
        Self::within(MOST_BYTES)
    }
}

impl Remembered {
    fn within(room: usize) -> Self {
        Self { shared: Mutex::new(Shared { rows: FxHashMap::default(), room }) }
    }

    /// Writes what is known about a question into `lowest`, which is by entity, and tells how many universes that takes in. It
    /// is forgotten here until it is [kept](Self::keep) again.
    pub fn take(&self, query: &Query, lowest: &mut [f32]) -> usize {
        let Some(row) = self.remove(query) else { return 0 };
        let mut energies = row.energies.iter();
        for (word, &bits) in row.reached.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                let entity = 64 * word + left.trailing_zeros() as usize;
                left &= left - 1;
                if let Some(&energy) = energies.next() {
                    lowest[entity] = energy;
                }
            }
        }
        row.asked
    }

    fn remove(&self, query: &Query) -> Option<Row> {
        // Whoever panicked with the lock left rows that are whole.
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let row = shared.rows.remove(query)?;
        shared.room += row.bytes();
        Some(row)
    }

    /// Keeps what is known about a question after so many universes, if there is room for it.
    pub fn keep(&self, query: &Query, asked: usize, lowest: &[f32]) {
        let mut reached = vec![0_u64; lowest.len().div_ceil(64)];
        for (word, energies) in reached.iter_mut().zip(lowest.chunks(64)) {
            for (bit, energy) in energies.iter().enumerate() {
                *word |= u64::from(energy.is_finite()) << bit;
            }
        }
        let energies = lowest.iter().copied().filter(|energy| energy.is_finite()).collect();
        let row = Row { asked, reached: reached.into(), energies };
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = shared.room.checked_sub(row.bytes()) {
            shared.room = room;
            shared.rows.insert(*query, row);
        }
    }
}

#[cfg(test)]
mod tests {
    use quadcast_core::{Direction, EntityId, RelationId, Step};

    use super::*;

    const NONE: f32 = f32::INFINITY;

    fn query(known: u32) -> Query {
        Query { step: Step(0), known: EntityId(known), relation: RelationId(0), direction: Direction::Object }
    }

    fn row() -> Vec<f32> {
        let mut row = vec![NONE; 200];
        for (entity, energy) in [(0, 1.5), (63, 2.0), (64, 0.0), (130, 7.25), (199, 3.0)] {
            row[entity] = energy;
        }
        row
    }

    #[test]
    fn what_was_kept_is_taken_once() {
        let remembered = Remembered::default();
        remembered.keep(&query(1), 12, &row());
        let mut lowest = vec![NONE; 200];
        assert_eq!(remembered.take(&query(2), &mut lowest), 0, "another question");
        assert!(lowest.iter().all(|energy| energy.is_infinite()));
        assert_eq!(remembered.take(&query(1), &mut lowest), 12);
        assert_eq!(lowest, row());
        assert_eq!(remembered.take(&query(1), &mut lowest), 0, "it was taken");
    }

    #[test]
    fn without_room_nothing_is_kept_and_what_is_taken_makes_room() {
        let remembered = Remembered::default();
        remembered.keep(&query(1), 1, &row());
        let bytes = MOST_BYTES - remembered.shared.lock().expect("nobody panicked").room;
        let small = Remembered::within(bytes);
        let mut lowest = vec![NONE; 200];
        small.keep(&query(1), 5, &row());
        small.keep(&query(2), 5, &row());
        assert_eq!(small.take(&query(2), &mut lowest), 0, "there was no room");
        assert_eq!(small.take(&query(1), &mut lowest), 5);
        small.keep(&query(2), 6, &row());
        assert_eq!(small.take(&query(2), &mut lowest), 6);
    }
}
