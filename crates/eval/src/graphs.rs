//! Predicted graphs beside true ones: how many facts are right, whether probabilities mean what they say, and how far predictions
//! move away from the last known graph.

use std::collections::BTreeSet;

use quadcast_core::{Quad, Triple};
use serde::Serialize;

/// Upper ends of the ranges of probabilities in which predictions are counted together: most facts are rare.
const RANGES: [f64; 8] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0];

/// A predicted graph beside the true one of its step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphScore {
    /// Distinct facts of the true graph.
    pub true_facts: usize,
    /// Predicted facts that are compared: the likeliest ones, as many as there are true ones, or all if there are fewer.
    pub predicted: usize,
    /// How many of these are true.
    pub right: usize,
    /// Share of these that are true.
    pub precision: f64,
    /// Share of the true facts that are among these.
    pub recall: f64,
    /// Harmonic mean of both.
    pub f1: f64,
    /// The same of the last known graph, taken as a prediction.
    pub f1_of_last_known: f64,
    /// Jaccard similarity of these and the last known graph: facts of both, divided by facts of either.
    pub jaccard_last_known: f64,
    /// The same for the true graph.
    pub true_jaccard_last_known: f64,
}

/// Predictions of about the same probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProbabilityRange {
    /// Lower end.
    pub from: f64,
    /// Upper end, part of the range.
    pub to: f64,
    /// Number of predictions.
    pub facts: usize,
    /// Mean of their probabilities.
    pub predicted: f64,
    /// Share of them that came true.
    pub observed: f64,
}

/// The facts without their step, each once.
pub fn distinct(facts: impl IntoIterator<Item = Quad>) -> BTreeSet<Triple> {
    facts.into_iter().map(Quad::triple).collect()
}

/// Compares predictions, likeliest first and each once, with the true graph of their step and the last known one.
pub fn score_graph(predicted: &[Triple], truth: &BTreeSet<Triple>, last: &BTreeSet<Triple>) -> GraphScore {
    let predicted: BTreeSet<Triple> = predicted.iter().take(truth.len()).copied().collect();
    let right = predicted.intersection(truth).count();
    let share = |part: usize, of: usize| if of == 0 { 0.0 } else { part as f64 / of as f64 };
    // 2·right / (predicted + true) is the harmonic mean of precision and recall.
    let f1 =
        |graph: &BTreeSet<Triple>| share(2 * graph.intersection(truth).count(), graph.len() + truth.len());
    let jaccard =
        |graph: &BTreeSet<Triple>| share(graph.intersection(last).count(), graph.union(last).count());
    GraphScore {
        true_facts: truth.len(),
        predicted: predicted.len(),
        right,
        precision: share(right, predicted.len()),
        recall: share(right, truth.len()),
        f1: f1(&predicted),
        f1_of_last_known: f1(last),
        jaccard_last_known: jaccard(&predicted),
        true_jaccard_last_known: jaccard(truth),
    }
}

/// Counts predictions by probability, given with whether they came true. Ranges without predictions are left out.
pub fn calibration(predictions: &[(f64, bool)]) -> Vec<ProbabilityRange> {
    let mut from = 0.0;
    let mut ranges = Vec::new();
    for to in RANGES {
        let is_first = from == 0.0;
        let own = predictions.iter().filter(|(p, _)| *p <= to && (*p > from || is_first));
        let (mut facts, mut sum, mut right) = (0, 0.0, 0_usize);
        for &(probability, came_true) in own {
            facts += 1;
            sum += probability;
            right += usize::from(came_true);
        }
        if facts > 0 {
            let count = facts as f64;
            let (predicted, observed) = (sum / count, right as f64 / count);
            ranges.push(ProbabilityRange { from, to, facts, predicted, observed });
        }
        from = to;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(facts: &[(u32, u32, u32)]) -> Vec<Triple> {
        facts.iter().map(|&(s, r, o)| Quad::new(s, r, o, 0).triple()).collect()
    }

    #[test]
    fn facts_are_compared_at_the_size_of_the_true_graph() {
        let truth: BTreeSet<Triple> = graph(&[(0, 0, 1), (1, 0, 2), (2, 0, 3)]).into_iter().collect();
        let last: BTreeSet<Triple> = graph(&[(0, 0, 1), (5, 0, 6)]).into_iter().collect();
        // The fourth prediction would be right, but there are three true facts.
        let predicted = graph(&[(0, 0, 1), (5, 0, 6), (1, 0, 2), (2, 0, 3)]);
        let score = score_graph(&predicted, &truth, &last);
        assert_eq!((score.true_facts, score.predicted, score.right), (3, 3, 2));
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(score.precision, 2.0 / 3.0);
        close(score.f1, 2.0 / 3.0);
        close(score.f1_of_last_known, 2.0 / 5.0);
        close(score.jaccard_last_known, 2.0 / 3.0);
        close(score.true_jaccard_last_known, 1.0 / 4.0);
        let few = score_graph(&predicted[..1], &truth, &last);
        close(few.precision, 1.0);
        close(few.recall, 1.0 / 3.0);
        close(few.f1, 0.5);
        let none = score_graph(&[], &truth, &BTreeSet::new());
        assert_eq!((none.precision, none.f1, none.jaccard_last_known), (0.0, 0.0, 0.0));
    }

    #[test]
    fn probabilities_are_counted_in_ranges() {
        let ranges = calibration(&[(0.0, false), (0.01, true), (0.3, true), (0.35, false), (1.0, true)]);
        let range =
            |from, to, facts, predicted, observed| ProbabilityRange { from, to, facts, predicted, observed };
        assert_eq!(ranges.len(), 3);
        assert_eq!(ranges[0], range(0.0, 0.01, 2, 0.005, 0.5));
        assert_eq!((ranges[1].facts, ranges[1].observed), (2, 0.5));
        assert_eq!(ranges[2], range(0.7, 1.0, 1, 1.0, 1.0));
    }
}
