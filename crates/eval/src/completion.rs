//! Completion: the same questions, filters and ranks as in forecasting, and no clock.
//!
//! A model knows the training facts of all times, and is asked about facts of any time. Filters know all splits, also
//! when models are judged for selection: they remove true answers and never reach a model.

use quadcast_core::{Dataset, Forecaster, HistoryIndex, Protocol, Quad, Run, Step, ValidationUse};

use crate::EvalError;
use crate::clock::{Fitted, Judged, Period, index};
use crate::journal::JudgedStep;
use crate::questions::{Depth, Questions};
use crate::validation::ValidationPeriod;

/// Facts that are asked about in one go: enough to keep all threads busy, few enough to tell how far it is.
const FACTS_AT_ONCE: usize = 4096;

/// Fits a model on the training facts; the validation facts judge candidates.
pub(crate) fn fit(
    dataset: &Dataset,
    protocol: &Protocol,
    model: &mut dyn Forecaster,
    run: &Run,
) -> Result<Fitted, EvalError> {
    let splits = &dataset.splits;
    let known = index(dataset, &[&splits.train]);
    let all = index(dataset, &[&splits.train, &splits.valid, &splits.test, &dataset.beyond]);
    let period = Period {
        history: &known,
        truth: &all,
        asked: &splits.valid,
        relations: dataset.relations(),
        protocol,
        depth: Depth::Selection,
    };
    let validation = ValidationPeriod::new(period, run);
    model.fit(&known.whole(), &validation, run)?;
    Ok(Fitted { plays: validation.plays() })
}

/// Judges a fitted model on the test facts.
pub(crate) fn judge(
    dataset: &Dataset,
    protocol: &Protocol,
    model: &mut dyn Forecaster,
    run: &Run,
) -> Result<Judged, EvalError> {
    let splits = &dataset.splits;
    let known = known(dataset, protocol);
    let all = index(dataset, &[&splits.train, &splits.valid, &splits.test, &dataset.beyond]);
    let period = Period {
        history: &known,
        truth: &all,
        asked: &splits.test,
        relations: dataset.relations(),
        protocol,
        depth: Depth::Full,
    };
    run.progress.begin("test", splits.test.len() as u64);
    let played = period.play_at_once(model, run);
    run.progress.end();
    let JudgedStep { ranked, latest_read } = played?;
    let repeated = 2 * splits.test.len() - ranked.len();
    Ok(Judged { ranked, repeated, latest_read })
}

/// What a model knows when it is asked about test facts.
pub(crate) fn known(dataset: &Dataset, protocol: &Protocol) -> HistoryIndex {
    let splits = &dataset.splits;
    match protocol.validation {
        ValidationUse::Withheld => index(dataset, &[&splits.train]),
        ValidationUse::Observed => index(dataset, &[&splits.train, &splits.valid]),
    }
}

impl Period<'_> {
    /// Asks everything, in the order of steps.
    pub(crate) fn play_at_once(
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
