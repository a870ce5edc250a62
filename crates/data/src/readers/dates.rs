//! Dates of labelled files: what they say, and in which unit they are counted.
//!
//! Days, unless a time of day or the description of an import says otherwise: models with a decay count in units, and a
//! month is one step for them, not 28 to 31.

use jiff::civil::Date;
use quadcast_core::{Calendar, Splits, TimeUnit};

use super::descriptions::{IMPORT, Imported, find_description};
use super::input::Folder;
use super::notes::Notes;
use super::temporal::TimedFacts;
use crate::{DataError, Granularity};

const MINUTES_PER_HOUR: i64 = 60;
const MINUTES_PER_DAY: i64 = 24 * MINUTES_PER_HOUR;

/// Days since 1970-01-01.
pub(crate) fn days_since_1970(date: Date) -> i64 {
    const HOURS_PER_DAY: i64 = 24;
    date.duration_since(Date::constant(1970, 1, 1)).as_hours() / HOURS_PER_DAY
}

/// The date of a day since 1970-01-01, if the calendar reaches so far.
pub(crate) fn date_of_day(day: i64) -> Option<Date> {
    Date::constant(1970, 1, 1).checked_add(jiff::Span::new().try_days(day).ok()?).ok()
}

/// Days since 1970-01-01 of a date written `YYYY-MM-DD`.
pub(crate) fn iso_day(text: &[u8]) -> Option<i64> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else {
        return None;
    };
    let date =
        Date::new(number(&[y1, y2, y3, y4])?, number(&[m1, m2])? as i8, number(&[d1, d2])? as i8).ok()?;
    Some(days_since_1970(date))
}

/// Minutes since 1970-01-01 of a date written `YYYY-MM-DD` or `YYYY-MM-DDTHH:MM`.
pub(crate) fn iso_minute(text: &[u8]) -> Option<i64> {
    match text {
        [day @ .., b'T', h1, h2, b':', m1, m2] => {
            let (hour, minute) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?);
            let time = i64::from(hour) * MINUTES_PER_HOUR + i64::from(minute);
            (hour < 24 && minute < 60).then_some(iso_day(day)? * MINUTES_PER_DAY + time)
        }
        day => Some(iso_day(day)? * MINUTES_PER_DAY),
    }
}

fn number(digits: &[u8]) -> Option<i16> {
    digits.iter().try_fold(0_i16, |n, d| d.is_ascii_digit().then(|| n * 10 + i16::from(d - b'0')))
}

/// The unit in which dates are counted that were read as minutes. The description of an import is believed where the dates
/// allow it.
pub(super) fn unit_of(
    folder: &mut Folder,
    facts: &Splits<TimedFacts>,
    notes: &mut Notes,
) -> Result<TimeUnit, DataError> {
    let all =
        |fits: &dyn Fn(i64) -> bool| facts.iter().all(|(_, facts)| facts.times.iter().all(|t| fits(*t)));
    if !all(&|minute| minute % MINUTES_PER_HOUR == 0) {
        return Ok(TimeUnit::Minute);
    }
    let imported: Option<Imported> = find_description(folder, "the description of the import", IMPORT)?;
    let date = |minute: i64| date_of_day(minute.div_euclid(MINUTES_PER_DAY));
    let granularity = imported.map(|imported| imported.granularity);
    let unit = match granularity {
        _ if !all(&|minute| minute % MINUTES_PER_DAY == 0) => TimeUnit::Hour,
        Some(Granularity::Hour) => TimeUnit::Hour,
        Some(Granularity::Month) if all(&|m| date(m).is_some_and(|date| date.day() == 1)) => TimeUnit::Month,
        Some(Granularity::Year) if all(&|m| date(m).is_some_and(|date| date.day_of_year() == 1)) => {
            TimeUnit::Year
        }
        _ => TimeUnit::Day,
    };
    if let Some(granularity) = granularity {
        notes.add(format!("{IMPORT} says that one step is one {granularity}."));
    }
    Ok(unit)
}

/// Minutes since 1970 in another unit.
pub(super) fn in_unit(unit: TimeUnit, minute: i64) -> i64 {
    let day = minute.div_euclid(MINUTES_PER_DAY);
    let since_1970 = |date: Date| i64::from(date.year()) - 1970;
    match unit {
        TimeUnit::Hour => minute.div_euclid(MINUTES_PER_HOUR),
        TimeUnit::Day => day,
        // The day came from a date, so there is one.
        TimeUnit::Month => {
            date_of_day(day).map_or(day, |date| since_1970(date) * 12 + i64::from(date.month()) - 1)
        }
        TimeUnit::Year => date_of_day(day).map_or(day, since_1970),
        TimeUnit::Minute | TimeUnit::Second | TimeUnit::Step => minute,
    }
}

/// The calendar that counts such units from 1970 on.
pub(super) const fn calendar_since_1970(unit: TimeUnit) -> Calendar {
    match unit {
        TimeUnit::Year => Calendar::years_from(1970),
        unit => Calendar::from_january_first(unit, 1970),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days() {
        assert_eq!(iso_day(b"1970-01-01"), Some(0));
        assert_eq!(iso_day(b"2014-01-01"), Some(16071));
        assert_eq!(iso_day(b"1969-12-31"), Some(-1));
        assert_eq!(iso_day(b"2000-02-29"), Some(11016));
        for wrong in [&b"2001-02-29"[..], b"2014-13-01", b"2014-1-1", b"2014-01-01T", b"####-##-##", b""] {
            assert_eq!(iso_minute(wrong), None);
        }
    }

    #[test]
    fn times_are_minutes() {
        assert_eq!(iso_minute(b"1970-01-02"), Some(1440));
        assert_eq!(iso_minute(b"1970-01-02T01:30"), Some(1530));
        for wrong in [&b"1970-01-02T24:00"[..], b"1970-01-02T01:60", b"1970-01-02 01:30", b"T01:30"] {
            assert_eq!(iso_minute(wrong), None);
        }
    }

    #[test]
    fn units_count_from_1970() {
        let units = [TimeUnit::Hour, TimeUnit::Day, TimeUnit::Month, TimeUnit::Year];
        let minute = iso_minute(b"1972-03-01").expect("a date");
        assert_eq!(units.map(|unit| in_unit(unit, minute)), [790 * 24, 790, 26, 2]);
        let before = iso_minute(b"1969-12-01").expect("a date");
        assert_eq!(units.map(|unit| in_unit(unit, before)), [-31 * 24, -31, -1, -1]);
    }
}
