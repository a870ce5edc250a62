//! The twelve models of the unified study: six temporal embeddings, each with `TransE` and with `SimplE`.
//!
//! Settings are those that its search found best on ICEWS14; `configs/` has those of the other datasets. An epoch of the
//! study draws candidates twice for every question, an epoch here once.

use super::super::composed::{
    Config, Fusion, InitialName, LossName, OptimiserName, PenaltyName, Projection, SamplerName, ScorerName,
    Target, Temporal,
};
use super::{Recipe, entry};
use crate::registry::Entry;

const STUDY: &str = "Time-dependent entity embedding is not all you need: a re-evaluation of temporal knowledge \
     graph completion models under a unified framework";
const STUDY_SOURCE: &str = "Han, Zhang, Ma, Tresp, EMNLP 2021";

/// What all twelve have in common.
fn common() -> Config {
    Config {
        position_aware: true,
        reciprocal: true,
        inverse: true,
        loss: LossName::Ce,
        sampler: SamplerName::Shared,
        negatives: 500,
        group: 64,
        initial: InitialName::XavierUniform,
        factor_weight: 0.0,
        time_penalty: PenaltyName::None,
        time_weight: 0.0,
        optimiser: OptimiserName::Adam,
        // 512 facts and their reciprocals with two questions each: four questions a fact, in twice the steps.
        batch: 1024,
        epochs: 200,
        validate_every: 5,
        // The study waits for 30 of its epochs: 60 of ours, at a look every fifth.
        patience: 12,
        ..Config::default()
    }
}

/// With `TransE`: absolute values, scores that begin at 100, components dropped without scaling the rest.
fn transe() -> Config {
    Config { scorer: ScorerName::TransE, norm: 1, offset: 100.0, dropout_scaled: false, ..common() }
}

fn simple() -> Config {
    Config { scorer: ScorerName::SimplE, ..common() }
}

struct TTransE;

impl Recipe for TTransE {
    const NAME: &'static str = "ttranse";
    const ALIASES: &'static [&'static str] = &["t-transe"];
    const ABOUT: &'static str = "TransE with a learned vector per time added to the relation.";
    const PAPER: &'static str = STUDY;
    const SOURCE: &'static str = "Leblay and Chekol 2018; settings of Han et al. 2021";

    fn config() -> Config {
        Config {
            temporal: Temporal::T,
            fusion: Fusion::Add,
            dimension: 512,
            learning_rate: 0.007_532_405_044_242_736,
            dropout: 0.5,
            // Called smoothness in the paper; the code took the cubes of the time table.
            time_penalty: PenaltyName::L3,
            time_weight: 1.951_313_5e-17,
            ..transe()
        }
    }
}

struct TSimplE;

impl Recipe for TSimplE {
    const NAME: &'static str = "t-simple";
    const ABOUT: &'static str = "SimplE with relations multiplied by a learned vector per time.";
    const PAPER: &'static str = STUDY;
    const SOURCE: &'static str = STUDY_SOURCE;

    fn config() -> Config {
        Config {
            temporal: Temporal::T,
            fusion: Fusion::Multiply,
            dimension: 256,
            learning_rate: 0.009_014_626_554_205_26,
            dropout: 0.6,
            time_penalty: PenaltyName::L3,
            time_weight: 8.809_280_640_010_382e-5,
            ..simple()
        }
    }
}

struct UteeTransE;

impl Recipe for UteeTransE {
    const NAME: &'static str = "utee-transe";
    const ABOUT: &'static str =
        "TransE with one function of time for all relations; entities stay as they are.";
    const PAPER: &'static str = STUDY;
    const SOURCE: &'static str = STUDY_SOURCE;

    fn config() -> Config {
        Config {
            temporal: Temporal::Utee,
            fusion: Fusion::Add,
            dimension: 512,
            learning_rate: 0.001,
            dropout: 0.5,
            ..transe()
        }
    }
}

struct UteeSimplE;

impl Recipe for UteeSimplE {
    const NAME: &'static str = "utee-simple";
    const ABOUT: &'static str = "SimplE with one function of time for all relations.";
    const PAPER: &'static str = STUDY;
    const SOURCE: &'static str = STUDY_SOURCE;

    fn config() -> Config {
        Config {
            temporal: Temporal::Utee,
            fusion: Fusion::Multiply,
            dimension: 256,
            learning_rate: 0.003_025_1,
            loss: LossName::Bce,
            dropout: 0.5,
            ..simple()
        }
    }
}

/// Diachronic entities.
fn diachronic(mut config: Config) -> Config {
    config.temporal = Temporal::De;
    config.target = Target::Entity;
    config.dropout = 0.4;
    config.dropout_scaled = false;
    config
}

