//! Looks at validation while a step grows, and under which names they and the universes between them are kept.

use quadcast_core::{ModelError, Run, Step};

use super::settings::unreadable;

/// After how many looks the score was highest.
pub(super) fn best(scores: &[f64]) -> usize {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter().position(|&score| score == highest).map_or(0, |place| place + 1)
}

pub(super) fn block_name(step: Step, block: usize) -> String {
    format!("universes-{}-{block}", step.0 + 1)
}

pub(super) fn scores_name(step: Step) -> String {
    format!("universes-{}.json", step.0 + 1)
}

pub(super) fn recall_scores(step: Step, run: &Run) -> Result<Vec<f64>, ModelError> {
    let Some(kept) = run.workshop.recall(&scores_name(step))? else { return Ok(Vec::new()) };
    serde_json::from_slice(&kept).map_err(unreadable)
}

pub(super) fn keep_scores(step: Step, scores: &[f64], run: &Run) -> Result<(), ModelError> {
    let text = serde_json::to_vec(scores).map_err(unreadable)?;
    run.workshop.keep(&scores_name(step), &[&text])
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
