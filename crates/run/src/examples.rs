//! Examples of triple classification: a threshold is chosen on some, others are judged.

use quadcast_analysis::{PublishedNegatives, draw_examples, draw_published_examples};
use quadcast_core::{EvolvingDataset, EvolvingStep, Procedure, Triple};
use quadcast_eval::evolving::StepExamples;

/// The seed of examples that the data does not bring: they belong to the data, so it is the same for all runs.
const SEED: u64 = 1;

/// Those that the compiler prepared, or fresh ones.
pub(crate) fn fair(data: &EvolvingDataset) -> Vec<StepExamples> {
    let choose = |(step, [valid, test]): (&EvolvingStep, [Vec<(Triple, bool)>; 2])| {
        if step.classification_valid.is_empty() {
            StepExamples { valid, test }
        } else {
            StepExamples { valid: step.classification_valid.clone(), test: step.classification.clone() }
        }
    };
    data.steps.iter().zip(draw_examples(data, SEED)).map(choose).collect()
}

/// Those of the published results, whose threshold was chosen on the test examples themselves. Each procedure had its own
/// negatives; only the incremental one used the prepared file, where there is one.
pub(crate) fn published(data: &EvolvingDataset, procedure: Procedure) -> Vec<StepExamples> {
    let twice = |test: Vec<(Triple, bool)>| StepExamples { valid: test.clone(), test };
    let negatives = match procedure {
        Procedure::Static => PublishedNegatives::Untrained,
        Procedure::PseudoIncremental => PublishedNegatives::Any,
        Procedure::Incremental => {
            let choose = |(step, own): (&EvolvingStep, StepExamples)| {
                if step.classification.is_empty() { own } else { twice(step.classification.clone()) }
            };
            return data.steps.iter().zip(fair(data)).map(choose).collect();
        }
    };
    draw_published_examples(data, SEED, negatives).into_iter().map(twice).collect()
}
