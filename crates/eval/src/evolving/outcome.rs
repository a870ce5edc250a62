//! What is reported about a model of a changing graph.

use std::collections::BTreeMap;

use quadcast_core::{CategoryKind, Filter, LinkScore, Protocol, Step, TiePolicy};
use serde::{Deserialize, Serialize};

use super::{Classification, Counts, NegativeClassification, StepGraph, Unlearning};
use crate::outcome::parts;
use crate::{Counting, FilterOutcome, Metrics, Outcome, Part, RankedQuery, Unit};

/// How large a step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Training triples.
    pub train: usize,
    /// Training triples that came.
    pub inserted: usize,
    /// Training triples that went.
    pub deleted: usize,
    /// Test triples that are asked about.
    pub test: usize,
    /// Entities that are present.
    pub entities: usize,
    /// Relations that are present.
    pub relations: usize,
}

impl Sizes {
    pub(super) fn of(graph: &StepGraph) -> Self {
        Self {
            train: graph.train.len(),
            inserted: graph.inserted.len(),
            deleted: graph.deleted.len(),
            test: graph.test.len(),
            entities: graph.present.len(),
            relations: graph.relations.len(),
        }
    }
}

/// Time spent on a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Training and validation.
    pub train: f64,
    /// Evaluation.
    pub evaluate: f64,
}

/// Link prediction for the triples that were first inserted at one step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgeOutcome {
    /// When they came.
    pub born: Step,
    /// Filtered metrics.
    #[serde(flatten)]
    pub part: Part,
}

/// Link prediction at one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkOutcome {
    /// Other answers that are true at the step are left out.
    pub filtered: FilterOutcome,
    /// Other answers that were true at the step or before are left out.
    pub ever: FilterOutcome,
    /// All candidates stay.
    pub raw: FilterOutcome,
    /// Candidates.
    pub candidates: usize,
    /// The filtered mean rank over the mean rank at chance level: comparable over steps of different size.
    pub adjusted_mean_rank: f64,
    /// Share of queries whose answer the model has nothing to say about; they count as last.
    pub unreached: f64,
    /// By the step at which the triple was first inserted.
    pub by_age: Vec<AgeOutcome>,
}

impl LinkOutcome {
    pub(super) fn new(
        graph: &StepGraph,
        ranked: &[RankedQuery],
        candidates: usize,
        protocol: &Protocol,
        seed: u64,
    ) -> Option<Self> {
        let ties = protocol.ties;
        // A single step has no intervals over steps; those over facts are made for all steps together.
        let outcome = Outcome::by_unit(ranked, candidates + 1, (ties, Unit::Step), seed)?;
        let [filtered, ever, raw] = outcome.filters;
        let born: BTreeMap<_, _> = graph.test.iter().copied().zip(graph.born.iter().copied()).collect();
        let counting = Counting::new(candidates + 1, ties, seed);
        let age = |query: &RankedQuery| {
            born.get(&query.query.fact(query.gold, query.query.step).triple()).copied().unwrap_or(graph.step)
        };
        let by_age = parts(counting.group(ranked, Filter::Time, age)).into_iter();
        Some(Self {
            adjusted_mean_rank: filtered.metrics.mr / f64::midpoint(candidates as f64, 1.0),
            by_age: by_age.map(|(born, part)| AgeOutcome { born, part }).collect(),
            filtered,
            ever,
            raw,
            candidates,
            unreached: outcome.unreached,
        })
    }

    /// Whether these results are those of these ranks, in a graph with so many entities.
    pub(super) fn follows_from(
        &self,
        ranked: &[RankedQuery],
        entities: usize,
        ties: TiePolicy,
        seed: u64,
    ) -> bool {
        // Ranks are known to be possible in this graph; what the results say of the candidates is not to be relied upon.
        let outcome = Outcome::by_unit(ranked, entities + 1, (ties, Unit::Step), seed);
        let same = |outcome: Outcome| outcome.filters.iter().eq([&self.filtered, &self.ever, &self.raw]);
        self.candidates <= entities && outcome.is_some_and(same)
    }

    /// The triples of some ages together, by the step that they came with; `None` if there are none.
    fn of_ages(&self, ages: impl Fn(Step) -> bool) -> Option<Part> {
        let parts: Vec<&Part> =
            self.by_age.iter().filter(|age| ages(age.born)).map(|age| &age.part).collect();
        let queries = parts.iter().map(|part| part.queries).sum();
        let weighted = parts.iter().map(|part| (part.queries as f64, part.metrics));
        (queries > 0).then(|| Part { queries, metrics: mean_metrics(weighted) })
    }
}

/// How the model after one step does on the test triples of another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// The step that is asked about.
    pub step: Step,
    /// Filtered, among the entities of that step.
    #[serde(flatten)]
    pub score: LinkScore,
}

/// How a model did on a step right after it had learned it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// The step.
    pub step: Step,
    /// Filtered H@10 on its test triples.
    #[serde(rename = "hits@10")]
    pub hits10: f64,
}

