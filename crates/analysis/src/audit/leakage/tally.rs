//! Counts findings, by relation and with examples.

use quadcast_core::{Quad, RelationId, Step, Verdict, Vocabulary};
use rustc_hash::FxHashMap;

use super::evidence::Grade;
use super::outcome::{LeakageCheck, LeakageExample, LeakingRelation, NamedFact};
use crate::info::Share;

/// Relations and examples that are listed.
const LISTED: usize = 10;

/// A test fact and the fact that gives it away.
type Pair = (Quad, Quad);

/// Findings of one kind.
#[derive(Default)]
pub(super) struct Tally {
    count: usize,
    /// Findings by relation, with the first one.
    relations: FxHashMap<RelationId, (usize, Pair)>,
    first: Vec<Pair>,
}

impl Tally {
    /// Looks at facts in order and keeps those that something gives away.
    pub fn of(facts: &[Quad], witness: impl Fn(Quad) -> Option<Quad>) -> Self {
        let mut tally = Self::default();
        for &fact in facts {
            if let Some(by) = witness(fact) {
                tally.count += 1;
                tally.relations.entry(fact.relation).or_insert((0, (fact, by))).0 += 1;
                if tally.first.len() < LISTED {
                    tally.first.push((fact, by));
                }
            }
        }
        tally
    }

    /// The finding with names; `totals` has the number of facts of each relation.
    pub fn check(self, head: Head, grade: Grade, totals: &Totals, naming: &Naming<'_>) -> LeakageCheck {
        let share = Share::of(self.count, totals.all).share;
        let verdict = match grade {
            Grade::Leak if self.count > 0 => Verdict::Warn,
            Grade::Hint(level) if share > level => Verdict::Warn,
            _ => Verdict::Pass,
        };
        let mut relations: Vec<(RelationId, usize, Pair)> =
            self.relations.into_iter().map(|(relation, (count, first))| (relation, count, first)).collect();
        relations.sort_unstable_by_key(|&(relation, count, _)| (std::cmp::Reverse(count), relation));
        relations.truncate(LISTED);
        // The first of each relation: ten facts of one day and one relation would tell less.
        let mut examples: Vec<Pair> = relations.iter().map(|(_, _, first)| *first).collect();
        for pair in self.first {
            if examples.len() < LISTED && !examples.contains(&pair) {
                examples.push(pair);
            }
        }
        let leaking = |(relation, count, _): &(RelationId, usize, Pair)| {
            let of = totals.relations.get(relation).copied().unwrap_or(0);
            LeakingRelation {
                relation: naming.vocabulary.relations.name(relation.0).into_owned(),
                count: *count,
                of,
                share: Share::of(*count, of).share,
            }
        };
        LeakageCheck {
            id: head.id,
            step: head.step,
            holds: head.holds,
            leak: grade == Grade::Leak,
            verdict,
            count: self.count,
            of: totals.all,
            share,
            relations: relations.iter().map(leaking).collect(),
            examples: examples
                .iter()
                .map(|(test, by)| LeakageExample { test: naming.fact(*test), by: naming.fact(*by) })
                .collect(),
        }
    }
}

/// What a finding is called.
pub(super) struct Head {
    pub id: String,
    pub step: Option<String>,
    pub holds: String,
}

/// Numbers of facts.
pub(super) struct Totals {
    pub all: usize,
    relations: FxHashMap<RelationId, usize>,
}

impl Totals {
    pub fn of(facts: &[Quad]) -> Self {
        let mut relations = FxHashMap::default();
        for fact in facts {
            *relations.entry(fact.relation).or_default() += 1;
        }
        Self { all: facts.len(), relations }
    }
}

/// Names of entities, relations and times.
pub(super) struct Naming<'a> {
    pub vocabulary: &'a Vocabulary,
    pub time: &'a (dyn Fn(Step) -> Option<String> + Sync),
}

impl Naming<'_> {
    fn fact(&self, fact: Quad) -> NamedFact {
        NamedFact {
            subject: self.vocabulary.entities.name(fact.subject.0).into_owned(),
            relation: self.vocabulary.relations.name(fact.relation.0).into_owned(),
            object: self.vocabulary.entities.name(fact.object.0).into_owned(),
            time: (self.time)(fact.step),
        }
    }
}
