//! The loop, and where it stands, kept so that it can go on.
//!
//! Two things are kept per training: the state at a position, and the best state so far under the number of its epoch, with the
//! position after that epoch. A position knows which best state belongs to it, and that one is written first, so a kill between the
//! two writes leaves the older pair intact. If the later state is damaged, the training goes on from the best one; if that one is
//! damaged, it starts over. Both stay when the training is over: whoever keeps the trained model clears them, so
//! that a kill in between does not cost the training.

use std::time::{Duration, Instant};

use quadcast_core::{
    Capabilities, Forecaster, History, Leak, ModelError, Query, Run, SavedModel, ScoreSink, Setting, Step,
    Task, Validation, ValidationReport,
};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::schedule::{Order, Schedule};
use crate::capacity::check_training;

/// What learns batch by batch.
pub trait Learning: Send + Sync {
    /// How many numbers are trained.
    fn parameters(&self) -> usize;

    /// Batches of one epoch.
    fn batches(&self) -> usize;

    /// An epoch begins.
    fn begin_epoch(&mut self, _epoch: u32) -> Result<(), ModelError> {
        Ok(())
    }

    /// One step on one batch; returns the loss. Random draws must come from streams named by epoch and batch.
    fn step(&mut self, epoch: u32, batch: usize) -> Result<f64, ModelError>;

    /// Everything that training changes, optimiser included, exactly.
    fn state(&self) -> Result<Vec<u8>, ModelError>;

    /// Takes a state that `state` gave.
    fn restore(&mut self, state: &[u8]) -> Result<(), ModelError>;
}

/// A model that learns, and can be asked about facts between epochs.
pub trait Trainable: Learning {
    /// As [`Forecaster::begin`].
    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError>;

    /// As [`Forecaster::shown_queries`].
    fn shown_queries(&mut self, _leak: Leak, _queries: &[Query]) {}

    /// As [`Forecaster::score`].
    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError>;

    /// The number by which states are compared; higher is better.
    fn selection(&self, report: &ValidationReport) -> f64 {
        report.all.mrr
    }
}

/// How states are compared: a number, higher is better, and what it is called.
pub struct Judge<'a, M: ?Sized> {
    /// For people.
    pub name: &'a str,
    /// In notes: the field of the score; that of the best one is this behind `best_`.
    pub key: &'a str,
    /// Looks at the state that the model is in.
    pub look: &'a (dyn Fn(&mut M) -> Result<f64, ModelError> + Sync),
}

/// A model in training as the validation period asks it.
pub struct InTraining<'a>(pub &'a mut dyn Trainable);

impl Forecaster for InTraining<'_> {
    fn capabilities(&self) -> Capabilities {
        let settings = &[Setting::SingleStep, Setting::MultiStep, Setting::Online];
        Capabilities { random: true, ..Capabilities::new(Task::Forecasting, settings) }
    }

    fn fit(&mut self, _: &History<'_>, _: &dyn Validation, _: &Run) -> Result<(), ModelError> {
        Err(unfinished())
    }

    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        self.0.begin(step, history)
    }

    fn shown_queries(&mut self, leak: Leak, queries: &[Query]) {
        self.0.shown_queries(leak, queries);
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        self.0.score(history, queries, sink)
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        Err(unfinished())
    }

    fn load(&mut self, _: &SavedModel) -> Result<(), ModelError> {
        Err(unfinished())
    }
}

fn unfinished() -> ModelError {
    ModelError::Unsupported("a model in training can only be asked".to_owned())
}

/// One epoch as it went.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// From 1.
    pub epoch: u32,
    /// Mean loss of its batches.
    pub loss: f64,
    /// The score on validation, where it was taken.
    // Checkpoints have called it so since the only score was the MRR.
    #[serde(rename = "mrr")]
    pub score: Option<f64>,
    /// Seconds of training and validation.
    pub seconds: f64,
}

/// The field of a note on a finished training with the number of validations before it was last interrupted. The evaluator has not
/// seen these.
pub const VALIDATIONS_BEFORE: &str = "validations_before";

/// Why a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// All epochs are done.
    Epochs,
    /// No improvement for too long.
    Patience,
    /// The time budget is used up.
    TimeBudget,
}

/// A finished training.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Training {
    /// What happened, epoch by epoch.
    pub history: Vec<Epoch>,
    /// The epoch whose state was chosen on validation; 0 if nothing was validated.
    pub best_epoch: u32,
    /// Its score on validation.
    pub best_score: f64,
    /// Why it ended.
    pub ending: Ending,
    /// Seconds spent, interruptions not counted.
    pub seconds: f64,
}

