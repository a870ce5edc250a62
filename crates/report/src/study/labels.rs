//! Short names for runs: the model, and only what tells its runs apart.

use std::collections::{BTreeMap, BTreeSet};

use quadcast_core::Task;
use quadcast_run::Record;
use serde_json::Value;

use crate::LoadedRun;

/// One label per run. Runs that differ only in their protocol share a label.
pub(super) fn labels(runs: &[&LoadedRun]) -> Vec<String> {
    let mut labels: Vec<String> = runs.iter().map(|run| named(&run.record)).collect();
    for name in labels.iter().cloned().collect::<BTreeSet<_>>() {
        let mine: Vec<usize> = (0..runs.len()).filter(|&i| named(&runs[i].record) == name).collect();
        let configs = mine.iter().map(|&i| &runs[i].record.model.config);
        for (&i, words) in mine.iter().zip(telling_words(configs)) {
            labels[i].push_str(&words);
        }
    }
    tell_apart(runs, &mut labels, |run| {
        let rules = run.record.model.rules.as_ref();
        rules.map_or_else(String::new, |rules| format!(" rules {}", rules.file))
    });
    tell_apart(runs, &mut labels, |run| format!(" seed {}", run.record.seed));
    tell_apart(runs, &mut labels, |run| {
        run.record.update.as_ref().map_or_else(String::new, |update| format!(" from {}", update.from))
    });
    tell_apart(runs, &mut labels, |run| format!(" [{}]", run.name));
    labels
}

/// The model; on evolving graphs also the procedure, since procedures are compared.
fn named(record: &Record) -> String {
    match record.task {
        Task::Evolving => format!("{}, {}", record.model.name, record.protocol.procedure.word()),
        _ => record.model.name.clone(),
    }
}

/// For each configuration the settings that tell it from the others, each after a blank.
fn telling_words<'a>(configs: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let configs: Vec<BTreeMap<String, String>> = configs.map(options).collect();
    let keys = telling_keys(&configs);
    let words = |config: &BTreeMap<String, String>| -> String {
        let value = |key: &String| word(key, config.get(key).map_or("–", String::as_str));
        needed(config, &configs, &keys).iter().map(value).collect()
    };
    configs.iter().map(words).collect()
}

/// The options of a configuration; nested ones with dotted names.
pub(crate) fn options(config: &Value) -> BTreeMap<String, String> {
    fn walk(prefix: &str, value: &Value, found: &mut BTreeMap<String, String>) {
        match value {
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                walk(&name, value, found);
            }),
            Value::String(text) => drop(found.insert(prefix.to_owned(), text.clone())),
            other => drop(found.insert(prefix.to_owned(), other.to_string())),
        }
    }
    let mut found = BTreeMap::new();
    walk("", config, &mut found);
    found
}

/// A few keys whose values tell all different configurations apart; telling most first.
fn telling_keys(configs: &[BTreeMap<String, String>]) -> Vec<String> {
    let keys: BTreeSet<&String> = configs.iter().flat_map(BTreeMap::keys).collect();
    let distinct = |keys: &[String]| {
        let values = |config: &BTreeMap<String, String>| -> Vec<Option<String>> {
            keys.iter().map(|key| config.get(key).cloned()).collect()
        };
        configs.iter().map(values).collect::<BTreeSet<_>>().len()
    };
    let mut chosen: Vec<String> = Vec::new();
    loop {
        let now = distinct(&chosen);
        let with = |key: &String| distinct(&[chosen.clone(), vec![key.clone()]].concat());
        // Words say more than numbers to a reader: `variant` before `lambda` where both tell as much.
        let wordy = |key: &String| {
            configs.iter().filter_map(|config| config.get(key)).all(|value| value.parse::<f64>().is_err())
        };
        // A variant is what people call the thing.
        let variant = |key: &String| key == "variant" && with(key) > now;
        let best = keys.iter().rev().max_by_key(|key| (variant(key), with(key), wordy(key)));
        match best {
            Some(key) if with(key) > now => chosen.push((*key).clone()),
            _ => return chosen,
        }
    }
}

/// The first keys that already tell a configuration from all different ones.
fn needed<'k>(
    config: &BTreeMap<String, String>,
    configs: &[BTreeMap<String, String>],
    keys: &'k [String],
) -> &'k [String] {
    let same = |other: &BTreeMap<String, String>, keys: &[String]| {
        keys.iter().all(|key| config.get(key) == other.get(key))
    };
    let others = configs.iter().filter(|other| !same(other, keys)).collect::<Vec<_>>();
    let enough = |&count: &usize| !others.iter().any(|other| same(other, &keys[..count]));
    &keys[..(0..=keys.len()).find(enough).unwrap_or(keys.len())]
}

/// `variant strict` reads as ` strict`; a number needs its name.
fn word(key: &str, value: &str) -> String {
    let bare = value.chars().next().is_some_and(char::is_alphabetic) && !["true", "false"].contains(&value);
    let name = key.rsplit('.').next().unwrap_or(key);
    if bare && name == "variant" { format!(" {value}") } else { format!(" {name}={value}") }
}

/// Adds to labels that two runs of one protocol share.
fn tell_apart(runs: &[&LoadedRun], labels: &mut [String], more: impl Fn(&LoadedRun) -> String) {
    let shared: Vec<bool> = (0..runs.len())
        .map(|i| {
            let twin = |j: usize| {
                j != i
                    && labels[i] == labels[j]
                    && runs[i].record.protocol.comparison_key() == runs[j].record.protocol.comparison_key()
            };
            (0..runs.len()).any(|j| twin(j) && more(runs[i]) != more(runs[j]))
        })
        .collect();
    for (i, _) in shared.iter().enumerate().filter(|(_, shared)| **shared) {
        labels[i].push_str(&more(runs[i]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadcast_run::RulesCard;

    use crate::samples::run;

    #[test]
    fn labels_say_what_differs() {
        let (a, b) = (run("strict", |_| 0), run("relaxed", |_| 0));
        assert_eq!(labels(&[&a, &b]), ["sample strict", "sample relaxed"]);
        assert_eq!(labels(&[&a]), ["sample"]);
        let mut other = b.clone();
        other.record.model.config["same"] = 2.into();
        assert_eq!(
            labels(&[&a, &b, &other]),
            ["sample strict", "sample relaxed same=1", "sample relaxed same=2"]
        );
        let mut seeded = a.clone();
        seeded.record.seed = 7;
        assert_eq!(labels(&[&a, &seeded]), ["sample seed 1", "sample seed 7"]);
        let mut given = a.clone();
        given.record.model.rules = Some(RulesCard { file: "a.jsonl".to_owned(), used: 2, dropped: 1 });
        assert_eq!(labels(&[&a, &given]), ["sample", "sample rules a.jsonl"]);
        let mut elsewhere = a.clone();
        elsewhere.name = "other".to_owned();
        assert_eq!(labels(&[&a, &elsewhere]), ["sample [runs/strict]", "sample [other]"]);
    }

    #[test]
    fn nested_options_have_dotted_names() {
        let config = serde_json::json!({ "decoder": { "name": "x", "width": 3 }, "on": true });
        let found: Vec<_> = options(&config).into_iter().collect();
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(found, [pair("decoder.name", "x"), pair("decoder.width", "3"), pair("on", "true")]);
    }
}
