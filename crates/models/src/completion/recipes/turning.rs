//! Distances between rows that time moves: `ATiSE` as Gaussians, `TeRo`, `RotateQVS`.

use super::super::composed::{
    Config, InitialName, LossName, OptimiserName, PenaltyName, SamplerName, ScorerName, Target, Temporal,
};
use super::{Recipe, entry};
use crate::registry::Entry;

/// What the three have in common: few drawn candidates, and the log-rank loss.
fn common() -> Config {
    Config {
        loss: LossName::LogRank,
        temperature: 0.5,
        sampler: SamplerName::Shared,
        negatives: 10,
        group: 1,
        initial: InitialName::Uniform,
        initial_scale: 6.0,
        factor_weight: 0.0,
        time_penalty: PenaltyName::None,
        time_weight: 0.0,
        batch: 1024,
        epochs: 5000,
        validate_every: 10,
        patience: 10,
        ..Config::default()
    }
}

struct Atise;

impl Recipe for Atise {
    const NAME: &'static str = "atise";
    const ABOUT: &'static str = "Gaussians with a trend and a season, compared by their divergence.";
    const PAPER: &'static str = "Temporal knowledge graph completion based on time series Gaussian embedding";
    const SOURCE: &'static str = "Xu et al., ISWC 2020";

    /// Of the original for ICEWS14.
    fn config() -> Config {
        Config {
            temporal: Temporal::Atise,
            target: Target::Both,
            scorer: ScorerName::Kl,
            inverse: true,
            dimension: 500,
            granularity: 3,
            offset: 120.0,
            clip_rows: true,
            optimiser: OptimiserName::Adam,
            learning_rate: 3e-5,
            ..common()
        }
    }
}

struct TeRo;

impl Recipe for TeRo {
    const NAME: &'static str = "tero";
    const ABOUT: &'static str =
        "Complex entities that every time turns by its phases; translations between them.";
    const PAPER: &'static str = "TeRo: a time-aware knowledge graph embedding via temporal rotation";
    const SOURCE: &'static str = "Xu et al., COLING 2020";

    fn config() -> Config {
        Config {
            temporal: Temporal::Rotation,
            target: Target::Entity,
            scorer: ScorerName::Conjugate,
            norm: 1,
            inverse: true,
            dimension: 500,
            offset: 110.0,
            optimiser: OptimiserName::Adagrad,
            learning_rate: 0.1,
            ..common()
        }
    }
}

struct RotateQvs;

impl Recipe for RotateQvs {
    const NAME: &'static str = "rotateqvs";
    const ABOUT: &'static str = "Quaternion entities that every time turns; translations between them.";
    const PAPER: &'static str = "RotateQVS: representing temporal information as rotations in quaternion vector \
         space for temporal knowledge graph completion";
    const SOURCE: &'static str = "Chen et al., ACL 2022; settings of TeRo, its own are not known to us";

    fn config() -> Config {
        Config {
            temporal: Temporal::Quaternion,
            target: Target::Entity,
            scorer: ScorerName::Conjugate,
            norm: 2,
            dimension: 250,
            offset: 110.0,
            optimiser: OptimiserName::Adagrad,
            learning_rate: 0.1,
            ..common()
        }
    }
}

/// `ATiSE` with its own score.
pub const ATISE: Entry = entry::<Atise>();
/// `TeRo`.
pub const TERO: Entry = entry::<TeRo>();
/// `RotateQVS`.
pub const ROTATEQVS: Entry = entry::<RotateQvs>();
