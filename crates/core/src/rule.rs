//! Temporal rules: what a chain of past facts says about a fact to come.

use serde::{Deserialize, Serialize};

use crate::{DirectedRelation, Quad, Step};

/// A temporal rule `head(X0, Xl, T) ← b1(X0, X1, T0), …, bl(Xl-1, Xl, Tl-1)` with `T0 ≤ … ≤ Tl-1 < T`, unless it says
/// otherwise.
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
    /// Whether the facts of the body may follow each other in any order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub any_order: bool,
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

/// A rule of a model, to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRule {
    /// The rule. If it has a curve, its confidence is the one that the model uses: lower than the ratio of the supports where bodies
    /// are few.
    pub rule: Rule,
    /// How its confidence depends on time, if that was counted.
    pub curve: Option<RuleCurve>,
}

/// How the confidence of a rule depends on the age and the number of the facts that fit its body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleCurve {
    /// By age of the latest fact, in units of the time axis, ascending.
    pub by_age: Vec<AgePoint>,
    /// The same as a formula.
    pub smooth: SmoothCurve,
}

/// The confidence of a rule in a range of ages or of numbers of facts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The smallest age or number.
    pub from: u32,
    /// The largest one; `None` without limit.
    pub to: Option<u32>,
    /// How many bodies were counted.
    pub body_support: u32,
    /// The confidence that the model uses, over several numbers the mean over their bodies; `None` if no body was counted.
    pub confidence: Option<f64>,
}

/// The confidence of a rule in a range of ages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgePoint {
    /// Over all numbers of facts.
    #[serde(flatten)]
    pub all: CurvePoint,
    /// By number of facts.
    pub by_number: Vec<CurvePoint>,
}

/// `α·(2^(−λ·(age − 1)) + φ) / (1 + φ)`: `α` at age 1, halved every `1 / λ` units, down to `α·φ / (1 + φ)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SmoothCurve {
    /// Confidence at age 1.
    pub alpha: f64,
    /// Halvings per unit of time.
    pub lambda: f64,
    /// What stays for ever, as a part of what passes.
    pub phi: f64,
}

impl SmoothCurve {
    /// Confidence at an age.
    pub fn at(&self, age: f64) -> f64 {
        self.alpha * ((-self.lambda * (age - 1.0)).exp2() + self.phi) / (1.0 + self.phi)
    }
}

/// A rule that speaks for an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FiredRule {
    /// The rule.
    pub rule: Rule,
    /// What the rule alone gives the answer.
    pub score: f64,
    /// Its part of the answer's score, or of what rules give it; the shares of all fired rules add up to 1.
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
            any_order: false,
        };
        assert_eq!(rule.bindings(), [0, 1, 2, 3]);
        rule.constraints = vec![vec![0, 2], vec![1, 3]];
        assert_eq!(rule.bindings(), [0, 1, 0, 1]);
    }
}
