//! Past steps as models that go on learning see them: a judge that returns numbers.

use quadcast_core::{Forecaster, ModelError, Rehearsal, Run, SelectionScore, Step};

use crate::asking::Questions;
use crate::evaluator::Period;
use crate::{Harmonic, Tally};

/// Judges on the steps before `now`.
pub(crate) struct Past<'a> {
    pub period: Period<'a>,
    pub now: Step,
    pub run: &'a Run,
}

impl Rehearsal for Past<'_> {
    fn play(&self, step: Step, model: &mut dyn Forecaster) -> Result<SelectionScore, ModelError> {
        if step >= self.now {
            return Ok(SelectionScore::default());
        }
        let Period { history, protocol, .. } = self.period;
        let questions = Questions::of(&history.facts().snapshot(step), protocol.duplicates);
        let ranked = self.period.ask(model, step, step, &questions)?;
        let harmonic = Harmonic::up_to(history.entities());
        let mut random = self.run.stream("rehearsal ties", u64::from(step.0));
        let mut tally = Tally::default();
        for query in &ranked {
            tally.add(query.ranks.time, protocol.ties, &harmonic, &mut random);
        }
        Ok(tally.selection())
    }
}