const DE_PAPER: &str = "Diachronic embedding for temporal knowledge graph completion";
const DE_SOURCE: &str = "Goel, Kazemi, Brubaker, Poupart, AAAI 2020; settings of Han et al. 2021";

struct DeTransE;

impl Recipe for DeTransE {
    const NAME: &'static str = "de-transe";
    const ABOUT: &'static str = "TransE with entities of which a part swings with year, month and day.";
    const PAPER: &'static str = DE_PAPER;
    const SOURCE: &'static str = DE_SOURCE;

    fn config() -> Config {
        diachronic(Config { dimension: 256, static_ratio: 0.574, learning_rate: 0.001_925_1, ..transe() })
    }
}

struct DeSimplE;

impl Recipe for DeSimplE {
    const NAME: &'static str = "de-simple";
    const ABOUT: &'static str = "SimplE with entities of which a part swings with year, month and day.";
    const PAPER: &'static str = DE_PAPER;
    const SOURCE: &'static str = DE_SOURCE;

    fn config() -> Config {
        diachronic(Config {
            dimension: 128,
            static_ratio: 0.423_358_129_3,
            learning_rate: 0.003_882_563_641,
            loss: LossName::Bce,
            ..simple()
        })
    }
}

struct DeDistMult;

impl Recipe for DeDistMult {
    const NAME: &'static str = "de-distmult";
    const ABOUT: &'static str = "DistMult with entities of which a part swings with year, month and day.";
    const PAPER: &'static str = DE_PAPER;
    const SOURCE: &'static str = "Goel, Kazemi, Brubaker, Poupart, AAAI 2020";

    /// Of the original: width 100, static share 0.36, no reciprocals, one row per entity.
    fn config() -> Config {
        let original = Config {
            scorer: ScorerName::DistMult,
            position_aware: false,
            reciprocal: false,
            inverse: false,
            subject_queries: super::super::composed::SubjectQueries::Direct,
            dimension: 100,
            static_ratio: 0.36,
            learning_rate: 0.001,
            ..common()
        };
        Config { dropout_scaled: true, ..diachronic(original) }
    }
}

/// Projections on the hyperplane of the time.
fn hyperplanes(mut config: Config) -> Config {
    config.temporal = Temporal::Hyte;
    config.target = Target::Both;
    config.projection = Projection::Row;
    config.time_penalty = PenaltyName::L3;
    config
}

const HYTE_PAPER: &str = "HyTE: hyperplane-based temporally aware knowledge graph embedding";
const HYTE_SOURCE: &str = "Dasgupta, Ray, Talukdar, EMNLP 2018; settings of Han et al. 2021";

struct HyteTransE;

impl Recipe for HyteTransE {
    const NAME: &'static str = "hyte";
    const ALIASES: &'static [&'static str] = &["hyte-transe"];
    const ABOUT: &'static str = "TransE on the hyperplane of the time.";
    const PAPER: &'static str = HYTE_PAPER;
    const SOURCE: &'static str = HYTE_SOURCE;

    /// The table of the study says 128; its count of parameters needs 256.
    fn config() -> Config {
        hyperplanes(Config {
            dimension: 256,
            learning_rate: 0.008_011_243_207_684_71,
            entity_penalty: PenaltyName::L2,
            entity_weight: 0.036_805_582_791_566_85,
            relation_penalty: PenaltyName::L2,
            relation_weight: 0.076_229_225_285_351_28,
            time_weight: 0.038_166_270_405_054_1,
            dropout: 0.6,
            ..transe()
        })
    }
}

struct HyteSimplE;

impl Recipe for HyteSimplE {
    const NAME: &'static str = "hyte-simple";
    const ABOUT: &'static str = "SimplE on the hyperplane of the time.";
    const PAPER: &'static str = HYTE_PAPER;
    const SOURCE: &'static str = HYTE_SOURCE;

    fn config() -> Config {
        hyperplanes(Config {
            dimension: 256,
            learning_rate: 0.008_947_145_533_796_21,
            time_weight: 0.031_567_308_865_48,
            dropout: 0.2,
            ..simple()
        })
    }
}

/// Trends and seasons.
fn series(mut config: Config) -> Config {
    config.temporal = Temporal::Atise;
    config.target = Target::Both;
    config.granularity = 3;
    config.dropout = 0.2;
    config.dropout_scaled = false;
    config
}

const ATISE_PAPER: &str = "Temporal knowledge graph completion based on time series Gaussian embedding";
const ATISE_SOURCE: &str = "Xu et al., ISWC 2020; settings of Han et al. 2021";

