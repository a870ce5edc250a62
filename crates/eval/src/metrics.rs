//! Metrics from ranks, under every tie policy.

use quadcast_core::{LinkScore, TiePolicy};
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::Rank;

/// The metrics of a set of queries, as fractions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Mean reciprocal rank.
    pub mrr: f64,
    /// Share of queries whose gold answer ranks first.
    #[serde(rename = "hits@1")]
    pub hits1: f64,
    /// Share of queries whose gold answer is among the first three.
    #[serde(rename = "hits@3")]
    pub hits3: f64,
    /// Share of queries whose gold answer is among the first ten.
    #[serde(rename = "hits@10")]
    pub hits10: f64,
    /// Mean rank.
    pub mr: f64,
}

impl From<[f64; 5]> for Metrics {
    /// In the order of the fields.
    fn from([mrr, hits1, hits3, hits10, mr]: [f64; 5]) -> Self {
        Self { mrr, hits1, hits3, hits10, mr }
    }
}

impl From<Metrics> for [f64; 5] {
    fn from(metrics: Metrics) -> Self {
        [metrics.mrr, metrics.hits1, metrics.hits3, metrics.hits10, metrics.mr]
    }
}

/// Prefix sums of the harmonic series, `H(n) = 1 + 1/2 + … + 1/n`.
pub struct Harmonic(Vec<f64>);

/// The table ends here: half a gigabyte. The sum of the reciprocals beyond is that of an integral, to 15 digits.
const LONGEST_TABLE: usize = 1 << 26;

impl Harmonic {
    /// The table up to `n`.
    pub fn up_to(n: usize) -> Self {
        let n = n.min(LONGEST_TABLE);
        let mut sums = Vec::with_capacity(n + 1);
        let mut sum = 0.0;
        sums.push(sum);
        for i in 1..=n {
            sum += 1.0 / i as f64;
            sums.push(sum);
        }
        Self(sums)
    }

    /// `H(n)`; `H(m) + ln((n + ½) / (m + ½))` beyond the table of `m`.
    fn sum(&self, n: usize) -> f64 {
        let last = self.0.len() - 1;
        self.0.get(n).copied().unwrap_or_else(|| self.0[last] + ((n as f64 + 0.5) / (last as f64 + 0.5)).ln())
    }

    /// Expected reciprocal rank when the tied candidates stand in random order.
    pub fn expected_reciprocal(&self, rank: Rank) -> f64 {
        let (g, e) = (rank.greater as usize, rank.tied as usize);
        if e == 1 {
            return 1.0 / (g + 1) as f64;
        }
        (self.sum(g + e) - self.sum(g)) / e as f64
    }
}

/// Sums of per-query metrics; a mean is taken at the end. Additions happen in the order of the calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Number of queries.
    pub queries: u64,
    /// In the order of the fields of [`Metrics`].
    sums: [f64; 5],
}

impl Tally {
    /// Adds one query under a tie policy. `random` is only drawn from under [`TiePolicy::Random`].
    pub fn add(&mut self, rank: Rank, policy: TiePolicy, harmonic: &Harmonic, random: &mut impl Rng) {
        let (greater, tied) = (f64::from(rank.greater), f64::from(rank.tied));
        let exact = match policy {
            TiePolicy::Expected => {
                let hits = |k: f64| (k - greater).clamp(0.0, tied) / tied;
                let (reciprocal, mean) =
                    (harmonic.expected_reciprocal(rank), greater + f64::midpoint(tied, 1.0));
                self.add_sums(1, [reciprocal, hits(1.0), hits(3.0), hits(10.0), mean]);
                return;
            }
            TiePolicy::Random => greater + f64::from(random.random_range(1..=rank.tied)),
            TiePolicy::Mean => greater + f64::midpoint(tied, 1.0),
            TiePolicy::Optimistic => greater + 1.0,
            TiePolicy::Pessimistic => greater + tied,
            TiePolicy::Ordinal => greater + 1.0 + f64::from(rank.tied_before),
        };
        let hits = |k: f64| f64::from(u8::from(exact <= k));
        self.add_sums(1, [1.0 / exact, hits(1.0), hits(3.0), hits(10.0), exact]);
    }

    fn add_sums(&mut self, queries: u64, sums: [f64; 5]) {
        self.queries += queries;
        self.sums.iter_mut().zip(sums).for_each(|(sum, more)| *sum += more);
    }

