//! Tables as Markdown.

use quadcast_core::{Filter, Task};

use super::{
    Grid, check_grid, filter_title, frequency_grid, policy_grid, relation_grid, results, seed_grid, seen_grid,
};
use crate::evolving::{Published, ages, link_means, link_steps, published, triple_means, triple_steps};
use crate::study::{Group, Study, checks, frequencies, relations};
use crate::{LoadedRun, Options, shown};

/// A report as Markdown: every table of the page, without its charts.
pub fn markdown(runs: &[LoadedRun], options: &Options) -> String {
    let study = Study::new(runs, options);
    let mut text = String::new();
    for section in &study.sections {
        let card = section.dataset;
        let variant =
            card.variant.as_deref().map(|v| format!(", catalogue {}", escape(v))).unwrap_or_default();
        text.push_str(&format!("# {}\n\nFingerprint `{}`{variant}. ", escape(&card.name), card.fingerprint));
        text.push_str(&format!(
            "{} entities, {} relations; {} training, {} validation, {} test facts.\n\n",
            card.entities, card.relations, card.train, card.valid, card.test
        ));
        for group in &section.groups {
            text.push_str(&group_text(group));
        }
        let mut all = checks(&study, section);
        all.extend(options.audit.iter().cloned());
        text.push_str(&format!("## Checks\n\n{}\n", table(&check_grid(&all))));
    }
    for note in &options.notes {
        text.push_str(&format!("Note: {}\n", escape(note)));
    }
    text
}

fn titled(title: &str, grid: &Grid) -> String {
    format!("### {title}\n\n{}\n", table(grid))
}

/// What only evolving graphs have.
fn evolving_text(group: &Group<'_>) -> String {
    let grids = [
        ("Means over the steps", Some(link_means(group))),
        ("Triple classification, means over the steps", triple_means(group)),
        ("Old and new facts", ages(group)),
        ("Step by step", Some(link_steps(group))),
        ("Triple classification step by step", triple_steps(group)),
    ];
    let mut text: String =
        grids.iter().filter_map(|(title, grid)| Some(titled(title, grid.as_ref()?))).collect();
    if let Some(Published { sources, lines }) = published(group) {
        text.push_str(&titled("Beside the published values", &lines));
        text.push_str(&format!("Source: {}.\n\n", escape(&sources)));
    }
    text
}

fn group_text(group: &Group<'_>) -> String {
    let mut text = format!("## {}\n\n", escape(&group.title()));
    for filter in Filter::ALL {
        text.push_str(&titled(&format!("Results, {} filter", filter_title(filter)), &results(group, filter)));
    }
    text.push_str("Per cent; bold: significantly better than the next (paired block bootstrap, 95 %).\n\n");
    let seeds = seed_grid(group);
    if !seeds.rows.is_empty() {
        text.push_str(&titled("Mean over seeds, time-aware filter", &seeds));
    }
    if group.protocol.task == Task::Evolving {
        text.push_str(&evolving_text(group));
    }
    text.push_str(&titled("Ties, MRR", &policy_grid(group)));
    text.push_str(&titled("Seen and never seen facts", &seen_grid(group)));
    let (slices, total) = relations(group);
    let title = format!("Relations, {} of {total}, MRR", slices.len());
    text.push_str(&titled(&title, &relation_grid(group, &slices)));
    let known = frequencies(group, |row| row.query.known);
    let gold = frequencies(group, |row| row.gold);
    for (what, slices) in [("known entity", known), ("correct answer", gold)] {
        let title = format!("Test facts that name the {what}, MRR");
        text.push_str(&titled(&title, &frequency_grid(group, &slices)));
    }
    text
}

/// Any table.
fn table(grid: &Grid) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(grid.full_heads().iter().map(|head| escape(head)).collect());
    text.push_str(&format!(
        "|{}\n",
        grid.head.iter().map(|head| if head.number { "---:|" } else { "---|" }).collect::<String>()
    ));
    for row in &grid.rows {
        let cells = row.iter().map(|cell| {
            let text = escape(&cell.text);
            if cell.strong { format!("**{text}**") } else { text }
        });
        text.push_str(&line(cells.collect()));
    }
    text
}

/// Text that Markdown shows as it is.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in shown(text).to_string().chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::run;

    #[test]
    fn names_cannot_break_a_table() {
        assert_eq!(escape("a|b *c* <d> é\n"), r"a\|b \*c\* &lt;d&gt; é\\n");
        let text = markdown(&[run("a|b", |_| 0), run("c", |_| 3)], &Options::default());
        assert!(text.contains("| sample a\\|b | **100.00** |"), "{text}");
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        let rows: Vec<&str> = text.lines().skip_while(|l| !l.starts_with("| model")).take(4).collect();
        assert!(rows.iter().all(|row| bars(row) == 14), "{rows:?}");
    }
}
