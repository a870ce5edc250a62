//! Judges that models see while they learn: they return numbers, never facts.

use std::sync::atomic::{AtomicU64, Ordering};

use quadcast_core::{
    Forecaster, Leak, LinkScore, ModelError, Rehearsal, Run, Setting, Step, Validation, ValidationReport,
};

use crate::asking::Questions;
use crate::evaluator::Period;
use crate::journal::Forgetful;
use crate::{Harmonic, Tally};

/// Judges candidate models on the validation split, with filters that know train and valid only.
pub(crate) struct ValidationPeriod<'a> {
    pub period: Period<'a>,
    pub run: &'a Run,
    /// How often a model was judged.
    pub plays: AtomicU64,
}

impl Validation for ValidationPeriod<'_> {
    fn steps(&self) -> u64 {
        self.period.asked.occupied().count() as u64
    }

    fn play(&self, model: &mut dyn Forecaster) -> Result<ValidationReport, ModelError> {
        self.plays.fetch_add(1, Ordering::Relaxed);
        let relations = self.period.relations;
        let played = self.period.play(model, self.run, &mut Forgetful)?;
        let harmonic = Harmonic::up_to(self.period.history.entities());
        let ties = self.period.protocol.ties;
        let mut random = self.run.stream("validation ties", 0);
        let mut all = Tally::default();
        let mut by_relation = vec![Tally::default(); 2 * relations];
        for query in &played.ranked {
            let tally = &mut by_relation[query.query.directed(relations).index()];
            tally.add(query.ranks.time, ties, &harmonic, &mut random);
        }
        for tally in &by_relation {
            all.merge(tally);
        }
        let by_relation = by_relation.iter().map(Tally::selection).collect();
        Ok(ValidationReport { all: all.selection(), by_relation })
    }

    fn at_once(&self) -> bool {
        self.period.protocol.setting == Setting::MultiStep
    }

    fn leak(&self) -> Option<Leak> {
        self.period.protocol.leak
    }
}

/// Judges on the steps before `now`.
pub(crate) struct Past<'a> {
    pub period: Period<'a>,
    pub now: Step,
    pub run: &'a Run,
}

impl Rehearsal for Past<'_> {
    fn play(&self, step: Step, model: &mut dyn Forecaster) -> Result<LinkScore, ModelError> {
        if step >= self.now {
            return Ok(LinkScore::default());
        }
        let Period { history, protocol, .. } = self.period;
        let questions = Questions::about(history.facts().snapshot(step).iter(), protocol.duplicates);
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
