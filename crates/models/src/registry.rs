//! The registry: every model a user can name.

use quadcast_core::{Capabilities, EvolvingModel, Forecaster, Task};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use toml::{Table, Value};

use crate::config::{nearest, set};
use crate::settings::SettingInfo;
use crate::{ConfigError, completion, evolving, forecast};

/// A model that can be named.
pub struct Entry {
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
    pub capabilities: fn() -> Capabilities,
    /// What can be set.
    pub settings: &'static [SettingInfo],
    /// The model whose defaults this one changes, and whose settings it has.
    pub base: Option<&'static str>,
    /// Settings with which training takes seconds: for demonstrations and tests.
    pub quick: &'static [&'static str],
    /// The default configuration.
    pub defaults: fn() -> Table,
    /// Builds an unfitted model; absent keys keep their defaults.
    pub build: Build,
}

/// How a model is built from a configuration.
pub enum Build {
    /// A model of facts with times.
    Forecaster(fn(&Table) -> Result<Box<dyn Forecaster>, ConfigError>),
    /// A model of a graph that changes.
    Evolving(fn(&Table) -> Result<Box<dyn EvolvingModel>, ConfigError>),
}

impl Entry {
    /// The task it solves.
    pub fn task(&self) -> Task {
        (self.capabilities)().task
    }

    /// An unfitted model for forecasting or completion; an error for models of evolving graphs.
    pub fn forecaster(&self, config: &Table) -> Result<Box<dyn Forecaster>, ConfigError> {
        match self.build {
            Build::Forecaster(build) => build(config),
            Build::Evolving(_) => Err(self.other_task("forecasting or completion")),
        }
    }

    /// An unfitted model of an evolving graph; an error for others.
    pub fn evolving(&self, config: &Table) -> Result<Box<dyn EvolvingModel>, ConfigError> {
        match self.build {
            Build::Evolving(build) => build(config),
            Build::Forecaster(_) => Err(self.other_task(Task::Evolving.word())),
        }
    }

    fn other_task(&self, wanted: &str) -> ConfigError {
        let (name, own) = (self.name, self.task().word());
        ConfigError::Name(format!(
            "the task of {name} is {own}, not {wanted}; quadcast models lists which model does what"
        ))
    }

    /// The default configuration, changed so that training takes seconds.
    ///
    /// # Panics
    /// If a quick setting is not one of the model's; a test sets them all.
    pub fn quick_config(&self) -> Table {
        let mut config = (self.defaults)();
        self.quick.iter().for_each(|setting| set(&mut config, setting).expect("a setting of the model"));
        config
    }

    /// What can be set, each with its default.
    pub fn with_defaults(&self) -> Vec<SettingDefault> {
        let (own, base) = ((self.defaults)(), self.base.and_then(|name| find(name).ok()));
        let usual = base.map(|base| (base.defaults)());
        let with_default = |info: &SettingInfo| {
            let default = own.get(info.key)?.clone();
            let changed = usual.as_ref().is_some_and(|usual| usual.get(info.key) != Some(&default));
            let source = if changed { Some(self.source) } else { info.source };
            Some(SettingDefault { info: SettingInfo { source, ..*info }, default, changed })
        };
        self.settings.iter().filter_map(with_default).collect()
    }
}

/// What there is to know before a model is built, as `quadcast models --json` prints it.
impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Entry", 9)?;
        fields.serialize_field("name", self.name)?;
        fields.serialize_field("aliases", self.aliases)?;
        fields.serialize_field("task", &self.task())?;
        fields.serialize_field("about", self.about)?;
        fields.serialize_field("paper", self.paper)?;
        fields.serialize_field("source", self.source)?;
        fields.serialize_field("base", &self.base)?;
        fields.serialize_field("capabilities", &(self.capabilities)())?;
        fields.serialize_field("settings", &self.with_defaults())?;
        fields.end()
    }
}

/// A setting and its default in a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingDefault {
    /// The setting; its source is that of this default.
    #[serde(flatten)]
    pub info: SettingInfo,
    /// The default.
    pub default: Value,
    /// Whether the model that this one is based on has another default.
    pub changed: bool,
}

