//! TLT-KGE, in its complex and its quaternion form.

use super::super::composed::{Config, InitialName, PenaltyName, Temporal};
use super::{Recipe, entry};
use crate::registry::Entry;

const PAPER: &str = "Along the time: timeline-traced embedding for temporal knowledge graph completion";
const SOURCE: &str = "Zhang et al., CIKM 2022";

/// Settings for ICEWS14.
fn common() -> Config {
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

struct Quaternion;

impl Recipe for Quaternion {
    const NAME: &'static str = "tlt-kge";
    const ALIASES: &'static [&'static str] = &["tltkge", "tlt-kge-quaternion"];
    const ABOUT: &'static str = "Times and windows of times as imaginary parts of subjects and relations.";
    const PAPER: &'static str = PAPER;
    const SOURCE: &'static str = SOURCE;

    fn config() -> Config {
        Config { temporal: Temporal::TltQuaternion, factor_weight: 3e-3, time_weight: 3e-2, ..common() }
    }
}

struct Complex;

impl Recipe for Complex {
    const NAME: &'static str = "tlt-kge-complex";
    const ABOUT: &'static str = "TLT-KGE with real products.";
    const PAPER: &'static str = PAPER;
    const SOURCE: &'static str = SOURCE;

    fn config() -> Config {
        Config { temporal: Temporal::TltComplex, factor_weight: 1e-3, time_weight: 1e-1, ..common() }
    }
}

/// The quaternion form.
pub const TLT_KGE: Entry = entry::<Quaternion>();
/// The complex form.
pub const TLT_KGE_COMPLEX: Entry = entry::<Complex>();
