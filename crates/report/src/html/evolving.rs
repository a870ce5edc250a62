//! A page on runs on changing graphs: curves over the steps, means, and every step.

use minijinja::Value;
use quadcast_core::CategoryKind;
use quadcast_eval::evolving::{EvolvingOutcome, NegativeClassification, Present, StepResult};
use quadcast_eval::{Metrics, Part};
use serde::Serialize;

use super::evolving_labels::labels;
use super::evolving_published::{Published, published};
use super::render::render;
use crate::svg::{Curve, Line, NARROW, WIDE};
use crate::tables::{Cell, Grid, Head, Span};
use crate::{AskedAbout, EvolvingRecord, counted, percent};

#[derive(Serialize)]
struct View {
    title: String,
    version: &'static str,
    groups: Vec<Group>,
    notes: Vec<String>,
}

/// A run with results and what it is called.
struct Run<'a> {
    record: &'a EvolvingRecord,
    outcome: &'a EvolvingOutcome,
    label: String,
}

/// Runs that can be compared: same data, same protocol, same questions.
#[derive(Serialize)]
struct Group {
    title: String,
    protocol: String,
    drawings: [Value; 2],
    runs: Vec<(String, usize)>,
    means: Grid,
    /// Empty if no step asks about facts of an earlier one.
    ages: Option<Grid>,
    steps: Grid,
    /// Empty if nothing is published for any of the runs.
    published: Option<Published>,
}

/// The page as one HTML file. Runs without results are passed over.
pub fn evolving_page(records: &[EvolvingRecord], title: Option<&str>, notes: &[String]) -> String {
    let mut groups: Vec<Vec<&EvolvingRecord>> = Vec::new();
    for record in records.iter().filter(|record| record.outcome.is_some()) {
        match groups.iter_mut().find(|group| comparable(group[0], record)) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    // Sections of one dataset that differ in what was asked have the same name.
    let mut names: Vec<&str> = groups.iter().map(|group| group[0].dataset.name.as_str()).collect();
    names.dedup();
    let title = title.map_or_else(|| format!("Changing graphs: {}", names.join(", ")), str::to_owned);
    let groups = groups.iter().map(|group| view(&named(group))).collect();
    render("evolving.html", View { title, version: env!("CARGO_PKG_VERSION"), groups, notes: notes.to_vec() })
}

/// Whether the numbers of two runs may stand side by side. An update is judged at its own step only, so that its means are
/// others than those of a run on the same graph.
fn comparable(a: &EvolvingRecord, b: &EvolvingRecord) -> bool {
    a.dataset.fingerprint == b.dataset.fingerprint
        && a.protocol == b.protocol
        && a.asked == b.asked
        && a.update.is_some() == b.update.is_some()
}

fn named<'a>(records: &[&'a EvolvingRecord]) -> Vec<Run<'a>> {
    let named = records.iter().zip(labels(records));
    named
        .filter_map(|(&record, label)| Some(Run { record, outcome: record.outcome.as_ref()?, label }))
        .collect()
}

