//! Stand-ins for what surrounds a model: a validation without preferences, and a checkpoints in memory that can fail.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use quadcast_core::{
    Checkpoints, EvolvingModel, Forecaster, GraphValidation, LinkScore, ModelError, Validation,
    ValidationReport,
};
use serde_json::Value;

/// A validation to which every model is as good as every other.
#[derive(Clone, Copy, Debug)]
pub struct Indifferent;

impl Validation for Indifferent {
    fn steps(&self) -> u64 {
        0
    }

    fn play(&self, _: &mut dyn Forecaster) -> Result<ValidationReport, ModelError> {
        Ok(ValidationReport {
            all: LinkScore { queries: 1, ..LinkScore::default() },
            by_relation: Vec::new(),
        })
    }
}

impl GraphValidation for Indifferent {
    fn judge(&self, _: &mut dyn EvolvingModel) -> Result<LinkScore, ModelError> {
        Ok(LinkScore { queries: 1, ..LinkScore::default() })
    }
}

/// A checkpoints in memory. It can fail after a number of operations, as if the process were killed.
#[derive(Debug, Default)]
pub struct MemoryCheckpoints {
    kept: Mutex<BTreeMap<String, Vec<u8>>>,
    notes: Mutex<Vec<Value>>,
    left: Mutex<Option<u32>>,
    /// Whether removals count as operations, like saving does.
    counts_removals: bool,
    /// Folder for scratch files; the system's when there is none.
    folder: Option<PathBuf>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no other test thread panicked")
}

impl MemoryCheckpoints {
    /// A checkpoints to which removals are operations too.
    pub fn counting_removals() -> Self {
        Self { counts_removals: true, ..Self::default() }
    }

    /// A checkpoints with scratch files in this folder.
    pub fn with_scratch(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), ..Self::default() }
    }

    /// Allows this many more operations, or any number of them.
    pub fn allow(&self, operations: impl Into<Option<u32>>) {
        *locked(&self.left) = operations.into();
    }

    /// Everything that is kept, by name.
    pub fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        locked(&self.kept)
    }

    /// The events noted so far.
    pub fn notes(&self) -> MutexGuard<'_, Vec<Value>> {
        locked(&self.notes)
    }

    fn spend(&self) -> Result<(), ModelError> {
        if let Some(left) = locked(&self.left).as_mut() {
            *left = left.checked_sub(1).ok_or_else(|| ModelError::Checkpoint("killed".to_owned()))?;
        }
        Ok(())
    }
}

impl Checkpoints for MemoryCheckpoints {
    fn save(&self, name: &str, parts: &[&[u8]]) -> Result<(), ModelError> {
        self.spend()?;
        self.kept().insert(name.to_owned(), parts.concat());
        Ok(())
    }

    fn load(&self, name: &str) -> Result<Option<Vec<u8>>, ModelError> {
        Ok(self.kept().get(name).cloned())
    }

    fn names(&self) -> Result<Vec<String>, ModelError> {
        Ok(self.kept().keys().cloned().collect())
    }

    fn remove(&self, name: &str) -> Result<(), ModelError> {
        if self.counts_removals {
            self.spend()?;
        }
        self.kept().remove(name);
        Ok(())
    }

    fn log(&self, event: &Value) -> Result<(), ModelError> {
        self.notes().push(event.clone());
        Ok(())
    }

    fn scratch_folder(&self) -> PathBuf {
        self.folder.clone().unwrap_or_else(std::env::temp_dir)
    }
}
