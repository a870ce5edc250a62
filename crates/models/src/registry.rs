//! The registry: every model a user can name.

use quadcast_core::{Capabilities, EvolvingCapabilities, EvolvingModel, Forecaster};
use serde::Serialize;
use toml::Table;

use crate::config::{nearest, set};
use crate::{ConfigError, completion, evolving, forecast};

/// Which task a model solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Facts to come.
    Forecasting,
    /// Facts that are missing.
    Completion,
}

/// A configuration key and what it does.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OptionInfo {
    /// The key.
    pub key: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
}

/// A model that can be named.
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// Task.
    pub family: Family,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Title of the publication.
    pub paper: &'static str,
    /// Who published it where.
    pub source: &'static str,
    /// What it can do.
    pub capabilities: Capabilities,
    /// What can be set.
    pub options: &'static [OptionInfo],
    /// The model whose defaults this one changes, and whose settings it has: recipes.
    pub base: Option<&'static str>,
    /// Settings with which training takes seconds: for demonstrations and tests.
    pub quick: &'static [&'static str],
    /// The default configuration.
    pub defaults: fn() -> Table,
    /// Builds an unfitted model; absent keys keep their defaults.
    pub build: fn(&Table) -> Result<Box<dyn Forecaster>, ConfigError>,
}

impl Entry {
    /// The default configuration, changed so that training takes seconds.
    ///
    /// # Panics
    /// If a quick setting is not one of the model's; a test sets them all.
    pub fn quick_config(&self) -> Table {
        changed((self.defaults)(), self.quick)
    }
}

/// A model of evolving graphs that can be named.
pub struct EvolvingEntry {
    /// Name on the command line.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Title of the publication.
    pub paper: &'static str,
    /// Who published it where.
    pub source: &'static str,
    /// What it can do with its default configuration.
    pub capabilities: fn() -> EvolvingCapabilities,
    /// What can be set.
    pub options: &'static [OptionInfo],
    /// Settings with which training takes seconds: for demonstrations and tests.
    pub quick: &'static [&'static str],
    /// The default configuration.
    pub defaults: fn() -> Table,
    /// Builds an unfitted model; absent keys keep their defaults.
    pub build: fn(&Table) -> Result<Box<dyn EvolvingModel>, ConfigError>,
}

impl EvolvingEntry {
    /// The default configuration, changed so that training takes seconds.
    ///
    /// # Panics
    /// If a quick setting is not one of the model's; a test sets them all.
    pub fn quick_config(&self) -> Table {
        changed((self.defaults)(), self.quick)
    }
}

fn changed(mut config: Table, settings: &[&str]) -> Table {
    for setting in settings {
        set(&mut config, setting).expect("a setting of the model");
    }
    config
}

/// All models, in the order of the documentation.
pub const MODELS: &[Entry] = &[
    forecast::recurrency::ENTRY,
    forecast::tlogic::ENTRY,
    forecast::cygnet::ENTRY,
    forecast::regcn::ENTRY,
    forecast::cen::ENTRY,
    completion::naive_rules::ENTRY,
    completion::recipes::TCOMPLEX,
    completion::recipes::TNTCOMPLEX,
    completion::recipes::TTRANSE,
    completion::recipes::T_SIMPLE,
    completion::recipes::UTEE_TRANSE,
    completion::recipes::UTEE_SIMPLE,
    completion::recipes::DE_TRANSE,
    completion::recipes::DE_SIMPLE,
    completion::recipes::DE_DISTMULT,
    completion::recipes::HYTE,
    completion::recipes::HYTE_SIMPLE,
    completion::recipes::ATISE,
    completion::recipes::ATISE_TRANSE,
    completion::recipes::ATISE_SIMPLE,
    completion::recipes::TA_TRANSE,
    completion::recipes::TA_DISTMULT,
    completion::recipes::TA_SIMPLE,
    completion::recipes::TERO,
    completion::recipes::ROTATEQVS,
    completion::recipes::TLT_KGE,
    completion::recipes::TLT_KGE_COMPLEX,
    completion::recipes::COMPOSED,
];

