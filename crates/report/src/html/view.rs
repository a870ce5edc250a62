//! What the templates see: text, tables and drawings, ready to be placed.

use std::collections::BTreeSet;

use minijinja::{Value, context};
use quadcast_core::{Check, Duplicates, Filter, Setting, Task, ValidationUse, Verdict};
use quadcast_run::{AskedAbout, Record};

use super::why::why;
use crate::evolving::{ages, link_means, link_steps, published, triple_means, triple_steps};
use crate::study::{Group, Member, Section, Study, checks, frequencies, options, relations};
use crate::svg::{Curve, DotRow, Dots, Line, NARROW, WIDE};
use crate::tables::{
    check_grid, filter_title, frequency_grid, policy_grid, relation_grid, results, seed_grid, seen_grid,
};
use crate::terminal::trained_by_words;
use crate::{Options, counted, rules_words};

/// The whole page.
pub(super) fn page(study: &Study<'_>, options: &Options) -> Value {
    let names = |of: fn(&Record) -> &str| -> String {
        let members = study.sections.iter().flat_map(Section::members);
        let found: BTreeSet<&str> = members.map(|member| of(&member.run.record)).collect();
        found.into_iter().collect::<Vec<_>>().join(", ")
    };
    let datasets: Vec<&str> = study.sections.iter().map(|section| section.dataset.name.as_str()).collect();
    let subject = format!("{} on {}", names(|record| &record.model.name), datasets.join(", "));
    let runs: usize = study.sections.iter().map(|section| section.members().count()).sum();
    let runs = if runs == 1 { "One run".to_owned() } else { format!("{runs} runs") };
    let datasets = study.sections.iter().enumerate();
    let datasets = datasets.map(|(i, section)| dataset(study, section, i, &options.audit));
    context! {
        lead => format!("{runs} of {subject}."),
        title => options.title.clone().unwrap_or(subject),
        version => names(|record| &record.version),
        notes => options.notes,
        datasets => datasets.collect::<Vec<_>>(),
    }
}

fn dataset(study: &Study<'_>, section: &Section<'_>, index: usize, audit: &[Check]) -> Value {
    let card = section.dataset;
    let mut all = checks(study, section);
    all.extend(audit.iter().cloned());
    let count = |verdict| all.iter().filter(|check| check.verdict == verdict).count();
    let facts = card.train + card.valid + card.test;
    let split =
        |name, count: usize| (name, counted(count as u64), 100.0 * count as f64 / facts.max(1) as f64);
    let steps = section.members().next().map_or(&[][..], |member| &member.run.record.by_step);
    let period = match steps {
        [] => Vec::new(),
        [only] => vec![only.time.clone()],
        [first, .., last] => vec![first.time.clone(), last.time.clone()],
    };
    let id = format!("d{}", index + 1);
    let groups = section.groups.iter().enumerate().map(|(i, g)| group(g, &format!("{id}-g{}", i + 1)));
    let runs = section.groups.iter().flat_map(|g| g.members.iter().map(|m| run(g, m)));
    context! {
        id,
        name => card.name,
        variant => card.variant,
        fingerprint => card.fingerprint,
        // First and last test snapshot.
        period,
        // Name, number of facts and share of all facts in per cent.
        splits => [split("train", card.train), split("valid", card.valid), split("test", card.test)],
        sizes => [
            ("entities (candidates)", counted(card.entities as u64)),
            ("relations", counted(card.relations as u64)),
            ("facts", counted(facts as u64)),
            ("test snapshots", counted(steps.len() as u64)),
        ],
        verdicts => [Verdict::Pass, Verdict::Warn, Verdict::Fail, Verdict::NotKnown].map(count),
        checks => check_grid(&all),
        groups => groups.collect::<Vec<_>>(),
        runs => runs.collect::<Vec<_>>(),
    }
}

