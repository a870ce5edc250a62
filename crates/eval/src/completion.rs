//! Completion: the same questions, filters and ranks as in forecasting, and no clock. A model knows the training facts of all
//! times and is asked about facts of any time.

use quadcast_core::{Forecaster, Quad, Run, Step};

use crate::EvalError;
use crate::asking::Questions;
use crate::evaluator::Period;
use crate::journal::JudgedStep;

/// Facts that are asked about in one go: enough to keep all threads busy, few enough to show progress.
const FACTS_AT_ONCE: usize = 4096;

impl Period<'_> {
    /// Asks everything, in the order of steps.
    pub(crate) fn play_without_clock(
        &self,
        model: &mut dyn Forecaster,
        run: &Run,
    ) -> Result<JudgedStep, EvalError> {
        let history = self.history.whole();
        model.begin(Step(0), &history)?;
        let facts: Vec<Quad> = self.asked.iter().collect();
        let mut ranked = Vec::with_capacity(2 * facts.len());
        let mut rest = &facts[..];
        while !rest.is_empty() {
            run.check_cancelled()?;
            // Facts of one step stay together: they may share a question.
            let last = rest[FACTS_AT_ONCE.min(rest.len()) - 1].step;
            let (now, later) = rest.split_at(rest.partition_point(|fact| fact.step <= last));
            let questions = Questions::about(now.iter().copied(), self.protocol.duplicates);
            ranked.extend(self.ask_prepared(&*model, &history, &questions)?);
            run.progress.advance(now.len() as u64);
            rest = later;
        }
        Ok(JudgedStep { ranked, latest_read: self.history.latest_read() })
    }
}
