//! How to divide.

use quadcast_core::{Detection, Mirrors, Split};
use serde::Serialize;

use crate::error::{AnalysisError, refuse};
use quadcast_data::Shares;

/// By which rule facts are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DivisionMethod {
    /// Every fact for itself, shuffled.
    Random,
    /// Train, then valid, then test; no step is shared.
    Chronological,
    /// Facts that mirror each other stay together, shuffled.
    LeakageFree,
}

impl DivisionMethod {
    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Chronological => "chronological",
            Self::LeakageFree => "leakage-free",
        }
    }
}

/// Shares of the facts that are held out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HeldOut {
    valid: f64,
    test: f64,
}

impl HeldOut {
    /// A twentieth each, as in the published evolving benchmark.
    pub const TWENTIETHS: Self = Self { valid: 0.05, test: 0.05 };

    /// Checks that every split gets a share.
    pub fn new(valid: f64, test: f64) -> Result<Self, AnalysisError> {
        // Written so that NaN fails too.
        if valid > 0.0 && test > 0.0 && valid + test < 1.0 {
            return Ok(Self { valid, test });
        }
        refuse(format!(
            "--valid {valid} --test {test}: expected two shares above 0 that leave something for train, such as 0.1 and 0.1"
        ))
    }

    /// How many of `units` go to valid and test: ⌈(valid + test) · units⌉ are held out, and test gets its part of them,
    /// rounded up.
    pub(crate) fn counts(self, units: usize) -> [usize; 2] {
        let both = self.valid + self.test;
        let held = ceiling(both * units as f64).min(units);
        let test = ceiling(self.test / both * held as f64).min(held);
        [held - test, test]
    }

    /// The split of what lies at this place between 0 and 1: test, valid, then train.
    pub(crate) fn split_at(self, place: f64) -> Split {
        if place < self.test {
            Split::Test
        } else if place < self.valid + self.test {
            Split::Valid
        } else {
            Split::Train
        }
    }

    pub(super) fn shares(self) -> Shares {
        Shares { train: 1.0 - self.valid - self.test, valid: self.valid, test: self.test }
    }
}

impl Default for HeldOut {
    /// A tenth each, as in the completion benchmarks.
    fn default() -> Self {
        Self { valid: 0.1, test: 0.1 }
    }
}

/// Rounds up, unless only the inexactness of a decimal fraction lies above the whole number.
fn ceiling(value: f64) -> usize {
    const TOLERANCE: f64 = 1e-9;
    (value - TOLERANCE * value.max(1.0)).ceil().max(0.0) as usize
}

/// Which relations mirror each other.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternSource {
    /// Those that the facts of all splits show.
    Detected(Detection),
    /// Those that somebody names.
    Given {
        /// Relations that mirror themselves, and pairs that mirror each other; in any order.
        mirrors: Mirrors,
        /// Where the lists come from, in words.
        origin: String,
    },
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub struct DivideOptions {
    /// By which rule.
    pub method: DivisionMethod,
    /// How much is held out.
    pub held_out: HeldOut,
    /// Seed of every draw.
    pub seed: u64,
    /// What mirrors what, for [`DivisionMethod::LeakageFree`].
    pub patterns: PatternSource,
}

impl DivideOptions {
    /// The defaults of a method.
    pub fn new(method: DivisionMethod) -> Self {
        Self {
            method,
            held_out: HeldOut::default(),
            seed: 1,
            patterns: PatternSource::Detected(Detection::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_published_division() {
        let tenths = HeldOut::default();
        for (units, valid, test) in [(8577, 858, 858), (4411, 441, 442), (64755, 6475, 6476), (5, 0, 1)] {
            assert_eq!(tenths.counts(units), [valid, test]);
        }
        assert_eq!(tenths.counts(10), [1, 1], "2 and not 3: a fifth of ten is a whole number");
        assert_eq!(HeldOut::new(0.3, 0.3).expect("shares").counts(10), [3, 3]);
        assert_eq!(HeldOut::new(0.05, 0.15).expect("shares").counts(100), [5, 15]);
        assert_eq!(tenths.counts(0), [0, 0]);
    }

    #[test]
    fn shares_leave_something_for_train() {
        for (valid, test) in [(0.0, 0.1), (0.1, 0.0), (0.5, 0.5), (-0.1, 0.2), (f64::NAN, 0.1), (0.1, 2.0)] {
            assert!(HeldOut::new(valid, test).is_err(), "{valid} {test}");
        }
    }
}