fn view(runs: &[Run<'_>]) -> Group {
    let Run { record: first, outcome, .. } = &runs[0];
    let curve = Curve {
        about: "filtered H@10 over the steps".to_owned(),
        measure: "filtered H@10".to_owned(),
        axis: "step".to_owned(),
        times: outcome.steps.iter().map(|step| step.label.clone()).collect(),
        queries: outcome
            .steps
            .iter()
            .map(|step| step.link.as_ref().map_or(0, |link| link.filtered.queries))
            .collect(),
        lines: runs
            .iter()
            .enumerate()
            .map(|(series, run)| Line {
                label: run.label.clone(),
                series,
                values: run.outcome.steps.iter().map(|step| Some(100.0 * filtered(step)?.hits10)).collect(),
            })
            .collect(),
        reference: None,
    };
    let who = match first.protocol.candidates {
        Present::Now => "entities that are present at the step",
        Present::Seen => "entities that were present at the step or before",
        Present::All => "all entities",
    };
    let compat = if first.protocol.compat {
        ". Compat: as published, artefacts included: procedures other than static are ranked in a list with entity 0 in every \
         other slot, and parallel universes are asked for single triples with tail and relation swapped"
    } else {
        ""
    };
    let asked = first.asked.map_or("all that are held out or a sample, not recorded", AskedAbout::words);
    let ties = first.protocol.ties.word();
    Group {
        title: first.dataset.name.clone(),
        protocol: format!("Test triples: {asked}. Candidates: {who}. Ties: {ties}{compat}."),
        drawings: [WIDE, NARROW].map(|width| Value::from_safe_string(curve.draw(width))),
        runs: runs.iter().enumerate().map(|(series, run)| (run.label.clone(), series)).collect(),
        means: means(runs),
        ages: ages(runs),
        steps: steps(runs),
        published: published(runs.iter().map(|run| (run.label.as_str(), run.record))),
    }
}

fn filtered(step: &StepResult) -> Option<Metrics> {
    Some(step.link.as_ref()?.filtered.metrics)
}

fn head(text: &str, about: &str) -> Head {
    Head { text: text.to_owned(), about: about.to_owned(), number: text != "run" && text != "step" }
}

fn number(text: String, value: f64) -> Cell {
    Cell { text, value: Some(value), ..Cell::default() }
}

fn share(value: Option<f64>) -> Cell {
    value.map_or_else(|| Cell { text: "–".to_owned(), ..Cell::default() }, |v| number(percent(v), v))
}

fn means(runs: &[Run<'_>]) -> Grid {
    let head = [
        ("run", ""),
        ("MRR", "mean reciprocal rank, filtered"),
        ("H@1", "filtered"),
        ("H@10", "filtered"),
        ("MR", "mean rank, filtered"),
        ("raw H@10", ""),
        ("raw MR", ""),
        ("accuracy", "of triple classification"),
        ("deleted", ""),
        ("returned", ""),
        ("gone again", ""),
        ("back", "change of H@10 on earlier steps"),
        ("ahead", "H@10 on the next step"),
        ("training", "seconds"),
    ];
    let rows = runs.iter().enumerate().map(|(series, run)| {
        let (outcome, train) = (run.outcome, run.record.seconds.train);
        let (filtered, raw) = (outcome.filtered.by_step, outcome.raw.by_step);
        let category = |kind: CategoryKind| share(outcome.negative.get(&kind.number()).map(|m| m.by_step));
        let signed = |value: f64| number(format!("{:+.2}", 100.0 * value), value);
        vec![
            Cell::run(&run.label, series),
            share(Some(filtered.mrr)),
            share(Some(filtered.hits1)),
            share(Some(filtered.hits10)),
            number(format!("{:.0}", filtered.mr), filtered.mr),
            share(Some(raw.hits10)),
            number(format!("{:.0}", raw.mr), raw.mr),
            share(outcome.classification.map(|mean| mean.by_step)),
            category(CategoryKind::Deleted),
            category(CategoryKind::Returned),
            category(CategoryKind::DeletedAgain),
            outcome.backward_transfer.map_or_else(|| share(None), signed),
            share(outcome.forward_transfer),
            number(format!("{train:.0}"), train),
        ]
    });
    Grid {
        spans: Vec::new(),
        head: head.map(|(text, about)| self::head(text, about)).to_vec(),
        rows: rows.collect(),
    }
}

/// Facts that came with a step next to older ones: what is forgotten shows in the latter.
fn ages(runs: &[Run<'_>]) -> Option<Grid> {
    let all = || runs.iter().flat_map(|run| &run.outcome.steps);
    if all().all(|step| step.old_facts().is_none()) {
        return None;
    }
    let span = |text: &str, columns| Span { text: text.to_owned(), columns, series: None };
    let head = ["run", "step", "queries", "MRR", "H@10", "queries", "MRR", "H@10"];
    let cells = |part: Option<Part>| {
        let queries = part.map_or_else(|| share(None), |p| number(counted(p.queries), p.queries as f64));
        [queries, share(part.map(|p| p.metrics.mrr)), share(part.map(|p| p.metrics.hits10))]
    };
    let row = |series: usize, label: &str, step: &StepResult| {
        let mut row = vec![
            Cell::run(label, series),
            Cell { text: step.label.clone(), value: Some(f64::from(step.step.0)), ..Cell::default() },
        ];
        row.extend(cells(step.new_facts()));
        row.extend(cells(step.old_facts()));
        row
    };
    let rows = runs
        .iter()
        .enumerate()
        .flat_map(|(series, run)| run.outcome.steps.iter().map(move |step| row(series, &run.label, step)));
    Some(Grid {
        spans: vec![span("", 2), span("facts of the step", 3), span("older facts", 3)],
        head: head.map(|text| self::head(text, "")).to_vec(),
        rows: rows.collect(),
    })
}

fn steps(runs: &[Run<'_>]) -> Grid {
    let head = [
        ("run", ""),
        ("step", ""),
        ("train", "training triples"),
        ("came", "training triples that came"),
        ("went", "training triples that went"),
        ("entities", "candidates"),
        ("MRR", "filtered"),
        ("H@10", "filtered"),
        ("MR", "filtered"),
        ("unreached", "queries whose answer the model has nothing to say about"),
        ("accuracy", "of triple classification"),
        ("balanced", "triples that were true once"),
        (
            "deleted before",
            "entities that fit worse than the end of a deleted triple, before the model heard of it",
        ),
        ("after", "the same afterwards"),
        ("training", "seconds"),
    ];
    let row = |series: usize, label: &str, step: &StepResult| {
        let count = |n: usize| number(counted(n as u64), n as f64);
        let filtered = filtered(step);
        vec![
            Cell::run(label, series),
            Cell { text: step.label.clone(), value: Some(f64::from(step.step.0)), ..Cell::default() },
            count(step.sizes.train),
            count(step.sizes.inserted),
            count(step.sizes.deleted),
            count(step.sizes.entities),
            share(filtered.map(|metrics| metrics.mrr)),
            share(filtered.map(|metrics| metrics.hits10)),
            filtered.map_or_else(|| share(None), |m| number(format!("{:.0}", m.mr), m.mr)),
            share(step.link.as_ref().map(|link| link.unreached)),
            share(step.classification.as_ref().map(|c| c.accuracy)),
            share(step.negative.as_ref().and_then(NegativeClassification::balanced)),
            share(step.unlearning.map(|unlearning| unlearning.before)),
            share(step.unlearning.map(|unlearning| unlearning.after)),
            number(format!("{:.1}", step.seconds.train), step.seconds.train),
        ]
    };
    let rows = runs
        .iter()
        .enumerate()
        .flat_map(|(series, run)| run.outcome.steps.iter().map(move |step| row(series, &run.label, step)));
    Grid {
        spans: Vec::new(),
        head: head.map(|(text, about)| self::head(text, about)).to_vec(),
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
