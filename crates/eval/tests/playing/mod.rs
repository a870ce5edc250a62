//! What tests play: games on evolving graphs, and a journal.

#![allow(dead_code, reason = "no test needs all of it")]

use std::error::Error;

use quadcast_core::{EvolvingDataset, EvolvingModel, Procedure, Protocol, Run};
use quadcast_eval::evolving::{self, EvolvingOutcome, Playing, StepExamples};
use quadcast_eval::{EvalError, Forgetful, Journal, JudgedStep};
use quadcast_testing::changing::Formula;

/// A game over all steps under the usual protocol.
pub fn playing<'a>(
    data: &'a EvolvingDataset,
    procedure: Procedure,
    examples: &'a [StepExamples],
) -> Playing<'a> {
    let protocol = Protocol::evolving(procedure);
    Playing { data, protocol, examples, first: 0, transfer: true, earlier: &[] }
}

/// Plays without a journal.
pub fn play(game: &Playing<'_>, model: &mut dyn EvolvingModel) -> Result<EvolvingOutcome, EvalError> {
    evolving::play(game, model, &Run::silent(1), &mut Forgetful).map(|played| played.outcome)
}

/// What the formula gets under the usual protocol.
pub fn played(
    data: &EvolvingDataset,
    procedure: Procedure,
    examples: &[StepExamples],
) -> Result<EvolvingOutcome, EvalError> {
    play(&playing(data, procedure, examples), &mut Formula::default())
}

/// A journal in memory, which may be full after some steps.
#[derive(Default)]
pub struct MemoryJournal {
    pub steps: Vec<JudgedStep>,
    pub room: Option<usize>,
}

impl MemoryJournal {
    pub fn holding(steps: &[JudgedStep]) -> Self {
        Self { steps: steps.to_vec(), room: None }
    }
}

impl Journal for MemoryJournal {
    fn judged(&mut self) -> Vec<JudgedStep> {
        self.steps.clone()
    }

    fn keep_first(&mut self, steps: &[JudgedStep]) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.steps.truncate(steps.len());
        Ok(())
    }

    fn note(&mut self, step: &JudgedStep) -> Result<(), Box<dyn Error + Send + Sync>> {
        if self.room == Some(self.steps.len()) {
            return Err("no page is left".into());
        }
        self.steps.push(step.clone());
        Ok(())
    }
}
