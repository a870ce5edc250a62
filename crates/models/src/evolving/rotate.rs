//! `RotatE`: a relation turns heads to tails.
//!
//! **Idea.** Entities are complex vectors, and a relation turns each coordinate by an angle: symmetry, inversion and
//! composition of relations are then properties of angles.
//!
//! **Paper.** Sun, Deng, Nie, Tang: `RotatE`: knowledge graph embedding by relational rotation in complex space. ICLR 2019.
//!
//! **Score.** −Σ |h·e^{iθ} − t| with θ = π·r / ((margin + epsilon)/dimension); rows of entities are halves, real and
//! imaginary.
//!
//! **Training.** Softplus loss of margin − distance, false triples weighted by their own plausibility, Adam. Defaults: those
//! of `OpenKE` for WN18RR.
//!
//! **Differs from the paper.** Batches are a hundredth of the graph by default, and a head and a tail are replaced in the
//! same batch, not in turns.
//!
//! **Cost.** A sine and a cosine per coordinate, twice per triple; the defaults draw 64 false triples, and dense Adam passes
//! over all rows in every step (`optimiser = "lazy-adam"` does not).

use quadcast_core::Direction;
use quadcast_kernels::Real;
use quadcast_kernels::compare::Likeness;
use quadcast_kernels::triples::{Ends, Energy, Layout, Slopes};

use super::settings::{Config, LossName, OptimiserName};
use super::space::{Row, Space, undivided};
use crate::config::ConfigError;
use crate::registry::{Build, Entry};
use crate::settings::Settings;

/// The entry of the registry.
pub const ENTRY: Entry = Entry {
    name: "rotate",
    about: "A relation turns heads to tails, in complex numbers.",
    paper: "RotatE: knowledge graph embedding by relational rotation in complex space",
    source: "Sun et al., ICLR 2019",
    defaults: || config().table(),
    build: Build::Evolving(|table| super::build::<Rotations>("rotate", &config(), table)),
    base: Some("transe"),
    ..super::transe::ENTRY
};

fn config() -> Config {
    Config {
        dimension: 1024,
        loss: LossName::Softplus,
        margin: 6.0,
        epsilon: 2.0,
        adversarial: 2.0,
        negatives: 64,
        filtered: true,
        optimiser: OptimiserName::Adam,
        learning_rate: 2e-5,
        epochs: 6000,
        ..Config::default()
    }
}

/// The space.
#[derive(Clone, Debug)]
pub(crate) struct Rotations {
    /// Complex coordinates.
    k: usize,
    /// Angle per number of a relation.
    turn: f64,
}

impl Rotations {
    /// x·e^{±iθ}, coordinate by coordinate.
    #[inline(always)]
    fn turned<T: Real>(&self, x: &[T], r: &[T], sign: T, j: usize) -> (T, T) {
        let (sine, cosine) = (T::from_f64(self.turn) * r[j]).sin_cos();
        let sine = sign * sine;
        (x[j] * cosine - x[j + self.k] * sine, x[j] * sine + x[j + self.k] * cosine)
    }
}

impl<T: Real> Energy<T> for Rotations {
    fn entity(&self) -> Layout {
        undivided(&[("entities", 2 * self.k)])
    }

    fn relation(&self) -> Layout {
        undivided(&[("relations", self.k)])
    }

    #[inline(always)]
    fn energy(&self, ends: &Ends<'_, T>, _: &mut [T]) -> T {
        let (h, r, t, k) = (ends.head.values, ends.relation.values, ends.tail.values, self.k);
        let mut total = T::ZERO;
        for j in 0..k {
            let (x, y) = self.turned(h, r, T::ONE, j);
            let (u, v) = (x - t[j], y - t[j + k]);
            total += (u * u + v * v).sqrt();
        }
        total
    }

    #[inline(always)]
    fn slopes(&self, ends: &Ends<'_, T>, _: &mut [T], factor: T, slopes: &mut Slopes<'_, T>) {
        let (h, r, t, k) = (ends.head.values, ends.relation.values, ends.tail.values, self.k);
        for j in 0..k {
            let (sine, cosine) = (T::from_f64(self.turn) * r[j]).sin_cos();
            let (x, y) = (h[j] * cosine - h[j + k] * sine, h[j] * sine + h[j + k] * cosine);
            let (u, v) = (x - t[j], y - t[j + k]);
            let length = (u * u + v * v).sqrt();
            let scale = if length > T::ZERO { factor / length } else { T::ZERO };
            let (u, v) = (scale * u, scale * v);
            slopes.tail[j] -= u;
            slopes.tail[j + k] -= v;
            slopes.head[j] += u * cosine + v * sine;
            slopes.head[j + k] += v * cosine - u * sine;
            slopes.relation[j] += T::from_f64(self.turn) * (v * x - u * y);
        }
    }
}

/// Angle per number of a relation.
fn turn(config: &Config) -> f64 {
    let range = (config.margin + config.epsilon) / config.dimension as f64;
    std::f64::consts::PI / range
}

impl Space for Rotations {
    fn new(config: &Config) -> Self {
        Self { k: config.dimension, turn: turn(config) }
    }

    fn check(config: &Config) -> Result<(), ConfigError> {
        // As the numbers of rows are multiplied by it.
        if (turn(config) as f32).is_finite() {
            return Ok(());
        }
        let Config { margin, epsilon, .. } = config;
        Err(ConfigError::Value(format!(
            "margin = {margin} and epsilon = {epsilon}: rotate divides angles by (margin + epsilon)/dimension, which must \
             be above 0: set margin or epsilon"
        )))
    }

    fn likeness(&self) -> Likeness {
        Likeness::Modulus
    }

    fn query(&self, known: Row<'_>, relation: Row<'_>, direction: Direction, out: &mut [f32]) {
        let sign = if direction == Direction::Object { 1.0 } else { -1.0 };
        for j in 0..self.k {
            (out[j], out[j + self.k]) = self.turned(known.values, relation.values, sign, j);
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn angles_need_a_range() {
        let build = |settings: &[&str]| crate::evolving::testing::build(&super::ENTRY, settings);
        let error = build(&["margin=0", "epsilon=0"]).err().expect("angles would be no numbers").to_string();
        assert!(error.contains("margin = 0 and epsilon = 0"), "{error}");
        assert!(build(&["margin=1e-60", "epsilon=0"]).is_err(), "beyond what a row can hold");
        assert!(build(&["margin=0"]).is_ok() && build(&["epsilon=0"]).is_ok());
    }
}
