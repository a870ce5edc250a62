//! Named models of completion: lists of components, with the settings they were published with.
//!
//! A recipe is a [`Config`] and where it comes from. Everything it does not set can be set, and everything it sets can be
//! changed: a recipe is a place to begin.

use quadcast_core::Completing;
use toml::Table;

use super::composed::{CAPABILITIES, Composed, Config};
use crate::config::{self, ConfigError};
use crate::registry::{Entry, Family, OptionInfo};

mod factorised;
mod study;
mod turning;
mod windows;

pub use factorised::{TCOMPLEX, TNTCOMPLEX};
pub use study::{
    ATISE_SIMPLE, ATISE_TRANSE, DE_DISTMULT, DE_SIMPLE, DE_TRANSE, HYTE, HYTE_SIMPLE, T_SIMPLE, TA_DISTMULT,
    TA_SIMPLE, TA_TRANSE, TTRANSE, UTEE_SIMPLE, UTEE_TRANSE,
};
pub use turning::{ATISE, ROTATEQVS, TERO};
pub use windows::{TLT_KGE, TLT_KGE_COMPLEX};

/// A named list of components.
pub(crate) trait Recipe {
    const NAME: &'static str;
    const ALIASES: &'static [&'static str] = &[];
    const ABOUT: &'static str;
    const PAPER: &'static str;
    const SOURCE: &'static str;

    /// The published settings.
    fn config() -> Config;
}

/// The registry entry of a recipe.
const fn entry<R: Recipe>() -> Entry {
    Entry {
        name: R::NAME,
        aliases: R::ALIASES,
        family: Family::Completion,
        about: R::ABOUT,
        paper: R::PAPER,
        source: R::SOURCE,
        capabilities: CAPABILITIES,
        options: OPTIONS,
        base: Some(COMPOSED.name),
        quick: QUICK,
        defaults: defaults::<R>,
        build: build::<R>,
    }
}

fn defaults<R: Recipe>() -> Table {
    Table::try_from(R::config())
        .unwrap_or_else(|_| unreachable!("a configuration is a table of plain values"))
}

fn build<R: Recipe>(table: &Table) -> Result<Box<dyn quadcast_core::Forecaster>, ConfigError> {
    let mut whole = defaults::<R>();
    whole.extend(table.clone());
    Ok(Box::new(Completing(Composed::new(config::parse(&whole)?)?)))
}

/// Settings with which training takes seconds.
const QUICK: &[&str] =
    &["dimension=8", "epochs=4", "validate_every=2", "negatives=20", "batch=64", "group=16"];

struct Free;

impl Recipe for Free {
    const NAME: &'static str = "composed";
    const ABOUT: &'static str =
        "Any combination of temporal embedding, scorer, loss, sampler and penalties; by default TNTComplEx.";
    const PAPER: &'static str = "Time-dependent entity embedding is not all you need: a re-evaluation of temporal \
         knowledge graph completion models under a unified framework";
    const SOURCE: &'static str = "Han, Zhang, Ma, Tresp, EMNLP 2021";

    fn config() -> Config {
        Config::default()
    }
}

/// The model whose components are all free.
pub const COMPOSED: Entry = Entry {
    name: Free::NAME,
    aliases: &[],
    family: Family::Completion,
    about: Free::ABOUT,
    paper: Free::PAPER,
    source: Free::SOURCE,
    capabilities: CAPABILITIES,
    options: OPTIONS,
    base: None,
    quick: QUICK,
    defaults: defaults::<Free>,
    build: build::<Free>,
};

const fn option(key: &'static str, about: &'static str) -> OptionInfo {
    OptionInfo { key, about }
}

/// What can be set, in the order of the configuration.
const OPTIONS: &[OptionInfo] = &[
    option(
        "temporal",
        "How time enters: none, t, utee, de, hyte, atise, ta, tnt, rotation, quaternion, tlt-complex, tlt-quaternion.",
    ),
    option("target", "What time changes: entity, relation or both."),
    option("fusion", "How a vector of the time is joined (t, utee): add, multiply, complex or concatenate."),
    option(
        "scorer",
        "transe, distmult, simple, complex, rescal, rotate, tucker, conjugate (for rotations), kl (for atise).",
    ),
    option("norm", "How distances are measured: 1 (absolute values) or 2 (squares)."),
    option("dimension", "Numbers of a row; complex coordinates where rows are complex."),
    option("relation_dimension", "Width of relations of tucker; 0: that of entities."),
    option("static_ratio", "Share of a row that time does not change (de, and concatenation)."),
    option("projection", "Projection of hyte: unit (proper) or row (the published study)."),
    option("granularity", "Units of time per period of atise, rotation and quaternion."),
    option("window", "Times per window of tlt."),
    option("year_offset", "Subtracted from the year in de; the published code subtracts nothing."),
    option("position_aware", "Whether entities have one row as subject and another as object."),
    option("reciprocal", "Whether every relation has a reciprocal one."),
    option("inverse", "Whether a score is the mean of that of the fact and that of its reciprocal."),
    option("subject_queries", "How subjects are asked for: direct, or as objects of reciprocal relations."),
    option("loss", "ce, bce, margin, log-rank or soft-margin."),
    option("margin", "Margin of the margin loss."),
    option("temperature", "Temperature of the weights of the log-rank loss."),
    option("offset", "Added to every score in training."),
    option("sampler", "Candidates of a question in training: all, shared (by a block) or independent."),
    option("negatives", "How many candidates are drawn."),
    option("group", "Questions that share drawn candidates and, where candidates change with it, the time."),
    option("draw_times", "Whether an epoch asks about a triple at one of its times, drawn anew, or at all."),
    option("initial", "Initial values: xavier-uniform, xavier-normal, normal or uniform."),
    option("initial_scale", "Their scale, for normal and uniform."),
    option("dropout", "Share of the components of a question that are dropped in training."),
    option("dropout_scaled", "Whether the rest is scaled up for it."),
    option("factor_weight", "Weight of the cubes (N3) of the rows in use."),
    option("factor_entities", "How much more entities count in it than relations."),
    option("entity_penalty", "Penalty on tables of entities: none, l1, l2, l3, smooth3, smooth4."),
    option("entity_weight", "Its weight."),
    option("relation_penalty", "Penalty on tables of relations."),
    option("relation_weight", "Its weight."),
    option("time_penalty", "Penalty on tables of times; smooth3 and smooth4 keep neighbours alike."),
    option("time_weight", "Its weight."),
    option("clip_rows", "Whether rows of entities and relations are kept no longer than 1."),
    option("least_variance", "Smallest variance of Gaussian rows; the largest is 100 times as much."),
    option("optimiser", "adagrad, adam or sgd."),
    option("learning_rate", "Learning rate."),
    option("batch", "Questions per step; a fact is two questions."),
    option("epochs", "Epochs at most."),
    option("validate_every", "Epochs between validations."),
    option("patience", "Validations without improvement before training stops; 0: never."),
    option("compat", "Penalties as the published study computed them (l3 of rows: along the order of ids)."),
];
