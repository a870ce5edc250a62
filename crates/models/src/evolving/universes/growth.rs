//! How the universes of a step are added: validation scores between blocks, their checkpoints, and how many each step added.

use quadcast_core::{ModelError, Run, Step};
use serde::{Deserialize, Serialize};

use super::settings::unreadable;

/// The number of blocks after which the score was highest.
pub(super) fn best(scores: &[f64]) -> usize {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter().position(|&score| score == highest).map_or(0, |place| place + 1)
}

/// Checkpoint name of a block of universes.
pub(super) fn block_name(step: Step, block: usize) -> String {
    format!("universes-{}-{block}", step.0 + 1)
}

fn scores_name(step: Step) -> String {
    format!("universes-{}-looks.json", step.0 + 1)
}

/// Validation results of a step so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct StepProgress {
    /// The score after each block.
    pub scores: Vec<f64>,
    /// Seconds spent, interruptions not counted.
    pub seconds: f64,
}

impl StepProgress {
    /// The results of an interrupted step.
    pub fn recall(step: Step, run: &Run) -> Result<Self, ModelError> {
        let Some(kept) = run.checkpoints.load(&scores_name(step))? else { return Ok(Self::default()) };
        serde_json::from_slice(&kept).map_err(unreadable)
    }

    pub fn keep(&self, step: Step, run: &Run) -> Result<(), ModelError> {
        let text = serde_json::to_vec(self).map_err(unreadable)?;
        run.checkpoints.save(&scores_name(step), &[&text])
    }
}

/// The checkpoints of a finished step. They stay until the next step begins: by then the caller has saved the model, and an
/// interruption before that does not lose the training.
pub(super) struct OldCheckpoints {
    run: Run,
    step: Step,
    blocks: usize,
}

impl OldCheckpoints {
    pub fn new(run: &Run, step: Step, blocks: usize) -> Self {
        Self { run: run.clone(), step, blocks }
    }

    /// Deletes the scores first: blocks without scores are never read.
    pub fn discard(self) -> Result<(), ModelError> {
        let Self { run, step, blocks } = self;
        run.checkpoints.remove(&scores_name(step))?;
        (0..blocks).try_for_each(|block| run.checkpoints.remove(&block_name(step, block)))
    }
}

/// How many universes each step added, the oldest first. Steps that added none are left out: if they counted as age, a graph
/// that is empty for a while would retire every universe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AddedPerStep(Vec<usize>);

impl AddedPerStep {
    /// Records a finished step.
    pub fn push(&mut self, universes: usize) {
        if universes > 0 {
            self.0.push(universes);
        }
    }

    /// How many of the first universes are too old, if each is used for `keep_steps` steps and `coming` steps are about to
    /// add more.
    pub fn too_old(&self, keep_steps: usize, coming: usize) -> usize {
        let steps = (self.0.len() + coming).saturating_sub(keep_steps);
        self.0.iter().take(steps).sum()
    }

    /// Checks a saved value against the number of universes. Earlier versions did not save it: then one step counts as having
    /// added all.
    pub fn checked(self, universes: usize) -> Result<Self, ModelError> {
        if self.0.is_empty() {
            let mut one = Self::default();
            one.push(universes);
            return Ok(one);
        }
        let all = self.0.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count));
        if all == Some(universes) && !self.0.contains(&0) {
            Ok(self)
        } else {
            Err(unreadable("steps with other universes"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_scores_is_the_best() {
        assert_eq!(best(&[]), 0);
        assert_eq!(best(&[0.2, 0.5, 0.4, 0.5]), 2);
        assert_eq!(best(&[0.0, 0.0]), 1);
        assert_eq!(best(&[0.1, 0.2, 0.3]), 3);
    }

    #[test]
    fn steps_that_add_no_universe_do_not_count_as_age() {
        let mut added = AddedPerStep::default();
        assert_eq!(added.too_old(1, 1), 0, "no universes");
        [3, 0, 5, 0, 0, 2].into_iter().for_each(|universes| added.push(universes));
        assert_eq!(added, AddedPerStep(vec![3, 5, 2]));
        assert_eq!([1, 2, 3, 4].map(|steps| added.too_old(steps, 0)), [8, 3, 0, 0]);
        assert_eq!([1, 2, 3, 4].map(|steps| added.too_old(steps, 1)), [10, 8, 3, 0]);
    }

    #[test]
    fn saved_counts_must_add_up_to_the_universes() {
        let checked = |steps: &[usize], universes: usize| AddedPerStep(steps.to_vec()).checked(universes);
        assert_eq!(checked(&[3, 5], 8).expect("they are 8"), AddedPerStep(vec![3, 5]));
        assert_eq!(checked(&[], 8).expect("of an earlier version"), AddedPerStep(vec![8]));
        assert_eq!(checked(&[], 0).expect("there are none"), AddedPerStep::default());
        for damaged in [&[3, 4][..], &[3, 0, 5], &[usize::MAX, 9]] {
            let error = checked(damaged, 8).expect_err("damage").to_string();
            assert!(error.contains("other universes"), "{error}");
        }
    }
}
