//! The reference page of the models is made from the registry.

use std::fs;
use std::path::Path;

use quadcast_core::Task;
use quadcast_models::{Entry, MODELS, Search, SettingDefault};

const COMMAND: &str = "QUADCAST_WRITE=1 cargo test -p quadcast-models --test reference";

#[test]
fn the_reference_page_is_up_to_date() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models");
    let path = docs.join("reference.md");
    let expected = page(&docs);
    if std::env::var_os("QUADCAST_WRITE").is_some() {
        fs::write(&path, &expected).expect("docs/models can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let different = expected.lines().zip(found.lines()).position(|(expected, found)| expected != found);
    assert!(
        found == expected,
        "docs/models/reference.md is stale (line {different:?}); rewrite it: {COMMAND}"
    );
}

/// The whole page. Models that have a page of their own in `docs` are linked to it.
fn page(docs: &Path) -> String {
    let mut text = format!(
        "# Models and their settings\n\nThis page is made from the registry of the models; do not edit it. To rewrite it:\n\n\
         ```console\n$ {COMMAND}\n```\n\n`quadcast models NAME` shows the same for one model, with what each word means; \
         `--json` prints everything. Every setting is set with `--set KEY=VALUE` or under `[config]` in a plan. “Search” is \
         where a search looks for better values.\n"
    );
    for task in Task::ALL {
        text += &format!("\n## Models for the task {}\n", task.word());
        for entry in MODELS.iter().filter(|entry| entry.task() == task) {
            text += &section(entry, docs);
        }
    }
    text
}

fn section(entry: &Entry, docs: &Path) -> String {
    let Entry { name, about, paper, source, .. } = entry;
    let mut text = format!("\n### {name}\n\n{about} *{paper}*. {source}.");
    if !entry.aliases.is_empty() {
        text += &format!(" Other names: `{}`.", entry.aliases.join("`, `"));
    }
    if docs.join(format!("{name}.md")).exists() {
        text += &format!(" See [its page]({name}.md).");
    }
    let rows = entry.with_defaults();
    let Some(base) = entry.base else {
        text += "\n\n| setting | type | default | allowed | what it does | source | search |\n|---|---|---|---|---|---|---|\n";
        return text + &rows.iter().map(row).collect::<String>();
    };
    let changed: Vec<&SettingDefault> = rows.iter().filter(|row| row.changed).collect();
    text += &format!("\n\nSettings and defaults: those of [{base}](#{base})");
    if changed.is_empty() {
        return text + ".\n";
    }
    text += ", but for\n\n| setting | default |\n|---|---|\n";
    let rows = changed.iter().map(|row| format!("| `{}` | `{}` |", row.info.key, row.default));
    text + &rows.collect::<Vec<_>>().join("\n") + "\n"
}

fn row(SettingDefault { info, default, .. }: &SettingDefault) -> String {
    let search = match info.search {
        None => String::new(),
        Some(Search::Linear(low, high)) => format!("{low} to {high}"),
        Some(Search::Log(low, high)) => format!("{low:e} to {high:e}, logarithmic"),
        Some(Search::Numbers(numbers)) => {
            numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        }
        Some(Search::Words(words)) => words.join(", "),
    };
    let when = info
        .when
        .map_or_else(String::new, |when| format!(" if `{}` is {}", when.key, when.values.join(" or ")));
    let words: Vec<String> = info.choices.iter().map(|choice| format!("`{}`", choice.word)).collect();
    let allowed = if info.kind == quadcast_models::Kind::Word { words.join(", ") } else { info.allowed() };
    let cells = [
        format!("`{}`", info.key),
        info.kind.word().to_owned(),
        format!("`{default}`"),
        allowed,
        info.help.to_owned(),
        info.source.unwrap_or_default().to_owned(),
        format!("{search}{when}"),
    ];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}
