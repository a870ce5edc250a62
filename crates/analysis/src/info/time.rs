//! The time axis in numbers and words.

use std::collections::BTreeMap;

use quadcast_core::{Dataset, Facts, Splits, Step, TimeUnit};
use serde::Serialize;

/// How many gaps are listed one by one; the widths of all are counted.
const LISTED_GAPS: usize = 10;

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
            ranges: data.splits.map(|facts| range(data, facts)),
        }
    }
}

fn range(data: &Dataset, facts: &Facts) -> Option<SplitRange> {
    let (first, last) = facts.first_step().zip(facts.last_step())?;
    Some(SplitRange { first: data.axis.label(first), last: data.axis.label(last) })
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
