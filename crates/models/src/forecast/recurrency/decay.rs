//! Powers `2^{−λ·lag}`, tabled: the same few λ meet the same lags millions of times.

/// Lags up to this one are tabled; longer ones are computed.
const LONGEST: i64 = 1 << 13;

/// Tables of decay weights, one per distinct λ.
#[derive(Clone, Debug, Default)]
pub(super) struct Decay {
    tables: Vec<(f64, Vec<f64>)>,
}

impl Decay {
    /// Tables for each distinct λ.
    pub fn new(lambdas: impl Iterator<Item = f64>) -> Self {
        let mut distinct: Vec<f64> = lambdas.collect();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup();
        let table = |lambda: f64| (0..=LONGEST).map(|lag| exact(lambda, lag)).collect();
        Self { tables: distinct.into_iter().map(|lambda| (lambda, table(lambda))).collect() }
    }

    /// The weights of one λ.
    pub fn of(&self, lambda: f64) -> Weights<'_> {
        let table = self.tables.iter().find(|(known, _)| *known == lambda);
        Weights { lambda, table: table.map_or(&[], |(_, table)| table) }
    }
}

/// The weights of one λ, tabled or computed.
#[derive(Clone, Copy)]
pub(super) struct Weights<'a> {
    lambda: f64,
    table: &'a [f64],
}

impl Weights<'_> {
    /// `2^{−λ·lag}`.
    pub fn at(&self, lag: i64) -> f64 {
        let tabled = usize::try_from(lag).ok().and_then(|i| self.table.get(i));
        tabled.copied().unwrap_or_else(|| exact(self.lambda, lag))
    }
}

/// `Σ 2^{−λ·lag}` over the lags from `longest` down to, but without, `shortest`: a geometric series.
pub(super) fn sum(lambda: f64, longest: i64, shortest: i64) -> f64 {
    let terms = longest - shortest;
    if terms <= 0 {
        return 0.0;
    }
    if lambda == 0.0 {
        return terms as f64;
    }
    // With q = 2^{−λ}: q^{shortest+1} · (1 − q^{terms}) / (1 − q). `exp_m1` keeps the differences exact for small λ.
    let one_minus = |power: f64| -(-lambda * power * std::f64::consts::LN_2).exp_m1();
    exact(lambda, shortest + 1) * one_minus(terms as f64) / one_minus(1.0)
}

fn exact(lambda: f64, lag: i64) -> f64 {
    (-lambda * lag as f64).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_equals_its_terms() {
        for lambda in [0.0, 1e-4, 0.02, 0.5, 1.0001] {
            for (longest, shortest) in [(5, 5), (5, 4), (300, 0), (4000, 30)] {
                let terms: f64 = (shortest + 1..=longest).map(|lag| exact(lambda, lag)).sum();
                let closed = sum(lambda, longest, shortest);
                assert!(
                    (closed - terms).abs() <= 1e-11 * terms,
                    "{lambda} {longest} {shortest}: {closed} {terms}"
                );
            }
        }
    }

    #[test]
    fn tabled_or_not_the_weight_is_the_same() {
        let decay = Decay::new([0.5, 0.0, 0.5].into_iter());
        assert_eq!(decay.tables.len(), 2);
        for lag in [0, 1, 7, LONGEST, LONGEST + 1] {
            assert_eq!(decay.of(0.5).at(lag), exact(0.5, lag));
            assert_eq!(decay.of(0.0).at(lag), 1.0);
            assert_eq!(decay.of(0.25).at(lag), exact(0.25, lag));
        }
    }
}
