//! Means over runs that differ only in their seed.

use quadcast_core::Filter;

use super::{Cell, Grid, Head};
use crate::percent;
use crate::significance::Measure;
use crate::study::{Group, Member};

const MEASURES: [(Measure, &str); 5] = [
    (Measure::Mrr, "MRR"),
    (Measure::Hits1, "H@1"),
    (Measure::Hits3, "H@3"),
    (Measure::Hits10, "H@10"),
    (Measure::Mr, "MR"),
];

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
            grid.rows.push(row(&family, seeds.len()));
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

fn row(family: &[&Member<'_>], seeds: usize) -> Vec<Cell> {
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