/// All models, in the order of the documentation.
///
/// A static and not a constant: code that names a constant compiles every generic model again, in each crate that does.
pub static MODELS: &[Entry] = &[
    forecast::herald::ENTRY,
    forecast::recurrency::ENTRY,
    forecast::tlogic::ENTRY,
    forecast::cygnet::ENTRY,
    forecast::renet::ENTRY,
    forecast::regcn::ENTRY,
    forecast::cen::ENTRY,
    forecast::tango::ENTRY,
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
    let wanted = name.to_lowercase();
    let names = |entry: &'static Entry| std::iter::once(entry.name).chain(entry.aliases.iter().copied());
    MODELS.iter().find(|entry| names(entry).any(|name| name == wanted)).ok_or_else(|| {
        let listed: Vec<&str> = MODELS.iter().map(|entry| entry.name).collect();
        ConfigError::unknown("model", name, nearest(&wanted, MODELS.iter().flat_map(names)), &listed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Kind, Search};

    #[test]
    fn names_are_unique_and_in_the_order_of_tasks() {
        let all = MODELS.iter().flat_map(|e| std::iter::once(e.name).chain(e.aliases.iter().copied()));
        let mut names: Vec<&str> = all.collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(MODELS.is_sorted_by_key(Entry::task));
    }

    #[test]
    fn every_model_builds_as_its_entry_says() {
        for entry in MODELS {
            let Entry { name, settings, .. } = entry;
            let defaults = (entry.defaults)();
            let keys: Vec<&str> = settings.iter().map(|setting| setting.key).collect();
            assert_eq!(keys.len(), defaults.len(), "{name}");
            assert!(keys.iter().all(|key| defaults.contains_key(*key)), "{name}: {keys:?}");
            let capabilities = if entry.task() == Task::Evolving {
                assert!(
                    entry.evolving(&entry.quick_config()).is_ok() && entry.forecaster(&defaults).is_err()
                );
                entry.evolving(&defaults).expect("the defaults build").capabilities()
            } else {
                assert!(
                    entry.forecaster(&entry.quick_config()).is_ok() && entry.evolving(&defaults).is_err()
                );
                entry.forecaster(&defaults).expect("the defaults build").capabilities()
            };
            assert_eq!(capabilities, (entry.capabilities)(), "{name}");
            assert_eq!(entry.with_defaults().len(), defaults.len(), "{name}");
            // A line of a list is 80 characters wide, the longest name has 18.
            assert!(entry.about.chars().count() <= 58 && entry.about.ends_with('.'), "{name}");
            if let Some(base) = entry.base {
                assert_eq!(find(base).expect("a model").settings, *settings, "{name}");
            }
        }
    }

    #[test]
    fn searches_stay_within_what_is_allowed() {
        let settings = MODELS.iter().flat_map(|entry| entry.settings.iter().map(move |s| (entry, s)));
        for (entry, setting) in settings {
            let key = setting.key;
            let known = |key: &str, value: &str| {
                let setting = entry.settings.iter().find(|setting| setting.key == key).expect("a key");
                setting.kind == Kind::Boolean || setting.choices.iter().any(|choice| choice.word == value)
            };
            match setting.search {
                None => {}
                Some(Search::Linear(low, high) | Search::Log(low, high)) => {
                    assert!(
                        low < high && setting.range.contains(low) && setting.range.contains(high),
                        "{key}"
                    );
                }
                Some(Search::Numbers(numbers)) => {
                    assert!(numbers.iter().all(|&number| setting.range.contains(number)), "{key}");
                }
                Some(Search::Words(words)) => assert!(words.iter().all(|word| known(key, word)), "{key}"),
            }
            if let Some(condition) = setting.when {
                assert!(condition.values.iter().all(|value| known(condition.key, value)), "{key}");
            }
        }
    }

    #[test]
    fn a_typo_gets_a_suggestion() {
        for (typed, meant) in [("recurency", "recurrency"), ("tranze", "transe")] {
            let error = find(typed).err().expect("no such model").to_string();
            assert!(error.contains(&format!("did you mean \"{meant}\"?")), "{error}");
        }
        assert!(find("Recurrency").is_ok() && find("TransE").is_ok());
    }

    #[test]
    fn a_model_for_another_task_is_refused_with_its_task() {
        let entry = find("transe").expect("a model");
        assert_eq!(
            entry.forecaster(&Table::new()).err().expect("another task").to_string(),
            "the task of transe is evolving, not forecasting or completion; quadcast models lists which model does \
             what"
        );
    }
}
