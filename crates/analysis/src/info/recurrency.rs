//! What the test split repeats: triples seen before, facts of other splits, facts that train nearly contains, and how many
//! true answers a query has, the reason why filters matter.

use quadcast_core::{Dataset, Quad, Split, Splits, Step, Triple};
use rayon::slice::ParallelSliceMut;
use serde::Serialize;

use super::counting::{Share, SharedBySplits};
use crate::index::FactIndex;

/// A fact with its split, ordered by triple, then time, then split.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SplitFact {
    triple: Triple,
    step: Step,
    split: Split,
}

/// All facts of all splits, sorted.
pub(super) fn sorted_facts(data: &Dataset) -> Vec<SplitFact> {
    let total = Split::ALL.iter().map(|&split| data.splits.get(split).len()).sum();
    let mut rows = Vec::with_capacity(total);
    for (split, facts) in data.splits.iter() {
        rows.extend(facts.iter().map(|quad| SplitFact { triple: quad.triple(), step: quad.step, split }));
    }
    rows.par_sort_unstable();
    rows
}

/// How many test facts repeat a triple known from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Recurrency {
    /// Test facts that were looked at.
    pub test_facts: usize,
    /// The triple holds at an earlier time, in any split.
    pub earlier: Share,
    /// The triple holds at the immediately preceding existing time stamp, in any split.
    pub previous: Share,
    /// The triple is in train or valid, at any time.
    pub in_train_and_valid: Share,
    /// The triple is in train, at any time.
    pub in_train: Share,
}

impl Recurrency {
    /// Counts over sorted rows; with `distinct`, repeated test rows count once.
    pub(super) fn of(rows: &[SplitFact], distinct: bool) -> Self {
        let mut counts = [0_usize; 5];
        for group in rows.chunk_by(|a, b| a.triple == b.triple) {
            let in_train = group.iter().any(|row| row.split == Split::Train);
            let in_past_splits = in_train || group.iter().any(|row| row.split == Split::Valid);
            for (index, row) in group.iter().enumerate() {
                let repeats = index > 0 && group[index - 1] == *row;
                if row.split != Split::Test || (distinct && repeats) {
                    continue;
                }
                let earlier = group[0].step < row.step;
                let hits =
                    [true, earlier, earlier && holds_just_before(group, row.step), in_past_splits, in_train];
                for (count, hit) in counts.iter_mut().zip(hits) {
                    *count += usize::from(hit);
                }
            }
        }
        let [test_facts, earlier, previous, in_train_and_valid, in_train] = counts;
        let share = |count| Share::of(count, test_facts);
        Self {
            test_facts,
            earlier: share(earlier),
            previous: share(previous),
            in_train_and_valid: share(in_train_and_valid),
            in_train: share(in_train),
        }
    }
}

fn holds_just_before(group: &[SplitFact], step: Step) -> bool {
    group.binary_search_by_key(&(step.0 - 1), |row| row.step.0).is_ok()
}

/// Rows that repeat an earlier row of their split.
pub(super) fn duplicates(rows: &[SplitFact]) -> Splits<usize> {
    let mut counts = Splits::default();
    for pair in rows.windows(2).filter(|pair| pair[0] == pair[1]) {
        match pair[0].split {
            Split::Train => counts.train += 1,
            Split::Valid => counts.valid += 1,
            Split::Test => counts.test += 1,
        }
    }
    counts
}

/// Distinct quadruples that stand in two splits.
pub(super) fn shared_quadruples(rows: &[SplitFact]) -> SharedBySplits<usize> {
    let mut shared = SharedBySplits::default();
    for group in
        rows.chunk_by(|a, b| (a.triple, a.step) == (b.triple, b.step)).filter(|group| group.len() > 1)
    {
        let [train, valid, test] = Split::ALL.map(|split| group.iter().any(|row| row.split == split));
        shared.train_valid += usize::from(train && valid);
        shared.train_test += usize::from(train && test);
        shared.valid_test += usize::from(valid && test);
    }
    shared
}

/// Mean number of true answers of a test query, the correct answer included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanAnswers {
    /// True at the time of the query: what the time-aware filter knows.
    pub time_aware: f64,
    /// True at any time: what the static filter knows.
    #[serde(rename = "static")]
    pub any_time: f64,
}

/// Mean numbers of true answers in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Answers {
    /// Objects of `(subject, relation, ?, time)`.
    pub objects: MeanAnswers,
    /// Subjects of `(?, relation, object, time)`.
    pub subjects: MeanAnswers,
}

