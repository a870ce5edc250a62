//! A few answers of a run with the rules or facts that they rest on, as cards.

use quadcast_run::{DatedFact, Fired, Reason, Sample, Why};
use serde::Serialize;

use crate::study::{Group, Member};
use crate::{counted, weight_words};

/// How many rules, chains of facts per rule, and single facts a card shows.
const RULES: usize = 3;
const CHAINS: usize = 2;
const FACTS: usize = 3;

/// The samples of one run.
#[derive(Serialize)]
pub(super) struct RunCards {
    label: String,
    series: usize,
    cards: Vec<Card>,
}

#[derive(Serialize)]
struct Card {
    /// Empty where it is asked for.
    subject: String,
    relation: String,
    object: String,
    at: String,
    known_until: String,
    answer: String,
    /// Whether the answer is the true one.
    right: bool,
    truth: String,
    rank: u64,
    rules: Vec<RuleView>,
    facts: Vec<Part>,
    losses: bool,
    /// What the facts mean, where the model says it.
    meaning: Option<String>,
    rest: String,
}

#[derive(Serialize)]
struct RuleView {
    share: f64,
    sentence: String,
    words: String,
    confidence: f64,
    chains: Vec<Vec<DatedFact>>,
    more: String,
}

/// A part of a score in words.
#[derive(Serialize)]
struct Part {
    /// A share, or by how much the score falls.
    weight: String,
    text: String,
}

/// The runs of a group that keep samples, those with rules first.
pub(super) fn why(group: &Group<'_>) -> Vec<RunCards> {
    let mut members: Vec<&Member<'_>> = group.members.iter().filter(|m| !m.run.samples.is_empty()).collect();
    members.sort_by_key(|member| !member.run.samples.iter().any(has_rules));
    let cards = |member: &Member<'_>| member.run.samples.iter().filter_map(card).collect();
    members
        .into_iter()
        .map(|member| RunCards { label: member.label.clone(), series: member.series, cards: cards(member) })
        .collect()
}

fn has_rules(sample: &Sample) -> bool {
    sample.forecast.answers.iter().filter_map(|answer| answer.why.as_ref()).any(|why| why.rules.is_some())
}

/// The best answer with its reasons; `None` where the model had nothing to say.
fn card(sample: &Sample) -> Option<Card> {
    let forecast = &sample.forecast;
    let answer = forecast.answers.first()?;
    let why = answer.why.as_ref()?;
    let (rules, rest) = rules(why.rules.as_deref().unwrap_or_default());
    Some(Card {
        subject: forecast.subject.clone().unwrap_or_default(),
        relation: forecast.relation.clone(),
        object: forecast.object.clone().unwrap_or_default(),
        at: forecast.at.clone(),
        known_until: forecast.known_until.clone().unwrap_or_else(|| "nothing".to_owned()),
        answer: answer.entity.clone(),
        right: answer.entity == sample.truth.entity,
        truth: sample.truth.entity.clone(),
        rank: sample.truth.rank,
        rules,
        facts: facts(why, answer.score),
        losses: why.losses,
        meaning: why.meaning().map(str::to_owned),
        rest,
    })
}

fn rules(fired: &[Fired]) -> (Vec<RuleView>, String) {
    let shown = fired.iter().take(RULES).map(|rule| {
        let chains: Vec<Vec<DatedFact>> = rule.groundings.iter().take(CHAINS).cloned().collect();
        let more = match rule.grounding_count.saturating_sub(chains.len() as u64) {
            0 => String::new(),
            more if rule.groundings_cut => format!("and at least {} more", counted(more)),
            more => format!("and {} more", counted(more)),
        };
        RuleView {
            share: 100.0 * rule.share,
            sentence: rule.sentence.clone(),
            words: rule.rule.words.clone(),
            confidence: 100.0 * rule.rule.confidence,
            chains,
            more,
        }
    });
    let rest = match fired.get(RULES..) {
        Some(rest @ [_, ..]) => {
            let share: f64 = rest.iter().map(|rule| rule.share).sum();
            let plural = if rest.len() == 1 { "" } else { "s" };
            format!("and {} more rule{plural} ({:.1} %)", rest.len(), 100.0 * share)
        }
        _ => String::new(),
    };
    (shown.collect(), rest)
}

/// Past facts and what else adds to a score.
fn facts(why: &Why, score: f64) -> Vec<Part> {
    let weight = |weight: f64| weight_words(why, weight, score);
    let told = |reason: &Reason| {
        let DatedFact { subject, relation, object, time } = &reason.fact;
        Part { weight: weight(reason.weight), text: format!("{time}: {subject} {relation} {object}") }
    };
    let mut parts: Vec<Part> = why.facts.iter().take(FACTS).map(told).collect();
    if let Some(rest @ [_, ..]) = why.facts.get(FACTS..) {
        parts.push(if why.losses {
            Part { weight: String::new(), text: format!("{} more facts matter less", rest.len()) }
        } else {
            let sum = rest.iter().map(|reason| reason.weight).sum();
            Part { weight: weight(sum), text: format!("{} more facts", rest.len()) }
        });
    }
    let also = why.also.iter().map(|other| Part { weight: weight(other.weight), text: other.text.clone() });
    parts.extend(also);
    parts
}
