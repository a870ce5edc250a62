//! Holes other than an entity: which relation holds between two at some time, and when did a fact hold?

use quadcast_core::{Dataset, EntityId, Quad, RelationId, Step};
use quadcast_report::plain_table;
use serde::Serialize;

use super::Options;
use super::question::step;
use crate::failure::Failure;
use crate::lookup::lookup;
use crate::output::Output;
use crate::trained::Trained;

/// A fact with a hole, and what fits into it best.
#[derive(Debug, Serialize)]
struct Filled {
    model: String,
    dataset: String,
    /// `relation` or `time`.
    asked_for: &'static str,
    subject: String,
    relation: Option<String>,
    object: String,
    at: Option<String>,
    answers: Vec<Filling>,
    candidates: usize,
}

#[derive(Debug, Serialize)]
struct Filling {
    rank: usize,
    answer: String,
    score: f32,
    /// Whether the fact, filled so, is among the known ones.
    known: bool,
}

pub fn execute(options: &Options, (subject, object): (&str, &str), output: &Output) -> Result<(), Failure> {
    if options.explain {
        return Err(Failure::input("--explain is for questions about a subject or an object"));
    }
    let mut trained = Trained::open(&options.run, options.data.as_deref())?;
    let data = &trained.dataset;
    let entity = |name: &str| lookup(&data.vocabulary.entities, name, "entity").map_err(Failure::input);
    let (subject, object) = (EntityId(entity(subject)?), EntityId(entity(object)?));
    let relation = options.relation.as_deref();
    let relation = relation.map(|name| lookup(&data.vocabulary.relations, name, "relation")).transpose();
    let relation = relation.map_err(Failure::input)?.map(RelationId);
    let at = options.at.as_deref().map(|text| step(text, data)).transpose().map_err(Failure::input)?;
    let fact = |relation, step| Quad { subject, relation, object, step };
    let (asked_for, facts): (_, Vec<Quad>) = match (relation, at) {
        (None, Some(at)) => {
            ("relation", (0..data.relations() as u32).map(|r| fact(RelationId(r), at)).collect())
        }
        (Some(relation), None) => {
            ("time", (0..data.axis.len() as u32).map(|t| fact(relation, Step(t))).collect())
        }
        (None, None) => {
            return Err(Failure::input("two things are missing: give --relation or --at as well"));
        }
        (Some(_), Some(_)) => {
            return Err(Failure::input(
                "nothing is missing: leave out what is asked for, --subject, --relation, --object or --at",
            ));
        }
    };
    let answers = fill(&mut trained, &facts, asked_for, options.top)?;
    let data = &trained.dataset;
    let filled = Filled {
        model: trained.entry.name.to_owned(),
        dataset: data.name.clone(),
        asked_for,
        subject: data.vocabulary.entities.name(subject.0).into_owned(),
        relation: relation.map(|relation| data.vocabulary.relations.name(relation.0).into_owned()),
        object: data.vocabulary.entities.name(object.0).into_owned(),
        at: at.map(|at| data.axis.label(at)),
        answers,
        candidates: facts.len(),
    };
    output.result(&filled, || text(&filled))
}

/// The best of the filled facts.
fn fill(trained: &mut Trained, facts: &[Quad], asked_for: &str, top: usize) -> Result<Vec<Filling>, Failure> {
    let index = trained.history();
    let step = facts.first().map_or(Step(0), |fact| fact.step);
    let known = trained.view(&index, step);
    trained.model.begin(step, &known).map_err(Failure::internal)?;
    let scores = trained.model.rate(&known, facts).map_err(Failure::internal)?.ok_or_else(|| {
        Failure::input(format!(
            "{} cannot tell which {asked_for} fits best: its scores are made for subjects and objects; \
             embedding models of completion can (see `quadcast models`)",
            trained.entry.name
        ))
    })?;
    let mut order: Vec<usize> = (0..facts.len()).collect();
    // Equal scores stand in the order of ids, so that the table is the same every time.
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    let data: &Dataset = &trained.dataset;
    let name = |fact: &Quad| match asked_for {
        "time" => data.axis.label(fact.step),
        _ => data.vocabulary.relations.name(fact.relation.0).into_owned(),
    };
    let held = |fact: &Quad| {
        let splits = &data.splits;
        [&splits.train, &splits.valid].iter().any(|facts| facts.iter().any(|other| other == *fact))
    };
    let best = order.iter().take(top).enumerate();
    Ok(best
        .map(|(i, &which)| Filling {
            rank: i + 1,
            answer: name(&facts[which]),
            score: scores[which],
            known: held(&facts[which]),
        })
        .collect())
}

fn text(filled: &Filled) -> String {
    let part = |part: &Option<String>| part.clone().unwrap_or_else(|| "?".to_owned());
    let mut text = format!(
        "{} – {} – {}, {}\n{} on {}\n\n",
        filled.subject,
        part(&filled.relation),
        filled.object,
        part(&filled.at),
        filled.model,
        filled.dataset
    );
    let mut table = plain_table(&["", filled.asked_for, "score", "known"], 2..3);
    for answer in &filled.answers {
        let known = if answer.known { "yes" } else { "" };
        table.add_row(vec![
            answer.rank.to_string(),
            answer.answer.clone(),
            format!("{:.4}", answer.score),
            known.to_owned(),
        ]);
    }
    text.push_str(&table.trim_fmt());
    text.push_str(&format!("\n\n{} candidates\n", filled.candidates));
    text
}
