//! Runs on changing graphs as LaTeX: tables to be read with `\input` into a document that uses the package `booktabs`.

use super::section::{Section, sections};
use super::{EvolvingRecord, link_means, link_steps, triple_means};
use crate::tables::{BOOKTABS, Grid, escape_latex, latex_table};

/// Columns of link prediction that a paper prints.
const SHOWN: [&str; 12] =
    ["run", "mean", "step", "candidates", "MRR", "H@1", "H@3", "H@10", "MR", "raw MRR", "raw H@10", "raw MR"];

/// Link prediction by step, and the means of it and of triple classification. Runs without results are passed over.
pub fn evolving_latex(records: &[EvolvingRecord]) -> String {
    let tables: String = sections(records).iter().map(tables).collect();
    format!("{BOOKTABS}{tables}")
}

fn tables(section: &Section<'_>) -> String {
    let card = &section.first().dataset;
    let table = |about: &str, grid: &Grid| {
        let caption = format!(
            "{} ({}), {about}, fingerprint {}. {} Per cent, mean ranks apart.",
            card.name,
            card.variant.as_deref().unwrap_or("not in the catalogue"),
            card.fingerprint,
            section.protocol()
        );
        latex_table(grid, &escape_latex(&caption))
    };
    let mut text = table("link prediction by step", &link_steps(section).only(&SHOWN));
    text.push_str(&table("link prediction, means over the steps", &link_means(section).only(&SHOWN)));
    if let Some(grid) = triple_means(section) {
        text.push_str(&table("triple classification, means over the steps", &grid));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::changing;

    #[test]
    fn tables_are_balanced() {
        let text = evolving_latex(&[changing("transe", 20, 1), changing("in_cremental", 20, 1)]);
        assert!(text.starts_with(BOOKTABS) && text.matches("\\begin{table}").count() == 3, "{text}");
        assert!(text.contains("in\\_cremental, static & all questions & 75.00 &"), "{text}");
        assert!(text.contains("transe, static & 1 & 8 & 40.00 &"), "{text}");
        assert_eq!(text.matches("\\begin{").count(), text.matches("\\end{").count());
        let (mut columns, mut rows) = (0, 0);
        for line in text.lines() {
            if let Some(kinds) = line.strip_prefix("\\begin{tabular}{") {
                columns = kinds.trim_end_matches('}').len();
            } else if line.contains(" & ") {
                assert_eq!(line.matches('&').count() + 1, columns, "{line}");
                rows += 1;
            }
        }
        assert_eq!(rows, 3 + 4 + 2 * 4, "three heads, two steps and twice two means of two runs");
    }
}
