//! A new division of a dataset as text.

use std::path::Path;

use quadcast_analysis::{DivisionLeakage, DivisionReport, ListReport};
use quadcast_core::Splits;
use quadcast_data::Format;

use crate::{counted, percent, plain_table, shown, wrapped};

/// How a dataset was divided, and what train gives away before and after.
pub fn division_text(report: &DivisionReport, folder: &Path) -> String {
    let source = &report.source;
    let seed = report.seed.map(|seed| format!(", seed {seed}")).unwrap_or_default();
    let mut text = format!(
        "{} divided anew: {}{seed}\n{} facts, {} entities, {} relations",
        shown(&source.name),
        report.method.word(),
        counted(report.facts as u64),
        counted(source.entities as u64),
        counted(source.relations as u64)
    );
    if report.repetitions > 0 {
        text += &format!("; {} rows repeated a fact", counted(report.repetitions as u64));
    }
    text.push_str("\n\n");
    if let Some(lists) = &report.lists {
        text += &list_text(lists);
    }
    text += &splits_text(report);
    if report.lists.is_some() {
        text += &strata_text(report);
    }
    text += &leakage_text(report);
    text += &format!("\nwritten to {} (layout {})\n", shown(folder.display()), layout(report.layout));
    text
}

const fn layout(layout: Format) -> &'static str {
    match layout {
        Format::Labelled => "labelled",
        Format::Openke => "openke",
        _ => "quads",
    }
}

fn list_text(lists: &ListReport) -> String {
    let detection = lists
        .detection
        .map(|d| format!(": shares above {}, {} facts or more", d.threshold, d.min_support))
        .unwrap_or_default();
    let mut text =
        wrapped(&format!("Relations that mirror each other, {}{detection}", lists.origin), "", "  ");
    let pairs: Vec<String> = lists.inverse.iter().map(|[p, q]| format!("{p} ↔ {q}")).collect();
    for (word, names) in [("symmetric: ", &lists.symmetric), ("inverse: ", &pairs)] {
        let names = if names.is_empty() { "none".to_owned() } else { names.join("; ") };
        text += &wrapped(&names, &format!("  {word}"), "");
    }
    text.push('\n');
    text
}

fn splits_text(report: &DivisionReport) -> String {
    let header = ["split", "before", "now", "share", "from", "to"];
    let columns = if report.periods.is_some() { 6 } else { 4 };
    let mut table = plain_table(&header[..columns], 1..4);
    for (split, &facts) in report.splits.iter() {
        let mut row = vec![
            split.word().to_owned(),
            counted(*report.source.splits.get(split) as u64),
            counted(facts as u64),
            format!("{} %", percent(facts as f64 / report.facts as f64)),
        ];
        row.extend(report.periods.iter().flat_map(|periods| periods.get(split).clone()));
        table.add_row(row);
    }
    format!("{}\n\n", table.text())
}

fn strata_text(report: &DivisionReport) -> String {
    let header = ["kept together", "facts", "units", "largest", "train", "valid", "test"];
    let mut table = plain_table(&header, 1..7);
    for stratum in &report.strata {
        let Splits { train, valid, test } = stratum.splits;
        let counts = [stratum.facts, stratum.units, stratum.largest, train, valid, test];
        let mut row = vec![stratum.name.to_owned()];
        row.extend(counts.map(|count| counted(count as u64)));
        table.add_row(row);
    }
    format!("{}\n\n", table.text())
}

fn leakage_text(report: &DivisionReport) -> String {
    let timeless = report.periods.is_none();
    let fact = if timeless { "(s, r, o)" } else { "(s, r, o, t)" };
    let at = if timeless { "" } else { ", t" };
    let header = format!("test facts {fact} for which train has");
    let mut table = plain_table(&[&header, "before", "now"], 1..3);
    let mut row = |what: String, count: &dyn Fn(&DivisionLeakage) -> Option<usize>| {
        let share = |found: &DivisionLeakage| {
            Some(format!("{} %", percent(count(found)? as f64 / found.facts.max(1) as f64)))
        };
        if let (Some(before), Some(after)) = (share(&report.before), share(&report.after)) {
            table.add_row([what, before, after]);
        }
    };
    row(format!("a mirror by the lists, (o, q, s{at})"), &|found| found.listed);
    row(format!("the mirror (o, r, s{at}), any relation"), &|found| Some(found.mirrored));
    row(format!("the reversed pair, (o, ?, s{at})"), &|found| Some(found.reversed));
    let repeated = if timeless { "the fact itself" } else { "the triple (s, r, o), any time" };
    row(repeated.to_owned(), &|found| Some(found.repeated));
    row("not both entities".to_owned(), &|found| Some(found.unseen));
    let (before, after) = (&report.before, &report.after);
    for (what, before, after) in [
        ("entities of test that train lacks", before.unseen_entities, after.unseen_entities),
        ("relations of test that train lacks", before.unseen_relations, after.unseen_relations),
    ] {
        table.add_row([what.to_owned(), counted(before as u64), counted(after as u64)]);
    }
    format!("{}\n", table.text())
}
