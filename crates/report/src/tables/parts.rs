//! Further tables of a group: tie policies, seen and unseen facts, slices, checks, and means over seeds.

use quadcast_core::{Check, Filter, TiePolicy};
use quadcast_eval::Part;

use super::{Cell, Grid, Head, Span};
use crate::significance::Measure;
use crate::study::{Group, Member, Slice};
use crate::{counted, percent};

/// What is averaged over seeds.
const MEASURES: [(Measure, &str); 5] = [
    (Measure::Mrr, "MRR"),
    (Measure::Hits1, "H@1"),
    (Measure::Hits3, "H@3"),
    (Measure::Hits10, "H@10"),
    (Measure::Mr, "MR"),
];

/// MRR under every tie policy, and how much depends on it.
pub(crate) fn policy_grid(group: &Group<'_>) -> Grid {
    let mut head = vec![Head::text("model")];
    head.extend(TiePolicy::ALL.map(|policy| Head::number(policy.word(), "MRR under this policy, per cent")));
    head.push(Head::number("tied", "queries whose correct answer ties with another candidate, per cent"));
    head.push(Head::number("not scored", "queries whose correct answer the model did not score, per cent"));
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

/// One row per configuration that ran with two seeds or more, time-aware filter; best first.
pub(crate) fn seed_grid(group: &Group<'_>) -> Grid {
    let mut head = vec![Head::text("model"), Head::number("seeds", "")];
    head.extend(MEASURES.map(|(_, name)| Head::number(name, "mean ± standard deviation over seeds")));
    let mut grid = Grid::new(head);
    let mut families: Vec<Vec<&Member<'_>>> = Vec::new();
    for member in &group.members {
        match families.iter_mut().find(|family| same_configuration(family[0], member)) {
            Some(family) => family.push(member),
            None => families.push(vec![member]),
        }
    }
    for family in families {
        let mut seeds: Vec<u64> = family.iter().map(|member| member.run.record.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        if seeds.len() > 1 {
            grid.rows.push(seed_row(&family, seeds.len()));
        }
    }
    grid.rows.sort_by(|a, b| b[2].value.unwrap_or(0.0).total_cmp(&a[2].value.unwrap_or(0.0)));
    grid
}

/// Whether two runs differ in nothing but their seed.
fn same_configuration(a: &Member<'_>, b: &Member<'_>) -> bool {
    let (a, b) = (&a.run.record, &b.run.record);
    a.model == b.model && a.protocol == b.protocol
}

fn seed_row(family: &[&Member<'_>], seeds: usize) -> Vec<Cell> {
    let first = family[0];
    // The label without what tells the seeds apart.
    let label = first.label.split(" seed ").next().unwrap_or(&first.label);
    let mut row = vec![Cell::text(label), Cell::number(seeds as f64, seeds.to_string())];
    for (measure, _) in MEASURES {
        let values: Vec<f64> =
            family.iter().filter_map(|member| measure.value(member.run, Filter::Time)).collect();
        let (mean, deviation) = spread(&values);
        let text = match measure {
            Measure::Mr => format!("{mean:.1} ± {deviation:.1}"),
            _ => format!("{} ± {}", percent(mean), percent(deviation)),
        };
        row.push(Cell::number(mean, text));
    }
    row
}

/// Mean and sample standard deviation.
fn spread(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::samples::run;
    use crate::study::Study;

    #[test]
    fn seeds_of_one_configuration_share_a_row() {
        let (mut second, third) = (run("a", |_| 1), run("b", |_| 0));
        second.record.seed = 2;
        let runs = [run("a", |_| 0), second, third];
        let options = Options::default();
        let study = Study::new(&runs, &options);
        let grid = seed_grid(&study.sections[0].groups[0]);
        let texts: Vec<&str> = grid.rows.iter().flatten().map(|cell| cell.text.as_str()).collect();
        // Reciprocal ranks of 1 and 1/2: mean 3/4, deviation √(2 · (1/4)²).
        assert_eq!(texts[..3], ["sample a", "2", "75.00 ± 35.36"]);
        assert_eq!(grid.rows.len(), 1);
    }
}