struct AtiseTransE;

impl Recipe for AtiseTransE {
    const NAME: &'static str = "atise-transe";
    const ABOUT: &'static str = "TransE with rows of a trend and a season.";
    const PAPER: &'static str = ATISE_PAPER;
    const SOURCE: &'static str = ATISE_SOURCE;

    fn config() -> Config {
        series(Config { dimension: 256, learning_rate: 0.002_939_7, ..transe() })
    }
}

struct AtiseSimplE;

impl Recipe for AtiseSimplE {
    const NAME: &'static str = "atise-simple";
    const ABOUT: &'static str = "SimplE with rows of a trend and a season.";
    const PAPER: &'static str = ATISE_PAPER;
    const SOURCE: &'static str = ATISE_SOURCE;

    fn config() -> Config {
        series(Config {
            dimension: 64,
            learning_rate: 0.000_640_7,
            loss: LossName::Bce,
            entity_penalty: PenaltyName::L3,
            entity_weight: 0.016_584_9,
            relation_penalty: PenaltyName::L3,
            relation_weight: 0.014_840_0,
            ..simple()
        })
    }
}

/// A recurrent cell reads relation and date. The study does not print its settings; these are the protocol of the time.
fn signs(mut config: Config) -> Config {
    config.temporal = Temporal::Ta;
    config.target = Target::Relation;
    config.position_aware = false;
    config.dimension = 100;
    config.learning_rate = 0.001;
    config.dropout = 0.4;
    config.dropout_scaled = true;
    config
}

const TA_PAPER: &str = "Learning sequence encoders for temporal knowledge graph completion";
const TA_SOURCE: &str = "García-Durán, Dumančić, Niepert, EMNLP 2018";

struct TaTransE;

impl Recipe for TaTransE {
    const NAME: &'static str = "ta-transe";
    const ABOUT: &'static str = "TransE with relations that a recurrent cell reads together with the date.";
    const PAPER: &'static str = TA_PAPER;
    const SOURCE: &'static str = TA_SOURCE;

    fn config() -> Config {
        signs(Config { inverse: false, ..transe() })
    }
}

struct TaDistMult;

impl Recipe for TaDistMult {
    const NAME: &'static str = "ta-distmult";
    const ABOUT: &'static str = "DistMult with relations that a recurrent cell reads together with the date.";
    const PAPER: &'static str = TA_PAPER;
    const SOURCE: &'static str = TA_SOURCE;

    fn config() -> Config {
        signs(Config { scorer: ScorerName::DistMult, inverse: false, ..common() })
    }
}

struct TaSimplE;

impl Recipe for TaSimplE {
    const NAME: &'static str = "ta-simple";
    const ABOUT: &'static str = "SimplE with relations that a recurrent cell reads together with the date.";
    const PAPER: &'static str = STUDY;
    const SOURCE: &'static str = STUDY_SOURCE;

    /// The study's column of this name was computed with TA-DistMult.
    fn config() -> Config {
        Config { position_aware: true, ..signs(simple()) }
    }
}

/// `TTransE`.
pub const TTRANSE: Entry = entry::<TTransE>();
/// T with `SimplE`.
pub const T_SIMPLE: Entry = entry::<TSimplE>();
/// UTEE with `TransE`.
pub const UTEE_TRANSE: Entry = entry::<UteeTransE>();
/// UTEE with `SimplE`.
pub const UTEE_SIMPLE: Entry = entry::<UteeSimplE>();
/// DE-TransE.
pub const DE_TRANSE: Entry = entry::<DeTransE>();
/// DE-SimplE.
pub const DE_SIMPLE: Entry = entry::<DeSimplE>();
/// DE-DistMult.
pub const DE_DISTMULT: Entry = entry::<DeDistMult>();
/// `HyTE`.
pub const HYTE: Entry = entry::<HyteTransE>();
/// `HyTE` with `SimplE`.
pub const HYTE_SIMPLE: Entry = entry::<HyteSimplE>();
/// `ATiSE` with `TransE`.
pub const ATISE_TRANSE: Entry = entry::<AtiseTransE>();
/// `ATiSE` with `SimplE`.
pub const ATISE_SIMPLE: Entry = entry::<AtiseSimplE>();
/// TA-TransE.
pub const TA_TRANSE: Entry = entry::<TaTransE>();
/// TA-DistMult.
pub const TA_DISTMULT: Entry = entry::<TaDistMult>();
/// TA with `SimplE`.
pub const TA_SIMPLE: Entry = entry::<TaSimplE>();
