//! Statistics of facts with time stamps, and the time axis in numbers and words.

use std::collections::BTreeMap;

use quadcast_core::{Dataset, Facts, Quad, Splits, Step, TimeUnit, Triple};
use serde::Serialize;

use super::Details;
use super::counting::{IdSpace, Novelties, SharedBySplits, count_ids, self_loops};
use super::recurrency::{Answers, CompletionInfo, Recurrency, duplicates, shared_quadruples, sorted_facts};

/// How many shared time stamps are named.
const EXAMPLES: usize = 3;

/// How many gaps are listed one by one; the widths of all are counted.
const LISTED_GAPS: usize = 10;

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
    /// Ids that the test split brings.
    #[serde(flatten)]
    pub novelty: Novelties,
    /// Recurrency of the test split, row by row.
    pub recurrency: Recurrency,
    /// The same with repeated test rows counted once.
    pub recurrency_without_duplicates: Recurrency,
    /// Mean true answers per test query.
    pub answers: Answers,
    /// What train gives away, where the splits interleave in time.
    pub completion: Option<CompletionInfo>,
}

impl TemporalInfo {
    /// Computes everything; also returns the id spaces, which belong to the general part.
    pub(super) fn of(data: &Dataset) -> (Details, [IdSpace; 2]) {
        let triples: Splits<Vec<Triple>> = data.splits.map(|facts| facts.iter().map(Quad::triple).collect());
        let (ids, novelty) = count_ids(&data.vocabulary, &triples);
        let facts = sorted_facts(data);
        let order = split_order(data);
        let shared_steps = |a: &Facts, b: &Facts| -> Vec<Step> {
            a.occupied().filter(|&step| !b.snapshot(step).is_empty()).collect()
        };
        let examples = |a: &Facts, b: &Facts| {
            shared_steps(a, b).iter().take(EXAMPLES).map(|&step| data.axis.label(step)).collect()
        };
        let info = Self {
            facts: data.splits.map(Facts::len),
            duplicates: duplicates(&facts),
            self_loops: triples.map(|triples| self_loops(triples)),
            shared_quadruples: shared_quadruples(&facts),
            time: TimeInfo::of(data),
            time_stamps: data.splits.map(|facts| facts.occupied().count()),
            shared_time_stamps: SharedBySplits::of(&data.splits, |a, b| shared_steps(a, b).len()),
            shared_time_stamp_examples: SharedBySplits::of(&data.splits, examples),
            split_order: order,
            facts_per_time_stamp: facts_per_time_stamp(data),
            novelty,
            recurrency: Recurrency::of(&facts, false),
            recurrency_without_duplicates: Recurrency::of(&facts, true),
            answers: Answers::of(&facts),
            completion: (order == SplitOrder::Interleaved).then(|| CompletionInfo::of(data)),
        };
        (Details::Temporal(Box::new(info)), ids)
    }
}

/// How the splits of a dataset lie in time. Empty splits do not matter.
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

fn facts_per_time_stamp(data: &Dataset) -> FactsPerTimeStamp {
    let size = |step| data.splits.iter().map(|(_, facts)| facts.snapshot(Step(step)).len()).sum::<usize>();
    let sizes: Vec<usize> = (0..data.axis.len() as u32).map(size).collect();
    let total: usize = sizes.iter().sum();
    match (sizes.iter().min(), sizes.iter().max()) {
        (Some(&min), Some(&max)) => FactsPerTimeStamp { mean: total as f64 / sizes.len() as f64, min, max },
        _ => FactsPerTimeStamp::default(),
    }
}

/// The time axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TimeInfo {
    /// Unit of the original time stamps.
    pub unit: TimeUnit,
    /// First time stamp in words.
    pub first: String,
    /// Last time stamp in words.
    pub last: String,
    /// First and last original time stamp.
    pub original: Option<[i64; 2]>,
    /// Number of time stamps that occur.
    pub steps: usize,
    /// Smallest raster that all time stamps lie on, in original units.
    pub granularity: i64,
    /// Neighbouring time stamps further apart than the raster.
    pub gaps: usize,
    /// How many gaps there are of each width.
    pub gap_widths: Vec<GapWidth>,
    /// The first gaps one by one.
    pub first_gaps: Vec<Gap>,
    /// First and last time stamp of each split.
    pub ranges: Splits<Option<SplitRange>>,
}

/// How often a gap of some width occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GapWidth {
    /// Distance of the two time stamps, in original units.
    pub width: i64,
    /// Number of gaps of this width.
    pub count: usize,
}

/// Two neighbouring time stamps further apart than the raster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The last time stamp before the gap.
    pub after: String,
    /// The first time stamp behind it.
    pub before: String,
    /// Their distance in original units.
    pub width: i64,
}

/// Where a split lies in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SplitRange {
    /// First time stamp in words.
    pub first: String,
    /// Last time stamp in words.
    pub last: String,
}

impl TimeInfo {
    pub(super) fn of(data: &Dataset) -> Self {
        let axis = &data.axis;
        let label =
            |time: Option<&i64>| time.map_or_else(|| "none".to_owned(), |&t| axis.calendar().label(t));
        let mut widths: BTreeMap<i64, usize> = BTreeMap::new();
        for (_, width) in axis.gaps() {
            *widths.entry(width * axis.granularity()).or_default() += 1;
        }
        let first_gaps = axis.gaps().take(LISTED_GAPS).map(|(step, width)| Gap {
            after: axis.label(step),
            before: axis.label(Step(step.0 + 1)),
            width: width * axis.granularity(),
        });
        Self {
            unit: axis.calendar().unit,
            first: label(axis.times().first()),
            last: label(axis.times().last()),
            original: axis.times().first().zip(axis.times().last()).map(|(&first, &last)| [first, last]),
            steps: axis.len(),
            granularity: axis.granularity(),
            gaps: widths.values().sum(),
            gap_widths: widths.into_iter().map(|(width, count)| GapWidth { width, count }).collect(),
            first_gaps: first_gaps.collect(),
            ranges: data.splits.map(|facts| {
                let (first, last) = facts.first_step().zip(facts.last_step())?;
                Some(SplitRange { first: axis.label(first), last: axis.label(last) })
            }),
        }
    }
}

/// A distance in time in words. Hours that make up whole days are days.
pub fn time_span(unit: TimeUnit, units: i64) -> String {
    let (number, unit) = match unit {
        TimeUnit::Hour if units % 24 == 0 => (units / 24, TimeUnit::Day),
        unit => (units, unit),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {}{plural}", unit.word())
}
