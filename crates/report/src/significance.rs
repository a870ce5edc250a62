//! Whether two runs differ by more than chance: a paired block bootstrap on the same queries.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use quadcast_core::{Direction, Filter};
use quadcast_eval::{BlockBootstrap, Interval, Metrics, RankedQuery, Tally, Unit};

use crate::LoadedRun;

/// What is compared: a column of the results table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Measure {
    Mrr,
    Hits1,
    Hits3,
    Hits10,
    Mr,
    /// MRR of the queries for the object.
    Object,
    /// MRR of the queries for the subject.
    Subject,
}

impl Measure {
    pub const ALL: [Self; 7] =
        [Self::Mrr, Self::Hits1, Self::Hits3, Self::Hits10, Self::Mr, Self::Object, Self::Subject];

    /// The queries it is a mean of.
    const fn direction(self) -> Option<Direction> {
        match self {
            Self::Object => Some(Direction::Object),
            Self::Subject => Some(Direction::Subject),
            _ => None,
        }
    }

    fn of(self, metrics: &Metrics) -> f64 {
        match self {
            Self::Mrr | Self::Object | Self::Subject => metrics.mrr,
            Self::Hits1 => metrics.hits1,
            Self::Hits3 => metrics.hits3,
            Self::Hits10 => metrics.hits10,
            Self::Mr => metrics.mr,
        }
    }

    /// The value in a run's record.
    pub fn value(self, run: &LoadedRun, filter: Filter) -> Option<f64> {
        let outcome = run.outcome(filter);
        let part = match self {
            Self::Object => outcome.object?.metrics,
            Self::Subject => outcome.subject?.metrics,
            _ => outcome.metrics,
        };
        Some(self.of(&part))
    }

    /// Better values first.
    pub fn better(self, a: f64, b: f64) -> Ordering {
        let order = b.total_cmp(&a);
        if self == Self::Mr { order.reverse() } else { order }
    }
}

/// A paired difference, as a fraction, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    pub mean: f64,
    pub interval: Interval,
}

impl Difference {
    /// Whether the interval leaves out zero.
    pub fn is_significant(&self) -> bool {
        self.interval[0] > 0.0 || self.interval[1] < 0.0
    }
}

/// The difference `a − b` on the same queries; `None` if the queries differ or are of a single unit.
pub(crate) fn difference(
    a: &LoadedRun,
    b: &LoadedRun,
    filter: Filter,
    measure: Measure,
) -> Option<Difference> {
    let same = |(x, y): (&RankedQuery, &RankedQuery)| x.query == y.query && x.gold == y.gold;
    if a.ranks.len() != b.ranks.len() || !a.ranks.iter().zip(&b.ranks).all(same) {
        return None;
    }
    let (left, right) = (by_unit(a, filter, measure), by_unit(b, filter, measure));
    let units: Vec<([f64; 1], u64)> =
        left.values().zip(right.values()).map(|((x, n), (y, _))| ([x - y], *n)).collect();
    let total: u64 = units.iter().map(|(_, queries)| queries).sum();
    let sum: f64 = units.iter().map(|([sum], _)| sum).sum();
    let unit = Unit::of(a.record.task);
    let [interval] = BlockBootstrap::new(unit, units.len()).intervals(&units, a.record.seed)?;
    Some(Difference { mean: sum / total as f64, interval })
}

/// Sums of the measure and numbers of queries, by unit of resampling.
fn by_unit(run: &LoadedRun, filter: Filter, measure: Measure) -> BTreeMap<[u32; 3], (f64, u64)> {
    let unit = Unit::of(run.record.task);
    let asked = |direction| measure.direction().is_none_or(|own| own == direction);
    let rows = run.ranks.iter().filter(|row| asked(row.query.direction));
    let sum = |tally: Tally| {
        let mean = tally.metrics().map_or(0.0, |metrics| measure.of(&metrics));
        (mean * tally.queries as f64, tally.queries)
    };
    let tallies = run.counting().group(rows, filter, |row| unit.key(row));
    tallies.into_iter().map(|(key, tally)| (key, sum(tally))).collect()
}

/// The run whose value may be printed in bold: the best, if it differs significantly from the next.
pub(crate) fn winner(runs: &[&LoadedRun], filter: Filter, measure: Measure) -> Option<usize> {
    let mut order: Vec<(usize, f64)> =
        runs.iter().enumerate().filter_map(|(i, run)| Some((i, measure.value(run, filter)?))).collect();
    order.sort_by(|(_, a), (_, b)| measure.better(*a, *b));
    let [(best, _), (next, _), ..] = order[..] else { return None };
    difference(runs[best], runs[next], filter, measure)?.is_significant().then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{run, run_with};

    #[test]
    fn a_clear_difference_is_significant_and_bold() {
        let (good, bad) = (run("good", |_| 0), run("bad", |i| 1 + i % 3));
        let difference = difference(&good, &bad, Filter::Time, Measure::Mrr).expect("the same queries");
        assert!(difference.is_significant(), "{difference:?}");
        let expected = good.outcome(Filter::Time).metrics.mrr - bad.outcome(Filter::Time).metrics.mrr;
        assert!((difference.mean - expected).abs() < 1e-12);
        for measure in Measure::ALL {
            let bold = winner(&[&bad, &good], Filter::Time, measure);
            // Every answer is among the first ten: nothing to tell apart there.
            assert_eq!(bold, (measure != Measure::Hits10).then_some(1), "{measure:?}");
        }
    }

    #[test]
    fn equal_runs_and_single_runs_have_no_winner() {
        let (a, b) = (run("a", |i| i % 4), run("b", |i| i % 4));
        assert_eq!(winner(&[&a, &b], Filter::Time, Measure::Mrr), None);
        assert_eq!(winner(&[&a], Filter::Time, Measure::Mrr), None);
    }

    #[test]
    fn a_difference_within_chance_has_no_winner() {
        // Better at even steps, worse at odd ones, and by a hair better in all.
        let a = run("a", |i| if i == 0 { 0 } else { u32::from(i / 4 % 2 == 0) });
        let b = run("b", |i| u32::from(i / 4 % 2 == 1));
        assert!(a.outcome(Filter::Time).metrics.mrr > b.outcome(Filter::Time).metrics.mrr);
        assert_eq!(winner(&[&a, &b], Filter::Time, Measure::Mrr), None);
    }

    #[test]
    fn other_queries_cannot_be_paired() {
        let (a, b) = (run("a", |_| 0), run_with("b", 12, |_| 2));
        assert_eq!(difference(&a, &b, Filter::Time, Measure::Mrr), None);
    }
}
