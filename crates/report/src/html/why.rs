//! A few answers of a run with the rules or facts that they rest on, as cards.

use minijinja::{Value, context};
use quadcast_run::{DatedFact, Fired, Reason, Sample, Why};

use crate::answers::{CHAINS, RULES, further_chains, further_rules};
use crate::shares::rows;
use crate::study::{Group, Member};
use crate::weight_words;

/// How many single facts a card shows.
const FACTS: usize = 3;

/// The runs of a group that keep samples, those with rules first.
pub(super) fn why(group: &Group<'_>) -> Vec<Value> {
    let mut members: Vec<&Member<'_>> = group.members.iter().filter(|m| !m.run.samples.is_empty()).collect();
    members.sort_by_key(|member| !member.run.samples.iter().any(has_rules));
    let cards = |member: &Member<'_>| member.run.samples.iter().filter_map(card).collect::<Vec<_>>();
    let run = |member: &Member<'_>| {
        context! { label => member.label, series => member.series, cards => cards(member) }
    };
    members.into_iter().map(run).collect()
}

fn has_rules(sample: &Sample) -> bool {
    sample.forecast.answers.iter().filter_map(|answer| answer.why.as_ref()).any(|why| why.rules.is_some())
}

/// The best answer with its reasons; `None` where the model had nothing to say.
fn card(sample: &Sample) -> Option<Value> {
    let forecast = &sample.forecast;
    let answer = forecast.answers.first()?;
    let why = answer.why.as_ref()?;
    // Rules of a model with kinds of evidence stand among them.
    let fired = why.rules.as_deref().filter(|_| !why.is_grouped()).unwrap_or_default();
    Some(context! {
        subject => forecast.subject,
        relation => forecast.relation,
        object => forecast.object,
        at => forecast.at,
        known_until => forecast.known_until,
        answer => answer.entity,
        right => answer.entity == sample.truth.entity,
        truth => sample.truth,
        rules => fired.iter().take(RULES).map(rule).collect::<Vec<_>>(),
        facts => facts(why, answer.score),
        losses => why.losses,
        meaning => why.meaning(),
        rest => further_rules(fired),
    })
}

fn rule(fired: &Fired) -> Value {
    context! {
        share => 100.0 * fired.share,
        sentence => fired.sentence,
        words => fired.rule.words,
        confidence => 100.0 * fired.rule.confidence,
        chains => fired.groundings.iter().take(CHAINS).collect::<Vec<_>>(),
        more => further_chains(fired),
    }
}

/// Past facts and what else adds to a score: a share, or by how much the score falls, and what it is.
fn facts(why: &Why, score: f64) -> Vec<(String, String)> {
    if why.is_grouped() {
        return rows(why);
    }
    let weight = |weight: f64| weight_words(why, weight, score);
    let told = |reason: &Reason| {
        let DatedFact { subject, relation, object, time } = &reason.fact;
        (weight(reason.weight), format!("{time}: {subject} {relation} {object}"))
    };
    let mut parts: Vec<(String, String)> = why.facts.iter().take(FACTS).map(told).collect();
    if let Some(rest @ [_, ..]) = why.facts.get(FACTS..) {
        parts.push(if why.losses {
            (String::new(), format!("{} more facts matter less", rest.len()))
        } else {
            let sum = rest.iter().map(|reason| reason.weight).sum();
            (weight(sum), format!("{} more facts", rest.len()))
        });
    }
    parts.extend(why.also.iter().map(|other| (weight(other.weight), other.text.clone())));
    parts
}
