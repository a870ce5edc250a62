//! The clocks of forecasting and completion: which facts a model may see when.

use std::collections::BTreeSet;

use quadcast_core::{
    DirectedRelation, Forecaster, Quad, Query, Run, ScoreError, ScoreRow, ScoreSink, Setting, Step,
};

use crate::EvalError;
use crate::asking::Questions;
use crate::evaluator::Period;
use crate::journal::{Journal, JudgedStep};
use crate::validation::Past;

/// Facts that are asked about in one go without a clock: enough to keep all threads busy, few enough to show progress.
const FACTS_AT_ONCE: usize = 4096;

impl Period<'_> {
    /// Plays all steps of the period and puts their results together.
    pub(crate) fn play_steps(
        &self,
        model: &mut dyn Forecaster,
        run: &Run,
        journal: &mut dyn Journal,
    ) -> Result<JudgedStep, EvalError> {
        let mut all = JudgedStep { ranked: Vec::new(), latest_read: None };
        let Some(first) = self.asked.first_step() else { return Ok(all) };
        // In the online setting the weights change from step to step and no journal holds them: it is left alone, and
        // all steps are played from the start.
        let online = self.protocol.setting == Setting::Online;
        let mut earlier = if online { Vec::new() } else { journal.judged() }.into_iter();
        let multi_step = self.protocol.setting == Setting::MultiStep;
        let mut met = BTreeSet::new();
        for step in self.asked.occupied() {
            run.check_cancelled()?;
            let questions = Questions::about(self.asked.snapshot(step).iter(), self.protocol.duplicates);
            let known = earlier.next().filter(|judged| questions.are_answered_by(&judged.ranked));
            let ceiling = if multi_step { first } else { step };
            let judged = if let Some(judged) = known {
                if multi_step {
                    self.remind(model, step, ceiling, &questions, &mut met)?;
                }
                judged
            } else {
                // Entries after a missing step belong to another evaluation.
                earlier = Vec::new().into_iter();
                if online {
                    let past = Past { period: *self, now: step, run };
                    model.learn(step, &self.history.before(ceiling), &past)?;
                }
                let ranked = self.ask(model, step, ceiling, &questions)?;
                let latest_read = all.latest_read.max(self.history.latest_read());
                let judged = JudgedStep { ranked, latest_read };
                if !online {
                    journal.note(&judged).map_err(EvalError::Journal)?;
                }
                judged
            };
            all.latest_read = judged.latest_read;
            all.ranked.extend(judged.ranked);
            // Also for a step that was judged earlier: the model may follow the truth.
            if !multi_step {
                model.observe(&self.history.facts().snapshot(step))?;
            }
            run.progress.advance(1);
        }
        Ok(all)
    }

    /// Completion has no clock: a model knows the training facts of all times. Asks everything, in the order of steps.
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
        // Facts of all times are known. Which of them were read would depend on whether the model was fitted in this process.
        Ok(JudgedStep { ranked, latest_read: self.history.facts().last_step() })
    }

    /// Asks the first question about each relation again and discards the scores. While the history does not change, a model may
    /// keep what it took from that question for all later steps: the published code of the recurrency baseline does so with its
    /// normaliser. Without it, later ranks would differ.
    fn remind(
        &self,
        model: &mut dyn Forecaster,
        step: Step,
        ceiling: Step,
        questions: &Questions,
        met: &mut BTreeSet<DirectedRelation>,
    ) -> Result<(), EvalError> {
        let first = |query: &Query| met.insert(query.directed(self.relations));
        let queries: Vec<Query> = questions.queries.iter().copied().filter(first).collect();
        if !queries.is_empty() {
            let history = self.history.before(ceiling);
            model.begin(step, &history)?;
            model.score(&history, &queries, &mut Discarded)?;
        }
        Ok(())
    }
}

/// Discards scores.
struct Discarded;

impl ScoreSink for Discarded {
    fn accept(&mut self, _: usize, _: ScoreRow<'_>) -> Result<(), ScoreError> {
        Ok(())
    }
}
