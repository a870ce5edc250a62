//! Rules with two facts: `b₁` leads from the known entity to a third one, `b₂` from there to the answer.
//!
//! They say who may deal with whom for the first time. Which pairs of relations are worth counting is sampled as TLogic does; how
//! much they are worth is counted as for all rules, by the age of the older fact and by the order of the two. Only the latest facts
//! of an entity and relation are followed.

use quadcast_core::{History, Rule, Run};

use super::counts::Counts;
use super::moment::Moment;
use super::rules::{NUMBERS, age_bin};
use crate::forecast::tlogic;

/// Chains of one head.
const CHAINS: usize = 24;
/// Weight of no success in the confidence by which chains are chosen.
const PRIOR: f64 = 10.0;

/// A rule with two facts, as directed relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Chain {
    pub head: u32,
    pub first: u32,
    pub second: u32,
}

/// The chains that are worth counting, in order.
pub(super) fn choose(history: &History<'_>, run: &Run) -> Vec<Chain> {
    let mut rules = tlogic::two_fact_rules(history, run);
    // A constraint binds the answer to the known entity or to itself: no path to somebody else.
    rules.retain(|rule| rule.constraints.is_empty());
    let worth = |rule: &Rule| f64::from(rule.rule_support) / (f64::from(rule.body_support) + PRIOR);
    // Stable: equal ones stay in the order in which they were found.
    rules.sort_by(|a, b| a.head.cmp(&b.head).then(worth(b).total_cmp(&worth(a))));
    let best = rules.chunk_by(|a, b| a.head == b.head).flat_map(|rules| rules.iter().take(CHAINS));
    let mut chains: Vec<Chain> =
        best.map(|rule| Chain { head: rule.head.0, first: rule.body[0].0, second: rule.body[1].0 }).collect();
    chains.sort_unstable();
    chains.dedup();
    chains
}

/// The bin of a body: by the age of its older fact, and whether the facts are of one time, in the order of the body, or reversed.
pub(super) fn chain_bin(first_age: u32, second_age: u32) -> usize {
    let order = match first_age.cmp(&second_age) {
        std::cmp::Ordering::Equal => 0,
        std::cmp::Ordering::Greater => 1,
        std::cmp::Ordering::Less => 2,
    };
    age_bin(first_age.max(second_age)) * NUMBERS + order
}

/// Visits the bodies of chains that start at an entity: the place of the chain, the entities of its body, and its bin.
pub(super) fn follow(
    chains: &[Chain],
    counts: &Counts,
    moment: &Moment,
    known: u32,
    mut visit: impl FnMut(usize, [u32; 2], usize),
) {
    let own = moment.latest(counts, known);
    for (place, chain) in chains.iter().enumerate() {
        for &(middle, first_age) in own.of(chain.first).iter().filter(|(middle, _)| *middle != known) {
            for &(answer, second_age) in moment.latest(counts, middle).of(chain.second) {
                if answer != known && answer != middle {
                    visit(place, [middle, answer], chain_bin(first_age, second_age));
                }
            }
        }
    }
}
