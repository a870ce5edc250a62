//! The configuration of a run on a changing graph.

use quadcast_core::Fingerprint;
use quadcast_data::Format;
use quadcast_eval::evolving::{LinkProtocol, Procedure};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::record_folder::identity;

/// A configuration file: everything that is needed to repeat a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvolveFile {
    pub model: Option<String>,
    pub data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    pub procedure: Procedure,
    pub seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<String>,
    pub all: bool,
    pub transfer: Option<bool>,
    /// The run whose model was brought up to date, if this is an update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_from: Option<String>,
    pub protocol: LinkProtocol,
    pub config: toml::Table,
}

impl EvolveFile {
    /// Everything that decides results, and the version that makes them, as text.
    pub fn identity(&self, version: &str) -> Result<String, Failure> {
        let deciding = Self { data: None, format: None, time_budget: None, ..self.clone() };
        identity(&deciding, version)
    }

    /// A configuration that names the content of its dataset runs on that content only, unless the dataset is `given` anew.
    pub fn bind(&mut self, given: bool, found: Fingerprint) -> Result<(), Failure> {
        match self.fingerprint {
            Some(expected) if expected != found && !given => Err(Failure::input(format!(
                "{} has changed: the configuration was made for fingerprint {expected}, this is {found}. \
                 Name the dataset with --data to run on it all the same",
                self.data.as_deref().unwrap_or_default()
            ))),
            _ => {
                self.fingerprint = Some(found);
                Ok(())
            }
        }
    }
}