/// [`learn`] with states compared by the MRR on validation, or what the model makes of the report.
pub fn train(
    model: &mut dyn Trainable,
    name: &str,
    schedule: &Schedule,
    validation: &dyn Validation,
    run: &Run,
) -> Result<Training, ModelError> {
    let look = |model: &mut (dyn Trainable + '_)| {
        let report = validation.play(&mut InTraining(model))?;
        Ok(model.selection(&report))
    };
    learn(model, name, schedule, Judge { name: "MRR", key: "mrr", look: &look }, run)
}

/// Trains a model and leaves it in the state that the judge likes best. `name` tells this training from others of the
/// same run (stages, directions). Called again after an interruption it goes on where it was, or, if it was over,
/// returns what it had.
pub fn learn<M: Learning + ?Sized>(
    model: &mut M,
    name: &str,
    schedule: &Schedule,
    judge: Judge<'_, M>,
    run: &Run,
) -> Result<Training, ModelError> {
    check_training(model.parameters())?;
    let identity = format!("{name}: {schedule:?}, {} batches", model.batches());
    let mut position = Position { training: identity.clone(), ..Position::default() };
    let mut before = 0;
    let kept = recall(run, name, &identity)?;
    let fits = |kept: &Position| kept.epoch <= schedule.epochs && kept.batch <= model.batches();
    if let Some((kept, state)) = kept.filter(|(kept, _)| fits(kept)) {
        model.restore(&state)?;
        let (epoch, batch) = (kept.epoch, kept.batch);
        run.checkpoints
            .log(&json!({ "event": "resumed", "training": name, "epoch": epoch, "batch": batch }))?;
        before = kept.history.iter().filter(|epoch| epoch.score.is_some()).count();
        position = kept;
    } else {
        run.checkpoints
            .log(&json!({ "event": "begun", "training": name, "parameters": model.parameters(),
            "batches": model.batches() }))?;
    }
    let batches = model.batches();
    run.progress.begin(name, u64::from(schedule.epochs) * batches as u64);
    run.progress.advance(u64::from(position.epoch) * batches as u64 + position.batch as u64);
    let since = Instant::now();
    let training = Loop {
        model,
        name,
        schedule,
        judge,
        run,
        position,
        best_state: None,
        since,
        kept: since,
        notes: Vec::new(),
        before,
    };
    // On a thread of the pool: a step consists of hundreds of short parallel parts, and another thread would have to wake
    // the pool up for each of them and then wait to be woken.
    let mut result = None;
    rayon::scope(|_| result = Some(training.play()));
    let result = result.unwrap_or_else(|| unreachable!("a scope ends after its closure"));
    run.progress.end();
    result
}

/// A position in a training, with everything that later decisions depend on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Position {
    /// Names the schedule and the batches: a checkpoint of another training is not used.
    training: String,
    /// Epochs that are done.
    epoch: u32,
    /// Batches of the current epoch that are done.
    batch: usize,
    /// Sum of the losses of those batches.
    loss_sum: f64,
    /// Seconds spent so far.
    seconds: f64,
    /// What happened, epoch by epoch.
    history: Vec<Epoch>,
}

impl Position {
    /// Whether a training can have been there: what a checksum does not show may contradict itself.
    fn is_possible(&self) -> bool {
        let numbered = self.history.iter().map(|epoch| epoch.epoch).eq(1..=self.epoch);
        numbered && self.history.iter().all(|epoch| epoch.seconds >= 0.0) && self.seconds >= 0.0
    }
}

/// The last position and state of this training that are usable. A position is, if the best state that it names can be read too.
fn recall(run: &Run, name: &str, training: &str) -> Result<Option<Kept>, ModelError> {
    if let Some(kept) = load(run, &position_name(name), training)? {
        let is_best = |epoch| (kept.0.epoch, kept.0.batch) == (epoch, 0);
        let usable = match best(&kept.0.history) {
            Some((epoch, _)) if !is_best(epoch) => load_best(run, name, epoch, training)?.is_some(),
            _ => true,
        };
        if usable {
            return Ok(Some(kept));
        }
    }
    let mut epochs: Vec<u32> = best_epochs(run, name)?;
    epochs.sort_unstable();
    for epoch in epochs.into_iter().rev() {
        if let Some(kept) = load_best(run, name, epoch, training)? {
            return Ok(Some(kept));
        }
    }
    Ok(None)
}

/// A position and the state there.
type Kept = (Position, Vec<u8>);

/// A position and a state that were kept under a name, if they are of this training.
fn load(run: &Run, kept: &str, training: &str) -> Result<Option<Kept>, ModelError> {
    let Some(bytes) = run.checkpoints.load(kept)? else { return Ok(None) };
    let parts = bytes.split_first_chunk::<8>().and_then(|(length, rest)| {
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        rest.split_at_checked(length)
    });
    let Some((head, state)) = parts else { return Ok(None) };
    let position = serde_json::from_slice::<Position>(head).ok();
    let position = position.filter(|found| found.training == training && found.is_possible());
    Ok(position.map(|position| (position, state.to_vec())))
}

