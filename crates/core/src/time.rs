//! The time axis: dense steps on one side, the original time stamps, their unit and gaps on the other.

use jiff::ToSpan;
use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

use crate::{Step, words};

words! {
    /// What one unit of an original time stamp means.
    pub enum TimeUnit {
        /// Seconds.
        Second = "second",
        /// Minutes.
        Minute = "minute",
        /// Hours.
        Hour = "hour",
        /// Days.
        Day = "day",
        /// Calendar months.
        Month = "month",
        /// Years.
        Year = "year",
        /// Unknown: the file only numbers its steps.
        Step = "step",
    }
}

impl TimeUnit {
    /// How long it is, where it is always as long.
    const fn seconds(self) -> Option<i64> {
        match self {
            Self::Second => Some(1),
            Self::Minute => Some(60),
            Self::Hour => Some(3_600),
            Self::Day => Some(86_400),
            Self::Month | Self::Year | Self::Step => None,
        }
    }
}

/// How original time stamps map to the calendar: the unit and the date that 0 stands for, where known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calendar {
    /// Unit of the original time stamps.
    pub unit: TimeUnit,
    /// The year that time stamp 0 lies in (with `unit = year`), or the year of [`Calendar::day_zero`].
    pub year_zero: Option<i16>,
    /// Day of the year (1-based) that time stamp 0 stands for; `None` with `unit = year` or when unknown.
    pub day_zero: Option<i16>,
}

impl Calendar {
    /// Time stamps that only number steps.
    pub const UNKNOWN: Self = Self { unit: TimeUnit::Step, year_zero: None, day_zero: None };

    /// Days since 1970-01-01, the calendar of files with ISO dates.
    pub const UNIX_DAYS: Self = Self::from_january_first(TimeUnit::Day, 1970);

    /// A calendar whose time stamp 0 is January 1st of `year`.
    pub const fn from_january_first(unit: TimeUnit, year: i16) -> Self {
        Self { unit, year_zero: Some(year), day_zero: Some(1) }
    }

    /// A calendar of years whose time stamp 0 is `year`.
    pub const fn years_from(year: i16) -> Self {
        Self { unit: TimeUnit::Year, year_zero: Some(year), day_zero: None }
    }

    /// A time stamp in words: an ISO date, a date with a time, a month, a year, or the bare number.
    pub fn label(&self, time: i64) -> String {
        self.calendar_label(time).unwrap_or_else(|| time.to_string())
    }

    /// The time stamp that a label stands for: the inverse of [`Calendar::label`]. Without a known origin it is the
    /// bare number. `None` if the text is neither.
    pub fn parse(&self, text: &str) -> Option<i64> {
        let text = text.trim();
        let Some(year) = self.year_zero else { return text.parse().ok() };
        if self.unit == TimeUnit::Year {
            return text.parse::<i64>().ok()?.checked_sub(i64::from(year));
        }
        // A month stands for its first day.
        let moment: DateTime = text
            .parse()
            .or_else(|_| text.replacen(' ', "T", 1).parse())
            .or_else(|_| format!("{text}-01").parse())
            .ok()?;
        if self.unit == TimeUnit::Month {
            let months = |moment: DateTime| 12 * i64::from(moment.year()) + i64::from(moment.month());
            return Some(months(moment) - months(self.zero()?));
        }
        let seconds = moment.duration_since(self.zero()?).as_secs();
        Some(seconds.div_euclid(self.unit.seconds()?))
    }

    /// The moment that time stamp 0 stands for.
    fn zero(&self) -> Option<DateTime> {
        let first = Date::new(self.year_zero?, 1, 1).ok()?;
        let day = first.checked_add((i64::from(self.day_zero?) - 1).days()).ok()?;
        Some(day.to_datetime(jiff::civil::Time::midnight()))
    }