/// All models of evolving graphs, in the order of the documentation.
pub const EVOLVING_MODELS: &[EvolvingEntry] = &[
    evolving::transe::ENTRY,
    evolving::incremental_transe::ENTRY,
    evolving::transh::ENTRY,
    evolving::transd::ENTRY,
    evolving::transr::ENTRY,
    evolving::distmult::ENTRY,
    evolving::rescal::ENTRY,
    evolving::complex::ENTRY,
    evolving::simple::ENTRY,
    evolving::rotate::ENTRY,
    evolving::universes::PUTRANSE,
    evolving::universes::PUTRANSH,
    evolving::universes::PUTRANSD,
];

/// The model of a name or alias.
pub fn find(name: &str) -> Result<&'static Entry, ConfigError> {
    find_among(MODELS, |entry| (entry.name, entry.aliases), name)
}

/// The model of evolving graphs of a name or alias.
pub fn find_evolving(name: &str) -> Result<&'static EvolvingEntry, ConfigError> {
    find_among(EVOLVING_MODELS, |entry| (entry.name, entry.aliases), name)
}

fn find_among<E>(
    entries: &'static [E],
    names: impl Fn(&E) -> (&'static str, &'static [&'static str]),
    name: &str,
) -> Result<&'static E, ConfigError> {
    let wanted = name.to_lowercase();
    let all = |entry: &E| {
        let (name, aliases) = names(entry);
        std::iter::once(name).chain(aliases.iter().copied())
    };
    entries.iter().find(|entry| all(entry).any(|name| name == wanted)).ok_or_else(|| {
        ConfigError::UnknownModel {
            name: name.to_owned(),
            suggestion: nearest(&wanted, entries.iter().flat_map(all)),
            known: entries.iter().map(|entry| names(entry).0).collect::<Vec<_>>().join(", "),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_options_match_the_configuration() {
        let timed = MODELS.iter().map(|e| (e.name, e.aliases));
        let all = timed.chain(EVOLVING_MODELS.iter().map(|e| (e.name, e.aliases)));
        let mut names: Vec<&str> =
            all.flat_map(|(name, aliases)| std::iter::once(name).chain(aliases.iter().copied())).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        let check = |name: &str, options: &[OptionInfo], defaults: &Table| {
            let mut documented: Vec<&str> = options.iter().map(|o| o.key).collect();
            documented.sort_unstable();
            let mut keys: Vec<&str> = defaults.keys().map(String::as_str).collect();
            keys.sort_unstable();
            assert_eq!(documented, keys, "{name}");
        };
        for entry in EVOLVING_MODELS {
            let defaults = (entry.defaults)();
            check(entry.name, entry.options, &defaults);
            let model = (entry.build)(&defaults).expect("the defaults build");
            assert_eq!(model.capabilities(), (entry.capabilities)(), "{}", entry.name);
            assert!((entry.build)(&entry.quick_config()).is_ok(), "{}", entry.name);
        }
        for entry in MODELS {
            let defaults = (entry.defaults)();
            check(entry.name, entry.options, &defaults);
            let model = (entry.build)(&defaults).expect("the defaults build");
            assert_eq!(model.capabilities(), entry.capabilities, "{}", entry.name);
            assert!((entry.build)(&entry.quick_config()).is_ok(), "{}", entry.name);
        }
    }

    #[test]
    fn a_typo_gets_a_suggestion() {
        let error = find("recurency").err().expect("no such model");
        assert!(error.to_string().contains("did you mean \"recurrency\"?"), "{error}");
        assert!(find("Recurrency").is_ok());
        let error = find_evolving("tranze").err().expect("no such model");
        assert!(error.to_string().contains("did you mean \"transe\"?"), "{error}");
        assert!(find_evolving("TransE").is_ok());
    }
}
