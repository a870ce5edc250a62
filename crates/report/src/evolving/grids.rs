//! The tables of runs on evolving graphs, before they have a format.

use quadcast_eval::evolving::{EvolvingOutcome, StepResult};

use super::values::{Averaging, LINK_HEADS, LinkValues, TRIPLE_HEADS, age_cells, triples_at, triples_mean};
use crate::counted;
use crate::study::{Group, Member};
use crate::tables::{Cell, Grid, Head, Span};

/// Columns whose cells are text.
const WORDS: [&str; 3] = ["run", "mean", "step"];

/// Link prediction over all steps: each step alike, and each question alike.
pub(crate) fn link_means(group: &Group<'_>) -> Grid {
    let before = [("run", ""), ("mean", "each step has the same weight, or each query has")];
    let after = [
        ("backward", "backward transfer: change of H@10 on earlier steps since they were learned"),
        ("forward", "forward transfer: H@10 on the next step before it is learned"),
        ("training", "seconds"),
    ];
    let rows = mean_rows(group, |run, averaging| {
        let mut row = LinkValues::mean(outcome_of(run), averaging).cells().to_vec();
        // What there is once per run stands in its first row.
        let is_first = averaging == Averaging::Steps;
        let (outcome, train) = (outcome_of(run), run.run.record.seconds.fit);
        let signed = |value: f64| Cell::number(value, format!("{:+.2}", 100.0 * value));
        let back = outcome.backward_transfer.filter(|_| is_first);
        row.push(back.map_or_else(Cell::absent, signed));
        row.push(Cell::percent(outcome.forward_transfer.filter(|_| is_first)));
        row.push(if is_first { Cell::number(train, format!("{train:.0}")) } else { Cell::absent() });
        row
    });
    grid(before.into_iter().chain(LINK_HEADS).chain(after), rows)
}

/// Triple classification and triples of the past over all steps; `None` if no run has any.
pub(crate) fn triple_means(group: &Group<'_>) -> Option<Grid> {
    if !steps(group).any(is_classified) {
        return None;
    }
    let before = [("run", ""), ("mean", "each step has the same weight, or each query has")];
    let rows =
        mean_rows(group, |run, averaging| triples_mean(outcome_of(run), averaging).map(Cell::percent).into());
    Some(grid(before.into_iter().chain(TRIPLE_HEADS), rows))
}

/// Facts that came with a step next to older ones: what is forgotten shows in the latter. `None` if no step asks about older ones.
pub(crate) fn ages(group: &Group<'_>) -> Option<Grid> {
    if steps(group).all(|step| step.old_facts().is_none()) {
        return None;
    }
    let heads = ["run", "step", "queries", "MRR", "H@10", "queries", "MRR", "H@10"];
    let span = |text: &str, columns| Span { text: text.to_owned(), columns, series: None };
    let spans = vec![span("", 2), span("facts of the step", 3), span("older facts", 3)];
    Some(Grid { spans, ..grid(heads.into_iter().map(|head| (head, "")), step_rows(group, age_cells)) })
}

/// Every step: how large it is, and link prediction.
pub(crate) fn link_steps(group: &Group<'_>) -> Grid {
    let before = [
        ("run", ""),
        ("step", ""),
        ("train", "training triples"),
        ("inserted", "inserted training triples"),
        ("deleted", "deleted training triples"),
        ("entities", "entities that are present"),
        ("candidates", "entities that are ranked"),
    ];
    let rows = step_rows(group, |step| {
        let sizes = &step.sizes;
        let mut row: Vec<Cell> =
            [sizes.train, sizes.inserted, sizes.deleted, sizes.entities].map(count).into();
        row.push(step.link.as_ref().map_or_else(Cell::absent, |link| count(link.candidates)));
        row.extend(LinkValues::of(step).cells());
        row.push(Cell::number(step.seconds.train, format!("{:.1}", step.seconds.train)));
        row
    });
    grid(before.into_iter().chain(LINK_HEADS).chain([("training", "seconds")]), rows)
}

/// Every step: triple classification, triples of the past, and how plausible deleted ones stay; `None` if no run has any.
pub(crate) fn triple_steps(group: &Group<'_>) -> Option<Grid> {
    if !steps(group).any(|step| is_classified(step) || step.unlearning.is_some()) {
        return None;
    }
    let before = "entities that fit worse than the end of a deleted triple, before the update; 50 = chance";
    let after = [("deleted before", before), ("after", "the same after the update")];
    let rows = step_rows(group, |step| {
        let mut row: Vec<Cell> = triples_at(step).map(Cell::percent).into();
        row.push(Cell::percent(step.unlearning.map(|unlearning| unlearning.before)));
        row.push(Cell::percent(step.unlearning.map(|unlearning| unlearning.after)));
        row
    });
    Some(grid([("run", ""), ("step", "")].into_iter().chain(TRIPLE_HEADS).chain(after), rows))
}

