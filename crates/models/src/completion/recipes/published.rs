//! Models with the settings of their own publications: factorisations of the tensor of facts (`TComplEx`, `TNTComplEx`),
//! distances between rows that time moves (`ATiSE` as Gaussians, `TeRo`, `RotateQVS`), and TLT-KGE.

use super::super::composed::{
    Config, Fusion, InitialName, LossName, OptimiserName, PenaltyName, SamplerName, ScorerName, Target,
    Temporal,
};
use crate::registry::{Build, Entry};
use crate::settings::Settings;

const FACTORISED: &str = "Tensor decompositions for temporal knowledge base completion";
const FACTORISED_SOURCE: &str = "Lacroix, Obozinski, Usunier, ICLR 2020";

/// Small published size for ICEWS14: rank 156, both weights 0.01, 50 epochs.
fn factorised() -> Config {
    Config { dimension: 156, patience: 0, ..Config::default() }
}

recipes! {
    TCOMPLEX = "tcomplex": "Complex factorisation with a factor per time.", FACTORISED, FACTORISED_SOURCE;
    Config { temporal: Temporal::T, fusion: Fusion::Complex, factor_entities: 1.0, ..factorised() };

    TNTCOMPLEX = "tntcomplex": "TComplEx, and relations have a part without time.", FACTORISED, FACTORISED_SOURCE;
    factorised();
}

/// What the distances have in common: few drawn candidates, and the log-rank loss.
fn distances() -> Config {
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

recipes! {
    /// `ATiSE` with its own score. Settings of the original for ICEWS14.
    ATISE = "atise": "Gaussians with a trend and a season.",
    "Temporal knowledge graph completion based on time series Gaussian embedding", "Xu et al., ISWC 2020";
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
        ..distances()
    };

    TERO = "tero": "Translations between complex entities that time turns.",
    "TeRo: a time-aware knowledge graph embedding via temporal rotation", "Xu et al., COLING 2020";
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
        ..distances()
    };

    ROTATEQVS = "rotateqvs": "Translations between quaternions that time turns.",
    "RotateQVS: representing temporal information as rotations in quaternion vector space for temporal knowledge graph \
     completion",
    "Chen et al., ACL 2022; settings of TeRo, its own are not known to us";
    Config {
        temporal: Temporal::Quaternion,
        target: Target::Entity,
        scorer: ScorerName::Conjugate,
        norm: 2,
        dimension: 250,
        offset: 110.0,
        optimiser: OptimiserName::Adagrad,
        learning_rate: 0.1,
        ..distances()
    };
}

const TLT: &str = "Along the time: timeline-traced embedding for temporal knowledge graph completion";
const TLT_SOURCE: &str = "Zhang et al., CIKM 2022";

/// Settings for ICEWS14.
fn windows() -> Config {
    Config {
        dimension: 1200,
        window: 120,
        initial: InitialName::XavierUniform,
        factor_entities: 1.0,
        time_penalty: PenaltyName::Smooth4,
        epochs: 200,
        patience: 0,
        ..Config::default()
    }
}

recipes! {
    /// Its quaternion form.
    TLT_KGE = "tlt-kge" or "tltkge" or "tlt-kge-quaternion": "Times and windows of times as imaginary parts.", TLT, TLT_SOURCE;
    Config { temporal: Temporal::TltQuaternion, factor_weight: 3e-3, time_weight: 3e-2, ..windows() };

    /// Its complex form.
    TLT_KGE_COMPLEX = "tlt-kge-complex": "TLT-KGE with real products.", TLT, TLT_SOURCE;
    Config { temporal: Temporal::TltComplex, factor_weight: 1e-3, time_weight: 1e-1, ..windows() };
}
