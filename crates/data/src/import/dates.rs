//! Dates as people write them.
//!
//! A date is read into a [`Moment`] of 8 bytes. Where day and month can be told apart only by other rows (04/05/2031),
//! the moment keeps the two numbers in the order of the file until all rows are read.

use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Timestamp, tz::Offset};

use super::options::{DateOrder, Granularity};
use crate::readers::days_since_1970;

/// What a date may look like, for messages.
pub(super) const EXAMPLES: &str = "a date such as 2031-04-30, 2031-04-30T16:05Z, 30.04.2031, 04/30/2031, 20310430, 2031 or seconds since 1970";

/// How the dates of a file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Year, month, day, perhaps with a time and a zone.
    YearFirst,
    /// Day, month, year with dots.
    Dots,
    /// Day and month in an order that the data must show, then the year.
    YearLast,
    /// YYYYMMDD, perhaps with HHMMSS.
    Compact,
    /// A bare year.
    Year,
    /// Seconds since 1970.
    Seconds,
    /// Milliseconds since 1970.
    Milliseconds,
}

impl Form {
    /// Words for notes and messages.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::YearFirst => "year-month-day (ISO)",
            Self::Dots => "day.month.year",
            Self::YearLast => "day and month, then the year",
            Self::Compact => "YYYYMMDD",
            Self::Year => "years",
            Self::Seconds => "seconds since 1970-01-01",
            Self::Milliseconds => "milliseconds since 1970-01-01",
        }
    }
}

/// A moment of civil time. `first` is the month and `second` the day, unless the order is still open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub year: i16,
    pub first: u8,
    pub second: u8,
    /// Seconds since midnight.
    pub seconds: u32,
}

impl Moment {
    fn of(moment: DateTime) -> Self {
        let time = [moment.hour(), moment.minute(), moment.second()].map(|part| part as u32);
        Self {
            year: moment.year(),
            first: moment.month() as u8,
            second: moment.day() as u8,
            seconds: time[0] * 3600 + time[1] * 60 + time[2],
        }
    }

    /// The same moment with an open order of day and month decided.
    pub(super) const fn decided(self, order: DateOrder) -> Self {
        match order {
            DateOrder::Mdy => self,
            DateOrder::Dmy => Self { first: self.second, second: self.first, ..self },
        }
    }

    fn date(self) -> Option<Date> {
        Date::new(self.year, self.first as i8, self.second as i8).ok()
    }

    /// The step that the moment lies in: hours, or days of which a longer step takes its first, since 1970-01-01.
    pub(super) fn step(self, granularity: Granularity) -> Option<i64> {
        const HOURS: i64 = 24;
        let date = self.date()?;
        let date = match granularity {
            Granularity::Month => date.first_of_month(),
            Granularity::Year => date.first_of_year(),
            Granularity::Hour | Granularity::Day | Granularity::Week => date,
        };
        let day = days_since_1970(date);
        Some(match granularity {
            Granularity::Hour => day * HOURS + i64::from(self.seconds / 3600),
            // Day 0 was a Thursday, three days after a Monday.
            Granularity::Week => day - (day + 3).rem_euclid(7),
            Granularity::Day | Granularity::Month | Granularity::Year => day,
        })
    }
}

/// A date that was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    pub form: Form,
    pub moment: Moment,
    /// The finest granularity that the text gives.
    pub precision: Granularity,
    /// Whether the text names a zone.
    pub zoned: bool,
    /// Whether the order of day and month is open.
    pub open: bool,
}

/// What to do about a date that was not understood.
type Advice = &'static str;

/// No known form.
const UNKNOWN: Advice = "correct the date";
/// A form that is known, with a number that no calendar has.
const IMPOSSIBLE: Advice = "no calendar has this date, correct it";
/// Two digits for the year.
const SHORT_YEAR: Advice = "write the year with four digits";
/// A zone, where the order of day and month is open.
const OPEN_ZONE: Advice = "dates with a zone need --date-format dmy or --date-format mdy";