fn run(group: &Group<'_>, member: &Member<'_>) -> Value {
    let record = &member.run.record;
    let selection = record.selection.as_ref().map_or_else(
        || "nothing selected".to_owned(),
        |s| format!("on {} by {}, {} candidates judged", s.split, s.metric, counted(s.plays)),
    );
    context! {
        label => member.label,
        series => member.series,
        folder => member.run.name,
        setting => group.title(),
        seed => record.seed,
        latest => record.latest_read.as_deref().unwrap_or("nothing"),
        selection,
        rules => record.model.rules.as_ref().map(rules_words),
        trained_by => record.model.trained_by.as_ref().map(trained_by_words),
        options => options(&record.model.config).into_iter().collect::<Vec<_>>(),
    }
}

fn group(group: &Group<'_>, id: &str) -> Value {
    let (slices, relations_total) = relations(group);
    let filters = Filter::ALL.map(|filter| {
        context! { word => filter.word(), title => filter_title(filter), grid => results(group, filter) }
    });
    let members = group.members.iter();
    context! {
        id,
        title => group.title(),
        about => about(group),
        protocol => protocol(group),
        results => filters,
        seeds => seed_grid(group),
        legend => members.map(|member| (&member.label, member.series)).collect::<Vec<_>>(),
        curve => both(|width| curve(group).draw(width)),
        filters => both(|width| filter_dots(group).draw(width)),
        cases => Filter::ALL.map(filter_title),
        policies => policy_grid(group),
        seen => seen_grid(group),
        seen_chart => both(|width| seen_dots(group).draw(width)),
        relations => relation_grid(group, &slices),
        relations_shown => slices.len(),
        relations_total,
        known => frequency_grid(group, &frequencies(group, |row| row.query.known)),
        gold => frequency_grid(group, &frequencies(group, |row| row.gold)),
        why => why(group),
        evolving => (group.protocol.task == Task::Evolving).then(|| evolving(group)),
    }
}

/// What only evolving graphs have. A table is absent if no run has anything for it.
fn evolving(group: &Group<'_>) -> Value {
    context! {
        link_means => link_means(group),
        triple_means => triple_means(group),
        ages => ages(group),
        link_steps => link_steps(group),
        triple_steps => triple_steps(group),
        published => published(group),
    }
}

/// A drawing for screens and one for phones.
fn both(draw: impl Fn(f64) -> String) -> [Value; 2] {
    [WIDE, NARROW].map(|width| Value::from_safe_string(draw(width)))
}

