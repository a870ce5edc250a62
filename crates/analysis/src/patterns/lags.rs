//! How far away in time the nearest companion of a fact lies.

use serde::Serialize;

/// Numbers of facts by the distance in time to their nearest companion, in units of the time raster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lags {
    /// At the same time.
    #[serde(rename = "0")]
    pub same_time: u64,
    /// One unit away.
    #[serde(rename = "1")]
    pub one: u64,
    /// 2 to 7 units.
    #[serde(rename = "2-7")]
    pub to_seven: u64,
    /// 8 to 30 units.
    #[serde(rename = "8-30")]
    pub to_thirty: u64,
    /// Further away.
    pub more: u64,
    /// There is none.
    pub never: u64,
}

impl Lags {
    /// Names of the classes, in the order of [`Lags::counts`].
    pub const NAMES: [&'static str; 6] = ["0", "1", "2-7", "8-30", "more", "never"];

    /// Takes note of a fact; `None` if it has no companion.
    pub(super) fn add(&mut self, lag: Option<u64>) {
        let class = match lag {
            Some(0) => &mut self.same_time,
            Some(1) => &mut self.one,
            Some(2..=7) => &mut self.to_seven,
            Some(8..=30) => &mut self.to_thirty,
            Some(_) => &mut self.more,
            None => &mut self.never,
        };
        *class += 1;
    }

    /// The numbers in order.
    pub const fn counts(&self) -> [u64; 6] {
        [self.same_time, self.one, self.to_seven, self.to_thirty, self.more, self.never]
    }

    /// Facts that have a companion.
    pub const fn found(&self) -> u64 {
        self.same_time + self.one + self.to_seven + self.to_thirty + self.more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_of_the_classes() {
        let mut lags = Lags::default();
        for lag in [0, 1, 2, 7, 8, 30, 31, u64::MAX] {
            lags.add(Some(lag));
        }
        lags.add(None);
        assert_eq!(lags.counts(), [1, 1, 2, 2, 2, 1]);
        assert_eq!(lags.found(), 8);
        let document = serde_json::to_value(lags).expect("numbers");
        let names: Vec<&str> = document.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(names, Lags::NAMES);
    }
}
