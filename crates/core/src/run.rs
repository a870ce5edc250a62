//! What surrounds a computation: the seed, someone who watches, and a place for work in progress.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;

use crate::ModelError;

/// Shows how far a long computation is.
pub trait Progress: Send + Sync {
    /// A phase of `total` units begins.
    fn begin(&self, phase: &str, total: u64);
    /// `units` more are done.
    fn advance(&self, units: u64);
    /// A few words beside the bar: the loss, the score so far.
    fn note(&self, _text: &str) {}
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

/// Keeps work in progress, so that an interrupted computation can go on.
pub trait Workshop: Send + Sync {
    /// Keeps some bytes, one part after the other, under a name, whole or not at all.
    fn keep(&self, name: &str, parts: &[&[u8]]) -> Result<(), ModelError>;
    /// What was kept under a name.
    fn recall(&self, name: &str) -> Result<Option<Vec<u8>>, ModelError>;
    /// Whether something is kept under a name.
    fn holds(&self, name: &str) -> Result<bool, ModelError> {
        Ok(self.recall(name)?.is_some())
    }
    /// Removes what was kept under a name.
    fn discard(&self, name: &str) -> Result<(), ModelError>;
    /// Notes an event; events are in the order of time and never change.
    fn note(&self, event: &serde_json::Value) -> Result<(), ModelError>;
    /// A folder for files without a name, which hold what is too much for memory and go with the process.
    fn scratch_folder(&self) -> PathBuf {
        std::env::temp_dir()
    }
}

/// Keeps nothing.
pub struct NoWorkshop;

impl Workshop for NoWorkshop {
    fn keep(&self, _: &str, _: &[&[u8]]) -> Result<(), ModelError> {
        Ok(())
    }

    fn recall(&self, _: &str) -> Result<Option<Vec<u8>>, ModelError> {
        Ok(None)
    }

    fn discard(&self, _: &str) -> Result<(), ModelError> {
        Ok(())
    }

    fn note(&self, _: &serde_json::Value) -> Result<(), ModelError> {
        Ok(())
    }
}

/// A part of a workshop: names are told apart by the name of the part.
struct Corner {
    whole: Arc<dyn Workshop>,
    part: String,
}

impl Corner {
    fn name(&self, name: &str) -> String {
        format!("{}-{name}", self.part)
    }
}

impl Workshop for Corner {
    fn keep(&self, name: &str, parts: &[&[u8]]) -> Result<(), ModelError> {
        self.whole.keep(&self.name(name), parts)
    }

    fn recall(&self, name: &str) -> Result<Option<Vec<u8>>, ModelError> {
        self.whole.recall(&self.name(name))
    }

    fn holds(&self, name: &str) -> Result<bool, ModelError> {
        self.whole.holds(&self.name(name))
    }

    fn discard(&self, name: &str) -> Result<(), ModelError> {
        self.whole.discard(&self.name(name))
    }

    fn note(&self, event: &serde_json::Value) -> Result<(), ModelError> {
        let mut event = event.clone();
        if let Some(fields) = event.as_object_mut() {
            fields.insert("part".to_owned(), self.part.as_str().into());
        }
        self.whole.note(&event)
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
    /// Where work in progress is kept.
    pub workshop: Arc<dyn Workshop>,
    /// How long training may take, all trainings of the model together, counted over interruptions.
    pub time_budget: Option<Duration>,
}

impl Run {
    /// A run that somebody watches and that keeps nothing.
    pub fn new(seed: u64, progress: Arc<dyn Progress>) -> Self {
        Self { seed, progress, workshop: Arc::new(NoWorkshop), time_budget: None }
    }

    /// A run that shows nothing.
    pub fn silent(seed: u64) -> Self {
        Self::new(seed, Arc::new(Silent))
    }

    /// The same run for a training that follows one of so many seconds: what is left of the time budget is less.
    #[must_use]
    pub fn after(&self, seconds: f64) -> Self {
        let left = |budget: Duration| budget.saturating_sub(Duration::from_secs_f64(seconds.max(0.0)));
        Self { time_budget: self.time_budget.map(left), ..self.clone() }
    }

    /// The same run for one part of several, whose work in progress must not be mistaken for that of another.
    #[must_use]
    pub fn within(&self, part: &str) -> Self {
        let workshop = Arc::new(Corner { whole: self.workshop.clone(), part: part.to_owned() });
        Self { workshop, ..self.clone() }
    }

    /// The random stream of one purpose and index.
    pub fn stream(&self, purpose: &str, index: u64) -> ChaCha8Rng {
        crate::stream(self.seed, purpose, index)
    }
}
