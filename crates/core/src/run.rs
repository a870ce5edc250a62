//! What surrounds a computation: the seed, named random streams, progress, cancellation, checkpoints and a time budget.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

use crate::ModelError;

/// Shows how far a long computation is.
pub trait Progress: Send + Sync {
    /// A phase of `total` units begins.
    fn begin(&self, phase: &str, total: u64);
    /// `units` more are done.
    fn advance(&self, units: u64);
    /// A few words beside the bar: the loss, the score so far.
    fn note(&self, _text: &str) {}
    /// A sentence for the user: what was assumed, what was resumed.
    fn remark(&self, _text: &str) {}
    /// A sentence that only matters to a user who asked for details.
    fn detail(&self, _text: &str) {}
    /// The phase is over.
    fn end(&self);
}

/// Shows nothing.
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn end(&self) {}
}

/// A request to stop, shared by the caller and the computation.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Asks every computation that shares this value to stop at the next safe place.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Stores work in progress, so that an interrupted computation can be resumed.
pub trait Checkpoints: Send + Sync {
    /// Stores some bytes, one part after the other, under a name: all of them or none.
    fn save(&self, name: &str, parts: &[&[u8]]) -> Result<(), ModelError>;
    /// The bytes under a name.
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>, ModelError>;
    /// The names under which there are bytes, in no particular order.
    fn names(&self) -> Result<Vec<String>, ModelError>;
    /// Removes the bytes under a name.
    fn remove(&self, name: &str) -> Result<(), ModelError>;
    /// Appends an event to the trace. Events are in the order of time and never change.
    fn log(&self, event: &serde_json::Value) -> Result<(), ModelError>;
    /// A folder for unnamed files that hold what is too large for memory; they disappear with the process.
    fn scratch_folder(&self) -> PathBuf {
        std::env::temp_dir()
    }
}

/// Stores nothing.
pub struct NoCheckpoints;

impl Checkpoints for NoCheckpoints {
    fn save(&self, _: &str, _: &[&[u8]]) -> Result<(), ModelError> {
        Ok(())
    }

    fn load(&self, _: &str) -> Result<Option<Vec<u8>>, ModelError> {
        Ok(None)
    }

    fn names(&self) -> Result<Vec<String>, ModelError> {
        Ok(Vec::new())
    }

    fn remove(&self, _: &str) -> Result<(), ModelError> {
        Ok(())
    }

    fn log(&self, _: &serde_json::Value) -> Result<(), ModelError> {
        Ok(())
    }
}

/// The checkpoints of one part of a run: names are prefixed with the name of the part.
struct PartCheckpoints {
    whole: Arc<dyn Checkpoints>,
    part: String,
}

impl PartCheckpoints {
    fn name(&self, name: &str) -> String {
        format!("{}-{name}", self.part)
    }
}

impl Checkpoints for PartCheckpoints {
    fn save(&self, name: &str, parts: &[&[u8]]) -> Result<(), ModelError> {
        self.whole.save(&self.name(name), parts)
    }

    fn load(&self, name: &str) -> Result<Option<Vec<u8>>, ModelError> {
        self.whole.load(&self.name(name))
    }

    fn names(&self) -> Result<Vec<String>, ModelError> {
        let prefix = self.name("");
        let own =
            self.whole.names()?.into_iter().filter_map(|name| Some(name.strip_prefix(&prefix)?.to_owned()));
        Ok(own.collect())
    }

    fn remove(&self, name: &str) -> Result<(), ModelError> {
        self.whole.remove(&self.name(name))
    }

    fn log(&self, event: &serde_json::Value) -> Result<(), ModelError> {
        let mut event = event.clone();
        if let Some(fields) = event.as_object_mut() {
            fields.insert("part".to_owned(), self.part.as_str().into());
        }
        self.whole.log(&event)
    }

    fn scratch_folder(&self) -> PathBuf {
        self.whole.scratch_folder()
    }
}

/// Carries the seed and the surroundings into fitting and evaluation.
#[derive(Clone)]
pub struct Run {
    /// Seed of every random stream.
    pub seed: u64,
    /// Who watches.
    pub progress: Arc<dyn Progress>,
    /// Whether the computation should stop.
    pub cancellation: Cancellation,
    /// Where work in progress is stored.
    pub checkpoints: Arc<dyn Checkpoints>,
    /// How long training may take, all trainings of the model together, counted over interruptions.
    pub time_budget: Option<Duration>,
}

impl Run {
    /// A run that somebody watches and that stores nothing.
    pub fn new(seed: u64, progress: Arc<dyn Progress>) -> Self {
        Self {
            seed,
            progress,
            cancellation: Cancellation::default(),
            checkpoints: Arc::new(NoCheckpoints),
            time_budget: None,
        }
    }

    /// A run that shows nothing.
    pub fn silent(seed: u64) -> Self {
        Self::new(seed, Arc::new(Silent))
    }

    /// An error if the computation was asked to stop. Called at places from which it can be resumed or repeated.
    #[inline]
    pub fn check_cancelled(&self) -> Result<(), ModelError> {
        if self.cancellation.is_cancelled() { Err(ModelError::Cancelled) } else { Ok(()) }
    }

    /// The same run for a training that follows one of so many seconds: the rest of the time budget.
    #[must_use]
    pub fn after(&self, seconds: f64) -> Self {
        let left = |budget: Duration| budget.saturating_sub(Duration::from_secs_f64(seconds.max(0.0)));
        Self { time_budget: self.time_budget.map(left), ..self.clone() }
    }

    /// The same run for one part of several, whose checkpoints must not be mistaken for those of another part.
    #[must_use]
    pub fn within(&self, part: &str) -> Self {
        let checkpoints =
            Arc::new(PartCheckpoints { whole: self.checkpoints.clone(), part: part.to_owned() });
        Self { checkpoints, ..self.clone() }
    }

    /// The random stream of one purpose and index.
    pub fn stream(&self, purpose: &str, index: u64) -> ChaCha8Rng {
        stream(self.seed, purpose, index)
    }
}

/// The random stream of one purpose and index under a seed. Every draw comes from such a stream, so that results do not depend on
/// the order in which threads get to draw.
pub fn stream(seed: u64, purpose: &str, index: u64) -> ChaCha8Rng {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    hash.update(index.to_le_bytes());
    hash.update(purpose.as_bytes());
    ChaCha8Rng::from_seed(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_are_named() {
        let draw = |seed, purpose, index| stream(seed, purpose, index).random::<u64>();
        assert_eq!(draw(1, "bootstrap", 0), draw(1, "bootstrap", 0));
        assert_ne!(draw(1, "bootstrap", 0), draw(1, "bootstrap", 1));
        assert_ne!(draw(1, "bootstrap", 0), draw(2, "bootstrap", 0));
        assert_ne!(draw(1, "bootstrap", 0), draw(1, "ties", 0));
    }
}