    /// Adds the queries of another tally.
    pub fn merge(&mut self, other: &Self) {
        self.add_sums(other.queries, other.sums);
    }

    /// What models are chosen by.
    pub fn selection(&self) -> LinkScore {
        let Metrics { hits10, mrr, mr, .. } = self.metrics().unwrap_or_default();
        LinkScore { queries: self.queries, hits10, mrr, mr }
    }

    /// The means, or `None` without queries.
    pub fn metrics(&self) -> Option<Metrics> {
        let queries = self.queries as f64;
        (self.queries > 0).then(|| self.sums.map(|sum| sum / queries).into())
    }

    /// Sums of reciprocal rank and hits, for resampling.
    pub(crate) fn sums(&self) -> [f64; 4] {
        let [mrr, hits1, hits3, hits10, _] = self.sums;
        [mrr, hits1, hits3, hits10]
    }
}

/// One value for each of the main metrics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ByMetric<T> {
    /// Of the mean reciprocal rank.
    pub mrr: T,
    /// Of hits at 1.
    #[serde(rename = "hits@1")]
    pub hits1: T,
    /// Of hits at 3.
    #[serde(rename = "hits@3")]
    pub hits3: T,
    /// Of hits at 10.
    #[serde(rename = "hits@10")]
    pub hits10: T,
}

impl<T> From<[T; 4]> for ByMetric<T> {
    /// In the order of the fields.
    fn from([mrr, hits1, hits3, hits10]: [T; 4]) -> Self {
        Self { mrr, hits1, hits3, hits10 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadcast_core::stream;

    fn one(rank: Rank, policy: TiePolicy) -> Metrics {
        let mut tally = Tally::default();
        tally.add(rank, policy, &Harmonic::up_to(100), &mut stream(1, "ties", 0));
        tally.metrics().expect("one query")
    }

    #[test]
    fn a_two_way_tie_at_the_top() {
        let rank = Rank { greater: 0, tied: 2, tied_before: 1 };
        let expected = one(rank, TiePolicy::Expected);
        assert_eq!((expected.mrr, expected.hits1, expected.hits3, expected.mr), (0.75, 0.5, 1.0, 1.5));
        let mean = one(rank, TiePolicy::Mean);
        assert_eq!((mean.mrr, mean.hits1, mean.hits3, mean.mr), (1.0 / 1.5, 0.0, 1.0, 1.5));
        assert_eq!(one(rank, TiePolicy::Optimistic).mr, 1.0);
        assert_eq!(one(rank, TiePolicy::Pessimistic).mr, 2.0);
        assert_eq!(one(rank, TiePolicy::Ordinal).mr, 2.0);
    }

    #[test]
    fn expected_equals_the_mean_over_all_orders() {
        for greater in 0..12 {
            for tied in 1..20 {
                let rank = Rank { greater, tied, tied_before: 0 };
                let expected = one(rank, TiePolicy::Expected);
                let ranks = (greater + 1..=greater + tied).map(f64::from);
                let mean = |f: &dyn Fn(f64) -> f64| ranks.clone().map(f).sum::<f64>() / f64::from(tied);
                assert!((expected.mrr - mean(&|r| 1.0 / r)).abs() < 1e-12);
                assert!((expected.hits10 - mean(&|r| f64::from(u8::from(r <= 10.0)))).abs() < 1e-12);
                assert!((expected.mr - mean(&|r| r)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn sums_beyond_the_table_are_those_of_a_longer_one() {
        let (short, long) = (Harmonic::up_to(1 << 12), Harmonic::up_to(1 << 16));
        for (greater, tied) in [(0, 1 << 13), (4095, 2), (5000, 60_000), (1 << 13, 1 << 14)] {
            let rank = Rank { greater, tied, tied_before: 0 };
            let [found, exact] = [&short, &long].map(|table| table.expected_reciprocal(rank));
            assert!((found - exact).abs() < 1e-8 * exact, "{rank:?}: {found} instead of {exact}");
        }
    }

    #[test]
    fn random_stays_inside_the_tie() {
        let mut random = stream(3, "ties", 0);
        let harmonic = Harmonic::up_to(100);
        for _ in 0..200 {
            let mut tally = Tally::default();
            let rank = Rank { greater: 4, tied: 6, tied_before: 0 };
            tally.add(rank, TiePolicy::Random, &harmonic, &mut random);
            let mr = tally.metrics().expect("one query").mr;
            assert!((5.0..=10.0).contains(&mr));
        }
    }
}
