//! The tables of a section, before they have a format.

use quadcast_eval::Part;
use quadcast_eval::evolving::{EvolvingOutcome, StepResult};

use super::section::{Run, Section};
use super::values::{Averaging, LinkValues, TripleValues};
use crate::counted;
use crate::tables::{Cell, Grid, Head, Span};

/// Heads of link prediction, and what they mean.
const LINK_HEADS: [(&str, &str); 9] = [
    ("MRR", "mean reciprocal rank, filtered"),
    ("H@1", "filtered"),
    ("H@3", "filtered"),
    ("H@10", "filtered"),
    ("MR", "mean rank, filtered"),
    ("raw MRR", "mean reciprocal rank among all candidates"),
    ("raw H@10", "among all candidates"),
    ("raw MR", "mean rank among all candidates"),
    ("unreached", "queries whose answer the model has nothing to say about"),
];

/// Columns whose cells are text.
const WORDS: [&str; 3] = ["run", "mean", "step"];

/// Link prediction over all steps: each step alike, and each question alike.
pub(crate) fn link_means(section: &Section<'_>) -> Grid {
    let before = [("run", ""), ("mean", "each step counts alike, or each question")];
    let after = [
        ("back", "change of H@10 on earlier steps"),
        ("ahead", "H@10 on the next step"),
        ("training", "seconds"),
    ];
    let rows = mean_rows(section, |run, averaging| {
        let mut row = links(&LinkValues::mean(run.outcome, averaging));
        // What there is once per run stands in its first row.
        let is_first = averaging == Averaging::Steps;
        let (outcome, train) = (run.outcome, run.record.seconds.train);
        let signed = |value: f64| Cell::number(value, format!("{:+.2}", 100.0 * value));
        let back = outcome.backward_transfer.filter(|_| is_first);
        row.push(back.map_or_else(absent, signed));
        row.push(Cell::percent(outcome.forward_transfer.filter(|_| is_first)));
        row.push(if is_first { Cell::number(train, format!("{train:.0}")) } else { absent() });
        row
    });
    grid(before.into_iter().chain(LINK_HEADS).chain(after), rows)
}

/// Triple classification and triples of the past over all steps; `None` if no run has any.
pub(crate) fn triple_means(section: &Section<'_>) -> Option<Grid> {
    if !steps(section).any(is_classified) {
        return None;
    }
    let before = [("run", ""), ("mean", "each step counts alike, or each question")];
    let rows = mean_rows(section, |run, averaging| triples(&TripleValues::mean(run.outcome, averaging)));
    Some(grid(before.into_iter().chain(TripleValues::HEADS), rows))
}

/// Facts that came with a step next to older ones: what is forgotten shows in the latter. `None` if no step asks about older ones.
pub(crate) fn ages(section: &Section<'_>) -> Option<Grid> {
    if steps(section).all(|step| step.old_facts().is_none()) {
        return None;
    }
    let cells = |part: Option<Part>| {
        let queries = part.map_or_else(absent, |p| Cell::number(p.queries as f64, counted(p.queries)));
        let metrics = part.map(|part| part.metrics);
        [queries, Cell::percent(metrics.map(|m| m.mrr)), Cell::percent(metrics.map(|m| m.hits10))]
    };
    let rows = step_rows(section, |step| {
        cells(step.new_facts()).into_iter().chain(cells(step.old_facts())).collect()
    });
    let heads = ["run", "step", "queries", "MRR", "H@10", "queries", "MRR", "H@10"];
    let span = |text: &str, columns| Span { text: text.to_owned(), columns, series: None };
    let spans = vec![span("", 2), span("facts of the step", 3), span("older facts", 3)];
    Some(Grid { spans, ..grid(heads.into_iter().map(|head| (head, "")), rows) })
}

/// Every step: how large it is, and link prediction.
pub(crate) fn link_steps(section: &Section<'_>) -> Grid {
    let before = [
        ("run", ""),
        ("step", ""),
        ("train", "training triples"),
        ("came", "training triples that came"),
        ("went", "training triples that went"),
        ("entities", "entities that are present"),
        ("candidates", "among whom answers are looked for"),
    ];
    let rows = step_rows(section, |step| {
        let sizes = &step.sizes;
        let mut row: Vec<Cell> =
            [sizes.train, sizes.inserted, sizes.deleted, sizes.entities].map(count).into();
        row.push(step.link.as_ref().map_or_else(absent, |link| count(link.candidates)));
        row.extend(links(&LinkValues::of(step)));
        row.push(Cell::number(step.seconds.train, format!("{:.1}", step.seconds.train)));
        row
    });
    grid(before.into_iter().chain(LINK_HEADS).chain([("training", "seconds")]), rows)
}

/// Every step: triple classification, triples of the past, and how plausible deleted ones stay; `None` if no run has any.
pub(crate) fn triple_steps(section: &Section<'_>) -> Option<Grid> {
    if !steps(section).any(|step| is_classified(step) || step.unlearning.is_some()) {
        return None;
    }
    let before = "entities that fit worse than the end of a deleted triple, before the model heard of it";
    let after = [("deleted before", before), ("after", "the same afterwards")];
    let rows = step_rows(section, |step| {
        let mut row = triples(&TripleValues::of(step));
        row.push(Cell::percent(step.unlearning.map(|unlearning| unlearning.before)));
        row.push(Cell::percent(step.unlearning.map(|unlearning| unlearning.after)));
        row
    });
    Some(grid([("run", ""), ("step", "")].into_iter().chain(TripleValues::HEADS).chain(after), rows))
}

fn steps<'a>(section: &'a Section<'_>) -> impl Iterator<Item = &'a StepResult> {
    section.runs.iter().flat_map(|run| &run.outcome.steps)
}

