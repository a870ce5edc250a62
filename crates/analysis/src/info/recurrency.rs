//! Recurrency: how much of the test split has been seen before, and what two splits have in common.

use quadcast_core::{Dataset, Split, Splits, Step, Triple};
use rayon::slice::ParallelSliceMut;
use serde::Serialize;

use super::counting::{Share, SharedBySplits};

/// A fact with its split, ordered by triple, then time, then split.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row {
    pub triple: Triple,
    pub step: Step,
    pub split: Split,
}

/// All facts of all splits, sorted.
pub(super) fn sorted_rows(data: &Dataset) -> Vec<Row> {
    let total = Split::ALL.iter().map(|&split| data.splits.get(split).len()).sum();
    let mut rows = Vec::with_capacity(total);
    for (split, facts) in data.splits.iter() {
        rows.extend(facts.iter().map(|quad| Row { triple: quad.triple(), step: quad.step, split }));
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
    pub(super) fn of(rows: &[Row], distinct: bool) -> Self {
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

fn holds_just_before(group: &[Row], step: Step) -> bool {
    group.binary_search_by_key(&(step.0 - 1), |row| row.step.0).is_ok()
}

/// Rows that repeat an earlier row of their split.
pub(super) fn duplicates(rows: &[Row]) -> Splits<usize> {
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
pub(super) fn shared_quadruples(rows: &[Row]) -> SharedBySplits<usize> {
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
