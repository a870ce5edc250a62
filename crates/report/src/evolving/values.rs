//! What tables show about a step, and about all steps together: link prediction, and whether triples are true.

use quadcast_core::CategoryKind;
use quadcast_eval::evolving::{
    Classification, EvolvingOutcome, LinkOutcome, Mean, NegativeClassification, StepResult,
};
use quadcast_eval::{Metrics, Part};

use crate::counted;
use crate::tables::Cell;

/// How steps are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Averaging {
    /// Each step counts alike.
    Steps,
    /// Each question counts alike.
    Questions,
}

impl Averaging {
    /// The means of a run that deserve a row: with one step they are all the same.
    pub fn of(outcome: &EvolvingOutcome) -> &'static [Self] {
        if outcome.steps.len() > 1 { &[Self::Steps, Self::Questions] } else { &[] }
    }

    pub const fn title(self) -> &'static str {
        match self {
            Self::Steps => "mean of steps",
            Self::Questions => "all queries",
        }
    }

    fn choose<T: Copy>(self, mean: &Mean<T>) -> T {
        match self {
            Self::Steps => mean.by_step,
            Self::Questions => mean.by_question,
        }
    }

    /// The mean of values that have so many questions each; `None` without any.
    fn mean(self, values: impl Iterator<Item = (u64, f64)>) -> Option<f64> {
        let (mut sum, mut all) = (0.0, 0.0);
        for (questions, value) in values {
            let weight = match self {
                Self::Steps => 1.0,
                Self::Questions => questions as f64,
            };
            sum += weight * value;
            all += weight;
        }
        (all > 0.0).then(|| sum / all)
    }
}

/// Heads of link prediction, and what they mean.
pub(super) const LINK_HEADS: [(&str, &str); 9] = [
    ("MRR", "mean reciprocal rank, filtered"),
    ("H@1", "filtered"),
    ("H@3", "filtered"),
    ("H@10", "filtered"),
    ("MR", "mean rank, filtered"),
    ("raw MRR", "mean reciprocal rank among all candidates"),
    ("raw H@10", "among all candidates"),
    ("raw MR", "mean rank among all candidates"),
    ("not scored", "queries whose correct answer the model did not score; it is ranked last"),
];

/// Link prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LinkValues {
    /// Other true answers left out.
    pub filtered: Option<Metrics>,
    /// All candidates.
    pub raw: Option<Metrics>,
    /// Share of queries whose correct answer the model did not score.
    pub unreached: Option<f64>,
}

impl LinkValues {
    /// At one step.
    pub fn of(step: &StepResult) -> Self {
        let link = step.link.as_ref();
        Self {
            filtered: link.map(|link| link.filtered.metrics),
            raw: link.map(|link| link.raw.metrics),
            unreached: link.map(|link| link.unreached),
        }
    }

    /// Over the steps that have test triples.
    pub fn mean(outcome: &EvolvingOutcome, averaging: Averaging) -> Self {
        let links = || outcome.steps.iter().filter_map(|step| step.link.as_ref());
        let asked = |mean: &Mean<Metrics>| links().next().map(|_| averaging.choose(mean));
        let unreached = |link: &LinkOutcome| (link.filtered.queries, link.unreached);
        Self {
            filtered: asked(&outcome.filtered),
            raw: asked(&outcome.raw),
            unreached: averaging.mean(links().map(unreached)),
        }
    }

    /// In the order of the heads.
    pub fn cells(&self) -> [Cell; 9] {
        let Self { filtered, raw, unreached } = *self;
        let rank = |metrics: Option<Metrics>| {
            metrics.map_or_else(Cell::absent, |Metrics { mr, .. }| Cell::number(mr, format!("{mr:.0}")))
        };
        [
            Cell::percent(filtered.map(|metrics| metrics.mrr)),
            Cell::percent(filtered.map(|metrics| metrics.hits1)),
            Cell::percent(filtered.map(|metrics| metrics.hits3)),
            Cell::percent(filtered.map(|metrics| metrics.hits10)),
            rank(filtered),
            Cell::percent(raw.map(|metrics| metrics.mrr)),
            Cell::percent(raw.map(|metrics| metrics.hits10)),
            rank(raw),
            Cell::percent(unreached),
        ]
    }
}

/// Queries, MRR and H@10 for facts that came with a step, and for older ones.
pub(super) fn age_cells(step: &StepResult) -> Vec<Cell> {
    let cells = |part: Option<Part>| {
        let queries = part.map_or_else(Cell::absent, |p| Cell::number(p.queries as f64, counted(p.queries)));
        let metrics = part.map(|part| part.metrics);
        [queries, Cell::percent(metrics.map(|m| m.mrr)), Cell::percent(metrics.map(|m| m.hits10))]
    };
    [cells(step.new_facts()), cells(step.old_facts())].concat()
}

/// Heads of triple classification, and what they mean.
pub(crate) const TRIPLE_HEADS: [(&str, &str); 8] = [
    ("accuracy", "of triple classification"),
    ("by relation", "accuracy with a threshold per relation"),
    ("AUC", "how often a true triple has the lower energy than a false one"),
    ("covered", "examples about which the model does not abstain"),
    ("deleted", "accuracy for deleted triples"),
    ("returned", "accuracy for triples that were inserted again"),
    ("deleted twice", "accuracy for triples that were inserted again and deleted again"),
    ("balanced", "mean accuracy for deleted and for returned triples; 50 = chance"),
];

