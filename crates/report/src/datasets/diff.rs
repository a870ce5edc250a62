//! The comparison of two datasets as text.

use quadcast_analysis::{DiffReport, DiffSide, NameMatch, Unmatched};
use quadcast_core::{Split, Splits};

use crate::{counted, plain_table, shown, wrapped};

/// What two datasets have in common, and the answer in one sentence.
pub fn diff_text(report: &DiffReport) -> String {
    let mut text = String::new();
    for (letter, side) in [("A", &report.a), ("B", &report.b)] {
        text += &side_text(letter, side);
    }
    text.push('\n');
    text += &names_text("Entities", &report.entities);
    text += &names_text("Relations", &report.relations);
    if let Some(time) = &report.time {
        let counts = format!("{} of {} in A and {} in B are the same.", time.common, time.a, time.b);
        text += &wrapped(&format!("{} {counts}", time.note), "", "  ");
    }
    text.push('\n');
    text += &facts_text(report);
    for (letter, examples) in [("A", &report.examples.only_a), ("B", &report.examples.only_b)] {
        if !examples.is_empty() {
            text += &format!("\nOnly in {letter}, for example:\n");
            text.extend(examples.iter().map(|fact| wrapped(fact, "  ", "  ")));
        }
    }
    text + &format!("\n{}\n", shown(&report.verdict))
}

fn side_text(letter: &str, side: &DiffSide) -> String {
    let variant = side.variant.map(|name| format!(" ({name})")).unwrap_or_default();
    let mut line = format!("{}{variant}: {} facts", side.path.display(), counted(side.facts as u64));
    if side.repetitions > 0 {
        line += &format!(", {} rows repeat one", counted(side.repetitions as u64));
    }
    wrapped(&line, &format!("{letter}  "), "")
}

fn names_text(kind: &str, names: &NameMatch) -> String {
    let mut line = if names.by_name {
        let mut line = format!("{kind} by name: {} alike", names.exact);
        if names.respelt > 0 {
            let spelling = names.spelling;
            let reasons = [
                (spelling.blanks, "blank or underscore"),
                (spelling.no_break_spaces, "no-break space"),
                (spelling.quotes, "CSV quotes"),
            ];
            let reasons: Vec<String> = reasons
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, what)| format!("{what} {count}"))
                .collect();
            line += &format!(", {} but for spelling ({})", names.respelt, reasons.join(", "));
        }
        line
    } else {
        format!("{kind} by id, because one of the datasets has no names: {} in common", names.exact)
    };
    for (letter, unmatched) in [("A", &names.only_a), ("B", &names.only_b)] {
        line += &unmatched_text(letter, unmatched);
    }
    wrapped(&(line + "."), "", "  ")
}

fn unmatched_text(letter: &str, unmatched: &Unmatched) -> String {
    if unmatched.count == 0 {
        return String::new();
    }
    let examples: Vec<String> = unmatched.examples.iter().map(|name| format!("{name:?}")).collect();
    let more = if unmatched.count > examples.len() { ", …" } else { "" };
    format!("; {} only in {letter}: {}{more}", unmatched.count, examples.join(", "))
}

fn facts_text(report: &DiffReport) -> String {
    let mut table = plain_table(&["A \\ B", "train", "valid", "test", "only in A", "facts of A"], 1..6);
    let number = |count: usize| counted(count as u64);
    let cells = |word: &str, splits: Splits<usize>| {
        let mut row = vec![word.to_owned()];
        row.extend(splits.iter().map(|(_, count)| number(*count)));
        row
    };
    for split in Split::ALL {
        let mut row = cells(split.word(), *report.moved.get(split));
        row.push(number(*report.only_a.get(split)));
        row.push(number(*report.a.splits.get(split)));
        table.add_row(row);
    }
    let total = |splits: &Splits<usize>| splits.iter().map(|(_, count)| count).sum::<usize>();
    for (word, splits) in [("only in B", report.only_b), ("facts of B", report.b.splits)] {
        let mut row = cells(word, splits);
        row.extend(["", ""].map(str::to_owned));
        table.add_row(row);
    }
    format!(
        "{}\n\nin both {}, only in A {}, only in B {}\n",
        table.text(),
        number(report.common),
        number(total(&report.only_a)),
        number(total(&report.only_b))
    )
}
