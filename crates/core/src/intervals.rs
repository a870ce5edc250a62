//! Facts that hold over an interval of time, with dates of which parts may be unknown.

use std::fmt;

use crate::{Splits, Triple, Vocabulary};

/// A date of which parts may be unknown, kept as written: `1926-##-##`, `####-##-##`, `19##-##-##`, `-431-##-##`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PartialDate {
    /// The year when all its digits are known. Negative years are BC.
    pub year: Option<i32>,
    /// When only leading digits of the year are known: those digits and how many digits are missing (`19##` = 19, 2).
    pub coarse_year: Option<(i32, u8)>,
    /// Month, 1..=12.
    pub month: Option<u8>,
    /// Day of the month, 1..=31.
    pub day: Option<u8>,
}

impl PartialDate {
    /// Whether nothing at all is known: an open end of an interval.
    pub const fn is_open(&self) -> bool {
        self.year.is_none() && self.coarse_year.is_none()
    }
}

impl fmt::Display for PartialDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.year, self.coarse_year) {
            (Some(year), _) => write!(f, "{year}")?,
            (None, Some((digits, missing))) => write!(f, "{digits}{}", "#".repeat(missing.into()))?,
            (None, None) => f.write_str("####")?,
        }
        for part in [self.month, self.day] {
            match part {
                Some(number) => write!(f, "-{number:02}")?,
                None => f.write_str("-##")?,
            }
        }
        Ok(())
    }
}

/// A triple that holds from `start` to `end`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IntervalFact {
    /// The fact.
    pub triple: Triple,
    /// When it began.
    pub start: PartialDate,
    /// When it ended.
    pub end: PartialDate,
}

/// A dataset of interval facts.
#[derive(Clone, Debug)]
pub struct IntervalDataset {
    /// Name for people.
    pub name: String,
    /// Names, from all splits.
    pub vocabulary: Vocabulary,
    /// Facts in file order.
    pub splits: Splits<Vec<IntervalFact>>,
    /// All facts before the split (`triple2id.txt`), if the dataset has them.
    pub unsplit: Option<Vec<IntervalFact>>,
}
