//! Factorisations of the tensor of facts: `TComplEx` and `TNTComplEx`.

use super::super::composed::{Config, Fusion, Temporal};
use super::{Recipe, entry};
use crate::registry::Entry;

const PAPER: &str = "Tensor decompositions for temporal knowledge base completion";
const SOURCE: &str = "Lacroix, Obozinski, Usunier, ICLR 2020";

struct TComplEx;

impl Recipe for TComplEx {
    const NAME: &'static str = "tcomplex";
    const ABOUT: &'static str = "Complex factors of subject, relation, time and object; a factor per time.";
    const PAPER: &'static str = PAPER;
    const SOURCE: &'static str = SOURCE;

    /// Small published size for ICEWS14: rank 156, both weights 0.01, 50 epochs.
    fn config() -> Config {
        Config {
            temporal: Temporal::T,
            fusion: Fusion::Complex,
            factor_entities: 1.0,
            ..TntComplEx::config()
        }
    }
}

struct TntComplEx;

impl Recipe for TntComplEx {
    const NAME: &'static str = "tntcomplex";
    const ABOUT: &'static str =
        "TComplEx with a second part of every relation that time does not change; strong and fast.";
    const PAPER: &'static str = PAPER;
    const SOURCE: &'static str = SOURCE;

    fn config() -> Config {
        Config { dimension: 156, patience: 0, ..Config::default() }
    }
}

/// `TComplEx`.
pub const TCOMPLEX: Entry = entry::<TComplEx>();
/// `TNTComplEx`.
pub const TNTCOMPLEX: Entry = entry::<TntComplEx>();
