//! Statistics of facts with validity intervals.

use quadcast_core::{IntervalDataset, IntervalFact, PartialDate, Splits, Triple};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::Details;
use super::counting::{IdSpace, Novelties, count_ids, self_loops};

/// First and last year.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct YearRange {
    /// Earliest year; negative years are BC.
    pub first: i32,
    /// Latest year.
    pub last: i32,
}

/// Statistics of facts with validity intervals, over all splits where not said otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IntervalsInfo {
    /// Facts per split.
    pub facts: Splits<usize>,
    /// Facts in all splits.
    pub rows: usize,
    /// Facts in the file of all facts before the split, if there is one.
    pub unsplit_rows: Option<usize>,
    /// Rows whose start year is unknown, in whole or in part.
    pub open_start: usize,
    /// Of these, rows of whose start year some digits are known.
    pub coarse_start: usize,
    /// Rows whose end year is unknown, in whole or in part.
    pub open_end: usize,
    /// Of these, rows of whose end year some digits are known.
    pub coarse_end: usize,
    /// Rows with neither a start nor an end year.
    pub open_both: usize,
    /// Rows that start and end in the same year.
    pub same_year: usize,
    /// Rows that end before they start.
    pub end_before_start: usize,
    /// Triples with more than one interval.
    pub several_intervals: usize,
    /// The most intervals of one triple.
    pub most_intervals: usize,
    /// Rows that repeat an earlier row of their split.
    pub duplicates: Splits<usize>,
    /// Facts whose subject is their object.
    pub self_loops: Splits<usize>,
    /// Test rows whose triple is in train with another interval.
    pub test_in_train_with_other_interval: usize,
    /// Test rows that stand in train as they are.
    pub test_in_train: usize,
    /// Ids that the test split brings.
    #[serde(flatten)]
    pub novelty: Novelties,
    /// Range of the known years.
    pub years: Option<YearRange>,
}

impl IntervalsInfo {
    /// Computes everything; also returns the id spaces, which belong to the general part.
    pub(super) fn of(data: &IntervalDataset) -> (Details, [IdSpace; 2]) {
        let triples: Splits<Vec<Triple>> = data.splits.map(|facts| facts.iter().map(|f| f.triple).collect());
        let (ids, novelty) = count_ids(&data.vocabulary, &triples);
        let Splits { train, valid, test } = &data.splits;
        let all: Vec<&IntervalFact> = train.iter().chain(valid).chain(test).collect();
        let count = |keep: &dyn Fn(&IntervalFact) -> bool| all.iter().filter(|fact| keep(fact)).count();
        let per_triple = intervals_per_triple(&all);
        let known: FxHashSet<&IntervalFact> = train.iter().collect();
        let known_per_triple = intervals_per_triple(&train.iter().collect::<Vec<_>>());
        let other_interval = |fact: &&IntervalFact| {
            let intervals = known_per_triple.get(&fact.triple).copied().unwrap_or(0);
            intervals > usize::from(known.contains(fact))
        };
        let info = Self {
            facts: data.splits.map(Vec::len),
            rows: all.len(),
            unsplit_rows: data.unsplit.as_ref().map(Vec::len),
            open_start: count(&|fact| fact.start.year.is_none()),
            coarse_start: count(&|fact| fact.start.coarse_year.is_some()),
            open_end: count(&|fact| fact.end.year.is_none()),
            coarse_end: count(&|fact| fact.end.coarse_year.is_some()),
            open_both: count(&|fact| fact.start.year.is_none() && fact.end.year.is_none()),
            same_year: count(&|fact| fact.start.year.is_some() && fact.start.year == fact.end.year),
            end_before_start: count(&|fact| precedes(&fact.end, &fact.start)),
            several_intervals: per_triple.values().filter(|&&count| count > 1).count(),
            most_intervals: per_triple.values().copied().max().unwrap_or(0),
            duplicates: data.splits.map(|facts| facts.len() - facts.iter().collect::<FxHashSet<_>>().len()),
            self_loops: triples.map(|triples| self_loops(triples)),
            test_in_train_with_other_interval: test.iter().filter(other_interval).count(),
            test_in_train: test.iter().filter(|fact| known.contains(fact)).count(),
            novelty,
            years: years(&all),
        };
        (Details::Intervals(Box::new(info)), ids)
    }
}

/// Number of distinct intervals of each triple.
fn intervals_per_triple(all: &[&IntervalFact]) -> FxHashMap<Triple, usize> {
    let distinct: FxHashSet<&IntervalFact> = all.iter().copied().collect();
    let mut counts = FxHashMap::default();
    for fact in distinct {
        *counts.entry(fact.triple).or_default() += 1;
    }
    counts
}

/// Whether `a` certainly lies before `b`: unknown parts prove nothing.
fn precedes(a: &PartialDate, b: &PartialDate) -> bool {
    let parts = |date: &PartialDate| [date.year, date.month.map(i32::from), date.day.map(i32::from)];
    for pair in parts(a).into_iter().zip(parts(b)) {
        match pair {
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => return a < b,
            _ => return false,
        }
    }
    false
}

fn years(all: &[&IntervalFact]) -> Option<YearRange> {
    let known = || all.iter().flat_map(|fact| [fact.start.year, fact.end.year]).flatten();
    Some(YearRange { first: known().min()?, last: known().max()? })
}