/// Reads a date. `order` decides between day and month where the form leaves it open.
pub(super) fn parse(text: &[u8], order: Option<DateOrder>) -> Result<Parsed, Advice> {
    if text.iter().all(u8::is_ascii_digit) {
        return digits_only(text);
    }
    let (first, digits, rest) = number(text).ok_or(UNKNOWN)?;
    let (&separator, rest) = rest.split_first().ok_or(UNKNOWN)?;
    if !matches!(separator, b'-' | b'/' | b'.') {
        return Err(UNKNOWN);
    }
    let (second, second_digits, rest) = number(rest).ok_or(UNKNOWN)?;
    if digits == 4 && second_digits <= 2 && rest.is_empty() {
        return plain(Form::YearFirst, [first, second, 1], Granularity::Month);
    }
    let rest = rest.strip_prefix(&[separator]).ok_or(UNKNOWN)?;
    let (third, third_digits, rest) = number(rest).ok_or(UNKNOWN)?;
    match [digits, second_digits, third_digits] {
        [4, 1..=2, 1..=2] => with_time(Form::YearFirst, [first, second, third], rest, false),
        [1..=2, 1..=2, 4] if separator == b'.' => with_time(Form::Dots, [third, second, first], rest, false),
        [1..=2, 1..=2, 4] => year_last([third, first, second], rest, order),
        [1..=2, 1..=2, 1..=2] => Err(SHORT_YEAR),
        _ => Err(UNKNOWN),
    }
}

/// The digits at the start of a text: their value and number, and what follows.
fn number(text: &[u8]) -> Option<(i64, usize, &[u8])> {
    /// No part of a date is longer.
    const LONGEST: usize = 9;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=LONGEST).contains(&digits).then(|| {
        let (number, rest) = text.split_at(digits);
        (value(number), digits, rest)
    })
}

/// The value of at most 18 digits.
fn value(digits: &[u8]) -> i64 {
    digits.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'))
}

fn digits_only(text: &[u8]) -> Result<Parsed, Advice> {
    match text.len() {
        4 => plain(Form::Year, [value(text), 1, 1], Granularity::Year),
        8 => plain(Form::Compact, compact(text), Granularity::Day),
        14 => {
            let time = [&text[8..10], &text[10..12], &text[12..]].map(value);
            let seconds = seconds(time).ok_or(IMPOSSIBLE)?;
            let day = plain(Form::Compact, compact(text), Granularity::Hour)?;
            Ok(Parsed { moment: Moment { seconds, ..day.moment }, ..day })
        }
        9 | 10 => since_1970(Form::Seconds, Timestamp::from_second(value(text))),
        12 | 13 => since_1970(Form::Milliseconds, Timestamp::from_millisecond(value(text))),
        _ => Err(UNKNOWN),
    }
}

fn compact(text: &[u8]) -> [i64; 3] {
    [&text[..4], &text[4..6], &text[6..8]].map(value)
}

fn since_1970(form: Form, moment: Result<Timestamp, jiff::Error>) -> Result<Parsed, Advice> {
    let moment = Moment::of(Offset::UTC.to_datetime(moment.map_err(|_| IMPOSSIBLE)?));
    Ok(Parsed { form, moment, precision: Granularity::Hour, zoned: true, open: false })
}

/// A date of year, month and day without a time.
fn plain(form: Form, [year, month, day]: [i64; 3], precision: Granularity) -> Result<Parsed, Advice> {
    let moment = Moment { year: year as i16, first: month as u8, second: day as u8, seconds: 0 };
    // Four and two digits: the conversions above lose nothing.
    moment.date().ok_or(IMPOSSIBLE)?;
    Ok(Parsed { form, moment, precision, zoned: false, open: false })
}

fn year_last(
    [year, first, second]: [i64; 3],
    rest: &[u8],
    order: Option<DateOrder>,
) -> Result<Parsed, Advice> {
    match order {
        Some(DateOrder::Mdy) => with_time(Form::YearLast, [year, first, second], rest, false),
        Some(DateOrder::Dmy) => with_time(Form::YearLast, [year, second, first], rest, false),
        // At least one order must give a date; only numbers up to 12 leave both, so that one of them decides the file.
        None => {
            let [month, day] = if first <= 12 { [first, second] } else { [second, first] };
            let parsed = with_time(Form::YearLast, [year, month, day], rest, true)?;
            let moment = Moment { first: first as u8, second: second as u8, ..parsed.moment };
            Ok(Parsed { moment, open: true, ..parsed })
        }
    }
}

