//! Looks at validation while a step grows, and under which names they and the universes between them are kept.

use quadcast_core::{ModelError, Run, Step};
use serde::{Deserialize, Serialize};

use super::settings::unreadable;

/// After how many looks the score was highest.
pub(super) fn best(scores: &[f64]) -> usize {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter().position(|&score| score == highest).map_or(0, |place| place + 1)
}

pub(super) fn block_name(step: Step, block: usize) -> String {
    format!("universes-{}-{block}", step.0 + 1)
}

fn looks_name(step: Step) -> String {
    format!("universes-{}-looks.json", step.0 + 1)
}

/// What a step has found so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Looks {
    /// The score after each block.
    pub scores: Vec<f64>,
    /// Seconds spent, interruptions not counted.
    pub seconds: f64,
}

impl Looks {
    /// What an interrupted step had found.
    pub fn recall(step: Step, run: &Run) -> Result<Self, ModelError> {
        let Some(kept) = run.workshop.recall(&looks_name(step))? else { return Ok(Self::default()) };
        serde_json::from_slice(&kept).map_err(unreadable)
    }

    pub fn keep(&self, step: Step, run: &Run) -> Result<(), ModelError> {
        let text = serde_json::to_vec(self).map_err(unreadable)?;
        run.workshop.keep(&looks_name(step), &[&text])
    }
}

/// What a finished step has left in the workshop. It stays until the next step begins: by then whoever plays the steps has kept
/// the model, and a kill before that does not cost the training.
pub(super) struct Leftover {
    run: Run,
    step: Step,
    blocks: usize,
}

impl Leftover {
    pub fn new(run: &Run, step: Step, blocks: usize) -> Self {
        Self { run: run.clone(), step, blocks }
    }

    /// The looks first: without them, nobody asks for the blocks.
    pub fn discard(self) -> Result<(), ModelError> {
        let Self { run, step, blocks } = self;
        run.workshop.discard(&looks_name(step))?;
        (0..blocks).try_for_each(|block| run.workshop.discard(&block_name(step, block)))
    }
}

#[cfg(test)]
mod tests {
    use super::best;

    #[test]
    fn the_first_of_equal_scores_is_the_best() {
        assert_eq!(best(&[]), 0);
        assert_eq!(best(&[0.2, 0.5, 0.4, 0.5]), 2);
        assert_eq!(best(&[0.0, 0.0]), 1);
        assert_eq!(best(&[0.1, 0.2, 0.3]), 3);
    }
}