/// Everything about one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    /// The step, from 0.
    pub step: Step,
    /// Its name in the source.
    pub label: String,
    /// How large it is.
    pub sizes: Sizes,
    /// Link prediction, if there are test triples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkOutcome>,
    /// Triple classification, if there are examples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classification: Option<Classification>,
    /// Classification of triples that were true once, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negative: Option<NegativeClassification>,
    /// How plausible deleted triples stay, if any went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlearning: Option<Unlearning>,
    /// Earlier steps and the next one.
    pub transfer: Vec<Transfer>,
    /// Time spent.
    pub seconds: Seconds,
}

impl StepResult {
    /// Link prediction for triples that came with this step.
    pub fn new_facts(&self) -> Option<Part> {
        self.link.as_ref()?.of_ages(|born| born == self.step)
    }

    /// How the model does on the step that it has just learned, if there are test triples.
    pub fn learned(&self) -> Option<Learned> {
        Some(Learned { step: self.step, hits10: self.link.as_ref()?.filtered.metrics.hits10 })
    }

    /// Link prediction for triples that came with an earlier step, also if they had gone in between.
    pub fn old_facts(&self) -> Option<Part> {
        self.link.as_ref()?.of_ages(|born| born < self.step)
    }
}

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

/// Everything about one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvolvingOutcome {
    /// Step by step.
    pub steps: Vec<StepResult>,
    /// Link prediction, other answers that are true at the step left out.
    pub filtered: Mean<Metrics>,
    /// Link prediction, all candidates.
    pub raw: Mean<Metrics>,
    /// Accuracy of triple classification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classification: Option<Mean<f64>>,
    /// Accuracy by category of triples that were true once: 2 deleted, 3 returned, 4 deleted again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub negative: BTreeMap<u8, Mean<f64>>,
    /// Mean change of filtered H@10 on earlier steps since they were learned; negative is forgetting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backward_transfer: Option<f64>,
    /// Mean filtered H@10 on the next step before it is learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forward_transfer: Option<f64>,
}

impl EvolvingOutcome {
    /// Averages over the steps. What is known of steps before them is in `earlier`.
    pub fn new(steps: Vec<StepResult>, earlier: &[Learned]) -> Self {
        let classified: Vec<Counts> =
            steps.iter().filter_map(|s| Some(s.classification.as_ref()?.counts)).collect();
        let negative = CategoryKind::ALL.into_iter().filter_map(|kind| {
            let counts = steps.iter().filter_map(|s| Some(s.negative.as_ref()?.of(kind)));
            Some((kind.number(), accuracies(&counts.filter(|c| c.examples() > 0).collect::<Vec<_>>())?))
        });
        Self {
            filtered: metrics(&steps, |link| &link.filtered),
            raw: metrics(&steps, |link| &link.raw),
            classification: accuracies(&classified),
            negative: negative.collect(),
            backward_transfer: backward(&steps, earlier),
            forward_transfer: forward(&steps),
            steps,
        }
    }
}

/// Over the steps that have test triples.
fn metrics(steps: &[StepResult], filter: impl Fn(&LinkOutcome) -> &FilterOutcome) -> Mean<Metrics> {
    let outcomes = || steps.iter().filter_map(|step| step.link.as_ref()).map(&filter);
    Mean {
        by_step: mean_metrics(outcomes().map(|outcome| (1.0, outcome.metrics))),
        by_question: mean_metrics(outcomes().map(|outcome| (outcome.queries as f64, outcome.metrics))),
    }
}

/// Over the steps before the last that were judged, as the last state sees them.
fn backward(steps: &[StepResult], earlier: &[Learned]) -> Option<f64> {
    let last = steps.last()?;
    let learned: Vec<Learned> =
        earlier.iter().copied().chain(steps.iter().filter_map(StepResult::learned)).collect();
    let changes = last.transfer.iter().filter(|transfer| transfer.step < last.step).filter_map(|transfer| {
        let then = learned.iter().find(|learned| learned.step == transfer.step)?;
        Some(transfer.score.hits10 - then.hits10)
    });
    mean(&changes.collect::<Vec<_>>())
}

fn forward(steps: &[StepResult]) -> Option<f64> {
    let ahead = steps.iter().flat_map(|step| step.transfer.iter().filter(|t| t.step > step.step));
    mean(&ahead.map(|transfer| transfer.score.hits10).collect::<Vec<_>>())
}

/// The mean of metrics with weights; all zero without any.
fn mean_metrics(weighted: impl Iterator<Item = (f64, Metrics)>) -> Metrics {
    let (mut sums, mut all) = ([0.0; 5], 0.0);
    for (weight, metrics) in weighted {
        all += weight;
        sums.iter_mut().zip(<[f64; 5]>::from(metrics)).for_each(|(sum, value)| *sum += weight * value);
    }
    sums.map(|sum| if all > 0.0 { sum / all } else { 0.0 }).into()
}

/// The share of right answers; sets without examples do not count as steps.
fn accuracies(counts: &[Counts]) -> Option<Mean<f64>> {
    let each: Vec<f64> = counts.iter().filter_map(Counts::accuracy).collect();
    let all: Counts = counts.iter().copied().sum();
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
