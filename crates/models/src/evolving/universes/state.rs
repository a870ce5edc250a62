//! State of a saved model besides its universes, and its check.

use quadcast_core::ModelError;
use serde::{Deserialize, Serialize};

use super::growth::AddedPerStep;
use super::settings::{Config, unreadable};
use crate::capacity::check_saved;

/// Bytes that the index has for an entity or a relation without universes.
const INDEXED: f64 = 24.0;
/// The largest number of a universe that is saved: far from the end of the numbers of the machine.
const MOST_NUMBER: u64 = 1 << 53;

/// State besides the universes. Field names are those of saved files.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub config: Config,
    pub entities: usize,
    pub relations: usize,
    pub gone: Vec<[u32; 3]>,
    /// How many universes there were when each was deleted. Earlier versions did not save it: then all of today's count.
    #[serde(default)]
    pub gone_after: Vec<usize>,
    #[serde(default)]
    pub brought: AddedPerStep,
    pub next: u64,
}

impl State {
    /// Refuses sizes that cannot fit into memory, ids out of range, and lists of different lengths.
    pub fn check(&self) -> Result<(), ModelError> {
        for (field, size) in [("entities", self.entities), ("relations", self.relations)] {
            if u32::try_from(size).is_err() {
                return Err(unreadable(format!("{field} = {size}: expected at most {}", u32::MAX)));
            }
            check_saved(field, size, INDEXED)?;
        }
        let outside = |&&[s, r, o]: &&[u32; 3]| {
            [s, o].iter().any(|&id| id as usize >= self.entities) || r as usize >= self.relations
        };
        if let Some(triple) = self.gone.iter().find(outside) {
            return Err(unreadable(format!("gone holds {triple:?}, ids out of range")));
        }
        let (gone, after) = (self.gone.len(), self.gone_after.len());
        if after > 0 && after != gone {
            return Err(unreadable(format!("gone has {gone} entries and gone_after {after}")));
        }
        if self.next > MOST_NUMBER {
            return Err(unreadable(format!("next = {}: expected at most {MOST_NUMBER}", self.next)));
        }
        Ok(())
    }
}
