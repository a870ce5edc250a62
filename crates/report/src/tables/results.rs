//! The results table of one group under one filter.

use quadcast_core::Filter;
use quadcast_eval::{FilterOutcome, Interval, Metrics, Part};
use quadcast_run::Reference;

use super::{Cell, Grid, Head};
use crate::significance::{Measure, difference, winner};
use crate::study::{Group, Member};
use crate::{bytes, percent, seconds, terminal};

/// The filter in the words of a heading.
pub(crate) const fn filter_title(filter: Filter) -> &'static str {
    match filter {
        Filter::Time => "time-aware",
        Filter::Static | Filter::Raw => filter.word(),
    }
}

/// Results of every run, best first. A value is strong if it is significantly better than the next in its column.
pub(crate) fn results(group: &Group<'_>, filter: Filter) -> Grid {
    let runs = group.runs();
    let winners = Measure::ALL.map(|measure| winner(&runs, filter, measure));
    let best = best(group, filter);
    let mut grid = Grid::new(head());
    if filter == Filter::Time {
        grid.rows.extend(group.references.iter().map(|reference| reference_row(reference)));
    }
    for (i, member) in group.members.iter().enumerate() {
        grid.rows.push(row(member, filter, best, winners.map(|winner| winner == Some(i))));
    }
    grid
}

fn head() -> Vec<Head> {
    let number = Head::number;
    vec![
        Head::text("model"),
        number("MRR", "mean reciprocal rank, per cent"),
        number("95 % interval", "of the MRR, block bootstrap over test steps"),
        number("H@1", "correct answer first, per cent of queries"),
        number("H@3", "correct answer among the first three, per cent of queries"),
        number("H@10", "correct answer among the first ten, per cent of queries"),
        number("MR", "mean rank; smaller is better"),
        number("object", "MRR of queries for the object, per cent"),
        number("subject", "MRR of queries for the subject, per cent"),
        number("to the best", "paired difference of the MRR with its 95 % interval, in points"),
        number("fit", "wall-clock time to fit and select"),
        number("evaluate", "wall-clock time to score and rank the test period"),
        number("memory", "peak memory of the process"),
    ]
}

fn best<'g, 'a>(group: &'g Group<'a>, filter: Filter) -> Option<&'g Member<'a>> {
    let mrr = |member: &&Member<'_>| member.run.outcome(filter).metrics.mrr;
    // The first of equals, as in the order of rows.
    group.members.iter().rev().max_by(|a, b| mrr(a).total_cmp(&mrr(b)))
}

fn row(member: &Member<'_>, filter: Filter, best: Option<&Member<'_>>, strong: [bool; 7]) -> Vec<Cell> {
    let record = &member.run.record;
    let mut row = vec![Cell::run(&member.label, member.series)];
    row.extend(outcome_cells(member.run.outcome(filter)));
    // The measures, without the interval.
    for (column, strong) in [1, 3, 4, 5, 6, 7, 8].into_iter().zip(strong) {
        row[column].strong = strong;
    }
    row.push(to_the_best(member, filter, best));
    row.extend([record.seconds.fit, record.seconds.evaluate].map(|span| Cell::number(span, seconds(span))));
    let memory = record.peak_memory_bytes;
    row.push(memory.map_or_else(Cell::absent, |b| Cell::number(b as f64, bytes(b))));
    row
}

/// MRR, its interval, H@1, H@3, H@10, MR, and the MRR by direction.
pub(crate) fn outcome_cells(outcome: &FilterOutcome) -> Vec<Cell> {
    let direction = |part: Option<Part>| Cell::percent(part.map(|part| part.metrics.mrr));
    let mut cells = metric_cells(&outcome.metrics, outcome.ci95.map(|ci| ci.mrr));
    cells.extend([outcome.object, outcome.subject].map(direction));
    cells
}

fn metric_cells(metrics: &Metrics, interval: Option<Interval>) -> Vec<Cell> {
    let interval = interval.map_or_else(Cell::absent, |[low, high]| {
        Cell::number(low, format!("{} – {}", percent(low), percent(high)))
    });
    vec![
        Cell::percent(Some(metrics.mrr)),
        interval,
        Cell::percent(Some(metrics.hits1)),
        Cell::percent(Some(metrics.hits3)),
        Cell::percent(Some(metrics.hits10)),
        Cell::number(metrics.mr, format!("{:.1}", metrics.mr)),
    ]
}

fn to_the_best(member: &Member<'_>, filter: Filter, best: Option<&Member<'_>>) -> Cell {
    let Some(best) = best else { return Cell::absent() };
    if std::ptr::eq(best, member) {
        return Cell::number(0.0, "best");
    }
    match difference(member.run, best.run, filter, Measure::Mrr) {
        Some(found) => {
            let [low, high] = found.interval.map(points);
            Cell::number(found.mean, format!("{} ({low} to {high})", points(found.mean)))
        }
        None => Cell::text("other queries or one step"),
    }
}

/// A signed difference in points, with a true minus.
fn points(fraction: f64) -> String {
    terminal::points(fraction).replace('-', "−")
}

fn reference_row(reference: &Reference) -> Vec<Cell> {
    let mut row = vec![Cell::text(&*reference.name).of_kind("reference")];
    row.extend(metric_cells(&reference.metrics, reference.interval));
    row.resize_with(head().len(), Cell::absent);
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::run;
    use crate::study::Study;

    #[test]
    fn bold_only_where_it_is_significant() {
        let runs = [run("a", |_| 0), run("b", |i| 1 + i % 3), run("c", |i| 1 + i % 3)];
        let options = crate::Options::default();
        let study = Study::new(&runs, &options);
        let grid = results(&study.sections[0].groups[0], Filter::Time);
        let strong: Vec<Vec<&str>> = grid
            .rows
            .iter()
            .map(|row| row.iter().filter(|cell| cell.strong).map(|cell| cell.text.as_str()).collect())
            .collect();
        assert_eq!(strong, [vec!["100.00", "100.00", "100.00", "1.0", "100.00", "100.00"], vec![], vec![]]);
        assert_eq!(grid.rows[0][9].text, "best");
        assert!(grid.rows[1][9].text.starts_with('−'), "{}", grid.rows[1][9].text);
    }

    #[test]
    fn differences_are_written_with_a_sign() {
        assert_eq!([points(0.0123), points(-0.5), points(-1e-9)], ["+1.23", "−50.00", "0.00"]);
    }
}
