//! A page on runs on changing graphs: curves over the steps, means, and every step.

use minijinja::Value;
use quadcast_core::CategoryKind;
use quadcast_eval::evolving::{EvolvingOutcome, NegativeClassification, Present, StepResult};
use quadcast_eval::{Metrics, Part};
use serde::Serialize;

use super::render::render;
use crate::svg::{Curve, Line, NARROW, WIDE};
use crate::tables::{Cell, Grid, Head, Span};
use crate::{EvolvingRecord, counted, percent};

#[derive(Serialize)]
struct View {
    title: String,
    version: &'static str,
    groups: Vec<Group>,
    notes: Vec<String>,
}

/// Runs that can be compared: same data, same protocol.
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
}

/// The page as one HTML file. Runs without results are passed over.
pub fn evolving_page(records: &[EvolvingRecord], title: Option<&str>, notes: &[String]) -> String {
    let mut groups: Vec<Vec<(&EvolvingRecord, &EvolvingOutcome)>> = Vec::new();
    for record in records {
        let Some(outcome) = &record.outcome else { continue };
        let same = |group: &&mut Vec<(&EvolvingRecord, &EvolvingOutcome)>| {
            let first = group[0].0;
            first.dataset.fingerprint == record.dataset.fingerprint && first.protocol == record.protocol
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push((record, outcome)),
            None => groups.push(vec![(record, outcome)]),
        }
    }
    let names: Vec<&str> = groups.iter().map(|group| group[0].0.dataset.name.as_str()).collect();
    let title = title.map_or_else(|| format!("Changing graphs: {}", names.join(", ")), str::to_owned);
    let groups = groups.iter().map(|group| view(group)).collect();
    render("evolving.html", View { title, version: env!("CARGO_PKG_VERSION"), groups, notes: notes.to_vec() })
}

fn view(runs: &[(&EvolvingRecord, &EvolvingOutcome)]) -> Group {
    let (first, outcome) = runs[0];
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
            .map(|(series, (record, outcome))| Line {
                label: label(record),
                series,
                values: outcome.steps.iter().map(|step| Some(100.0 * filtered(step)?.hits10)).collect(),
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
    Group {
        title: first.dataset.name.clone(),
        protocol: format!("Candidates: {who}. Ties: {}{compat}.", first.protocol.ties.word()),
        drawings: [WIDE, NARROW].map(|width| Value::from_safe_string(curve.draw(width))),
        runs: runs.iter().enumerate().map(|(series, (record, _))| (label(record), series)).collect(),
        means: means(runs),
        ages: ages(runs),
        steps: steps(runs),
    }
}

fn filtered(step: &StepResult) -> Option<Metrics> {
    Some(step.link.as_ref()?.filtered.metrics)
}

fn label(record: &EvolvingRecord) -> String {
    format!("{}, {}", record.model.name, record.procedure.word())
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

fn means(runs: &[(&EvolvingRecord, &EvolvingOutcome)]) -> Grid {
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
    let rows = runs.iter().enumerate().map(|(series, (record, outcome))| {
        let (filtered, raw) = (outcome.filtered.by_step, outcome.raw.by_step);
        let category = |kind: CategoryKind| share(outcome.negative.get(&kind.number()).map(|m| m.by_step));
        let signed = |value: f64| number(format!("{:+.2}", 100.0 * value), value);
        vec![
            Cell { text: label(record), series: Some(series), ..Cell::default() },
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
            number(format!("{:.0}", record.seconds.train), record.seconds.train),
        ]
    });
    Grid {
        spans: Vec::new(),
        head: head.map(|(text, about)| self::head(text, about)).to_vec(),
        rows: rows.collect(),
    }
}

/// Facts that came with a step next to older ones: what is forgotten shows in the latter.
fn ages(runs: &[(&EvolvingRecord, &EvolvingOutcome)]) -> Option<Grid> {
    let all = || runs.iter().flat_map(|(_, outcome)| &outcome.steps);
    if all().all(|step| step.old_facts().is_none()) {
        return None;
    }
    let span = |text: &str, columns| Span { text: text.to_owned(), columns, series: None };
    let head = ["run", "step", "queries", "MRR", "H@10", "queries", "MRR", "H@10"];
    let cells = |part: Option<Part>| {
        let queries = part.map_or_else(|| share(None), |p| number(counted(p.queries), p.queries as f64));
        [queries, share(part.map(|p| p.metrics.mrr)), share(part.map(|p| p.metrics.hits10))]
    };
    let row = |series: usize, record: &EvolvingRecord, step: &StepResult| {
        let mut row = vec![
            Cell { text: label(record), series: Some(series), ..Cell::default() },
            Cell { text: step.label.clone(), value: Some(f64::from(step.step.0)), ..Cell::default() },
        ];
        row.extend(cells(step.new_facts()));
        row.extend(cells(step.old_facts()));
        row
    };
    let rows = runs.iter().enumerate().flat_map(|(series, (record, outcome))| {
        outcome.steps.iter().map(move |step| row(series, record, step))
    });
    Some(Grid {
        spans: vec![span("", 2), span("facts of the step", 3), span("older facts", 3)],
        head: head.map(|text| self::head(text, "")).to_vec(),
        rows: rows.collect(),
    })
}

fn steps(runs: &[(&EvolvingRecord, &EvolvingOutcome)]) -> Grid {
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
    let row = |series: usize, record: &EvolvingRecord, step: &StepResult| {
        let count = |n: usize| number(counted(n as u64), n as f64);
        let filtered = filtered(step);
        vec![
            Cell { text: label(record), series: Some(series), ..Cell::default() },
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
    let rows = runs.iter().enumerate().flat_map(|(series, (record, outcome))| {
        outcome.steps.iter().map(move |step| row(series, record, step))
    });
    Grid {
        spans: Vec::new(),
        head: head.map(|(text, about)| self::head(text, about)).to_vec(),
        rows: rows.collect(),
    }
}
