//! What surrounds a computation: the seed and someone who watches.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

/// Shows how far a long computation is.
pub trait Progress: Send + Sync {
    /// A phase of `total` units begins.
    fn begin(&self, phase: &str, total: u64);
    /// `units` more are done.
    fn advance(&self, units: u64);
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

/// Carries the seed and the progress display into fitting and evaluation.
#[derive(Clone)]
pub struct Run {
    /// Seed of every random stream.
    pub seed: u64,
    /// Who watches.
    pub progress: Arc<dyn Progress>,
}

impl Run {
    /// A run that shows nothing.
    pub fn silent(seed: u64) -> Self {
        Self { seed, progress: Arc::new(Silent) }
    }

    /// The random stream of one purpose and index.
    pub fn stream(&self, purpose: &str, index: u64) -> ChaCha8Rng {
        crate::stream(self.seed, purpose, index)
    }
}
