//! The twelve models of the unified study: six temporal embeddings, each with `TransE` and with `SimplE`.
//!
//! Settings are those that its search found best on ICEWS14; `configs/` has those of the other datasets. An epoch of the
//! study draws candidates twice for every question, an epoch here once.

use super::super::composed::{
    Config, Fusion, InitialName, LossName, OptimiserName, PenaltyName, Projection, SamplerName, ScorerName,
    SubjectQueries, Target, Temporal,
};
use crate::registry::{Build, Entry};
use crate::settings::Settings;

pub(super) const STUDY: &str = "Time-dependent entity embedding is not all you need: a re-evaluation of temporal knowledge \
     graph completion models under a unified framework";
pub(super) const STUDY_SOURCE: &str = "Han, Zhang, Ma, Tresp, EMNLP 2021";

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

recipes! {
    TTRANSE = "ttranse" or "t-transe": "TransE, a learned vector per time added to relations.",
    STUDY, "Leblay and Chekol 2018; settings of Han et al. 2021";
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
    };

    T_SIMPLE = "t-simple": "SimplE, relations multiplied by a vector per time.", STUDY, STUDY_SOURCE;
    Config {
        temporal: Temporal::T,
        fusion: Fusion::Multiply,
        dimension: 256,
        learning_rate: 0.009_014_626_554_205_26,
        dropout: 0.6,
        time_penalty: PenaltyName::L3,
        time_weight: 8.809_280_640_010_382e-5,
        ..simple()
    };

    UTEE_TRANSE = "utee-transe": "TransE with one function of time for all relations.", STUDY, STUDY_SOURCE;
    Config {
        temporal: Temporal::Utee,
        fusion: Fusion::Add,
        dimension: 512,
        learning_rate: 0.001,
        dropout: 0.5,
        ..transe()
    };

    UTEE_SIMPLE = "utee-simple": "SimplE with one function of time for all relations.", STUDY, STUDY_SOURCE;
    Config {
        temporal: Temporal::Utee,
        fusion: Fusion::Multiply,
        dimension: 256,
        learning_rate: 0.003_025_1,
        loss: LossName::Bce,
        dropout: 0.5,
        ..simple()
    };
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

recipes! {
    DE_TRANSE = "de-transe": "TransE; part of every entity swings with the date.", DE_PAPER, DE_SOURCE;
    diachronic(Config { dimension: 256, static_ratio: 0.574, learning_rate: 0.001_925_1, ..transe() });

    DE_SIMPLE = "de-simple": "SimplE; part of every entity swings with the date.", DE_PAPER, DE_SOURCE;
    diachronic(Config {
        dimension: 128,
        static_ratio: 0.423_358_129_3,
        learning_rate: 0.003_882_563_641,
        loss: LossName::Bce,
        ..simple()
    });

    /// Settings of the original: width 100, static share 0.36, no reciprocals, one row per entity.
    DE_DISTMULT = "de-distmult": "DistMult; part of every entity swings with the date.",
    DE_PAPER, "Goel, Kazemi, Brubaker, Poupart, AAAI 2020";
    {
        let original = Config {
            scorer: ScorerName::DistMult,
            position_aware: false,
            reciprocal: false,
            inverse: false,
            subject_queries: SubjectQueries::Direct,
            dimension: 100,
            static_ratio: 0.36,
            learning_rate: 0.001,
            ..common()
        };
        Config { dropout_scaled: true, ..diachronic(original) }
    };
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

recipes! {
    /// The table of the study says 128; its count of parameters needs 256.
    HYTE = "hyte" or "hyte-transe": "TransE on the hyperplane of the time.", HYTE_PAPER, HYTE_SOURCE;
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
    });

    HYTE_SIMPLE = "hyte-simple": "SimplE on the hyperplane of the time.", HYTE_PAPER, HYTE_SOURCE;
    hyperplanes(Config {
        dimension: 256,
        learning_rate: 0.008_947_145_533_796_21,
        time_weight: 0.031_567_308_865_48,
        dropout: 0.2,
        ..simple()
    });
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

recipes! {
    ATISE_TRANSE = "atise-transe": "TransE with rows of a trend and a season.", ATISE_PAPER, ATISE_SOURCE;
    series(Config { dimension: 256, learning_rate: 0.002_939_7, ..transe() });

    ATISE_SIMPLE = "atise-simple": "SimplE with rows of a trend and a season.", ATISE_PAPER, ATISE_SOURCE;
    series(Config {
        dimension: 64,
        learning_rate: 0.000_640_7,
        loss: LossName::Bce,
        entity_penalty: PenaltyName::L3,
        entity_weight: 0.016_584_9,
        relation_penalty: PenaltyName::L3,
        relation_weight: 0.014_840_0,
        ..simple()
    });
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

recipes! {
    TA_TRANSE = "ta-transe": "TransE; a recurrent cell reads relation and date.", TA_PAPER, TA_SOURCE;
    signs(Config { inverse: false, ..transe() });

    TA_DISTMULT = "ta-distmult": "DistMult; a recurrent cell reads relation and date.", TA_PAPER, TA_SOURCE;
    signs(Config { scorer: ScorerName::DistMult, inverse: false, ..common() });

    /// The study's column of this name was computed with TA-DistMult.
    TA_SIMPLE = "ta-simple": "SimplE; a recurrent cell reads relation and date.", STUDY, STUDY_SOURCE;
    Config { position_aware: true, ..signs(simple()) };
}
