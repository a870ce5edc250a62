//! Seconds since 1970 as `2013-04-12T16:12:19Z` and back. Streams are in order of time, so that most rows repeat the date of
//! the row before; it is worked out once.

use jiff::Timestamp;
use quadcast_core::{Calendar, TimeUnit};

use super::stream::StreamClock;
use crate::readers::{date_of_day, iso_day};

const SECONDS_PER_DAY: i64 = 86_400;

/// Bytes of `YYYY-MM-DD`.
const DATE: usize = 10;

/// Reads and writes instants, remembering the last date.
#[derive(Default)]
pub(crate) struct Instants {
    read: Option<([u8; DATE], i64)>,
    written: Option<(i64, String)>,
}

impl Instants {
    /// The seconds of `YYYY-MM-DDTHH:MM:SSZ`.
    pub(crate) fn parse(&mut self, text: &[u8]) -> Option<i64> {
        let (date, [b'T', h1, h2, b':', m1, m2, b':', s1, s2, b'Z']) = text.split_first_chunk::<DATE>()?
        else {
            return None;
        };
        let day = match self.read {
            Some((known, day)) if known == *date => day,
            _ => {
                let day = iso_day(date)?;
                self.read = Some((*date, day));
                day
            }
        };
        let two = |tens: &u8, ones: &u8| {
            (tens.is_ascii_digit() && ones.is_ascii_digit())
                .then(|| i64::from((tens - b'0') * 10 + ones - b'0'))
        };
        let (hour, minute, second) = (two(h1, h2)?, two(m1, m2)?, two(s1, s2)?);
        (hour < 24 && minute < 60 && second < 60)
            .then_some(day * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second)
    }

    /// Appends an instant; beyond the calendar, the bare number.
    pub(crate) fn push(&mut self, row: &mut Vec<u8>, seconds: i64) {
        let (day, second) = (seconds.div_euclid(SECONDS_PER_DAY), seconds.rem_euclid(SECONDS_PER_DAY));
        if self.written.as_ref().is_none_or(|(known, _)| *known != day) {
            let Some(date) = date_of_day(day) else {
                return row.extend_from_slice(seconds.to_string().as_bytes());
            };
            self.written = Some((day, date.to_string()));
        }
        let date = self.written.as_ref().map_or("", |(_, date)| date);
        row.extend_from_slice(date.as_bytes());
        for (mark, number) in [(b'T', second / 3600), (b':', second / 60 % 60), (b':', second % 60)] {
            row.extend_from_slice(&[mark, b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
        }
        row.push(b'Z');
    }
}

impl StreamClock {
    /// A time as people write it: a whole number, or on the clock of dates a date, perhaps with a time of day and an offset
    /// from UTC. Without an offset it is UTC; a date stands for its first second, a month for that of its first day.
    pub fn moment(self, text: &str) -> Option<i64> {
        let text = text.trim();
        if self != Self::Utc {
            return text.parse().ok();
        }
        if let Ok(instant) = text.parse::<Timestamp>() {
            return Some(instant.as_second());
        }
        let local = text.strip_suffix('Z').unwrap_or(text);
        // A parser of local times reads past offsets and zones; one that could not be taken into account is an error.
        let elsewhere = local.get(DATE..).is_some_and(|rest| rest.contains(['+', '-', '[']));
        if elsewhere {
            return None;
        }
        Calendar::from_january_first(TimeUnit::Second, 1970).parse(local)
    }

    /// A time as it stands in a stream.
    pub fn label(self, moment: i64) -> String {
        if self != Self::Utc {
            return moment.to_string();
        }
        let mut text = Vec::new();
        Instants::default().push(&mut text, moment);
        String::from_utf8_lossy(&text).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_and_written() {
        let mut instants = Instants::default();
        // date -u -d 2013-04-12T16:12:19Z +%s
        for (text, seconds) in [
            ("2013-04-12T16:12:19Z", 1_365_783_139),
            ("2013-04-12T23:59:59Z", 1_365_811_199),
            ("1969-12-31T23:59:58Z", -2),
            ("2000-02-29T00:00:00Z", 951_782_400),
        ] {
            assert_eq!(instants.parse(text.as_bytes()), Some(seconds));
            let mut row = Vec::new();
            instants.push(&mut row, seconds);
            assert_eq!(row, text.as_bytes());
        }
        for wrong in
            ["2013-04-12", "2013-04-31T00:00:00Z", "2013-04-12T24:00:00Z", "2013-04-12T16:12:1", "x", ""]
        {
            assert_eq!(instants.parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn offsets_count() {
        // date -u -d 2012-10-29T12:00:00Z +%s
        const NOON: i64 = 1_351_512_000;
        let moment = |text| StreamClock::Utc.moment(text);
        for same in [
            "2012-10-29T12:00:00Z",
            "2012-10-29T12:00:00",
            "2012-10-29 12:00",
            "2012-10-29T18:00:00+06:00",
            "2012-10-29T05:00:00-07:00",
        ] {
            assert_eq!(moment(same), Some(NOON), "{same}");
        }
        for midnight in ["2012-10-29", " 2012-10-29Z", "2012-10-29T00:00Z"] {
            assert_eq!(moment(midnight), Some(NOON - 43_200), "{midnight}");
        }
        assert_eq!(moment("2012-10"), Some(1_349_049_600));
        for wrong in
            ["soon", "", "2012-13-01", "2012-10-29T12:00:00+99:00", "2012-10-29T12:00:00[Asia/Almaty]"]
        {
            assert_eq!(moment(wrong), None, "{wrong}");
        }
        assert_eq!(
            (StreamClock::Number.moment("-7"), StreamClock::Number.moment("2012-10")),
            (Some(-7), None)
        );
        assert_eq!(StreamClock::Utc.label(NOON), "2012-10-29T12:00:00Z");
        assert_eq!(StreamClock::Number.label(NOON), "1351512000");
    }
}