fn is_classified(step: &StepResult) -> bool {
    step.classification.is_some() || step.negative.is_some()
}

fn grid<'h>(heads: impl Iterator<Item = (&'h str, &'h str)>, rows: Vec<Vec<Cell>>) -> Grid {
    let head = |(text, about): (&str, &str)| {
        if WORDS.contains(&text) {
            Head { about: about.to_owned(), ..Head::text(text) }
        } else {
            Head::number(text, about)
        }
    };
    Grid { rows, ..Grid::new(heads.map(head).collect()) }
}

/// A row for every mean of every run. One step is its own mean.
fn mean_rows(section: &Section<'_>, cells: impl Fn(&Run<'_>, Averaging) -> Vec<Cell>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (series, run) in section.runs.iter().enumerate() {
        for (title, averaging) in means(run.outcome) {
            let mut row = vec![Cell::run(&run.label, series), Cell::text(title)];
            row.extend(cells(run, averaging));
            rows.push(row);
        }
    }
    rows
}

fn means(outcome: &EvolvingOutcome) -> Vec<(&'static str, Averaging)> {
    match Averaging::of(outcome) {
        [] => vec![("one step", Averaging::Steps)],
        several => several.iter().map(|&averaging| (averaging.title(), averaging)).collect(),
    }
}

/// A row for every step of every run.
fn step_rows(section: &Section<'_>, cells: impl Fn(&StepResult) -> Vec<Cell>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (series, run) in section.runs.iter().enumerate() {
        for step in &run.outcome.steps {
            let mut row = vec![
                Cell::run(&run.label, series),
                Cell::number(f64::from(step.step.0), step.label.as_str()),
            ];
            row.extend(cells(step));
            rows.push(row);
        }
    }
    rows
}

fn links(values: &LinkValues) -> Vec<Cell> {
    let LinkValues { filtered, raw, unreached } = values;
    let rank = |rank: Option<f64>| rank.map_or_else(absent, |mr| Cell::number(mr, format!("{mr:.0}")));
    vec![
        Cell::percent(filtered.map(|metrics| metrics.mrr)),
        Cell::percent(filtered.map(|metrics| metrics.hits1)),
        Cell::percent(filtered.map(|metrics| metrics.hits3)),
        Cell::percent(filtered.map(|metrics| metrics.hits10)),
        rank(filtered.map(|metrics| metrics.mr)),
        Cell::percent(raw.map(|metrics| metrics.mrr)),
        Cell::percent(raw.map(|metrics| metrics.hits10)),
        rank(raw.map(|metrics| metrics.mr)),
        Cell::percent(*unreached),
    ]
}

fn triples(values: &TripleValues) -> Vec<Cell> {
    values.all().map(Cell::percent).into()
}

fn count(count: usize) -> Cell {
    Cell::number(count as f64, counted(count as u64))
}

fn absent() -> Cell {
    Cell::percent(None)
}

#[cfg(test)]
mod tests {
    use quadcast_eval::evolving::Present;

    use super::super::section::sections;
    use super::*;
    use crate::EvolvingRecord;
    use crate::samples::changing;

    /// The texts of a column.
    fn column<'a>(grid: &'a Grid, head: &str) -> Vec<&'a str> {
        let at = grid.head.iter().position(|own| own.text == head).expect("a column");
        grid.rows.iter().map(|row| row[at].text.as_str()).collect()
    }

    fn tables<T>(record: EvolvingRecord, table: impl Fn(&Section<'_>) -> T) -> T {
        table(&sections(&[record])[0])
    }

    #[test]
    fn both_means_have_rows_raw_and_filtered() {
        let mut record = changing("transe", 20, 1);
        let outcome = record.outcome.as_mut().expect("results");
        outcome.filtered.by_question.mrr = 0.45;
        outcome.raw.by_question.mrr = 0.35;
        let grid = tables(record.clone(), link_means);
        assert_eq!(column(&grid, "mean"), ["mean of steps", "all questions"]);
        assert_eq!(column(&grid, "MRR"), ["40.00", "45.00"]);
        assert_eq!(column(&grid, "raw MRR"), ["40.00", "35.00"]);
        assert_eq!(column(&grid, "training"), ["0", "–"]);
        let grid = tables(record.clone(), triple_means).expect("classified");
        assert_eq!(column(&grid, "accuracy"), ["70.00", "75.00"]);
        assert_eq!(column(&grid, "AUC"), ["70.00", "–"]);
        record.outcome.as_mut().expect("results").steps.truncate(1);
        assert_eq!(column(&tables(record, link_means), "mean"), ["one step"]);
    }

    #[test]
    fn candidates_are_those_that_were_ranked() {
        let mut record = changing("transe", 20, 1);
        record.protocol.candidates = Present::All;
        let steps = &mut record.outcome.as_mut().expect("results").steps;
        steps[0].link.as_mut().expect("links").candidates = 11;
        steps[1].link = None;
        let grid = tables(record, link_steps);
        assert_eq!(column(&grid, "entities"), ["8", "8"]);
        assert_eq!(column(&grid, "candidates"), ["11", "–"]);
    }

    #[test]
    fn rows_are_as_long_as_their_heads() {
        let records = [changing("transe", 20, 1)];
        let all = sections(&records);
        let section = &all[0];
        let (links, steps) = (Some(link_means(section)), Some(link_steps(section)));
        let grids = [links, triple_means(section), steps, triple_steps(section)];
        for grid in grids.into_iter().flatten() {
            assert!(grid.rows.iter().all(|row| row.len() == grid.head.len()), "{grid:?}");
        }
    }
}