/// The same of the best state, if it is the one after this epoch.
fn load_best(run: &Run, name: &str, epoch: u32, training: &str) -> Result<Option<Kept>, ModelError> {
    let kept = load(run, &best_name(name, epoch), training)?;
    Ok(kept.filter(|(position, _)| (position.epoch, position.batch) == (epoch, 0)))
}

/// The epochs whose states are kept as the best ones: one, or two after a kill.
fn best_epochs(run: &Run, name: &str) -> Result<Vec<u32>, ModelError> {
    let prefix = format!("{name}-best-");
    let names = run.checkpoints.names()?;
    Ok(names.iter().filter_map(|name| name.strip_prefix(&prefix)?.parse().ok()).collect())
}

/// The name of the best state so far.
fn best_name(name: &str, epoch: u32) -> String {
    format!("{name}-best-{epoch}")
}

fn position_name(name: &str) -> String {
    format!("{name}-position")
}

/// The best epoch so far and its score; of equal scores the first, so that patience ends a training that only keeps its level.
fn best(history: &[Epoch]) -> Option<(u32, f64)> {
    let scored = history.iter().filter_map(|epoch| Some((epoch.epoch, epoch.score?)));
    scored.fold(None, |best, (epoch, score)| match best {
        Some((_, highest)) if score > highest => Some((epoch, score)),
        Some(_) => best,
        None => Some((epoch, score)),
    })
}

/// A state is not kept again before this time is over unless it is the best: many epochs are shorter than it takes to write
/// a state, and would spend their time on that.
const SOON: Duration = Duration::from_secs(5);

struct Loop<'a, M: ?Sized> {
    model: &'a mut M,
    name: &'a str,
    schedule: &'a Schedule,
    judge: Judge<'a, M>,
    run: &'a Run,
    position: Position,
    /// The state after the best epoch so far, if the checkpoints do not hold it: it is as large as the model.
    best_state: Option<Vec<u8>>,
    /// When `position.seconds` was last brought up to date.
    since: Instant,
    /// When a state was last kept.
    kept: Instant,
    /// Epochs since then. They are noted once they need not be repeated, and thus once.
    notes: Vec<serde_json::Value>,
    /// Validations before an interruption.
    before: usize,
}

