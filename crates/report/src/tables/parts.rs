//! Tables of parts: tie policies, seen and unseen facts, slices, checks.

use quadcast_core::{Check, Filter, TiePolicy};
use quadcast_eval::Part;

use super::{Cell, Grid, Head, Span};
use crate::counted;
use crate::study::{Group, Slice};

/// MRR under every tie policy, and how much depends on it.
pub(crate) fn policy_grid(group: &Group<'_>) -> Grid {
    let mut head = vec![Head::text("model")];
    head.extend(TiePolicy::ALL.map(|policy| Head::number(policy.word(), "MRR under this policy, per cent")));
    head.push(Head::number("tied", "queries whose gold answer ties with another candidate, per cent"));
    head.push(Head::number("unreached", "queries whose gold answer the model said nothing about, per cent"));
    let mut grid = Grid::new(head);
    for member in &group.members {
        let outcome = member.run.outcome(Filter::Time);
        let mut row = vec![Cell::run(&member.label, member.series)];
        let value = |policy: TiePolicy| outcome.policy.get(policy.word()).map(|metrics| metrics.mrr);
        row.extend(TiePolicy::ALL.map(|policy| Cell::percent(value(policy))));
        row.push(Cell::percent(member.run.record.ties_known().then_some(outcome.ties)));
        row.push(Cell::percent(member.run.record.unreached));
        grid.rows.push(row);
    }
    grid
}

/// Facts that held before and facts that never did.
pub(crate) fn seen_grid(group: &Group<'_>) -> Grid {
    let mut grid = Grid::new(vec![
        Head::text("model"),
        Head::number("seen MRR", "facts that held at an earlier step, per cent"),
        Head::number("seen H@1", "facts that held at an earlier step, per cent"),
        Head::number("seen queries", ""),
        Head::number("never seen MRR", "facts that never held before, per cent"),
        Head::number("never seen H@1", "facts that never held before, per cent"),
        Head::number("never seen queries", ""),
    ]);
    for member in &group.members {
        let outcome = member.run.outcome(Filter::Time);
        let mut row = vec![Cell::run(&member.label, member.series)];
        for part in [outcome.seen, outcome.unseen] {
            let value = |of: fn(&Part) -> f64| Cell::percent(part.as_ref().map(of));
            let queries = part.map_or(0, |part| part.queries);
            row.push(value(|part| part.metrics.mrr));
            row.push(value(|part| part.metrics.hits1));
            row.push(Cell::number(queries as f64, counted(queries)));
        }
        grid.rows.push(row);
    }
    grid
}

/// MRR by relation and direction.
pub(crate) fn relation_grid(group: &Group<'_>, slices: &[Slice]) -> Grid {
    slice_grid(group, slices, "relation", &["object", "subject"])
}

/// MRR by frequency.
pub(crate) fn frequency_grid(group: &Group<'_>, slices: &[Slice]) -> Grid {
    slice_grid(group, slices, "test facts", &["MRR"])
}

fn slice_grid(group: &Group<'_>, slices: &[Slice], what: &str, columns: &[&str]) -> Grid {
    let mut grid = Grid::new(vec![Head::text(what), Head::number("queries", "")]);
    grid.spans.push(Span { text: String::new(), columns: 2, series: None });
    for member in &group.members {
        let span = Span { text: member.label.clone(), columns: columns.len(), series: Some(member.series) };
        grid.spans.push(span);
        let about = "MRR, time-aware, per cent";
        grid.head.extend(columns.iter().map(|column| Head::number(*column, about)));
    }
    for slice in slices {
        let queries = Cell::number(slice.queries as f64, counted(slice.queries));
        let mut row = vec![Cell::text(&*slice.name), queries];
        row.extend(slice.mrr.iter().flatten().map(|value| Cell::shaded(*value)));
        grid.rows.push(row);
    }
    grid
}

/// The checklist.
pub(crate) fn check_grid(checks: &[Check]) -> Grid {
    let mut grid = Grid::new(["check", "question", "verdict", "evidence"].map(Head::text).into());
    for check in checks {
        grid.rows.push(vec![
            Cell::text(check.id),
            Cell::text(check.question),
            Cell::text(check.verdict.word()).of_kind(check.verdict.word()),
            Cell::text(&*check.evidence),
        ]);
    }
    grid
}