/// A query, an answer to it, and whether the fact is a test fact.
type Keyed = ([u32; 3], u32, bool);

impl Answers {
    /// Counts over all splits; `rows` in any order.
    pub(super) fn of(rows: &[SplitFact]) -> Self {
        let mean = |ends: fn(&Triple) -> [u32; 2]| {
            let keyed = |step: fn(&SplitFact) -> u32| {
                let key = |row: &SplitFact| {
                    let [given, answer] = ends(&row.triple);
                    ([given, row.triple.relation.0, step(row)], answer, row.split == Split::Test)
                };
                mean_answers(rows.iter().map(key).collect())
            };
            MeanAnswers { time_aware: keyed(|row| row.step.0), any_time: keyed(|_| 0) }
        };
        Self {
            objects: mean(|triple| [triple.subject.0, triple.object.0]),
            subjects: mean(|triple| [triple.object.0, triple.subject.0]),
        }
    }
}

/// Mean over test rows of the number of distinct answers to their query.
fn mean_answers(mut keyed: Vec<Keyed>) -> f64 {
    keyed.par_sort_unstable();
    let (mut sum, mut queries) = (0, 0);
    for group in keyed.chunk_by(|a, b| a.0 == b.0) {
        let asked = group.iter().filter(|row| row.2).count();
        let answers = group.chunk_by(|a, b| a.1 == b.1).count();
        sum += asked * answers;
        queries += asked;
    }
    if queries == 0 { 0.0 } else { sum as f64 / queries as f64 }
}

/// Shares of test facts `(s, r, o, t)` for which train holds a telling fact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CompletionInfo {
    /// `(s, r, o)` at any time.
    pub in_train_at_any_time: Share,
    /// `(s, r, o)` at an earlier time.
    pub in_train_earlier: Share,
    /// `(s, r, o)` one raster unit before.
    pub in_train_one_before: Share,
    /// `(s, r, o)` one raster unit before or after.
    pub in_train_one_before_or_after: Share,
    /// `(o, r, s)` at the same time.
    pub mirrored_in_train: Share,
    /// `(o, any relation, s)` at the same time.
    pub reversed_pair_in_train: Share,
    /// Share of the test time stamps inside the time range of train: 1 for completion, 0 for forecasting.
    pub test_time_stamps_inside_train: f64,
}

impl CompletionInfo {
    pub(super) fn of(data: &Dataset) -> Self {
        let train = FactIndex::of(data.splits.train.iter());
        let mut counts = [0_usize; 6];
        for quad in data.splits.test.iter() {
            let first = train.occurrences(quad.triple()).first();
            let at = |step: Option<Step>| step.is_some_and(|step| train.contains(Quad { step, ..quad }));
            let before = at(neighbour(data, quad.step, -1));
            let after = at(neighbour(data, quad.step, 1));
            let mirrored = Quad { subject: quad.object, object: quad.subject, ..quad };
            let hits = [
                first.is_some(),
                first.is_some_and(|first| first < quad.step),
                before,
                before || after,
                train.contains(mirrored),
                train.relations_at(quad.object, quad.subject, quad.step).next().is_some(),
            ];
            for (count, hit) in counts.iter_mut().zip(hits) {
                *count += usize::from(hit);
            }
        }
        let [any, earlier, one_before, around, mirrored, reversed] =
            counts.map(|count| Share::of(count, data.splits.test.len()));
        Self {
            in_train_at_any_time: any,
            in_train_earlier: earlier,
            in_train_one_before: one_before,
            in_train_one_before_or_after: around,
            mirrored_in_train: mirrored,
            reversed_pair_in_train: reversed,
            test_time_stamps_inside_train: inside_train(data),
        }
    }
}

/// The step exactly `units` raster units away, if it occurs: in a gap there is no neighbour.
fn neighbour(data: &Dataset, step: Step, units: i64) -> Option<Step> {
    data.axis.step(data.axis.time(step) + units * data.axis.granularity())
}

/// Share of the test time stamps inside the time range of train.
pub(crate) fn inside_train(data: &Dataset) -> f64 {
    let Some((first, last)) = data.splits.train.first_step().zip(data.splits.train.last_step()) else {
        return 0.0;
    };
    let steps: Vec<Step> = data.splits.test.occupied().collect();
    Share::of(steps.iter().filter(|&&step| first <= step && step <= last).count(), steps.len()).share
}
