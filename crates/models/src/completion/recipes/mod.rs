//! Named models of completion: lists of components, with the settings they were published with.
//!
//! A recipe is a [`Config`] and where it comes from. Everything it does not set can be set, and everything it sets can be
//! changed: a recipe is a place to begin.

use quadcast_core::Forecaster;
use toml::Table;

use super::composed::{CAPABILITIES, Composed, Config};
use crate::config::{self, ConfigError};
use crate::registry::{Build, Entry};
use crate::settings::Settings;

/// The registry entries of recipes: constant, name and aliases; what it does, its paper and who published it; its settings.
macro_rules! recipes {
    ($($(#[$meta:meta])* $constant:ident = $name:literal $(or $alias:literal)*: $about:literal, $paper:expr, $source:expr; $config:expr;)+) => {
        $(#[doc = concat!("The model `", $name, "`.")]
        $(#[$meta])*
        pub const $constant: Entry = Entry {
            name: $name,
            aliases: &[$($alias),*],
            about: $about,
            paper: $paper,
            source: $source,
            base: Some(super::COMPOSED.name),
            defaults: || $config.table(),
            build: Build::Forecaster(|table| super::build(&$config, table)),
            ..super::COMPOSED
        };)+
    };
}

mod published;
mod study;

pub use published::{ATISE, ROTATEQVS, TCOMPLEX, TERO, TLT_KGE, TLT_KGE_COMPLEX, TNTCOMPLEX};
pub use study::{
    ATISE_SIMPLE, ATISE_TRANSE, DE_DISTMULT, DE_SIMPLE, DE_TRANSE, HYTE, HYTE_SIMPLE, T_SIMPLE, TA_DISTMULT,
    TA_SIMPLE, TA_TRANSE, TTRANSE, UTEE_SIMPLE, UTEE_TRANSE,
};

fn build(recipe: &Config, table: &Table) -> Result<Box<dyn Forecaster>, ConfigError> {
    Ok(Box::new(Composed::new(config::change(recipe, table)?)?))
}

/// The model whose components are all free.
pub const COMPOSED: Entry = Entry {
    name: "composed",
    aliases: &[],
    about: "Any combination of components; by default TNTComplEx.",
    paper: study::STUDY,
    source: study::STUDY_SOURCE,
    capabilities: || CAPABILITIES,
    settings: Config::SETTINGS,
    base: None,
    quick: &["dimension=8", "epochs=4", "validate_every=2", "negatives=20", "batch=64", "group=16"],
    defaults: config::defaults::<Config>,
    build: Build::Forecaster(|table| build(&Config::default(), table)),
};
