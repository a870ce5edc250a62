//! Temporal rules: what a chain of past facts says about a fact to come.

use serde::{Deserialize, Serialize};

use crate::{DirectedRelation, Quad, Step};

/// A temporal rule `head(X0, Xl, T) ← b1(X0, X1, T0), …, bl(Xl-1, Xl, Tl-1)` with `T0 ≤ … ≤ Tl-1 < T`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What follows, read from `X0` to `Xl`.
    pub head: DirectedRelation,
    /// What was seen before, each read from one variable to the next.
    pub body: Vec<DirectedRelation>,
    /// Groups of variables that stand for the same entity, as positions `0..=l`; each in order, two or more members.
    pub constraints: Vec<Vec<u8>>,
    /// How often the head followed the sampled bodies.
    pub rule_support: u32,
    /// How many distinct bodies were sampled.
    pub body_support: u32,
    /// `rule_support / body_support`, to six digits.
    pub confidence: f64,
}

impl Rule {
    /// For each variable the first position that stands for the same entity: its own, unless a constraint binds it.
    pub fn bindings(&self) -> Vec<usize> {
        let mut bindings: Vec<usize> = (0..=self.body.len()).collect();
        for group in &self.constraints {
            let first = group.iter().copied().min().unwrap_or_default();
            for &position in group {
                if let Some(binding) = bindings.get_mut(usize::from(position)) {
                    *binding = usize::from(first);
                }
            }
        }
        bindings
    }
}

/// A rule that speaks for an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FiredRule {
    /// The rule.
    pub rule: Rule,
    /// What the rule alone gives the answer.
    pub score: f64,
    /// Its part of the answer's score; the shares of all fired rules add up to 1.
    pub share: f64,
    /// The part of `score` that comes from the rule's confidence.
    pub confidence_part: f64,
    /// The part of `score` that comes from how recent its body is.
    pub recency_part: f64,
    /// The latest step at which a chain of facts that fits the rule begins.
    pub latest: Step,
    /// The most recent chains of facts that fit the rule, each in the order of the body.
    pub groundings: Vec<Vec<Quad>>,
    /// How many chains fit the rule; a lower bound if `groundings_cut`.
    pub grounding_count: u64,
    /// Whether counting stopped early.
    pub groundings_cut: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_bind_to_the_first_variable() {
        let mut rule = Rule {
            head: DirectedRelation(0),
            body: vec![DirectedRelation(0); 3],
            constraints: vec![],
            rule_support: 1,
            body_support: 2,
            confidence: 0.5,
        };
        assert_eq!(rule.bindings(), [0, 1, 2, 3]);
        rule.constraints = vec![vec![0, 2], vec![1, 3]];
        assert_eq!(rule.bindings(), [0, 1, 0, 1]);
    }
}
