//! From rows with times to a dataset: shared by the layouts of temporal facts.

use std::path::Path;

use quadcast_core::{Calendar, Dataset, Facts, Quad, Splits, TimeAxis, TimeUnit, Triple, Vocabulary};

use super::Reading;
use super::input::Input;
use super::notes::Notes;
use crate::{Content, SourceFile};

/// The facts of one file with their original times, and where these lie.
#[derive(Default)]
pub(super) struct TimedFacts {
    pub facts: Vec<(Triple, i64)>,
    /// Times, with immediate repetitions left out.
    pub times: Vec<i64>,
    unsorted_at: Option<u64>,
    /// Time and line.
    earliest: Option<(i64, u64)>,
    latest: Option<(i64, u64)>,
}

impl TimedFacts {
    pub(super) fn push(&mut self, line: u64, triple: Triple, time: i64) {
        let last = self.times.last().copied();
        if last != Some(time) {
            if self.unsorted_at.is_none() && last.is_some_and(|last| time < last) {
                self.unsorted_at = Some(line);
            }
            if self.earliest.is_none_or(|(earliest, _)| time < earliest) {
                self.earliest = Some((time, line));
            }
            if self.latest.is_none_or(|(latest, _)| time > latest) {
                self.latest = Some((time, line));
            }
            self.times.push(time);
        }
        self.facts.push((triple, time));
    }

    /// Turns the times of a complete file into another unit. `convert` must keep their order.
    pub(super) fn convert(&mut self, convert: impl Fn(i64) -> i64) {
        self.facts.iter_mut().for_each(|(_, time)| *time = convert(*time));
        self.times.iter_mut().for_each(|time| *time = convert(*time));
    }

    fn source(&self, path: &Path) -> SourceFile {
        SourceFile {
            path: path.to_path_buf(),
            rows: self.facts.len(),
            unsorted_at: self.unsorted_at,
            earliest_at: self.earliest.map(|(_, line)| line),
            latest_at: self.latest.map(|(_, line)| line),
        }
    }

    fn into_facts(self, axis: &TimeAxis) -> Facts {
        // Files are mostly sorted by time, so the step of the row before is usually the step of this one.
        let mut known = None;
        let quads = self.facts.into_iter().map(|(Triple { subject, relation, object }, time)| {
            let step = match known {
                Some((known, step)) if known == time => step,
                _ => axis.step(time).expect("the axis was built from these very facts"),
            };
            known = Some((time, step));
            Quad { subject, relation, object, step }
        });
        Facts::new(quads.collect(), axis.len())
    }
}

/// Puts a dataset together. Without a calendar the unit is guessed from the raster.
pub(super) fn assemble(
    name: String,
    vocabulary: Vocabulary,
    inputs: &Splits<Input>,
    facts: Splits<TimedFacts>,
    calendar: Option<Calendar>,
    notes: &mut Notes,
) -> Reading {
    let times = facts.iter().flat_map(|(_, facts)| facts.times.iter().copied()).collect();
    let mut axis = TimeAxis::new(times, calendar.unwrap_or(Calendar::UNKNOWN));
    if calendar.is_none() {
        let unit = guessed_unit(axis.granularity());
        axis = axis.with_calendar(Calendar { unit, ..Calendar::UNKNOWN });
    }
    describe_axis(&axis, calendar.is_some(), notes);
    let sources = Splits {
        train: facts.train.source(&inputs.train.path),
        valid: facts.valid.source(&inputs.valid.path),
        test: facts.test.source(&inputs.test.path),
    };
    for (split, source) in sources.iter() {
        if let (Some(line), None) = (source.unsorted_at, calendar) {
            notes.add(format!(
                "The {split} file is not sorted by time (first at line {line}); facts are sorted."
            ));
        }
    }
    let splits = Splits {
        train: facts.train.into_facts(&axis),
        valid: facts.valid.into_facts(&axis),
        test: facts.test.into_facts(&axis),
    };
    let dataset = Dataset { name, vocabulary, axis, splits, beyond: Facts::default() };
    (Content::Temporal(dataset), Some(sources))
}

/// Days are often written in hours, and quarters of an hour in minutes; other rasters say nothing.
const fn guessed_unit(granularity: i64) -> TimeUnit {
    match granularity {
        24 => TimeUnit::Hour,
        15 => TimeUnit::Minute,
        _ => TimeUnit::Step,
    }
}

fn describe_axis(axis: &TimeAxis, dated: bool, notes: &mut Notes) {
    let (Some(first), Some(last)) = (axis.times().first(), axis.times().last()) else {
        return;
    };
    let calendar = axis.calendar();
    let (from, to) = (calendar.label(*first), calendar.label(*last));
    let (steps, raster) = (axis.len(), axis.granularity());
    if dated {
        let unit = calendar.unit.word();
        notes.add(format!("{steps} dates from {from} to {to}; times are {unit}s since 1970-01-01."));
    } else {
        let unit = match calendar.unit {
            TimeUnit::Step => "the unit is unknown".to_string(),
            unit => format!("read as {}s because of the raster", unit.word()),
        };
        notes.add(format!("{steps} time stamps from {from} to {to} on a raster of {raster}; {unit}."));
    }
    let gaps = axis.gaps().count();
    if let Some((step, width)) = axis.gaps().max_by_key(|&(_, width)| width) {
        let after = axis.label(step);
        notes.add(format!(
            "{gaps} gaps between time stamps; the widest is {width} raster units, after {after}."
        ));
    }
}
