//! Runs on changing graphs beside what a study has published.

use serde::Serialize;

use super::section::Section;
use super::{PublishedLine, PublishedVerdict, published_comparisons, sources};
use crate::tables::{Cell, Grid, Head};

/// The part of a section on published values.
#[derive(Serialize)]
pub(crate) struct Published {
    pub sources: String,
    pub lines: Grid,
}

/// Nothing if nothing is published for any of the runs.
pub(crate) fn published(section: &Section<'_>) -> Option<Published> {
    let mut lines = Grid::new(vec![
        Head::text("run"),
        Head::text("measure"),
        Head::text("step"),
        Head::number("ours", "by optimistic ties"),
        Head::number("published", ""),
        Head::number("difference", "ours less published"),
        Head::number("allowed", "per cent of a published mean rank, points of everything else"),
        Head::text("verdict"),
    ]);
    let mut all = Vec::new();
    for (series, run) in section.runs.iter().enumerate() {
        let comparisons = published_comparisons(run.record);
        let compared = comparisons.iter().flat_map(|comparison| &comparison.lines);
        lines.rows.extend(compared.map(|line| row(&run.label, series, line)));
        all.extend(comparisons);
    }
    (!all.is_empty()).then(|| Published { sources: sources(&all), lines })
}

fn row(label: &str, series: usize, line: &PublishedLine) -> Vec<Cell> {
    let number = |value: f64| Cell::number(value, line.measure.written(value));
    let difference = if line.measure.is_rank() {
        format!("{:+.0}", line.difference)
    } else {
        format!("{:+.2}", line.difference)
    };
    let kind = if line.verdict == PublishedVerdict::Misses { "fail" } else { "pass" };
    vec![
        Cell::run(label, series),
        Cell::text(line.measure.word()),
        Cell::number(f64::from(line.step.0), line.label.as_str()),
        number(line.ours),
        number(line.published),
        Cell::number(line.difference, difference),
        Cell::number(line.allowed, line.allowed_words()),
        Cell::text(line.verdict.word()).of_kind(kind),
    ]
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use quadcast_core::TiePolicy;

    use super::super::section::sections;
    use super::*;
    use crate::samples::changing;
    use crate::{AskedAbout, evolving_page};

    const HEADING: &str = "<h3>Beside the published values</h3>";

    #[test]
    fn published_values_are_shown_where_there_are_some() {
        let mut record = changing("transe", 20, 1);
        assert!(published(&sections(from_ref(&record))[0]).is_none());
        assert!(!evolving_page(from_ref(&record), None, &[]).contains(HEADING));
        record.dataset.variant = Some("WikidataEvolve".to_owned());
        record.protocol.ties = TiePolicy::Optimistic;
        record.asked = Some(AskedAbout::Sample);
        // 30.00 and 37.48 published: misses. Every other value of the sample is better than published.
        let link = record.outcome.as_mut().expect("results").steps[0].link.as_mut().expect("links");
        link.filtered.metrics.hits10 = 0.3;
        let page = evolving_page(from_ref(&record), None, &[]);
        assert!(page.contains(HEADING) && page.contains("Lafraie 2020, table 9."), "{page}");
        assert_eq!(page.matches("verdict fail\">misses").count(), 1);
        assert_eq!(page.matches("verdict pass\">better").count(), 7);

        let Published { lines, .. } = published(&sections(from_ref(&record))[0]).expect("published values");
        let first: Vec<&str> = lines.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(first, ["transe, static", "H@10", "1", "30.00", "37.48", "-7.48", "±1.5", "misses"]);
        // 4 and 415.
        let rank: Vec<&str> = lines.rows[2].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(rank, ["transe, static", "MR", "1", "4", "415", "-411", "±10 %", "better"]);
    }
}
