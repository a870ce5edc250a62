//! `quadcast models`: what there is.

use quadcast_core::{Capabilities, EvolvingCapabilities};
use quadcast_models::{EVOLVING_MODELS, Entry, EvolvingEntry, Family, MODELS, OptionInfo, find};
use quadcast_report::wrapped;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;

/// A model of facts with times, or one of a graph that changes: they can do different things.
#[derive(Serialize)]
struct Row<C> {
    name: &'static str,
    aliases: &'static [&'static str],
    family: &'static str,
    about: &'static str,
    paper: &'static str,
    source: &'static str,
    capabilities: C,
    options: &'static [OptionInfo],
    defaults: toml::Table,
}

#[derive(Serialize)]
#[serde(untagged)]
enum AnyRow {
    Timed(Row<Capabilities>),
    Evolving(Row<EvolvingCapabilities>),
}

pub fn execute(output: &Output) -> Result<(), Failure> {
    let timed = MODELS.iter().map(|entry| {
        AnyRow::Timed(Row {
            name: entry.name,
            aliases: entry.aliases,
            family: match entry.family {
                Family::Forecasting => "forecasting",
                Family::Completion => "completion",
            },
            about: entry.about,
            paper: entry.paper,
            source: entry.source,
            capabilities: entry.capabilities,
            options: entry.options,
            defaults: (entry.defaults)(),
        })
    });
    let evolving = EVOLVING_MODELS.iter().map(|entry| {
        AnyRow::Evolving(Row {
            name: entry.name,
            aliases: entry.aliases,
            family: "evolving",
            about: entry.about,
            paper: entry.paper,
            source: entry.source,
            capabilities: (entry.capabilities)(),
            options: entry.options,
            defaults: (entry.defaults)(),
        })
    });
    let rows: Vec<AnyRow> = timed.chain(evolving).collect();
    output.result(&rows, || {
        let timed = MODELS.iter().map(describe);
        timed.chain(EVOLVING_MODELS.iter().map(describe_evolving)).collect::<Vec<_>>().join("\n")
    })
}

fn describe_evolving(entry: &EvolvingEntry) -> String {
    let capabilities = (entry.capabilities)();
    let mut traits = vec!["graphs that change"];
    traits.extend(capabilities.updates.then_some("goes on learning"));
    traits.extend(capabilities.unlearns.then_some("unlearns what is deleted"));
    traits.extend(capabilities.partial.then_some("knows nothing of some triples"));
    let mut text = format!("{}\n", entry.name);
    for line in [entry.about, entry.paper, entry.source, &traits.join("; ")] {
        text.push_str(&wrapped(line, "  ", "  "));
    }
    text + &options(entry.options, &(entry.defaults)())
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
    text + &options(entry.options, &defaults)
}

fn options(options: &[OptionInfo], defaults: &toml::Table) -> String {
    let mut text = String::new();
    for option in options {
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
