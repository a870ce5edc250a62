//! What can be asked of an import.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use quadcast_core::Duplicates;
use serde::{Deserialize, Serialize};

use super::columns::Columns;
use super::error::ImportError;

/// How long a step is, from fine to coarse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    /// From full hour to full hour, UTC.
    Hour,
    /// A calendar day.
    Day,
    /// Monday to Sunday, named by the Monday.
    Week,
    /// A calendar month, named by its first day.
    Month,
    /// A calendar year, named by January 1st.
    Year,
}

impl Granularity {
    /// The next finer granularity, if there is one.
    pub(super) const fn finer(self) -> Option<Self> {
        match self {
            Self::Hour => None,
            Self::Day => Some(Self::Hour),
            Self::Week => Some(Self::Day),
            Self::Month => Some(Self::Week),
            Self::Year => Some(Self::Month),
        }
    }
}

impl fmt::Display for Granularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        })
    }
}

/// Whether the day or the month comes first in dates such as 04/05/2031.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateOrder {
    /// Day, month, year.
    Dmy,
    /// Month, day, year.
    Mdy,
}

/// Shares of train, valid and test, which sum to one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// Share of the training facts.
    pub train: f64,
    /// Share of the validation facts.
    pub valid: f64,
    /// Share of the test facts.
    pub test: f64,
}

impl Default for Shares {
    /// 80/10/10, the division of the forecasting benchmarks.
    fn default() -> Self {
        Self { train: 0.8, valid: 0.1, test: 0.1 }
    }
}

impl FromStr for Shares {
    type Err = ImportError;

    /// Reads `80/10/10` or `0.8/0.1/0.1`.
    fn from_str(text: &str) -> Result<Self, ImportError> {
        const TOLERANCE: f64 = 1e-6;
        let failed = || {
            let expected = "expected three shares above 0 that sum to 100, such as 80/10/10";
            ImportError::Unusable(format!("--split {text}: {expected}"))
        };
        let parts: Vec<f64> = text
            .split('/')
            .map(|part| part.trim().parse())
            .collect::<Result<_, _>>()
            .map_err(|_| failed())?;
        let [train, valid, test] = parts[..] else { return Err(failed()) };
        let sum = train + valid + test;
        let whole = if sum > 1.0 + TOLERANCE { 100.0 } else { 1.0 };
        // Written so that NaN fails too.
        let sound = train > 0.0 && valid > 0.0 && test > 0.0 && (sum - whole).abs() < TOLERANCE * whole;
        if sound {
            Ok(Self { train: train / whole, valid: valid / whole, test: test / whole })
        } else {
            Err(failed())
        }
    }
}

/// What to import, from where and how.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The files; `-` is standard input.
    pub inputs: Vec<PathBuf>,
    /// Which column is what; guessed from the header if absent.
    pub columns: Option<Columns>,
    /// What separates the fields of a table; detected if absent.
    pub delimiter: Option<u8>,
    /// Length of a step; a day, or what the dates give, if absent.
    pub granularity: Option<Granularity>,
    /// Order of day and month where the data leaves it open.
    pub date_order: Option<DateOrder>,
    /// How to divide.
    pub shares: Shares,
    /// What happens to duplicate facts of a step.
    pub duplicates: Duplicates,
    /// Leave bad rows out and count them, instead of stopping at the first.
    pub skip_bad: bool,
    /// The folder to be made.
    pub out: PathBuf,
    /// Replace the result of an earlier import.
    pub overwrite: bool,
}

impl ImportOptions {
    /// The defaults for these files.
    pub fn new(inputs: Vec<PathBuf>, out: PathBuf) -> Self {
        Self {
            inputs,
            columns: None,
            delimiter: None,
            granularity: None,
            date_order: None,
            shares: Shares::default(),
            duplicates: Duplicates::Drop,
            skip_bad: false,
            out,
            overwrite: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_per_cent_or_fractions() {
        assert_eq!("80/10/10".parse::<Shares>().expect("sums to 100"), Shares::default());
        let shares: Shares = "0.5 / 0.25 / 0.25".parse().expect("sums to 1");
        assert_eq!((shares.train, shares.valid, shares.test), (0.5, 0.25, 0.25));
        for wrong in ["80/20", "80/10/5", "90/10/0", "a/b/c", "", "80/10/10/0", "NaN/1/1", "-80/90/90"] {
            assert!(wrong.parse::<Shares>().is_err(), "{wrong}");
        }
    }
}