/// Whether triples are true: shares of right answers, AUC and coverage, in the order of the heads.
pub(crate) type TripleValues = [Option<f64>; 8];

/// At one step.
pub(crate) fn triples_at(step: &StepResult) -> TripleValues {
    let (own, negative) = (step.classification.as_ref(), step.negative.as_ref());
    let [deleted, returned, deleted_twice] =
        CategoryKind::ALL.map(|kind| negative.and_then(|negative| negative.of(kind).accuracy()));
    [
        own.map(|c| c.accuracy),
        own.map(|c| c.accuracy_by_relation),
        own.map(|c| c.auc),
        own.map(|c| c.coverage),
        deleted,
        returned,
        deleted_twice,
        negative.and_then(NegativeClassification::balanced),
    ]
}

/// Over the steps that have examples. Energies of different steps have no order in common, so that all examples together have no
/// AUC.
pub(super) fn triples_mean(outcome: &EvolvingOutcome, averaging: Averaging) -> TripleValues {
    let own = |value: fn(&Classification) -> f64| {
        let classified = outcome.steps.iter().filter_map(|step| step.classification.as_ref());
        averaging.mean(classified.map(|c| (c.counts.examples(), value(c))))
    };
    let [deleted, returned, deleted_twice] =
        CategoryKind::ALL.map(|kind| outcome.negative.get(&kind.number()).map(|mean| averaging.choose(mean)));
    [
        outcome.classification.as_ref().map(|mean| averaging.choose(mean)),
        own(|c| c.accuracy_by_relation),
        (averaging == Averaging::Steps).then(|| own(|c| c.auc)).flatten(),
        own(|c| c.coverage),
        deleted,
        returned,
        deleted_twice,
        balanced(outcome, averaging),
    ]
}

/// The balanced score is no share of questions: for all of them together, the answers are put together first.
fn balanced(outcome: &EvolvingOutcome, averaging: Averaging) -> Option<f64> {
    let negatives = || outcome.steps.iter().filter_map(|step| step.negative.as_ref());
    match averaging {
        Averaging::Steps => {
            averaging.mean(negatives().filter_map(NegativeClassification::balanced).map(|share| (1, share)))
        }
        Averaging::Questions => {
            let categories = negatives().flat_map(|negative| negative.categories.iter().copied()).collect();
            NegativeClassification { categories }.balanced()
        }
    }
}

#[cfg(test)]
mod tests {
    use quadcast_core::Split;
    use quadcast_eval::evolving::{CategoryOutcome, Counts};

    use super::*;
    use crate::samples::changing;

    #[test]
    fn questions_weigh_what_steps_do_not() {
        let outcome = changing("transe", 20, 1).record.evolving.expect("results");
        let [steps, questions] = [Averaging::Steps, Averaging::Questions].map(|a| {
            let [accuracy, by_relation, auc, covered, ..] = triples_mean(&outcome, a);
            [accuracy, by_relation, auc, covered]
        });
        // 10 examples of which 60 per cent are right, 30 of which 80 per cent are.
        assert_eq!(steps[0], Some(0.7));
        assert!((steps[1].expect("examples") - 0.7).abs() < 1e-12);
        assert_eq!(questions[0], Some(0.75));
        assert!((questions[1].expect("examples") - 0.75).abs() < 1e-12);
        assert_eq!((questions[2], questions[3]), (None, Some(1.0)));
    }

    #[test]
    fn balanced_scores_are_pooled_by_their_answers() {
        let mut outcome = changing("transe", 20, 1).record.evolving.expect("results");
        let category = |category, [tp, tn, fp, fnn]: [u64; 4]| CategoryOutcome {
            category,
            split: Split::Train,
            counts: Counts {
                true_positives: tp,
                true_negatives: tn,
                false_positives: fp,
                false_negatives: fnn,
            },
        };
        let negative =
            |gone, back| NegativeClassification { categories: vec![category(2, gone), category(3, back)] };
        // 1 of 2 gone and 1 of 1 back: 75 per cent. 9 of 10 gone and 0 of 1 back: 45 per cent.
        outcome.steps[0].negative = Some(negative([0, 1, 1, 0], [1, 0, 0, 0]));
        outcome.steps[1].negative = Some(negative([0, 9, 1, 0], [0, 0, 0, 1]));
        let mean = |averaging| triples_mean(&outcome, averaging)[7].expect("both kinds");
        assert!((mean(Averaging::Steps) - 0.6).abs() < 1e-12);
        assert!((mean(Averaging::Questions) - f64::midpoint(10.0 / 12.0, 0.5)).abs() < 1e-12);
    }

    #[test]
    fn steps_without_questions_do_not_count() {
        let mut outcome = changing("transe", 20, 1).record.evolving.expect("results");
        outcome.steps[0].link.as_mut().expect("links").unreached = 0.5;
        outcome.steps[1].link = None;
        for averaging in [Averaging::Steps, Averaging::Questions] {
            assert_eq!(LinkValues::mean(&outcome, averaging).unreached, Some(0.5));
        }
        outcome.steps[0].link = None;
        assert_eq!(LinkValues::mean(&outcome, Averaging::Questions), LinkValues::default());
    }
}