impl<M: Learning + ?Sized> Loop<'_, M> {
    fn play(mut self) -> Result<Training, ModelError> {
        let ending = loop {
            if self.position.epoch >= self.schedule.epochs {
                break Ending::Epochs;
            }
            if self.is_out_of_patience() {
                break Ending::Patience;
            }
            if !self.epoch()? {
                break Ending::TimeBudget;
            }
        };
        self.finish(ending)
    }

    /// Brings the time spent up to date.
    fn tick(&mut self) {
        let now = Instant::now();
        self.position.seconds += now.duration_since(self.since).as_secs_f64();
        self.since = now;
    }

    fn is_out_of_time(&mut self) -> bool {
        self.tick();
        self.run.time_budget.is_some_and(|budget| self.position.seconds >= budget.as_secs_f64())
    }

    /// Whether the last validations brought nothing better.
    fn is_out_of_patience(&self) -> bool {
        let (Some(patience), Some((best, _))) = (self.schedule.patience, best(&self.position.history)) else {
            return false;
        };
        let since = self.position.history.iter().filter(|epoch| epoch.epoch > best && epoch.score.is_some());
        since.count() as u32 >= patience
    }

    fn keep(&mut self) -> Result<(), ModelError> {
        let state = self.model.state()?;
        self.keep_state(&state)
    }

    /// Saves a state that the model is in under a name: the length of the position, the position, the state.
    fn save(&self, kept: &str, state: &[u8]) -> Result<(), ModelError> {
        let position = serde_json::to_vec(&self.position);
        let position = position.map_err(|error| ModelError::Checkpoint(error.to_string()))?;
        let length = (position.len() as u64).to_le_bytes();
        self.run.checkpoints.save(kept, &[&length, &position, state])
    }

    fn keep_state(&mut self, state: &[u8]) -> Result<(), ModelError> {
        self.tick();
        self.save(&position_name(self.name), state)?;
        self.kept = Instant::now();
        self.notes.drain(..).try_for_each(|note| self.run.checkpoints.log(&note))
    }

    /// One epoch, or what is left of it. Returns whether it came to its end within the time budget.
    fn epoch(&mut self) -> Result<bool, ModelError> {
        let epoch = self.position.epoch + 1;
        let mut order: Vec<usize> = (0..self.model.batches()).collect();
        if self.schedule.order == Order::Shuffled {
            order.shuffle(&mut self.run.stream(&format!("{} order", self.name), u64::from(epoch)));
        }
        self.model.begin_epoch(epoch)?;
        for &batch in &order[self.position.batch..] {
            // The first epoch always comes to its end: a model that never was validated is no result.
            if self.position.epoch > 0 && self.is_out_of_time() {
                return Ok(false);
            }
            if self.run.cancellation.is_cancelled() {
                self.keep()?;
                return Err(ModelError::Cancelled);
            }
            let loss = self.model.step(epoch, batch)?;
            if !loss.is_finite() {
                return Err(ModelError::Training(format!(
                    "the loss became {loss} in epoch {epoch}, batch {batch}; a smaller learning rate often helps"
                )));
            }
            self.position.loss_sum += loss;
            self.position.batch += 1;
            self.run.progress.advance(1);
            if self.kept.elapsed() >= self.schedule.keep_every {
                self.keep()?;
            }
        }
        self.end_epoch(epoch)?;
        Ok(true)
    }

    fn end_epoch(&mut self, epoch: u32) -> Result<(), ModelError> {
        let loss = self.position.loss_sum / self.position.batch.max(1) as f64;
        let looks = self.schedule.looks_after(epoch);
        let begun = Instant::now();
        let score = if looks { Some((self.judge.look)(self.model)?) } else { None };
        let validation = begun.elapsed().as_secs_f64();
        self.tick();
        let before: f64 = self.position.history.iter().map(|epoch| epoch.seconds).sum();
        let this = Epoch { epoch, loss, score, seconds: self.position.seconds - before };
        let older = best(&self.position.history);
        self.position.history.push(this);
        (self.position.epoch, self.position.batch, self.position.loss_sum) = (epoch, 0, 0.0);
        let newer = best(&self.position.history);
        let Judge { name, key, .. } = self.judge;
        self.notes.push(
            json!({ "event": "epoch", "training": self.name, "epoch": epoch, "loss": loss, key: score,
            "seconds": this.seconds, "validation_seconds": validation, "best_epoch": newer.map(|(epoch, _)| epoch) }),
        );
        if newer != older
            && let Some((best, _)) = newer
        {
            // Before the position that names it, and the older one after: a kill in between loses nothing.
            self.best_state = None;
            let state = self.model.state()?;
            self.save(&best_name(self.name, best), &state)?;
            self.keep_state(&state)?;
            let is_held = best_epochs(self.run, self.name)?.contains(&best);
            self.best_state = (!is_held).then_some(state);
        } else if self.kept.elapsed() >= SOON.min(self.schedule.keep_every) {
            self.keep()?;
        }
        if newer != older
            && let Some((old, _)) = older
        {
            self.run.checkpoints.remove(&best_name(self.name, old))?;
        }
        let best =
            newer.map_or_else(String::new, |(_, best)| format!(", validation {name} {:.2}", 100.0 * best));
        self.run.progress.note(&format!("epoch {epoch}, loss {loss:.4}{best}"));
        Ok(())
    }

    /// Leaves the model in its best state.
    fn finish(mut self, ending: Ending) -> Result<Training, ModelError> {
        self.tick();
        // A larger budget goes on from here, and what is over is not repeated.
        if ending == Ending::TimeBudget || !self.notes.is_empty() {
            self.keep()?;
        }
        let history = std::mem::take(&mut self.position.history);
        let chosen = best(&history);
        let (best_epoch, best_score) = chosen.unwrap_or_default();
        // Right after its best epoch a model is in its best state.
        if best_epoch > 0 && (self.position.epoch, self.position.batch) != (best_epoch, 0) {
            let state = match self.best_state.take() {
                Some(state) => Some(state),
                None => load_best(self.run, self.name, best_epoch, &self.position.training)?
                    .map(|(_, state)| state),
            };
            let gone = || {
                ModelError::Checkpoint(format!("the state after epoch {best_epoch} is gone; start afresh"))
            };
            self.model.restore(&state.ok_or_else(gone)?)?;
        }
        // A kill may have left best states of earlier epochs behind.
        for epoch in best_epochs(self.run, self.name)?.into_iter().filter(|&epoch| epoch != best_epoch) {
            self.run.checkpoints.remove(&best_name(self.name, epoch))?;
        }
        let seconds = self.position.seconds;
        let training = Training { history, best_epoch, best_score, ending, seconds };
        self.run.checkpoints.log(&json!({ "event": "trained", "training": self.name, "ending": ending,
            "epochs": training.history.len(), "best_epoch": chosen.map(|(epoch, _)| epoch),
            (format!("best_{}", self.judge.key)): chosen.map(|(_, score)| score),
            "seconds": seconds, VALIDATIONS_BEFORE: self.before }))?;
        Ok(training)
    }
}
