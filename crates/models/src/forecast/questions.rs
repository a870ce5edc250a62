//! The questions of a training step, without duplicates.
//!
//! Facts of one snapshot with the same known parts have the same scores, so the network computes them once. Batch statistics and
//! the loss weigh a question by its number of facts; only the dropout mask is shared.

use std::sync::Arc;

use quadcast_core::{Direction, History, ModelError, Query, Step};
use quadcast_kernels::segment::Csr;

use crate::blocks::Targets;

/// Distinct questions with two known parts, and all their answers.
#[derive(Clone, Debug)]
pub(crate) struct StepQuestions {
    /// The known parts, by question.
    pub first: Arc<[u32]>,
    pub second: Arc<[u32]>,
    /// Number of facts of the question.
    pub counts: Arc<[f32]>,
    answers: Arc<Csr>,
    /// By answer: 1 over the number of answers of the question.
    shares: Arc<[f32]>,
}

impl StepQuestions {
    /// Which entity? Known are an entity and a directed relation of a fact of this step.
    pub fn missing_entities(history: &History<'_>, step: Step) -> Result<Self, ModelError> {
        Self::both_ways(history, step, |known, relation, answer| (known, relation, answer))
    }

    /// Which directed relation? Known are the two entities of a fact of this step.
    pub fn missing_relations(history: &History<'_>, step: Step) -> Result<Self, ModelError> {
        Self::both_ways(history, step, |known, relation, answer| (known, answer, relation))
    }

    fn both_ways(
        history: &History<'_>,
        step: Step,
        fact: impl Fn(u32, u32, u32) -> (u32, u32, u32),
    ) -> Result<Self, ModelError> {
        let snapshot = history.snapshot(step)?;
        let mut facts = Vec::with_capacity(2 * snapshot.len());
        for direction in Direction::BOTH {
            for (query, answer) in snapshot.iter().map(|fact| Query::hide(fact, direction)) {
                facts.push(fact(query.known.0, query.directed(history.relations()).0, answer.0));
            }
        }
        Ok(Self::new(facts))
    }

    /// From (first, second, answer), in any order.
    fn new(mut facts: Vec<(u32, u32, u32)>) -> Self {
        facts.sort_unstable();
        let (mut first, mut second, mut counts) = (Vec::new(), Vec::new(), Vec::<f32>::new());
        let mut answers = Csr { starts: vec![0], items: Vec::new() };
        for group in facts.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            first.push(group[0].0);
            second.push(group[0].1);
            counts.push(group.len() as f32);
            answers.items.extend(group.iter().map(|fact| fact.2));
            answers.starts.push(answers.items.len() as u32);
        }
        let shares = counts.iter().flat_map(|&count| std::iter::repeat_n(1.0 / count, count as usize));
        Self {
            shares: shares.collect(),
            first: first.into(),
            second: second.into(),
            counts: counts.into(),
            answers: Arc::new(answers),
        }
    }

    /// The answers as targets of the loss.
    pub fn targets(&self) -> Targets {
        Targets::Soft(Arc::clone(&self.answers), Arc::clone(&self.shares))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_questions_are_merged() {
        let questions = StepQuestions::new(vec![(3, 1, 5), (0, 2, 7), (3, 1, 4), (3, 0, 4)]);
        assert_eq!(questions.first[..], [0, 3, 3]);
        assert_eq!(questions.second[..], [2, 0, 1]);
        assert_eq!(questions.counts[..], [1.0, 1.0, 2.0]);
        assert_eq!(questions.answers.segment(2), [4, 5]);
        assert_eq!(questions.shares[..], [1.0, 1.0, 0.5, 0.5]);
    }
}
