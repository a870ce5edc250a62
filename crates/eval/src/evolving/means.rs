//! Means over steps.

use serde::{Deserialize, Serialize};

use super::Counts;
use crate::Metrics;

/// A number averaged over steps: each step alike, and each question alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mean<T> {
    /// Each step counts alike.
    #[serde(rename = "macro")]
    pub by_step: T,
    /// Each question counts alike.
    #[serde(rename = "micro")]
    pub by_question: T,
}

/// The mean of metrics with weights.
pub(super) fn mean_metrics(weighted: impl Iterator<Item = (f64, Metrics)>) -> Metrics {
    let mut sum = Metrics::default();
    let mut all = 0.0;
    for (weight, metrics) in weighted {
        all += weight;
        sum.mrr += weight * metrics.mrr;
        sum.hits1 += weight * metrics.hits1;
        sum.hits3 += weight * metrics.hits3;
        sum.hits10 += weight * metrics.hits10;
        sum.mr += weight * metrics.mr;
    }
    let share = |x: f64| if all > 0.0 { x / all } else { 0.0 };
    Metrics {
        mrr: share(sum.mrr),
        hits1: share(sum.hits1),
        hits3: share(sum.hits3),
        hits10: share(sum.hits10),
        mr: share(sum.mr),
    }
}

/// The share of right answers; sets without examples do not count as steps.
pub(super) fn accuracies(counts: &[Counts]) -> Option<Mean<f64>> {
    let each: Vec<f64> = counts.iter().filter_map(Counts::accuracy).collect();
    let mut all = Counts::default();
    for own in counts {
        all.merge(own);
    }
    Some(Mean { by_step: mean(&each)?, by_question: all.accuracy()? })
}

/// `None` without any.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// True positives, true negatives, false positives, false negatives.
    fn counts([tp, tn, fp, fnn]: [u64; 4]) -> Counts {
        Counts { true_positives: tp, true_negatives: tn, false_positives: fp, false_negatives: fnn }
    }

    /// Whether accuracies in per cent are those of a published row: by step, pooled, and their mean.
    fn assert_published(outcomes: &[[u64; 4]], by_step: &[f64], pooled: f64, mean: f64) {
        let counts: Vec<Counts> = outcomes.iter().copied().map(counts).collect();
        let near = |found: f64, printed: f64| (100.0 * found - printed).abs() <= 0.01;
        for (own, &printed) in counts.iter().zip(by_step) {
            assert!(near(own.accuracy().unwrap(), printed), "{own:?} {printed}");
        }
        let found = accuracies(&counts).unwrap();
        assert!(near(found.by_question, pooled) && near(found.by_step, mean), "{found:?} {pooled} {mean}");
    }

    #[test]
    fn accuracies_follow_from_published_outcomes() {
        // Lafraie (2020), tables 14 and 10: PuTransE, TransE pseudo-incremental, TransE static.
        let universes =
            [[472, 5849, 151, 5528], [469, 5826, 174, 5531], [571, 5754, 246, 5429], [591, 5712, 288, 5409]];
        assert_published(&universes, &[52.68, 52.46, 52.71, 52.53], 52.59, 52.59);
        let pseudo =
            [[5710, 5425, 575, 290], [5416, 5469, 531, 584], [5358, 5503, 497, 642], [5452, 5475, 525, 548]];
        assert_published(&pseudo, &[92.79, 90.71, 90.51, 91.06], 91.27, 91.27);
        let fresh =
            [[5690, 5476, 524, 310], [5794, 5583, 417, 206], [5820, 5636, 364, 180], [5782, 5691, 309, 218]];
        assert_published(&fresh, &[93.05, 94.81, 95.47, 95.61], 94.73, 94.73);
        // Tables 15 and 11: deleted, returned and deleted again, at the steps that have any.
        let deleted = [[0, 6666, 1333, 0], [0, 16_773, 2158, 0], [0, 32_409, 4611, 0]];
        assert_published(&deleted, &[83.34, 88.60, 87.54], 87.33, 86.49);
        assert_published(&[[87, 0, 0, 408], [221, 0, 0, 1866]], &[17.58, 10.59], 11.92, 14.08);
        assert_published(&[[0, 106, 29, 0]], &[78.52], 78.52, 78.52);
    }

    #[test]
    fn weights_count() {
        let metrics = |mr| Metrics { mr, ..Metrics::default() };
        assert_eq!(mean_metrics([(1.0, metrics(2.0)), (3.0, metrics(6.0))].into_iter()).mr, 5.0);
        assert_eq!(mean_metrics(std::iter::empty()), Metrics::default());
    }
}
