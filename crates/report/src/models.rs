//! The registry as text: all models in a line each, or one model in full.

use quadcast_core::{Capabilities, Task};
use quadcast_models::{Entry, SettingDefault};

use crate::wrapped_within;

/// Columns of the text.
const WIDTH: usize = 80;

/// All models, by task.
pub fn models_text(entries: &[Entry]) -> String {
    let mut text = String::new();
    for task in Task::ALL {
        text.push_str(&format!("{}\n", task.word()));
        for entry in entries.iter().filter(|entry| entry.task() == task) {
            text.push_str(&paragraph(&format!("  {:<18}  ", entry.name), entry.about));
        }
        text.push('\n');
    }
    text + "quadcast models NAME shows one in full, with its settings.\n"
}

/// A model in full: what it is, what it can do, and what can be set.
pub fn model_text(entry: &Entry) -> String {
    let mut text = match entry.aliases {
        [] => format!("{}\n", entry.name),
        aliases => format!("{} (also {})\n", entry.name, aliases.join(", ")),
    };
    let abilities = abilities(&(entry.capabilities)());
    for line in [entry.about, entry.paper, entry.source, &abilities] {
        text.push_str(&paragraph("  ", line));
    }
    text + "\n" + &table(entry)
}

fn abilities(capabilities: &Capabilities) -> String {
    let task = capabilities.task.word();
    let mut words = vec![task];
    words.extend(capabilities.settings.iter().map(|setting| setting.word()).filter(|word| *word != task));
    let Capabilities {
        explains,
        inductive,
        random,
        rules,
        counts_rules,
        updates,
        unlearns,
        partial,
        simulates,
        ..
    } = *capabilities;
    for (can, word) in [
        (explains, "explains its answers"),
        (rules, "learns rules"),
        (counts_rules, "counts rules"),
        (inductive, "knows new entities"),
        (!random, "no randomness"),
        (updates, "goes on learning"),
        (unlearns, "unlearns what is deleted"),
        (partial, "may abstain"),
        (simulates, "simulates later graphs"),
    ] {
        words.extend(can.then_some(word));
    }
    words.join("; ")
}

/// A line per setting with what it does beneath.
fn table(entry: &Entry) -> String {
    let settings = entry.with_defaults();
    let rows: Vec<(&SettingDefault, String)> = settings.iter().map(|row| (row, default(row))).collect();
    let keys = rows.iter().map(|(row, _)| row.info.key.len()).max().unwrap_or(0);
    let defaults = rows.iter().map(|(_, default)| default.len()).max().unwrap_or(0).max("default".len());
    let columns = |key, default, kind| format!("{key:<keys$}  {default:<defaults$}  {kind:<12}  ");
    let mut text = format!("{}allowed\n{}\n", columns("--set", "default", "type"), "─".repeat(WIDTH));
    for (row, default) in &rows {
        let info = &row.info;
        text.push_str(&paragraph(&columns(info.key, default, info.kind.word()), &info.allowed()));
        let source = info.source.map(|source| format!(" Source: {source}.")).unwrap_or_default();
        text.push_str(&paragraph("    ", &format!("{}{source}", info.help)));
        for choice in info.choices {
            text.push_str(&paragraph(&format!("    {}: ", choice.word), choice.about));
        }
    }
    if let Some(base) = entry.base {
        text.push_str(&format!("\n* {base} has another default.\n"));
    }
    text
}

/// A default as it is written after `--set KEY=`.
fn default(setting: &SettingDefault) -> String {
    let value = match setting.default.as_float() {
        Some(number) if number != 0.0 && number.abs() < 1e-3 => format!("{number:e}"),
        _ => setting.default.to_string(),
    };
    format!("{value}{}", if setting.changed { " *" } else { "" })
}

/// A paragraph behind `first`, without the backticks of the documentation; further lines begin below the end of `first`.
fn paragraph(first: &str, text: &str) -> String {
    wrapped_within(WIDTH, &text.replace('`', ""), first, "")
}
