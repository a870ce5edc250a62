//! What an import did, as text.

use quadcast_core::Split;
use quadcast_data::{ColumnUse, ImportReport, SourceReport, SplitReport};

use crate::shown;

/// The files that were read, what was skipped, and the splits that were written.
pub fn import_text(report: &ImportReport) -> String {
    let mut text: String = report.sources.iter().map(source_text).collect();
    text.extend(report.notes.iter().map(|note| format!("{}\n", shown(note))));
    for skipped in &report.skipped {
        text.push_str(&format!("Skipped {} rows: {}.\n", skipped.rows, skipped.reason.words()));
        text.extend(skipped.examples.iter().map(|example| format!("  {}\n", shown(example))));
    }
    let out = shown(report.out.display()).to_string();
    text.push_str(&format!(
        "\n{} facts, {} entities, {} relations in {out}\n",
        report.facts, report.entities, report.relations
    ));
    text.extend(report.splits.iter().map(|(split, part)| split_text(split, part)));
    text + &format!("\nNext: quadcast run --data {}\n", shell_word(&out))
}

fn source_text(source: &SourceReport) -> String {
    let columns: Vec<String> = source.columns.iter().map(column_text).collect();
    let mut text = format!("{}: {} rows", shown(source.path.display()), source.rows);
    if source.skipped > 0 {
        text.push_str(&format!(", {} of them skipped", source.skipped));
    }
    text.push_str(&format!("\n  Columns: {}.\n", columns.join(", ")));
    if source.guessed {
        text.push_str("  They were guessed from the names in the header; --columns overrides.\n");
    }
    text.extend(source.notes.iter().map(|note| format!("  {}\n", shown(note))));
    text
}

fn column_text(column: &ColumnUse) -> String {
    match &column.name {
        Some(name) => format!("{} = {name:?}", column.role),
        None => format!("{} = column {}", column.role, column.position),
    }
}

fn split_text(split: Split, part: &SplitReport) -> String {
    let (facts, share, steps) = (part.facts, 100.0 * part.share, part.steps);
    let (first, last) = (&part.first, &part.last);
    let period = if first == last { first.clone() } else { format!("{first} to {last}") };
    format!("  {:<5} {facts:>9} facts {share:>5.1} %  {steps:>6} steps  {period}\n", split.word())
}

/// A path as a shell takes it.
fn shell_word(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:\\".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use quadcast_data::{ImportOptions, import};

    use super::*;

    #[test]
    fn says_what_was_skipped_and_what_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("events.csv");
        let rows = "subject,relation,object,date\nA,r,B,2031-01-01\nB,r,C,2031-01-02\nC,r,A,2031-01-03\n\
                    A,r,B,never\nA,r,B,soon\n";
        std::fs::write(&file, rows).expect("a file");
        let options =
            ImportOptions { skip_bad: true, ..ImportOptions::new(vec![file], folder.path().join("o t")) };
        let text = import_text(&import(&options).expect("good rows are left"));
        for words in [
            "events.csv: 5 rows, 2 of them skipped",
            "subject = \"subject\"",
            "Skipped 2 rows: the date is missing or not understood.",
            "3 facts, 3 entities, 1 relations",
            "train         1 facts  33.3 %       1 steps  2031-01-01",
        ] {
            assert!(text.contains(words), "{words} is missing in\n{text}");
        }
        assert!(text.ends_with("o t'\n"), "paths are quoted for the shell: {text}");
    }
}
