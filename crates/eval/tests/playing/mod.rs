//! What the tests of evolving graphs play.

use std::error::Error;

use quadcast_core::{EvolvingDataset, EvolvingModel, Procedure, Protocol, Run};
use quadcast_eval::evolving::{self, EvolvingOutcome, Playing, StepExamples};
use quadcast_eval::{EvalError, Forgetful, Journal, JudgedStep};

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
pub fn play(
    game: &Playing<'_>,
    model: &mut dyn EvolvingModel,
    run: &Run,
) -> Result<EvolvingOutcome, EvalError> {
    evolving::play(game, model, run, &mut Forgetful).map(|played| played.outcome)
}

/// A journal in memory.
#[derive(Default)]
#[allow(dead_code, reason = "not every test resumes")]
pub struct MemoryJournal(pub Vec<JudgedStep>);

impl Journal for MemoryJournal {
    fn judged(&mut self) -> Vec<JudgedStep> {
        self.0.clone()
    }

    fn keep_first(&mut self, steps: usize) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.0.truncate(steps);
        Ok(())
    }

    fn note(&mut self, step: &JudgedStep) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.0.push(step.clone());
        Ok(())
    }
}