    fn calendar_label(&self, time: i64) -> Option<String> {
        let year = self.year_zero?;
        if self.unit == TimeUnit::Year {
            return i64::from(year).checked_add(time).map(|year| year.to_string());
        }
        let zero = self.zero()?;
        if self.unit == TimeUnit::Month {
            let moment = zero.checked_add(jiff::Span::new().try_months(time).ok()?).ok()?;
            return Some(format!("{:04}-{:02}", moment.year(), moment.month()));
        }
        let seconds = time.checked_mul(self.unit.seconds()?)?;
        let moment = zero.checked_add(jiff::SignedDuration::from_secs(seconds)).ok()?;
        if moment.time() == jiff::civil::Time::midnight() {
            Some(moment.date().to_string())
        } else {
            Some(format!("{} {:02}:{:02}", moment.date(), moment.hour(), moment.minute()))
        }
    }
}

/// Every time stamp that occurs in a dataset, in order. A [`Step`] is an index into it, so "the previous step" is
/// always the previous *existing* time stamp, whatever the gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeAxis {
    times: Vec<i64>,
    /// Times in raster units; models ask for them once per past fact.
    ordinals: Vec<i64>,
    granularity: i64,
    calendar: Calendar,
}

impl TimeAxis {
    /// Builds the axis from original time stamps in any order, repetitions allowed.
    pub fn new(mut times: Vec<i64>, calendar: Calendar) -> Self {
        times.sort_unstable();
        times.dedup();
        let granularity = times.windows(2).fold(0_u64, |g, w| gcd(g, w[1].abs_diff(w[0]))).max(1) as i64;
        let ordinals = times.iter().map(|time| time.div_euclid(granularity)).collect();
        Self { times, ordinals, granularity, calendar }
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there is no step at all.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Original time stamps in order.
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// Original time stamp of a step. Steps beyond the axis follow at one raster unit each.
    #[inline]
    pub fn time(&self, step: Step) -> i64 {
        match (self.times.get(step.index()), self.times.last()) {
            (Some(&time), _) => time,
            (None, Some(last)) => {
                let beyond = (step.index() - self.times.len() + 1) as i64;
                last.saturating_add(self.granularity.saturating_mul(beyond))
            }
            (None, None) => i64::from(step.0),
        }
    }

    /// The step of an original time stamp, or the next one after it. Beyond the axis, steps follow at one raster unit
    /// each.
    pub fn step_at_or_after(&self, time: i64) -> Step {
        let beyond = match self.times.last() {
            Some(last) if time > *last => (time.saturating_sub(*last) - 1) / self.granularity,
            _ => return Step(self.times.partition_point(|&known| known < time) as u32),
        };
        Step((self.times.len() as i64).saturating_add(beyond).try_into().unwrap_or(u32::MAX))
    }

    /// The step of an original time stamp, if it occurs.
    pub fn step(&self, time: i64) -> Option<Step> {
        self.times.binary_search(&time).ok().map(|i| Step(i as u32))
    }

    /// The raster of the original time stamps: the greatest common divisor of their distances (24 for days written in
    /// hours, 15 for quarters of an hour).
    pub fn granularity(&self) -> i64 {
        self.granularity
    }

    /// Time of a step in raster units (original / granularity): the `τ` of the papers, gaps kept. Models with a
    /// decay in time use differences of it. Steps beyond the axis follow at one unit each.
    #[inline]
    pub fn ordinal(&self, step: Step) -> i64 {
        match (self.ordinals.get(step.index()), self.ordinals.last()) {
            (Some(&ordinal), _) => ordinal,
            (None, Some(last)) => last + (step.index() - self.ordinals.len() + 1) as i64,
            (None, None) => i64::from(step.0),
        }
    }

    /// Neighbouring steps that are further apart than one raster unit, as (step before the gap, width in units).
    pub fn gaps(&self) -> impl Iterator<Item = (Step, i64)> + '_ {
        self.times.windows(2).enumerate().filter_map(|(i, w)| {
            let width = (w[1] - w[0]) / self.granularity;
            (width > 1).then_some((Step(i as u32), width))
        })
    }

    /// Unit and origin.
    pub fn calendar(&self) -> Calendar {
        self.calendar
    }

