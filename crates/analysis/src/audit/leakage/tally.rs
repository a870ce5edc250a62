//! Counts findings, by relation and with examples.

use quadcast_core::{Quad, RelationId, Verdict};
use rustc_hash::FxHashMap;

use super::evidence::Grade;
use super::outcome::{LeakageCheck, LeakageExample, LeakingRelation, NamedFact};
use crate::index::SplitFacts;
use crate::info::Share;

/// Relations and examples that are listed.
const LISTED: usize = 10;

/// A test fact and the fact that gives it away.
type Pair = (Quad, Quad);

/// What a check is called, and how grave its findings are.
pub(super) struct Head {
    pub id: String,
    pub step: Option<String>,
    pub holds: String,
    pub grade: Grade,
}

/// Looks at facts in order and reports those that something gives away; `data` has the names.
pub(super) fn tally(
    head: Head,
    facts: &[Quad],
    witness: impl Fn(Quad) -> Option<Quad>,
    data: &SplitFacts<'_>,
) -> LeakageCheck {
    let mut all = 0;
    // Of each relation: findings, facts, the first finding.
    let mut by_relation: FxHashMap<RelationId, (usize, usize, Option<Pair>)> = FxHashMap::default();
    let mut first: Vec<Pair> = Vec::new();
    for &fact in facts {
        let (count, of, example) = by_relation.entry(fact.relation).or_default();
        *of += 1;
        if let Some(by) = witness(fact) {
            all += 1;
            *count += 1;
            example.get_or_insert((fact, by));
            if first.len() < LISTED {
                first.push((fact, by));
            }
        }
    }
    let mut leaking: Vec<_> = by_relation.into_iter().filter(|(_, (count, ..))| *count > 0).collect();
    leaking.sort_unstable_by_key(|&(relation, (count, ..))| (std::cmp::Reverse(count), relation));
    leaking.truncate(LISTED);
    // The first of each relation: ten facts of one day and one relation would tell less.
    let mut examples: Vec<Pair> = leaking.iter().filter_map(|(_, (_, _, example))| *example).collect();
    for pair in first {
        if examples.len() < LISTED && !examples.contains(&pair) {
            examples.push(pair);
        }
    }
    let relation = |(relation, (count, of, _)): (RelationId, (usize, usize, Option<Pair>))| LeakingRelation {
        relation: data.vocabulary.relations.name(relation.0).into_owned(),
        count,
        of,
        share: Share::of(count, of).share,
    };
    let example = |(test, by)| LeakageExample { test: named(test, data), by: named(by, data) };
    let share = Share::of(all, facts.len()).share;
    LeakageCheck {
        id: head.id,
        step: head.step,
        holds: head.holds,
        leak: head.grade == Grade::Leak,
        verdict: match head.grade {
            Grade::Leak if all > 0 => Verdict::Warn,
            Grade::Hint(level) if share > level => Verdict::Warn,
            _ => Verdict::Pass,
        },
        count: all,
        of: facts.len(),
        share,
        relations: leaking.into_iter().map(relation).collect(),
        examples: examples.into_iter().map(example).collect(),
    }
}

fn named(fact: Quad, data: &SplitFacts<'_>) -> NamedFact {
    let entity = |id| data.vocabulary.entities.name(id).into_owned();
    NamedFact {
        subject: entity(fact.subject.0),
        relation: data.vocabulary.relations.name(fact.relation.0).into_owned(),
        object: entity(fact.object.0),
        time: data.times.label(fact.step),
    }
}
