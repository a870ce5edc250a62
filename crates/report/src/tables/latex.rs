//! Results as LaTeX: one `table` per dataset and protocol, to be read with `\input` into a document that uses
//! the package `booktabs`.

use quadcast_core::{Filter, Task};

use super::{Cell, Grid, filter_title, results};
use crate::evolving::{link_steps, triple_means};
use crate::study::{Group, Section, Study};
use crate::{LoadedRun, Options, shown};

/// Columns of the results table that a paper prints: the first ones.
const SHOWN: usize = 9;

/// How a file of tables begins.
const BOOKTABS: &str = "% Needs \\usepackage{booktabs}.\n";

/// Results as LaTeX.
pub fn latex(runs: &[LoadedRun], options: &Options) -> String {
    let study = Study::new(runs, options);
    let mut text = String::from(BOOKTABS);
    for section in &study.sections {
        for group in &section.groups {
            text.push_str(&results_table(section, group));
            if group.protocol.task == Task::Evolving {
                text.push_str(&evolving_tables(section, group));
            }
        }
    }
    text
}

/// Columns of link prediction by step that a paper prints.
const SHOWN_STEPS: [&str; 11] =
    ["run", "step", "candidates", "MRR", "H@1", "H@3", "H@10", "MR", "raw MRR", "raw H@10", "raw MR"];

/// Link prediction by step, and the means of triple classification.
fn evolving_tables(section: &Section<'_>, group: &Group<'_>) -> String {
    let caption = |about| caption(section, group, about) + "Per cent, except for mean ranks.";
    let mut text = table(&link_steps(group).only(&SHOWN_STEPS), &caption("link prediction by step, "));
    if let Some(grid) = triple_means(group) {
        text.push_str(&table(&grid, &caption("triple classification, means over the steps, ")));
    }
    text
}

/// Any table, under a caption that is escaped already.
fn table(grid: &Grid, caption: &str) -> String {
    let kinds: String = grid.head.iter().map(|head| if head.number { 'r' } else { 'l' }).collect();
    let heads: Vec<String> = grid.full_heads().iter().map(|head| escape(head)).collect();
    format!("{}\\midrule\n{}{END}", begin(caption, &kinds, &heads), rows(grid, heads.len()))
}

/// How a table ends.
const END: &str = "\\bottomrule\n\\end{tabular}\n\\end{table}\n";

/// A table up to its heads.
fn begin(caption: &str, kinds: &str, heads: &[String]) -> String {
    format!(
        "\\begin{{table}}\n\\centering\n\\small\n\\caption{{{caption}}}\n\\begin{{tabular}}{{{kinds}}}\n\\toprule\n{} \\\\\n",
        heads.join(" & ")
    )
}

fn results_table(section: &Section<'_>, group: &Group<'_>) -> String {
    let grids = Filter::ALL.map(|filter| (filter, results(group, filter)));
    let heads: Vec<String> = grids[0].1.head.iter().take(SHOWN).map(|head| escape(&head.text)).collect();
    let caption = caption(section, group, "")
        + "Per cent, except for the mean rank. Bold: significantly better than the next (paired block bootstrap, 95 \\%).";
    let mut text = begin(&caption, "lrcrrrrrr", &heads);
    for (filter, grid) in &grids {
        let title = filter_title(*filter);
        text.push_str(&format!("\\midrule\n\\multicolumn{{9}}{{l}}{{\\emph{{{title}}}}} \\\\\n"));
        text.push_str(&rows(grid, SHOWN));
    }
    text + END
}

/// What a table is about, escaped.
fn caption(section: &Section<'_>, group: &Group<'_>, about: &str) -> String {
    let card = section.dataset;
    escape(&format!(
        "{} ({}), {about}{}, ties {}, fingerprint {}. ",
        card.name,
        card.variant.as_deref().unwrap_or("not in the catalogue"),
        group.title(),
        group.protocol.ties.word(),
        card.fingerprint
    ))
}

/// The first columns of all rows.
fn rows(grid: &Grid, columns: usize) -> String {
    let cell = |cell: &Cell| {
        let text = escape(&cell.text);
        if cell.strong { format!("\\textbf{{{text}}}") } else { text }
    };
    let line = |row: &Vec<Cell>| {
        let cells: Vec<String> = row.iter().take(columns).map(cell).collect();
        format!("{} \\\\\n", cells.join(" & "))
    };
    grid.rows.iter().map(line).collect()
}

/// Text that LaTeX prints as it is.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in shown(text).to_string().chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', c]),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '|' => escaped.push_str("\\textbar{}"),
            '"' => escaped.push_str("\\char34{}"),
            // In a row of a table a bracket after a line end would be read as an argument.
            '[' | ']' => escaped.extend(['{', c, '}']),
            '–' => escaped.push_str("--"),
            '−' => escaped.push_str("$-$"),
            '·' => escaped.push_str("$\\cdot$"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{changing, run};

    #[test]
    fn names_are_escaped() {
        assert_eq!(
            escape("50%_{a} & #1 \\ ~^ <é>"),
            "50\\%\\_\\{a\\} \\& \\#1 \\textbackslash{} \\textasciitilde{}\\textasciicircum{} \\textless{}é\\textgreater{}"
        );
    }

    #[test]
    fn control_characters_are_spelt_out() {
        assert_eq!(escape("a\u{1b}\n"), "a\\textbackslash{}u\\{1b\\}\\textbackslash{}n");
    }

    #[test]
    fn tables_are_balanced() {
        let text = latex(&[run("a_b", |_| 0), run("c", |_| 3)], &Options::default());
        assert!(text.contains("sample a\\_b & \\textbf{100.00} & 100.00 -- 100.00 &"), "{text}");
        for line in text.lines().filter(|line| line.contains(" & ")) {
            assert_eq!(line.replace("\\&", "").matches('&').count(), 8, "{line}");
            assert!(line.ends_with("\\\\"), "{line}");
        }
        assert_eq!(text.matches("\\begin{").count(), text.matches("\\end{").count());
        let open = |c: char| text.replace("\\{", "").replace("\\}", "").matches(c).count();
        assert_eq!(open('{'), open('}'));
    }

    #[test]
    fn evolving_runs_have_tables_by_step() {
        let text = latex(&[changing("transe", 20, 1), changing("in_cremental", 20, 1)], &Options::default());
        assert_eq!(text.matches("\\begin{table}").count(), 3, "{text}");
        assert!(text.contains("in\\_cremental, static & all queries & 75.00 &"), "{text}");
        assert!(text.contains("transe, static & 1 & 8 & 40.00 &"), "{text}");
        let mut columns = 0;
        for line in text.lines() {
            if let Some(kinds) = line.strip_prefix("\\begin{tabular}{") {
                columns = kinds.trim_end_matches('}').len();
            } else if line.contains(" & ") {
                assert_eq!(line.matches('&').count() + 1, columns, "{line}");
            }
        }
    }
}