/// A date with whatever follows it: nothing, or a time and perhaps a zone. `open` is whether the order of day and month is.
fn with_time(form: Form, date: [i64; 3], rest: &[u8], open: bool) -> Result<Parsed, Advice> {
    if rest.is_empty() {
        return plain(form, date, Granularity::Day);
    }
    let day = plain(form, date, Granularity::Hour)?;
    let [b'T' | b't' | b' ', time @ ..] = rest else { return Err(UNKNOWN) };
    let (seconds, zone) = time_of_day(time)?;
    let moment = Moment { seconds, ..day.moment };
    let parsed = Parsed { moment, ..day };
    let zone = zone.trim_ascii();
    if zone.is_empty() {
        return Ok(parsed);
    }
    match offset(zone) {
        None => Err(UNKNOWN),
        Some(0) => Ok(Parsed { zoned: true, ..parsed }),
        Some(_) if open => Err(OPEN_ZONE),
        Some(east) => {
            let date = moment.date().ok_or(IMPOSSIBLE)?;
            let utc = date.at(0, 0, 0, 0).checked_add(SignedDuration::from_secs(i64::from(seconds) - east));
            let moment = Moment::of(utc.map_err(|_| IMPOSSIBLE)?);
            Ok(Parsed { moment, zoned: true, ..parsed })
        }
    }
}

/// `HH:MM[:SS[.fraction]] [AM|PM]` as seconds since midnight, and what follows.
fn time_of_day(text: &[u8]) -> Result<(u32, &[u8]), Advice> {
    let (hour, _, rest) = number(text).ok_or(UNKNOWN)?;
    let (minute, _, mut rest) = rest.strip_prefix(b":").and_then(number).ok_or(UNKNOWN)?;
    let mut second = 0;
    if let Some((found, _, after)) = rest.strip_prefix(b":").and_then(number) {
        // A leap second belongs to the minute that it ends.
        second = if found == 60 { 59 } else { found };
        rest = after;
        if let Some(fraction) = rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b",")) {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            rest = &fraction[digits..];
        }
    }
    let after = rest.trim_ascii_start();
    let half = after.get(..2).map(<[u8]>::to_ascii_uppercase);
    let hour = match (half.as_deref(), hour) {
        (Some(b"AM" | b"PM"), 0 | 13..) => return Err(IMPOSSIBLE),
        (Some(b"AM"), hour) => hour % 12,
        (Some(b"PM"), hour) => hour % 12 + 12,
        (_, hour) => hour,
    };
    if matches!(half.as_deref(), Some(b"AM" | b"PM")) {
        rest = &after[2..];
    }
    Ok((seconds([hour, minute, second]).ok_or(IMPOSSIBLE)?, rest))
}

fn seconds([hour, minute, second]: [i64; 3]) -> Option<u32> {
    (hour < 24 && minute < 60 && second < 60).then_some((hour * 3600 + minute * 60 + second) as u32)
}

/// Seconds east of Greenwich: `Z`, `UTC`, `+02`, `+0200`, `+02:00`.
fn offset(text: &[u8]) -> Option<i64> {
    if matches!(text, b"Z" | b"z" | b"UTC" | b"GMT") {
        return Some(0);
    }
    let (sign, rest) = match text {
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match rest {
        [h1, h2] => ([*h1, *h2], [b'0', b'0']),
        [h1, h2, m1, m2] | [h1, h2, b':', m1, m2] => ([*h1, *h2], [*m1, *m2]),
        _ => return None,
    };
    if !hours.iter().chain(&minutes).all(u8::is_ascii_digit) {
        return None;
    }
    let (hours, minutes) = (value(&hours), value(&minutes));
    (hours < 24 && minutes < 60).then(|| sign * (hours * 3600 + minutes * 60))
}

#[cfg(test)]
#[path = "dates_tests.rs"]
mod tests;
