//! A compiled benchmark as text.

use std::path::Path;

use quadcast_analysis::{BenchmarkLayout, CompileReport, CompiledStep};
use quadcast_core::CategoryKind;
use quadcast_data::{Dropped, StreamClock};

use crate::{bytes, counted, plain_table, seconds, wrapped};

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
        folder.display(),
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
    let shown: Vec<Option<&CompiledStep>> = if steps.len() <= SHOWN {
        steps.iter().map(Some).collect()
    } else {
        let half = SHOWN / 2;
        let (first, last) = (&steps[..half], &steps[steps.len() - half..]);
        first.iter().map(Some).chain([None]).chain(last.iter().map(Some)).collect()
    };
    let mut header = vec!["step"];
    header.extend(shown.iter().map(|step| step.map_or("…", |step| step.label.as_str())));
    let mut table = plain_table(&header, 1..header.len());
    for (name, count) in ROWS {
        if shown.iter().flatten().any(|step| count(step).is_none()) {
            continue;
        }
        let cell = |step: &CompiledStep| count(step).map(|count| counted(count as u64)).unwrap_or_default();
        let cells = shown.iter().map(|step| step.map_or_else(|| "…".to_owned(), cell));
        table.add_row([name.to_owned()].into_iter().chain(cells));
    }
    table.trim_fmt()
}

/// Operations that were left out, in words; empty if none was.
pub fn dropped_words(dropped: &Dropped) -> String {
    let parts = [
        (dropped.void_inserts, "insertions of present triples"),
        (dropped.void_deletes, "deletions of absent triples"),
        (dropped.reflexive, "operations from an entity to itself"),
    ];
    let words: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", counted(*count as u64)))
        .collect();
    words.join(", ")
}

/// Peak memory as the end of a sentence; empty if unknown.
pub(super) fn peak_memory(peak: Option<u64>) -> String {
    peak.map(|peak| format!(", peak memory {}", bytes(peak))).unwrap_or_default()
}
