//! A compiled benchmark and a synthetic world as text.

use std::path::Path;

use quadcast_analysis::{BenchmarkLayout, CompileReport, CompiledStep};
use quadcast_core::{CategoryKind, Filter, Setting};
use quadcast_data::StreamClock;
use serde_json::Value;

use super::operations::dropped_words;
use crate::{bytes, counted, percent, plain_table, seconds, shown, wrapped};

/// Steps that are shown; of more, the first and the last ones.
const SHOWN: usize = 6;

/// What compiling a benchmark cost.
pub struct CompileCost {
    /// Seconds that reading the stream took.
    pub read: f64,
    /// Seconds that making the steps took.
    pub compile: f64,
    /// Seconds that writing them took.
    pub write: f64,
    /// Peak memory of the process, if known.
    pub peak_memory_bytes: Option<u64>,
}

/// A compiled benchmark: what was removed, a table of its steps, and the cost.
pub fn compile_text(
    report: &CompileReport,
    folder: &Path,
    layout: BenchmarkLayout,
    cost: &CompileCost,
) -> String {
    let number = |count: usize| counted(count as u64);
    let (stream, removed) = (&report.stream, &report.removed);
    let times = if stream.clock == StreamClock::Order { "in order, without times" } else { "with times" };
    let mut text = wrapped(
        &format!(
            "{}: {} operations on {} triples, {times}; {} entities, {} relations",
            stream.name,
            number(stream.operations),
            number(stream.triples),
            number(stream.entities),
            number(stream.relations)
        ),
        "",
        "  ",
    );
    let dropped = dropped_words(&stream.dropped);
    if !dropped.is_empty() {
        text += &wrapped(&format!("left out: {dropped}"), "", "  ");
    }
    text += &wrapped(
        &format!(
            "removed: {} operations that cancel out or repeat in an interval, {} on {} rare entities and {} rare relations",
            number(removed.cancelled),
            number(removed.rare_operations),
            number(removed.rare_entities),
            number(removed.rare_relations)
        ),
        "",
        "  ",
    );
    text += &format!("\n{}\n\n", table(report));
    if removed.without_negative > 0 {
        let left_out = number(removed.without_negative);
        text += &format!("{left_out} evaluation triples have no possible negative and no example\n");
    }
    let memory = peak_memory(cost.peak_memory_bytes);
    text += &format!(
        "read in {}, compiled in {}, written in {}{memory}\nbenchmark: {} (layout {})\n",
        seconds(cost.read),
        seconds(cost.compile),
        seconds(cost.write),
        shown(folder.display()),
        layout.word()
    );
    text
}

/// A quantity; what the layout has no room for is not counted, and has no row.
type Row = (&'static str, fn(&CompiledStep) -> Option<usize>);

const ROWS: [Row; 12] = [
    ("training triples", |step| Some(step.training_graph)),
    ("increment", |step| Some(step.increment)),
    ("training operations", |step| Some(step.training.total())),
    ("  insertions", |step| Some(step.training.inserts)),
    ("  deletions", |step| Some(step.training.deletes)),
    ("valid", |step| Some(step.valid.all)),
    ("test", |step| Some(step.test.all)),
    ("entities", |step| Some(step.entities)),
    ("relations", |step| Some(step.relations)),
    ("category 2", |step| category(step, CategoryKind::Deleted)),
    ("category 3", |step| category(step, CategoryKind::Returned)),
    ("category 4", |step| category(step, CategoryKind::DeletedAgain)),
];

fn category(step: &CompiledStep, kind: CategoryKind) -> Option<usize> {
    let counts = step.categories.as_ref()?.iter();
    Some(counts.filter(|counts| counts.number == kind.number()).map(|counts| counts.total).sum())
}

fn table(report: &CompileReport) -> String {
    let steps = &report.steps;
    let selected: Vec<Option<&CompiledStep>> = if steps.len() <= SHOWN {
        steps.iter().map(Some).collect()
    } else {
        let half = SHOWN / 2;
        let (first, last) = (&steps[..half], &steps[steps.len() - half..]);
        first.iter().map(Some).chain([None]).chain(last.iter().map(Some)).collect()
    };
    let mut header = vec!["step"];
    header.extend(selected.iter().map(|step| step.map_or("…", |step| step.label.as_str())));
    let mut table = plain_table(&header, 1..header.len());
    for (name, count) in ROWS {
        if selected.iter().flatten().any(|step| count(step).is_none()) {
            continue;
        }
        let cell = |step: &CompiledStep| count(step).map(|count| counted(count as u64)).unwrap_or_default();
        let cells = selected.iter().map(|step| step.map_or_else(|| "…".to_owned(), cell));
        table.add_row([name.to_owned()].into_iter().chain(cells));
    }
    table.text()
}

/// Peak memory as the end of a sentence; empty if unknown.
fn peak_memory(peak: Option<u64>) -> String {
    peak.map(|peak| format!(", peak memory {}", bytes(peak))).unwrap_or_default()
}

/// What making a synthetic world cost.
pub struct SynthCost {
    /// Seconds that making the facts took.
    pub generate: f64,
    /// Seconds that judging the oracle took.
    pub best: f64,
    /// Seconds that writing the files took.
    pub write: f64,
    /// Peak memory of the process, if known.
    pub peak_memory_bytes: Option<u64>,
}

/// A world from its `world.json`: sizes, the best possible scores, and the cost.
pub fn synth_text(document: &Value, folder: &Path, cost: &SynthCost) -> String {
    let word = |key: &str| document[key].as_str().unwrap_or_default().to_owned();
    let mut text = format!("{} (seed {}): {}\n", word("world"), document["seed"], word("about"));
    text += &format!("sizes: {}\n", sizes(&document["sizes"]));
    let mut rows = Vec::new();
    for setting in [Setting::SingleStep, Setting::MultiStep] {
        for filter in Filter::ALL {
            let metrics = &document["best"][setting.word()][filter.word()];
            let Some(mrr) = metrics["mrr"].as_f64() else { continue };
            let number = |value: &Value| percent(value.as_f64().unwrap_or_default());
            let ends = &metrics["ci95"]["mrr"];
            rows.push(vec![
                setting.word().to_owned(),
                filter.word().to_owned(),
                percent(mrr),
                format!("{} to {}", number(&ends[0]), number(&ends[1])),
                number(&metrics["hits@1"]),
                number(&metrics["hits@3"]),
                number(&metrics["hits@10"]),
            ]);
        }
    }
    if !rows.is_empty() {
        let header = ["best possible", "filter", "MRR", "95 % interval", "H@1", "H@3", "H@10"];
        let mut table = plain_table(&header, 2..7);
        table.add_rows(rows);
        text += &format!("\n{}\n\n", table.text());
    }
    let memory = peak_memory(cost.peak_memory_bytes);
    text += &format!(
        "made in {}, judged in {}, written in {}{memory}\nworld: {}\n",
        seconds(cost.generate),
        seconds(cost.best),
        seconds(cost.write),
        shown(folder.display())
    );
    text
}

/// The sizes as `3 of this, 4 of that`.
fn sizes(sizes: &Value) -> String {
    let parts = sizes.as_object().into_iter().flatten().map(|(what, count)| match count.as_object() {
        Some(splits) => {
            let splits: Vec<String> =
                splits.iter().map(|(split, count)| format!("{split} {count}")).collect();
            format!("{what} {}", splits.join(" / "))
        }
        None => format!("{count} {what}"),
    });
    parts.collect::<Vec<_>>().join(", ")
}