    /// The same axis read with another calendar (the catalogue knows what 0 stands for).
    #[must_use]
    pub fn with_calendar(mut self, calendar: Calendar) -> Self {
        self.calendar = calendar;
        self
    }

    /// A step in words: a date where the calendar is known, the original number otherwise.
    pub fn label(&self, step: Step) -> String {
        self.calendar.label(self.time(step))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_become_days() {
        let calendar = Calendar::from_january_first(TimeUnit::Hour, 2014);
        let axis = TimeAxis::new(vec![48, 0, 24, 24, 120], calendar);
        assert_eq!(axis.times(), [0, 24, 48, 120]);
        assert_eq!(axis.granularity(), 24);
        assert_eq!(axis.ordinal(Step(3)), 5);
        assert_eq!(axis.gaps().collect::<Vec<_>>(), [(Step(2), 3)]);
        assert_eq!(axis.label(Step(3)), "2014-01-06");
    }

    #[test]
    fn steps_beyond_the_axis_follow_one_by_one() {
        let axis = TimeAxis::new(vec![0, 24, 96], Calendar::UNKNOWN);
        assert_eq!([2, 3, 5].map(|step| axis.ordinal(Step(step))), [4, 5, 7]);
        assert_eq!([2, 3, 5].map(|step| axis.time(Step(step))), [96, 120, 168]);
        let at = |time| axis.step_at_or_after(time).0;
        assert_eq!([-5, 0, 1, 24, 30, 96, 97, 120, 121, 168].map(at), [0, 0, 1, 1, 2, 2, 3, 3, 4, 5]);
    }

    #[test]
    fn no_time_is_too_far() {
        let axis = TimeAxis::new(vec![-(1 << 62), 0], Calendar::years_from(2000));
        assert_eq!(axis.step_at_or_after(i64::MAX), Step(3), "one raster unit of 2^62 after the other");
        assert_eq!(axis.time(Step(u32::MAX)), i64::MAX);
        assert_eq!(axis.label(Step(u32::MAX)), i64::MAX.to_string());
        let axis = TimeAxis::new(vec![i64::MIN, i64::MIN + 1], Calendar::UNKNOWN);
        assert_eq!(axis.step_at_or_after(i64::MAX), Step(u32::MAX));
    }

    #[test]
    fn labels_fall_back_to_the_number() {
        assert_eq!(TimeAxis::new(vec![7], Calendar::UNKNOWN).label(Step(0)), "7");
        assert_eq!(Calendar::years_from(1830).label(188), "2018");
        assert_eq!(Calendar::from_january_first(TimeUnit::Month, 1970).label(-1), "1969-12");
        assert_eq!(Calendar::from_january_first(TimeUnit::Minute, 2018).label(15), "2018-01-01 00:15");
        assert_eq!(Calendar::from_january_first(TimeUnit::Day, 2018).label(i64::MAX), i64::MAX.to_string());
    }

    #[test]
    fn labels_are_read_back() {
        let hours = Calendar::from_january_first(TimeUnit::Hour, 2014);
        let minutes = Calendar::from_january_first(TimeUnit::Minute, 2018);
        for (calendar, time) in [(hours, 24 * 40), (hours, -48), (minutes, 15), (Calendar::UNIX_DAYS, 16071)]
        {
            assert_eq!(calendar.parse(&calendar.label(time)), Some(time));
        }
        assert_eq!(Calendar::years_from(1830).parse("2018"), Some(188));
        assert_eq!(Calendar::UNKNOWN.parse("17"), Some(17));
        assert_eq!(hours.parse("yesterday"), None);
    }

    #[test]
    fn an_offset_does_not_change_the_raster() {
        assert_eq!(TimeAxis::new(vec![1, 25, 49], Calendar::UNKNOWN).granularity(), 24);
        let axis = TimeAxis::new(vec![16071, 16073, 16077], Calendar::UNIX_DAYS);
        assert_eq!(axis.granularity(), 2);
        assert_eq!(axis.label(Step(0)), "2014-01-01");
    }
}