const fn about(group: &Group<'_>) -> &'static str {
    match (group.protocol.task, group.protocol.setting) {
        (Task::Completion, _) => "A model may use the training facts of all times, earlier and later.",
        (Task::Evolving, _) => {
            "A model goes through the steps of the graph and is judged after each; held-out triples are never shown to it."
        }
        (Task::Forecasting, Setting::SingleStep) => {
            "To answer for a snapshot, a model may use the true facts of every earlier one."
        }
        (Task::Forecasting, Setting::MultiStep) => {
            "To answer for any test snapshot, a model may use nothing of the test period."
        }
        (Task::Forecasting, Setting::Online) => {
            "A model may use every earlier snapshot, and is updated with each."
        }
    }
}

fn protocol(group: &Group<'_>) -> Vec<(&'static str, String)> {
    let protocol = group.protocol;
    let validation = match (protocol.validation, protocol.task) {
        (_, Task::Evolving) => "",
        (ValidationUse::Observed, Task::Completion) => "observed: they are known at test time",
        (ValidationUse::Observed, Task::Forecasting) => "observed: they are history at test time",
        (ValidationUse::Withheld, Task::Completion) => "withheld: only training facts are known",
        (ValidationUse::Withheld, Task::Forecasting) => {
            "withheld: only training facts precede the test period"
        }
    };
    let duplicates = match protocol.duplicates {
        Duplicates::Drop => "asked once",
        Duplicates::Keep => "asked as often as the file lists them",
    };
    let first = group.members.first().map(|member| member.run);
    let queries = first.map_or(0, |run| run.outcome(Filter::Time).queries);
    let bootstrap = first.and_then(|run| run.record.bootstrap).map_or_else(String::new, |b| {
        format!(
            "block bootstrap over {} {}s, blocks of {}, {} resamples",
            counted(b.units as u64),
            b.unit.word(),
            b.block,
            counted(b.resamples as u64)
        )
    });
    vec![
        ("task", protocol.task.word().to_owned()),
        (
            "setting",
            if protocol.task == Task::Forecasting {
                protocol.setting.word().to_owned()
            } else {
                String::new()
            },
        ),
        ("test triples", group.questions.asked.map(AskedAbout::words).unwrap_or_default().to_owned()),
        ("queries", format!("{}, half of them for the object, half for the subject", counted(queries))),
        ("validation facts", validation.to_owned()),
        ("ties", format!("{} (headline numbers)", protocol.ties.word())),
        ("candidates", group.candidates().to_owned()),
        ("duplicate test facts", duplicates.to_owned()),
        ("selection filter", format!("knows the facts of {}", protocol.selection.word().replace('-', " "))),
        ("intervals", bootstrap),
        ("compat", compat(group).to_owned()),
    ]
}

/// What the evaluator repeats of published code; empty if nothing.
const fn compat(group: &Group<'_>) -> &'static str {
    match group.protocol.task {
        Task::Evolving if group.protocol.compat => {
            "as published, artefacts included: procedures other than static are ranked in a list with entity 0 in every other slot, \
             and parallel universes are asked for single triples with object and relation swapped"
        }
        Task::Completion if group.protocol.compat => {
            "as published: test facts are in the filter of validation"
        }
        _ => "",
    }
}

fn curve(group: &Group<'_>) -> Curve {
    let steps = group.members.first().map_or(&[][..], |member| &member.run.record.by_step);
    let line = |member: &Member<'_>| {
        let rows = &member.run.record.by_step;
        let value =
            |step: u32| rows.iter().find(|row| row.step == step).map(|row| 100.0 * row.part.metrics.mrr);
        Line {
            label: member.label.clone(),
            series: member.series,
            values: steps.iter().map(|row| value(row.step)).collect(),
        }
    };
    Curve {
        times: steps.iter().map(|row| row.time.clone()).collect(),
        queries: steps.iter().map(|row| row.part.queries).collect(),
        lines: group.members.iter().map(line).collect(),
        reference: group.references.first().map(|r| (r.name.clone(), 100.0 * r.metrics.mrr)),
    }
}

fn filter_dots(group: &Group<'_>) -> Dots {
    let dot = |member: &Member<'_>, filter| {
        let outcome = member.run.outcome(filter);
        Some((100.0 * outcome.metrics.mrr, outcome.ci95.map(|ci| ci.mrr.map(|end| 100.0 * end))))
    };
    dots(group, &Filter::ALL.map(filter_title), |member| Filter::ALL.map(|f| dot(member, f)).into())
}

fn seen_dots(group: &Group<'_>) -> Dots {
    dots(group, &["seen before", "never seen"], |member| {
        let outcome = member.run.outcome(Filter::Time);
        [outcome.seen, outcome.unseen].map(|part| Some((100.0 * part?.metrics.mrr, None))).into()
    })
}

/// A value and an interval per case.
type CaseDots = Vec<Option<(f64, Option<[f64; 2]>)>>;

fn dots(group: &Group<'_>, cases: &[&str], of: impl Fn(&Member<'_>) -> CaseDots) -> Dots {
    let row =
        |member: &Member<'_>| DotRow { label: member.label.clone(), series: member.series, dots: of(member) };
    Dots {
        cases: cases.iter().map(|case| (*case).to_owned()).collect(),
        rows: group.members.iter().map(row).collect(),
    }
}
