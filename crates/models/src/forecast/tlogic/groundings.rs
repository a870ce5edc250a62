//! The chains of facts behind a rule's score, for explanations.

use std::cmp::Reverse;

use quadcast_core::{EntityId, Quad, Query, Step};

use super::apply::Applicable;
use super::window::Window;

/// How many chains are shown.
const SHOWN: usize = 3;
/// Facts visited before counting stops.
const MOST_VISITS: u64 = 200_000;

/// Chains that lead from one entity to another.
pub(super) struct Groundings {
    /// The most recent ones: latest start first.
    pub chains: Vec<Vec<Quad>>,
    /// How many there are.
    pub count: u64,
    /// Whether counting stopped early.
    pub cut: bool,
}

/// Finds the chains of a rule from the query's entity to an answer.
pub(super) fn find(
    rule: &Applicable,
    window: &Window,
    query: &Query,
    answer: EntityId,
    relations: usize,
) -> Groundings {
    let mut search = Search { rule, window, relations, answer, visits: 0, found: Vec::new(), count: 0 };
    search.extend(&mut vec![query.known], &mut Vec::new());
    let cut = search.visits >= MOST_VISITS;
    let mut chains = search.found;
    chains.sort_by_key(|chain| Reverse(key(chain)));
    chains.truncate(SHOWN);
    Groundings { chains, count: search.count, cut }
}

fn key(chain: &[Quad]) -> Vec<Step> {
    chain.iter().map(|fact| fact.step).collect()
}

struct Search<'a> {
    rule: &'a Applicable,
    window: &'a Window,
    relations: usize,
    answer: EntityId,
    visits: u64,
    found: Vec<Vec<Quad>>,
    count: u64,
}

impl Search<'_> {
    /// Extends a chain in every way; the latest facts first.
    fn extend(&mut self, entities: &mut Vec<EntityId>, chain: &mut Vec<Quad>) {
        let body = &self.rule.body;
        let (position, here) = (chain.len(), entities[chain.len()]);
        let relation = body[position];
        let since = chain.last().map_or(Step(0), |fact| fact.step);
        let last = position + 1 == body.len();
        let mut next: Vec<(Step, EntityId)> = if last {
            let times = self.window.times(relation, here, self.answer);
            times.iter().map(|&step| (step, self.answer)).collect()
        } else {
            let targets = self.window.timed(relation, here);
            targets.flat_map(|(target, times)| times.iter().map(|&step| (step, target.answer))).collect()
        };
        next.retain(|&(step, entity)| step >= since && self.rule.fits(entities.len(), entity, entities));
        next.sort_unstable_by(|a, b| b.cmp(a));
        for (step, entity) in next {
            if self.visits >= MOST_VISITS {
                return;
            }
            self.visits += 1;
            let (relation, direction) = relation.split(self.relations);
            let query = Query { step, known: here, relation, direction };
            chain.push(query.fact(entity, step));
            entities.push(entity);
            if last {
                self.count += 1;
                self.keep(chain);
            } else {
                self.extend(entities, chain);
            }
            chain.pop();
            entities.pop();
        }
    }

    /// Keeps a few more than are shown, so that the most recent are among them.
    fn keep(&mut self, chain: &[Quad]) {
        self.found.push(chain.to_vec());
        if self.found.len() >= 8 * SHOWN {
            self.found.sort_by_key(|chain| Reverse(key(chain)));
            self.found.truncate(SHOWN);
        }
    }
}
