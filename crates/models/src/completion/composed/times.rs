//! Time in the forms that encoders use: a number, a date, or the tokens of a written date.

use quadcast_core::{ModelError, Step, TimeAxis};
use serde::{Deserialize, Serialize};

/// Every time of a dataset in the forms that components ask for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Times {
    /// Units since the first time.
    pub ordinals: Vec<u32>,
    /// Year, month and day. Without a calendar: 0, 0 and the ordinal.
    pub dates: Vec<[f32; 3]>,
    /// The seven tokens of a date (see [`TOKENS`]).
    #[serde(rename = "signs")]
    pub tokens: Vec<[u8; 7]>,
}

/// Distinct tokens: ten digits of years, twelve months, ten digits of days.
pub(crate) const TOKENS: usize = 32;

impl Times {
    pub fn of(axis: &TimeAxis) -> Self {
        let steps = (0..axis.len() as u32).map(Step);
        let first = axis.ordinal(Step(0));
        let mut times = Self::default();
        for step in steps {
            let ordinal = u32::try_from(axis.ordinal(step) - first).unwrap_or(u32::MAX);
            let date = date(&axis.label(step)).filter(|_| axis.calendar().year_zero.is_some());
            times.ordinals.push(ordinal);
            times.dates.push(date.map_or([0.0, 0.0, ordinal as f32], |date| date.map(|part| part as f32)));
            times.tokens.push(date.map_or_else(|| number_tokens(ordinal), date_tokens));
        }
        times
    }

    pub fn len(&self) -> usize {
        self.ordinals.len()
    }

    /// Refuses saved times that are not alike in all forms.
    pub fn check_saved(self) -> Result<Self, ModelError> {
        let refuse = |text: String| Err(ModelError::Saved(format!("times.{text}")));
        let lengths = [self.ordinals.len(), self.dates.len(), self.tokens.len()];
        if lengths != [self.len(); 3] {
            return refuse(format!("ordinals, dates and signs have different lengths: {lengths:?}"));
        }
        if let Some(date) = self.dates.iter().find(|date| !date.iter().all(|part| part.is_finite())) {
            return refuse(format!("dates holds {date:?}: expected finite numbers"));
        }
        let unknown = |token: &&u8| usize::from(**token) >= TOKENS;
        if let Some(token) = self.tokens.as_flattened().iter().find(unknown) {
            return refuse(format!("signs holds {token}: expected numbers below {TOKENS}"));
        }
        Ok(self)
    }
}

/// Year, month and day of a label; a missing month or day is 0. Years before our era are negative.
fn date(label: &str) -> Option<[i32; 3]> {
    let day = label.split(' ').next()?;
    let (sign, day) = day.strip_prefix('-').map_or((1, day), |rest| (-1, rest));
    let mut parts = day.splitn(3, '-').map(|part| part.parse::<i32>().ok());
    let year = parts.next()??;
    let rest = [parts.next(), parts.next()].map(|part| part.map_or(Some(0), |part| part));
    Some([sign * year, rest[0]?, rest[1]?])
}

/// Four digits of the year, the month, two digits of the day: 2014-05-13 is 2, 0, 1, 4, 14, 23, 25.
fn date_tokens(date: [i32; 3]) -> [u8; 7] {
    let [year, month, day] = date.map(i32::unsigned_abs);
    let digit = |number: u32, place: u32| (number / 10_u32.pow(place) % 10) as u8;
    let month = 10 + (month.clamp(1, 12) - 1) as u8;
    [
        digit(year, 3),
        digit(year, 2),
        digit(year, 1),
        digit(year, 0),
        month,
        22 + digit(day, 1),
        22 + digit(day, 0),
    ]
}

/// Seven decimal digits: times that are only numbered.
fn number_tokens(number: u32) -> [u8; 7] {
    std::array::from_fn(|place| (number / 10_u32.pow(6 - place as u32) % 10) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadcast_core::Calendar;

    #[test]
    fn dates_and_tokens_by_hand() {
        // 2014-05-13 is day 16 203 of Unix time.
        let times = Times::of(&TimeAxis::new(vec![16_203, 16_204, 16_223], Calendar::UNIX_DAYS));
        assert_eq!(times.ordinals, [0, 1, 20]);
        assert_eq!(times.dates[0], [2014.0, 5.0, 13.0]);
        assert_eq!(times.dates[2], [2014.0, 6.0, 2.0]);
        assert_eq!(times.tokens[0], [2, 0, 1, 4, 14, 23, 25]);
    }

    #[test]
    fn numbered_times_have_tokens_too() {
        let times = Times::of(&TimeAxis::new(vec![0, 24, 48 * 12], Calendar::UNKNOWN));
        assert_eq!((times.ordinals[2], times.dates[2]), (24, [0.0, 0.0, 24.0]));
        assert_eq!(times.tokens[2], [0, 0, 0, 0, 0, 2, 4]);
        let years = Times::of(&TimeAxis::new(vec![0, 3], Calendar::years_from(1999)));
        assert_eq!((years.dates[1], years.tokens[1]), ([2002.0, 0.0, 0.0], [2, 0, 0, 2, 10, 22, 22]));
        let ancient = Times::of(&TimeAxis::new(vec![-431, 2], Calendar::years_from(0)));
        assert_eq!((ancient.dates[0], ancient.tokens[0]), ([-431.0, 0.0, 0.0], [0, 4, 3, 1, 10, 22, 22]));
    }
}