/// The results by step of a run on an evolving graph. Groups of another task have no such tables.
fn outcome_of<'a>(member: &Member<'a>) -> &'a EvolvingOutcome {
    member.run.record.evolving.as_ref().expect("the callers only pass groups of evolving runs")
}

fn steps<'a>(group: &'a Group<'_>) -> impl Iterator<Item = &'a StepResult> {
    group.members.iter().flat_map(|member| &outcome_of(member).steps)
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
fn mean_rows(group: &Group<'_>, cells: impl Fn(&Member<'_>, Averaging) -> Vec<Cell>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for member in &group.members {
        let means = match Averaging::of(outcome_of(member)) {
            [] => vec![("one step", Averaging::Steps)],
            several => several.iter().map(|&averaging| (averaging.title(), averaging)).collect(),
        };
        for (title, averaging) in means {
            let mut row = vec![Cell::run(&member.label, member.series), Cell::text(title)];
            row.extend(cells(member, averaging));
            rows.push(row);
        }
    }
    rows
}

/// A row for every step of every run.
fn step_rows(group: &Group<'_>, cells: impl Fn(&StepResult) -> Vec<Cell>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for member in &group.members {
        for step in &outcome_of(member).steps {
            let mut row = vec![
                Cell::run(&member.label, member.series),
                Cell::number(f64::from(step.step.0), step.label.as_str()),
            ];
            row.extend(cells(step));
            rows.push(row);
        }
    }
    rows
}

fn count(count: usize) -> Cell {
    Cell::number(count as f64, counted(count as u64))
}

#[cfg(test)]
mod tests {
    use quadcast_core::Candidates;

    use super::*;
    use crate::samples::changing;
    use crate::study::Study;
    use crate::{LoadedRun, Options};

    /// The texts of a column.
    fn column<'a>(grid: &'a Grid, head: &str) -> Vec<&'a str> {
        let at = grid.head.iter().position(|own| own.text == head).expect("a column");
        grid.rows.iter().map(|row| row[at].text.as_str()).collect()
    }

    fn tables<T>(run: LoadedRun, table: impl Fn(&Group<'_>) -> T) -> T {
        let (runs, options) = ([run], Options::default());
        table(&Study::new(&runs, &options).sections[0].groups[0])
    }

    fn results(run: &mut LoadedRun) -> &mut EvolvingOutcome {
        run.record.evolving.as_mut().expect("results")
    }

    #[test]
    fn both_means_have_rows_raw_and_filtered() {
        let mut run = changing("transe", 20, 1);
        results(&mut run).filtered.by_question.mrr = 0.45;
        results(&mut run).raw.by_question.mrr = 0.35;
        let grid = tables(run.clone(), link_means);
        assert_eq!(column(&grid, "mean"), ["mean of steps", "all queries"]);
        assert_eq!(column(&grid, "MRR"), ["40.00", "45.00"]);
        assert_eq!(column(&grid, "raw MRR"), ["40.00", "35.00"]);
        assert_eq!(column(&grid, "training"), ["0", "–"]);
        let grid = tables(run.clone(), triple_means).expect("classified");
        assert_eq!(column(&grid, "accuracy"), ["70.00", "75.00"]);
        assert_eq!(column(&grid, "AUC"), ["70.00", "–"]);
        results(&mut run).steps.truncate(1);
        assert_eq!(column(&tables(run, link_means), "mean"), ["one step"]);
    }

    #[test]
    fn candidates_are_those_that_were_ranked() {
        let mut run = changing("transe", 20, 1);
        run.record.protocol.candidates = Candidates::All;
        let steps = &mut results(&mut run).steps;
        steps[0].link.as_mut().expect("links").candidates = 11;
        steps[1].link = None;
        let grid = tables(run, link_steps);
        assert_eq!(column(&grid, "entities"), ["8", "8"]);
        assert_eq!(column(&grid, "candidates"), ["11", "–"]);
    }

    #[test]
    fn rows_are_as_long_as_their_heads() {
        let all = |group: &Group<'_>| {
            [Some(link_means(group)), triple_means(group), Some(link_steps(group)), triple_steps(group)]
        };
        for grid in tables(changing("transe", 20, 1), all).into_iter().flatten() {
            assert!(grid.rows.iter().all(|row| row.len() == grid.head.len()), "{grid:?}");
        }
    }
}
