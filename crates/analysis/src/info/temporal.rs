//! Statistics of facts with time stamps.

use quadcast_core::{Dataset, Quad, Splits, Step, Triple};
use serde::Serialize;

use super::answers::Answers;
use super::completion::CompletionInfo;
use super::counting::{Ids, Novelty, SharedBySplits, self_loops};
use super::recurrency::{Recurrency, duplicates, shared_quadruples, sorted_rows};
use super::time::TimeInfo;

/// How the splits lie in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitOrder {
    /// Train before valid before test: a forecasting dataset.
    Ordered,
    /// As ordered, but neighbouring splits share a time stamp at their border.
    SharedBorder,
    /// Splits reach into each other: a completion dataset.
    Interleaved,
}

/// Facts at one time stamp, all splits together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FactsPerTimeStamp {
    /// Mean over time stamps that occur.
    pub mean: f64,
    /// Smallest.
    pub min: usize,
    /// Largest.
    pub max: usize,
}

/// Statistics of facts with time stamps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TemporalInfo {
    /// Facts per split, duplicates included.
    pub facts: Splits<usize>,
    /// Rows that repeat an earlier row of the same split.
    pub duplicates: Splits<usize>,
    /// Facts whose subject is their object.
    pub self_loops: Splits<usize>,
    /// Distinct quadruples that stand in two splits.
    pub shared_quadruples: SharedBySplits<usize>,
    /// The time axis.
    pub time: TimeInfo,
    /// Time stamps per split.
    pub time_stamps: Splits<usize>,
    /// Time stamps that occur in two splits; in words where the splits only touch, counted otherwise.
    pub shared_time_stamps: SharedBySplits<usize>,
    /// The first of the shared time stamps, in words.
    pub shared_time_stamp_examples: SharedBySplits<Vec<String>>,
    /// How the splits lie in time.
    pub split_order: SplitOrder,
    /// Facts per time stamp.
    pub facts_per_time_stamp: FactsPerTimeStamp,
    /// Entities that the test split brings.
    pub entity_novelty: Novelty,
    /// Relations that the test split brings.
    pub relation_novelty: Novelty,
    /// Recurrency of the test split, row by row.
    pub recurrency: Recurrency,
    /// The same with repeated test rows counted once.
    pub recurrency_without_duplicates: Recurrency,
    /// Mean true answers per test query.
    pub answers: Answers,
    /// What train gives away, where the splits interleave in time.
    pub completion: Option<CompletionInfo>,
}

/// How many shared time stamps are named.
const EXAMPLES: usize = 3;

impl TemporalInfo {
    /// Computes everything; also returns the id spaces, which belong to the general part.
    pub(super) fn of(data: &Dataset) -> (Self, Ids) {
        let triples: Splits<Vec<Triple>> = data.splits.map(|facts| facts.iter().map(Quad::triple).collect());
        let ids = Ids::of(&data.vocabulary, &triples);
        let rows = sorted_rows(data);
        let shared = shared_steps(data);
        let order = split_order(data);
        let name =
            |steps: &Vec<Step>| steps.iter().take(EXAMPLES).map(|&step| data.axis.label(step)).collect();
        let info = Self {
            facts: data.splits.map(quadcast_core::Facts::len),
            duplicates: duplicates(&rows),
            self_loops: triples.map(|triples| self_loops(triples)),
            shared_quadruples: shared_quadruples(&rows),
            time: TimeInfo::of(data),
            time_stamps: data.splits.map(|facts| facts.occupied().count()),
            shared_time_stamps: map_shared(&shared, Vec::len),
            shared_time_stamp_examples: map_shared(&shared, name),
            split_order: order,
            facts_per_time_stamp: facts_per_time_stamp(data),
            entity_novelty: ids.entity_novelty.clone(),
            relation_novelty: ids.relation_novelty.clone(),
            recurrency: Recurrency::of(&rows, false),
            recurrency_without_duplicates: Recurrency::of(&rows, true),
            answers: Answers::of(&rows),
            completion: (order == SplitOrder::Interleaved).then(|| CompletionInfo::of(data)),
        };
        (info, ids)
    }
}

/// How the splits of a dataset lie in time. Empty splits are in nobody's way.
fn split_order(data: &Dataset) -> SplitOrder {
    let ranges = data.splits.map(|facts| facts.first_step().zip(facts.last_step()));
    let mut order = SplitOrder::Ordered;
    let mut latest: Option<Step> = None;
    for (first, last) in [ranges.train, ranges.valid, ranges.test].into_iter().flatten() {
        match latest {
            Some(before) if first < before => return SplitOrder::Interleaved,
            Some(before) if first == before => order = SplitOrder::SharedBorder,
            _ => {}
        }
        latest = Some(last);
    }
    order
}

/// Steps that occur in two splits.
fn shared_steps(data: &Dataset) -> SharedBySplits<Vec<Step>> {
    let common = |a: &quadcast_core::Facts, b: &quadcast_core::Facts| -> Vec<Step> {
        a.occupied().filter(|&step| !b.snapshot(step).is_empty()).collect()
    };
    let Splits { train, valid, test } = &data.splits;
    SharedBySplits {
        train_valid: common(train, valid),
        train_test: common(train, test),
        valid_test: common(valid, test),
    }
}

fn map_shared<T, U>(shared: &SharedBySplits<T>, f: impl Fn(&T) -> U) -> SharedBySplits<U> {
    SharedBySplits {
        train_valid: f(&shared.train_valid),
        train_test: f(&shared.train_test),
        valid_test: f(&shared.valid_test),
    }
}

fn facts_per_time_stamp(data: &Dataset) -> FactsPerTimeStamp {
    let size = |step| data.splits.iter().map(|(_, facts)| facts.snapshot(Step(step)).len()).sum::<usize>();
    let sizes: Vec<usize> = (0..data.axis.len() as u32).map(size).collect();
    let total: usize = sizes.iter().sum();
    match (sizes.iter().min(), sizes.iter().max()) {
        (Some(&min), Some(&max)) => FactsPerTimeStamp { mean: total as f64 / sizes.len() as f64, min, max },
        _ => FactsPerTimeStamp::default(),
    }
}
