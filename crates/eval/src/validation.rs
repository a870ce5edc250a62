//! The validation period as models see it: a judge that returns numbers, never facts.

use std::sync::atomic::{AtomicU64, Ordering};

use quadcast_core::{Forecaster, ModelError, Run, Validation, ValidationReport};

use crate::evaluator::Period;
use crate::journal::Forgetful;
use crate::{Harmonic, Tally};

/// Judges candidate models on the validation split, with filters that know train and valid only.
pub(crate) struct ValidationPeriod<'a> {
    period: Period<'a>,
    run: &'a Run,
    plays: AtomicU64,
}

impl<'a> ValidationPeriod<'a> {
    pub fn new(period: Period<'a>, run: &'a Run) -> Self {
        Self { period, run, plays: AtomicU64::new(0) }
    }

    /// How often a model was judged.
    pub fn plays(&self) -> u64 {
        self.plays.load(Ordering::Relaxed)
    }
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
}
