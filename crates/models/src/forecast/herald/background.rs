//! Scores of everyone who is no candidate: by the number of answers to the relation, then by the number of facts, below all
//! candidates.

use quadcast_core::{Background, EntityId};

use super::counts::Counts;
use super::moment::Moment;

/// No fact at all. Scores of candidates are far above all of these numbers, which stay exact: there are fewer than 2²⁵ facts per
/// entity.
const LOWEST: f64 = -((1_u64 << 52) as f64);
const UNIT: f64 = (1_u64 << 26) as f64;
/// Above everyone who is no candidate.
const CANDIDATES: f64 = -1e9;

/// See the module.
pub(super) struct Rest<'a> {
    pub counts: &'a Counts,
    pub moment: &'a Moment,
    pub relation: u32,
}

impl Rest<'_> {
    /// Answers to the relation and facts of an entity.
    pub fn numbers(&self, entity: u32) -> (u32, u32) {
        let Some(found) = self.counts.entities.get(entity as usize) else { return (0, 0) };
        let role = found.role(self.counts.inverse(self.relation));
        (role.map_or(0, |role| role.cell.n), found.cell.n)
    }

    fn value((answers, facts): (u32, u32)) -> f64 {
        LOWEST + f64::from(answers) * UNIT + f64::from(facts)
    }

    /// How many entities have a value of which `holds` is true; `facts_hold` says the same of those without an answer.
    fn count(&self, holds: impl Fn(f64) -> bool) -> usize {
        let without = |facts: u32| holds(Self::value((0, facts)));
        // Numbers ascend and the condition is a range of values: two bounds.
        let numbers = &self.moment.numbers;
        let start = numbers.iter().position(|&facts| without(facts)).unwrap_or(numbers.len());
        let mut count = numbers[start..].iter().take_while(|&&facts| without(facts)).count();
        for &answer in &self.counts.answers[self.relation as usize] {
            let numbers = self.numbers(answer);
            count -= usize::from(without(numbers.1));
            count += usize::from(holds(Self::value(numbers)));
        }
        count
    }
}

impl Background for Rest<'_> {
    fn score(&self, entity: EntityId) -> f64 {
        Self::value(self.numbers(entity.0))
    }

    fn above(&self, score: f64) -> usize {
        if score >= CANDIDATES { 0 } else { self.count(|value| value > score) }
    }

    fn tied(&self, score: f64) -> usize {
        if score >= CANDIDATES { 0 } else { self.count(|value| value == score) }
    }

    fn tied_before(&self, score: f64, entity: EntityId) -> usize {
        if score >= CANDIDATES {
            return 0;
        }
        (0..entity.0).filter(|&other| self.score(EntityId(other)) == score).count()
    }

    fn reaches(&self, _: EntityId) -> bool {
        true
    }
}
