//! From rows with times to a dataset: shared by the layouts of temporal facts.

use std::path::Path;

use quadcast_core::{Calendar, Dataset, Facts, Quad, Splits, Step, TimeAxis, TimeUnit, Vocabulary};

use super::input::Input;
use super::notes::Notes;
use crate::{DataError, SourceFile};

/// A fact with its original time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub subject: u32,
    pub relation: u32,
    pub object: u32,
    pub time: i64,
}

/// The facts of one file and where its times lie.
#[derive(Default)]
pub(super) struct Rows {
    pub facts: Vec<Row>,
    last: Option<i64>,
    unsorted_at: Option<u64>,
    earliest: Option<(i64, u64)>,
    latest: Option<(i64, u64)>,
    /// Times, with immediate repetitions left out.
    times: Vec<i64>,
}

impl Rows {
    /// Takes the fact of a line.
    pub(super) fn push(&mut self, line: u64, row: Row) {
        if self.last != Some(row.time) {
            if self.unsorted_at.is_none() && self.last.is_some_and(|last| row.time < last) {
                self.unsorted_at = Some(line);
            }
            if self.earliest.is_none_or(|(time, _)| row.time < time) {
                self.earliest = Some((row.time, line));
            }
            if self.latest.is_none_or(|(time, _)| row.time > time) {
                self.latest = Some((row.time, line));
            }
            self.last = Some(row.time);
            self.times.push(row.time);
        }
        self.facts.push(row);
    }

    /// Times, with immediate repetitions left out.
    pub(super) fn times(&self) -> &[i64] {
        &self.times
    }

    /// The same rows with times in another unit. `convert` must keep the order.
    pub(super) fn converted(mut self, convert: impl Fn(i64) -> i64) -> Self {
        self.facts.iter_mut().for_each(|row| row.time = convert(row.time));
        self.times.iter_mut().for_each(|time| *time = convert(*time));
        for (time, _) in [&mut self.earliest, &mut self.latest].into_iter().flatten() {
            *time = convert(*time);
        }
        self.last = self.last.map(convert);
        self
    }

    /// Refuses a file without facts.
    pub(super) fn not_empty(self, input: &Input) -> Result<Self, DataError> {
        if self.facts.is_empty() { Err(DataError::EmptySplit { path: input.path.clone() }) } else { Ok(self) }
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
        let quads = self.facts.into_iter().map(|row| {
            let step = match known {
                Some((time, step)) if time == row.time => step,
                _ => axis.step(row.time).expect("the axis was built from these very rows"),
            };
            known = Some((row.time, step));
            let Step(step) = step;
            Quad::new(row.subject, row.relation, row.object, step)
        });
        Facts::new(quads.collect(), axis.len())
    }
}

/// Puts a dataset together. Without a calendar the unit is guessed from the raster.
pub(super) fn assemble(
    name: String,
    vocabulary: Vocabulary,
    inputs: &Splits<Input>,
    rows: Splits<Rows>,
    calendar: Option<Calendar>,
    notes: &mut Notes,
) -> (Dataset, Splits<SourceFile>) {
    let times = rows.iter().flat_map(|(_, rows)| rows.times.iter().copied()).collect();
    let mut axis = TimeAxis::new(times, calendar.unwrap_or(Calendar::UNKNOWN));
    if calendar.is_none() {
        let unit = guessed_unit(axis.granularity());
        axis = axis.with_calendar(Calendar { unit, ..Calendar::UNKNOWN });
    }
    describe_axis(&axis, calendar.is_some(), notes);
    let sources = Splits {
        train: rows.train.source(&inputs.train.path),
        valid: rows.valid.source(&inputs.valid.path),
        test: rows.test.source(&inputs.test.path),
    };
    for (split, source) in sources.iter() {
        if let (Some(line), None) = (source.unsorted_at, calendar) {
            notes.add(format!(
                "The {split} file is not sorted by time (first at line {line}); facts are sorted."
            ));
        }
    }
    let splits = Splits {
        train: rows.train.into_facts(&axis),
        valid: rows.valid.into_facts(&axis),
        test: rows.test.into_facts(&axis),
    };
    (Dataset { name, vocabulary, axis, splits, beyond: Facts::default() }, sources)
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
