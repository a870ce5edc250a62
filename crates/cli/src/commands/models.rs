//! `quadcast models`: what there is.

use quadcast_core::Capabilities;
use quadcast_models::{Entry, Family, MODELS, OptionInfo, find};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, wrapped};

#[derive(Serialize)]
struct Row {
    name: &'static str,
    aliases: &'static [&'static str],
    family: Family,
    about: &'static str,
    paper: &'static str,
    source: &'static str,
    capabilities: Capabilities,
    options: &'static [OptionInfo],
    defaults: toml::Table,
}

pub fn execute(output: &Output) -> Result<(), Failure> {
    let rows: Vec<Row> = MODELS
        .iter()
        .map(|entry| Row {
            name: entry.name,
            aliases: entry.aliases,
            family: entry.family,
            about: entry.about,
            paper: entry.paper,
            source: entry.source,
            capabilities: entry.capabilities,
            options: entry.options,
            defaults: (entry.defaults)(),
        })
        .collect();
    output.result(&rows, || MODELS.iter().map(describe).collect::<Vec<_>>().join("\n"))
}

fn describe(entry: &Entry) -> String {
    let settings: Vec<&str> = entry.capabilities.settings.iter().map(|s| s.word()).collect();
    let mut traits = vec![settings.join(", ")];
    if entry.capabilities.explains {
        traits.push("explains its answers".to_owned());
    }
    if entry.capabilities.rules {
        traits.push("learns rules".to_owned());
    }
    if entry.capabilities.inductive {
        traits.push("knows new entities".to_owned());
    }
    if !entry.capabilities.random {
        traits.push("no randomness".to_owned());
    }
    let defaults = (entry.defaults)();
    let lines = [entry.about, entry.paper, entry.source, &traits.join("; ")];
    let mut text = format!("{}\n", entry.name);
    for line in lines {
        text.push_str(&wrapped(line, "  ", "  "));
    }
    if let Some(base) = entry.base.and_then(|name| find(name).ok()) {
        text.push_str(&recipe(base, &defaults));
        return text;
    }
    for option in entry.options {
        let default = defaults.get(option.key).map(ToString::to_string).unwrap_or_default();
        let setting = format!("    --set {:<12} ", format!("{}=…", option.key));
        text.push_str(&wrapped(&format!("{} [{default}]", option.about), &setting, ""));
    }
    text
}

/// What a recipe changes in the defaults of the model it is made of.
fn recipe(base: &Entry, config: &toml::Table) -> String {
    let usual = (base.defaults)();
    let changed = config.iter().filter(|(key, value)| usual.get(*key) != Some(value));
    let settings: Vec<String> = changed.map(|(key, value)| format!("{key}={value}")).collect();
    wrapped(&format!("{} with {}", base.name, settings.join(" ")), "    ", "  ")
}
