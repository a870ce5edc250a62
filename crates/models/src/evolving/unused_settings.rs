//! Settings that only some models read.
//!
//! All models with one space share their settings. A setting that the chosen model does not read is an error rather than ignored:
//! the user expects an effect.

use quadcast_kernels::triples::Translation;
use toml::Table;

use super::projected::Projected;
use super::settings::Config;
use super::space::Space;
use super::{complex, distmult, incremental_transe, rescal, rotate, simple, transd, transe, transh, transr};
use crate::config::ConfigError;
use crate::settings::Settings;

/// Settings that not every model reads.
pub(super) const MODEL_SPECIFIC: [&str; 6] =
    ["relation_dimension", "norm", "normalise", "constraint", "tolerance", "neighbour_start"];

/// All models, in the order of the documentation, and the model-specific settings that they read.
const READERS: [(&str, &[&str]); 10] = [
    (transe::ENTRY.name, Translation::READS),
    (incremental_transe::ENTRY.name, Translation::READS),
    (transh::ENTRY.name, Projected::<transh::Hyperplane>::READS),
    (transd::ENTRY.name, Projected::<transd::MappingVectors>::READS),
    (transr::ENTRY.name, Projected::<transr::Matrix>::READS),
    (distmult::ENTRY.name, distmult::Diagonal::READS),
    (rescal::ENTRY.name, rescal::Matrices::READS),
    (complex::ENTRY.name, complex::Complex::READS),
    (simple::ENTRY.name, simple::BothWays::READS),
    (rotate::ENTRY.name, rotate::Rotations::READS),
];

/// Refuses settings that a model does not read, unless they have its default value.
pub(super) fn refuse_unused<M: Space>(
    name: &str,
    config: &Config,
    defaults: &Config,
) -> Result<(), ConfigError> {
    let (given, usual) = (config.table(), defaults.table());
    let is_unused = |key: &&str| !M::READS.contains(key) && given.get(*key) != usual.get(*key);
    let Some(key) = MODEL_SPECIFIC.into_iter().find(is_unused) else { return Ok(()) };
    let value = |table: &Table| table.get(key).map(ToString::to_string).unwrap_or_default();
    Err(ConfigError::Value(format!(
        "{key} = {} is for {}; {name} does not read it: leave it out, or set {key} = {}",
        value(&given),
        readers(key),
        value(&usual)
    )))
}

/// The models that read a setting, as a list for people.
fn readers(key: &str) -> String {
    let mut names: Vec<&str> =
        READERS.iter().filter(|(_, keys)| keys.contains(&key)).map(|(name, _)| *name).collect();
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last.to_owned() } else { format!("{} and {last}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::super::distmult::ENTRY;
    use super::super::testing::build;
    use super::{MODEL_SPECIFIC, READERS, readers};
    use crate::config::set;
    use crate::{Entry, MODELS};

    /// A value that is no model's default, by setting.
    fn unusual(key: &str) -> &'static [&'static str] {
        match key {
            "relation_dimension" => &["relation_dimension=7", "warm_epochs=0"],
            "norm" => &["norm=2"],
            "normalise" => &["normalise=false"],
            "constraint" => &["constraint=0.4"],
            "tolerance" => &["tolerance=0.4"],
            _ => &["neighbour_start=true"],
        }
    }

    #[test]
    fn a_model_refuses_settings_that_it_does_not_read() {
        // Universes have other settings.
        let of_one_space = |entry: &&Entry| entry.settings.iter().any(|setting| setting.key == "warm_epochs");
        let models: Vec<&Entry> = MODELS.iter().filter(of_one_space).collect();
        let names: Vec<&str> = READERS.iter().map(|(name, _)| *name).collect();
        assert_eq!(models.iter().map(|entry| entry.name).collect::<Vec<_>>(), names);
        for (entry, (_, reads)) in models.into_iter().zip(READERS) {
            for key in MODEL_SPECIFIC {
                let mut config = (entry.defaults)();
                unusual(key).iter().for_each(|setting| set(&mut config, setting).expect("a setting"));
                match entry.evolving(&config).map(|_| ()) {
                    Ok(()) => {
                        assert!(reads.contains(&key) || config == (entry.defaults)(), "{} {key}", entry.name);
                    }
                    Err(error) => {
                        let error = error.to_string();
                        assert!(!reads.contains(&key), "{}: {error}", entry.name);
                        assert!(error.contains(&readers(key)) && error.contains(entry.name), "{error}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_refusal_names_the_models_that_read_the_setting_and_the_remedy() {
        let build = |setting| build(&ENTRY, &[setting]).map(|_| ());
        assert_eq!(
            build("norm=2").expect_err("products have no norm").to_string(),
            "norm = 2 is for transe, incremental-transe, transh, transd and transr; distmult does not read it: leave it \
             out, or set norm = 1"
        );
        let error = build("relation_dimension=5").expect_err("one width").to_string();
        assert!(error.contains("is for transd and transr;"), "{error}");
        assert!(build("constraint=0").is_ok(), "its default value, in another notation");
    }
}
