//! A page on runs on changing graphs: curves over the steps, means, and every step.

use minijinja::Value;
use quadcast_eval::evolving::StepResult;
use serde::Serialize;

use super::render::render;
use crate::EvolvingRecord;
use crate::evolving::{
    Published, Section, ages, link_means, link_steps, published, sections, triple_means, triple_steps,
};
use crate::svg::{Curve, Line, NARROW, WIDE};
use crate::tables::Grid;

#[derive(Serialize)]
struct View {
    title: String,
    version: &'static str,
    groups: Vec<Group>,
    notes: Vec<String>,
}

/// Runs that can be compared.
#[derive(Serialize)]
struct Group {
    title: String,
    protocol: String,
    drawings: [Value; 2],
    runs: Vec<(String, usize)>,
    link_means: Grid,
    /// Empty if nothing is classified.
    triple_means: Option<Grid>,
    /// Empty if no step asks about facts of an earlier one.
    ages: Option<Grid>,
    link_steps: Grid,
    /// Empty if nothing is classified and nothing was deleted.
    triple_steps: Option<Grid>,
    /// Empty if nothing is published for any of the runs.
    published: Option<Published>,
}

/// The page as one HTML file. Runs without results are passed over.
pub fn evolving_page(records: &[EvolvingRecord], title: Option<&str>, notes: &[String]) -> String {
    let sections = sections(records);
    // Sections of one dataset that differ in what was asked have the same name.
    let mut names: Vec<&str> = sections.iter().map(Section::title).collect();
    names.dedup();
    let title = title.map_or_else(|| format!("Changing graphs: {}", names.join(", ")), str::to_owned);
    let groups = sections.iter().map(view).collect();
    render("evolving.html", View { title, version: env!("CARGO_PKG_VERSION"), groups, notes: notes.to_vec() })
}

fn view(section: &Section<'_>) -> Group {
    let curve = curve(section);
    Group {
        title: section.title().to_owned(),
        protocol: section.protocol(),
        drawings: [WIDE, NARROW].map(|width| Value::from_safe_string(curve.draw(width))),
        runs: section.runs.iter().enumerate().map(|(series, run)| (run.label.clone(), series)).collect(),
        link_means: link_means(section),
        triple_means: triple_means(section),
        ages: ages(section),
        link_steps: link_steps(section),
        triple_steps: triple_steps(section),
        published: published(section),
    }
}

fn curve(section: &Section<'_>) -> Curve {
    let steps = &section.runs[0].outcome.steps;
    let queries = |step: &StepResult| step.link.as_ref().map_or(0, |link| link.filtered.queries);
    let hits = |step: &StepResult| Some(100.0 * step.link.as_ref()?.filtered.metrics.hits10);
    let lines = section.runs.iter().enumerate().map(|(series, run)| Line {
        label: run.label.clone(),
        series,
        values: run.outcome.steps.iter().map(hits).collect(),
    });
    Curve {
        about: "filtered H@10 over the steps".to_owned(),
        measure: "filtered H@10".to_owned(),
        axis: "step".to_owned(),
        times: steps.iter().map(|step| step.label.clone()).collect(),
        queries: steps.iter().map(queries).collect(),
        lines: lines.collect(),
        reference: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AskedAbout;
    use crate::samples::changing;

    fn asked(asked: Option<AskedAbout>) -> EvolvingRecord {
        let mut record = changing("transe", 20, 1);
        record.asked = asked;
        record
    }

    #[test]
    fn runs_that_were_asked_differently_have_sections_of_their_own() {
        let records = [AskedAbout::Sample, AskedAbout::All, AskedAbout::Sample].map(|word| asked(Some(word)));
        let page = evolving_page(&records, None, &[]);
        assert_eq!(page.matches("<section>").count(), 2);
        assert!(page.contains("Test triples: a sample of those held out. Candidates"), "{page}");
        assert!(page.contains("Test triples: all that are held out. Candidates"));
        assert!(page.contains("transe, static [1]") && page.contains("transe, static [2]"));
        assert!(evolving_page(&[asked(None)], None, &[]).contains("not recorded"));
    }

    #[test]
    fn runs_of_a_section_can_be_told_apart() {
        let records = [changing("transe", 20, 1), changing("transe", 50, 1), changing("transe", 50, 2)];
        let page = evolving_page(&records, None, &[]);
        assert_eq!(page.matches("<section>").count(), 1);
        for label in ["dimension=20", "dimension=50 seed 1", "dimension=50 seed 2"] {
            assert!(page.contains(&format!("transe, static {label}")), "{label}");
        }
    }

    #[test]
    fn both_means_are_shown_raw_and_filtered() {
        let mut record = changing("transe", 20, 1);
        let outcome = record.outcome.as_mut().expect("results");
        outcome.filtered.by_question.mrr = 0.4567;
        outcome.raw.by_step.mrr = 0.3456;
        outcome.steps[0].link.as_mut().expect("links").candidates = 4321;
        let page = evolving_page(&[record], None, &[]);
        for text in ["mean of steps", "all questions", "45.67", "34.56", "75.00", "4 321", "raw MRR"] {
            assert!(page.contains(text), "{text}: {page}");
        }
    }
}
