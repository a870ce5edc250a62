//! Aligning time: by date where both datasets know theirs, else by number or by distance from the first step.

use quadcast_core::{Step, TimeAxis};
use rustc_hash::FxHashMap;

use super::sides::Times;

/// A way to align time: the index of A for each index of B that has one.
pub(super) struct Aligned {
    pub to_a: Vec<Option<u32>>,
    /// `calendar`, `number`, `offset` or `interval`; `None` without time.
    pub by: Option<&'static str>,
    pub note: String,
}

/// The ways in which two kinds of time can be aligned, the most natural first; none if the kinds differ.
pub(super) fn ways(a: &Times<'_>, b: &Times<'_>) -> Vec<Aligned> {
    match (a, b) {
        (Times::None, Times::None) => vec![Aligned { to_a: vec![Some(0)], by: None, note: String::new() }],
        (Times::Axis(a), Times::Axis(b)) => of_axes(a, b),
        (Times::Intervals(a), Times::Intervals(b)) => {
            let note = "Intervals are the same if both ends are written alike.".to_owned();
            vec![Aligned { to_a: equal(a.iter(), b.iter()), by: Some("interval"), note }]
        }
        _ => Vec::new(),
    }
}

fn of_axes(a: &TimeAxis, b: &TimeAxis) -> Vec<Aligned> {
    let dated = [a, b].map(|axis| axis.calendar().year_zero.is_some());
    if dated == [true; 2] {
        let [of_a, of_b] = [a, b].map(labels);
        let note = "Times are compared by calendar date.".to_owned();
        return vec![Aligned { to_a: equal(of_a.iter(), of_b.iter()), by: Some("calendar"), note }];
    }
    let why = match dated {
        [false, false] => "Neither dataset has a calendar",
        [false, true] => "A has no calendar",
        _ => "B has no calendar",
    };
    let [of_a, of_b] = [a, b].map(distances);
    let offset = Aligned {
        to_a: equal(of_a.iter(), of_b.iter()),
        by: Some("offset"),
        note: format!("{why}: times are compared by their distance from the first step of each dataset."),
    };
    if dated != [false; 2] {
        return vec![offset];
    }
    let note = format!("{why}: times are compared as the numbers that they are.");
    vec![Aligned { to_a: equal(a.times().iter(), b.times().iter()), by: Some("number"), note }, offset]
}

fn labels(axis: &TimeAxis) -> Vec<String> {
    (0..axis.len() as u32).map(|step| axis.label(Step(step))).collect()
}

/// Distances from the first step, in units of the raster.
fn distances(axis: &TimeAxis) -> Vec<i64> {
    let first = axis.ordinal(Step(0));
    (0..axis.len() as u32).map(|step| axis.ordinal(Step(step)) - first).collect()
}

/// For each item of B the position of the same item in A.
fn equal<T: std::hash::Hash + Eq>(
    a: impl Iterator<Item = T>,
    b: impl Iterator<Item = T>,
) -> Vec<Option<u32>> {
    let of_a: FxHashMap<T, u32> = a.zip(0..).collect();
    b.map(|item| of_a.get(&item).copied()).collect()
}
