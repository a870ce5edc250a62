//! What was compiled, as a table for people.

use std::path::Path;

use quadcast_core::CategoryKind;
use quadcast_data::{BenchmarkLayout, CompileReport, CompiledStep, StreamClock};
use quadcast_report::{bytes, counted, plain_table, seconds, wrapped};

use super::super::convert::dropped_words;
use crate::memory;

/// Steps that are shown; of more, the first and the last ones.
const SHOWN: usize = 6;

/// How long each part took.
pub struct Timing {
    pub read: f64,
    pub compile: f64,
    pub write: f64,
}

/// The report in words and a table.
pub fn text(report: &CompileReport, folder: &Path, layout: BenchmarkLayout, timing: &Timing) -> String {
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
    let memory =
        memory::peak_bytes().map(|peak| format!(", peak memory {}", bytes(peak))).unwrap_or_default();
    text += &format!(
        "read in {}, compiled in {}, written in {}{memory}\nbenchmark: {} (layout {})\n",
        seconds(timing.read),
        seconds(timing.compile),
        seconds(timing.write),
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
