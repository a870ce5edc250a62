//! A cache of the lowest energies found so far. All validations of a step ask the same questions, and only the new universes
//! can lower a minimum.

use std::sync::{Mutex, PoisonError};

use quadcast_core::Query;
use rustc_hash::FxHashMap;

/// Bytes that all entries together may take. Questions beyond that are answered from scratch at every validation.
const MOST_BYTES: usize = 2 << 30;

/// The lowest energy of every answer, by question.
#[derive(Debug)]
pub(super) struct EnergyCache {
    entries: Mutex<Entries>,
}

#[derive(Debug)]
struct Entries {
    by_query: FxHashMap<Query, CachedEnergies>,
    /// Bytes that may still be taken.
    free_bytes: usize,
}

/// The lowest energies of the answers that some universe knows.
#[derive(Debug)]
struct CachedEnergies {
    /// How many universes were evaluated.
    universes: usize,
    /// A bit per entity that has an energy.
    reached: Box<[u64]>,
    /// The energies, in the order of the entities.
    energies: Box<[f32]>,
}

impl CachedEnergies {
    fn bytes(&self) -> usize {
        size_of::<Query>() + size_of::<Self>() + size_of_val(&*self.reached) + size_of_val(&*self.energies)
    }
}

impl Default for EnergyCache {
    fn default() -> Self {
        Self::within(MOST_BYTES)
    }
}

impl EnergyCache {
    fn within(free_bytes: usize) -> Self {
        Self { entries: Mutex::new(Entries { by_query: FxHashMap::default(), free_bytes }) }
    }

    /// Moves the entry of a question into `lowest`, which is by entity; returns how many universes it covers. The entry leaves
    /// the cache until [`keep`](Self::keep) adds it again.
    pub fn take(&self, query: &Query, lowest: &mut [f32]) -> usize {
        // A panic while the lock is held leaves whole entries.
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(cached) = entries.by_query.remove(query) else { return 0 };
        entries.free_bytes += cached.bytes();
        drop(entries);
        let mut energies = cached.energies.iter();
        for (word, &bits) in cached.reached.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                let entity = 64 * word + left.trailing_zeros() as usize;
                left &= left - 1;
                if let Some(&energy) = energies.next() {
                    lowest[entity] = energy;
                }
            }
        }
        cached.universes
    }

    /// Stores the energies of a question after `universes` were evaluated, if there is room.
    pub fn keep(&self, query: &Query, universes: usize, lowest: &[f32]) {
        let mut reached = vec![0_u64; lowest.len().div_ceil(64)];
        for (word, energies) in reached.iter_mut().zip(lowest.chunks(64)) {
            for (bit, energy) in energies.iter().enumerate() {
                *word |= u64::from(energy.is_finite()) << bit;
            }
        }
        let energies = lowest.iter().copied().filter(|energy| energy.is_finite()).collect();
        let cached = CachedEnergies { universes, reached: reached.into(), energies };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(free_bytes) = entries.free_bytes.checked_sub(cached.bytes()) {
            entries.free_bytes = free_bytes;
            entries.by_query.insert(*query, cached);
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
    fn an_entry_is_taken_once() {
        let cache = EnergyCache::default();
        cache.keep(&query(1), 12, &row());
        let mut lowest = vec![NONE; 200];
        assert_eq!(cache.take(&query(2), &mut lowest), 0, "another question");
        assert!(lowest.iter().all(|energy| energy.is_infinite()));
        assert_eq!(cache.take(&query(1), &mut lowest), 12);
        assert_eq!(lowest, row());
        assert_eq!(cache.take(&query(1), &mut lowest), 0, "it was taken");
    }

    #[test]
    fn a_full_cache_keeps_nothing_and_taking_frees_room() {
        let cache = EnergyCache::default();
        cache.keep(&query(1), 1, &row());
        let bytes = MOST_BYTES - cache.entries.lock().expect("no panic").free_bytes;
        let small = EnergyCache::within(bytes);
        let mut lowest = vec![NONE; 200];
        small.keep(&query(1), 5, &row());
        small.keep(&query(2), 5, &row());
        assert_eq!(small.take(&query(2), &mut lowest), 0, "there was no room");
        assert_eq!(small.take(&query(1), &mut lowest), 5);
        small.keep(&query(2), 6, &row());
        assert_eq!(small.take(&query(2), &mut lowest), 6);
    }
}
