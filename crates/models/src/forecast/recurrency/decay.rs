//! Decay weights `2^{−λ·lag}` from tables (few λ and lags, used millions of times), and their sums by entity.

use quadcast_core::EntityId;

/// Lags up to this one are tabled; longer ones are computed.
const LONGEST: i64 = 1 << 13;

/// Tables at most: more λ than a search tries come from damaged files only.
const MOST_TABLES: usize = 64;

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
        distinct.truncate(MOST_TABLES);
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

/// Sums by entity, reused between queries: one slot per entity instead of a map.
pub(super) struct EntitySums {
    pub ids: Vec<EntityId>,
    pub values: Vec<f64>,
    /// Position in `values` plus one; zero where the entity has no sum.
    slots: Vec<u32>,
}

impl EntitySums {
    pub fn new(entities: usize) -> Self {
        Self { ids: Vec::new(), values: Vec::new(), slots: vec![0; entities] }
    }

    pub fn clear(&mut self) {
        for id in self.ids.drain(..) {
            self.slots[id.index()] = 0;
        }
        self.values.clear();
    }

    pub fn add(&mut self, id: EntityId, value: f64) {
        let slot = &mut self.slots[id.index()];
        if *slot == 0 {
            self.ids.push(id);
            self.values.push(value);
            *slot = self.ids.len() as u32;
        } else {
            self.values[*slot as usize - 1] += value;
        }
    }
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
