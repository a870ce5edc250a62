//! Settings that some models read and others have no use for.
//!
//! All models of one space share their settings. One that changes nothing is refused rather than passed over: whoever gives it
//! expects something of it.

use toml::Table;

use super::complex::ComplEx;
use super::distmult::DistMult;
use super::incremental_transe::IncrementalTransE;
use super::rescal::Rescal;
use super::rotate::RotatE;
use super::settings::Config;
use super::simple::SimplE;
use super::space::{Named, Space};
use super::transd::TransD;
use super::transe::TransE;
use super::transh::TransH;
use super::transr::TransR;
use crate::config::ConfigError;

/// The settings that not every model reads.
pub(super) const OF_SOME: [&str; 6] =
    ["relation_dimension", "norm", "normalise", "constraint", "tolerance", "neighbour_start"];

/// All models, in the order of the documentation, and which of these settings they read.
const READERS: [(&str, &[&str]); 10] = [
    reads::<TransE>(),
    reads::<IncrementalTransE>(),
    reads::<TransH>(),
    reads::<TransD>(),
    reads::<TransR>(),
    reads::<DistMult>(),
    reads::<Rescal>(),
    reads::<ComplEx>(),
    reads::<SimplE>(),
    reads::<RotatE>(),
];

const fn reads<N: Named>() -> (&'static str, &'static [&'static str]) {
    (N::NAME, <N::Space as Space>::READS)
}

/// Refuses settings that a model does not read, unless they are its own.
pub(super) fn refuse_idle<N: Named>(config: &Config) -> Result<(), ConfigError> {
    let (given, usual) = (table(config), table(&N::config()));
    let (name, reads) = reads::<N>();
    let is_idle = |key: &&str| !reads.contains(key) && given.get(*key) != usual.get(*key);
    let Some(key) = OF_SOME.into_iter().find(is_idle) else { return Ok(()) };
    let value = |table: &Table| table.get(key).map(ToString::to_string).unwrap_or_default();
    Err(ConfigError::Value(format!(
        "{key} = {} is for {}; {name} does not read it: leave it out, or set {key} = {}",
        value(&given),
        readers(key),
        value(&usual)
    )))
}

fn table(config: &Config) -> Table {
    Table::try_from(config).unwrap_or_else(|_| unreachable!("a configuration is a table of plain values"))
}

/// The models that read a setting, as a person would list them.
fn readers(key: &str) -> String {
    let mut names: Vec<&str> =
        READERS.iter().filter(|(_, keys)| keys.contains(&key)).map(|(name, _)| *name).collect();
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last.to_owned() } else { format!("{} and {last}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::super::distmult::ENTRY;
    use super::{OF_SOME, READERS, readers};
    use crate::config::set;
    use crate::{EVOLVING_MODELS, EvolvingEntry};

    /// A value that is nobody's default, by setting.
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
    fn who_does_not_read_a_setting_refuses_it() {
        // Universes have settings of their own.
        let of_one_space =
            |entry: &&EvolvingEntry| entry.options.iter().any(|option| option.key == "warm_epochs");
        let models: Vec<&EvolvingEntry> = EVOLVING_MODELS.iter().filter(of_one_space).collect();
        let names: Vec<&str> = READERS.iter().map(|(name, _)| *name).collect();
        assert_eq!(models.iter().map(|entry| entry.name).collect::<Vec<_>>(), names);
        for (entry, (_, reads)) in models.into_iter().zip(READERS) {
            for key in OF_SOME {
                let mut config = (entry.defaults)();
                unusual(key).iter().for_each(|setting| set(&mut config, setting).expect("a setting"));
                match (entry.build)(&config).map(|_| ()) {
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
    fn a_refusal_says_who_reads_the_setting_and_what_to_do() {
        let build = |setting: &str| {
            let mut config = (ENTRY.defaults)();
            set(&mut config, setting).expect("a setting");
            (ENTRY.build)(&config).map(|_| ())
        };
        assert_eq!(
            build("norm=2").expect_err("products have no norm").to_string(),
            "norm = 2 is for transe, incremental-transe, transh, transd and transr; distmult does not read it: leave it \
             out, or set norm = 1"
        );
        let error = build("relation_dimension=5").expect_err("one width").to_string();
        assert!(error.contains("is for transd and transr;"), "{error}");
        assert!(build("constraint=0").is_ok(), "what it has anyway, however it is written");
    }
}
