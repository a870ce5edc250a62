//! The loop on a model that is small enough to follow by hand.

use std::sync::Arc;
use std::time::Duration;

use quadcast_core::{
    Calendar, Forecaster, History, HistoryIndex, LinkScore, ModelError, Query, Run, ScoreRow, ScoreSink,
    Step, TimeAxis, Validation, ValidationReport, stream,
};
use quadcast_models::training::{
    Ending, InTraining, Judge, Learning, Order, Schedule, Trainable, Training, learn, train,
};
use quadcast_testing::{Collected, MemoryCheckpoints};
use rand::Rng;

/// A number that every batch moves a little, and the sum of all moves.
#[derive(Clone, Debug, PartialEq)]
struct Walker {
    place: f64,
    moves: f64,
    /// The batch whose loss is not a number, if any.
    breaks_at: Option<(u32, usize)>,
}

impl Walker {
    fn new() -> Self {
        Self { place: 0.0, moves: 0.0, breaks_at: None }
    }
}

impl Trainable for Walker {
    fn begin(&mut self, _: Step, _: &History<'_>) -> Result<(), ModelError> {
        Ok(())
    }

    fn score(&self, _: &History<'_>, _: &[Query], sink: &mut dyn ScoreSink) -> Result<(), ModelError> {
        Ok(sink.accept(0, ScoreRow::Dense(&[self.place as f32]))?)
    }
}

impl Learning for Walker {
    fn parameters(&self) -> usize {
        2
    }

    fn batches(&self) -> usize {
        5
    }

    fn step(&mut self, epoch: u32, batch: usize) -> Result<f64, ModelError> {
        if self.breaks_at == Some((epoch, batch)) {
            return Ok(f64::NAN);
        }
        let by: f64 = stream(1, "walk", 100 * u64::from(epoch) + batch as u64).random();
        // The order of batches matters, so a wrong order would show.
        self.place = 0.9 * self.place + by;
        self.moves += by;
        Ok(by)
    }

    fn state(&self) -> Result<Vec<u8>, ModelError> {
        Ok([self.place.to_le_bytes(), self.moves.to_le_bytes()].concat())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), ModelError> {
        let number = |i: usize| f64::from_le_bytes(state[8 * i..8 * i + 8].try_into().expect("eight bytes"));
        (self.place, self.moves) = (number(0), number(1));
        Ok(())
    }
}

/// Scores that depend on the model's state alone.
struct Jury;

impl Validation for Jury {
    fn steps(&self) -> u64 {
        1
    }

    fn play(&self, model: &mut dyn Forecaster) -> Result<ValidationReport, ModelError> {
        let index = HistoryIndex::new(&TimeAxis::new(vec![0], Calendar::years_from(2000)), 1, 1, &[]);
        let mut place = Collected::new(1).dense();
        model.score(&index.before(Step(0)), &[], &mut place)?;
        let all = LinkScore { queries: 1, mrr: (10.0 * place.row(0)[0]).sin().abs(), ..LinkScore::default() };
        Ok(ValidationReport { all, by_relation: Vec::new() })
    }
}

/// A checkpoints whose removals count as operations too.
fn checkpoints() -> Arc<MemoryCheckpoints> {
    Arc::new(MemoryCheckpoints::counting_removals())
}

fn schedule() -> Schedule {
    Schedule { epochs: 12, keep_every: Duration::ZERO, ..Schedule::default() }
}

fn play(
    schedule: &Schedule,
    checkpoints: &Arc<MemoryCheckpoints>,
    budget: Option<Duration>,
) -> Result<(Walker, Training), ModelError> {
    let run = Run { checkpoints: checkpoints.clone(), time_budget: budget, ..Run::silent(3) };
    let mut model = Walker::new();
    let training = train(&mut model, "walk", schedule, &Jury, &run)?;
    Ok((model, training))
}

/// All but the times.
fn timeless(mut training: Training) -> Training {
    training.seconds = 0.0;
    for epoch in &mut training.history {
        epoch.seconds = 0.0;
    }
    training
}

#[test]
fn a_training_that_is_killed_anywhere_ends_as_if_it_had_not_been() {
    let schedule = schedule();
    let (model, training) = play(&schedule, &Arc::default(), None).expect("no trouble");
    let training = timeless(training);
    for survives in 1..40 {
        let checkpoints = checkpoints();
        // Each try gets one batch further; the end of an epoch needs a few operations at once.
        let tries = (0..100).map(|_| Some(survives)).chain([None]);
        let (again, resumed) = tries
            .map(|left| {
                checkpoints.allow(left);
                play(&schedule, &checkpoints, None)
            })
            .find_map(|result| match result {
                Ok(done) => Some(done),
                Err(error) => {
                    assert_eq!(error.to_string(), "cannot write or read a checkpoint: killed");
                    None
                }
            })
            .expect("the last try is not killed");
        assert_eq!(again, model, "killed after every {survives} operations");
        assert_eq!(timeless(resumed), training);
        checkpoints.allow(None);
        let kept: Vec<String> = checkpoints.kept().keys().cloned().collect();
        assert_eq!(kept, [format!("walk-best-{}", training.best_epoch), "walk-position".to_owned()]);
        let (after, _) = play(&schedule, &checkpoints, None).expect("no trouble");
        assert_eq!(after, model, "asked again, a finished training is what it was");
    }
}

#[test]
fn the_best_state_is_kept_without_checkpoints_too() {
    let run = Run::silent(3);
    let mut model = Walker::new();
    let training = train(&mut model, "walk", &schedule(), &Jury, &run).expect("no trouble");
    let best = training.history.iter().filter_map(|epoch| epoch.score).fold(0.0, f64::max);
    assert_eq!(training.best_score, best);
    assert_eq!(Jury.play(&mut InTraining(&mut model)).expect("no trouble").all.mrr, best);
    assert_eq!(training.ending, Ending::Epochs);
}

#[test]
fn a_best_state_that_is_gone_is_learned_again() {
    let (schedule, checkpoints) = (schedule(), checkpoints());
    let (model, training) = play(&schedule, &checkpoints, None).expect("no trouble");
    assert!(training.best_epoch < schedule.epochs, "the last state is another one");
    checkpoints.kept().remove(&format!("walk-best-{}", training.best_epoch));
    let (again, repeated) = play(&schedule, &checkpoints, None).expect("no trouble");
    assert_eq!(
        (again, timeless(repeated)),
        (model, timeless(training)),
        "the last state is not taken for the best"
    );
}

#[test]
fn patience_counts_validations() {
    let schedule = Schedule { epochs: 1000, patience: Some(3), ..schedule() };
    let (_, training) = play(&schedule, &Arc::default(), None).expect("no trouble");
    assert_eq!(training.ending, Ending::Patience);
    assert_eq!(training.history.len() as u32, training.best_epoch + 3);
}

#[test]
fn a_time_budget_ends_after_the_first_epoch_and_a_larger_one_goes_on() {
    let schedule = schedule();
    let checkpoints = checkpoints();
    let (_, short) = play(&schedule, &checkpoints, Some(Duration::ZERO)).expect("no trouble");
    assert_eq!((short.ending, short.history.len(), short.best_epoch), (Ending::TimeBudget, 1, 1));
    let (model, long) = play(&schedule, &checkpoints, None).expect("no trouble");
    let (expected, whole) = play(&schedule, &Arc::default(), None).expect("no trouble");
    assert_eq!((model, timeless(long)), (expected, timeless(whole)));
    let resumed = |event: &serde_json::Value| event["event"] == "resumed";
    assert_eq!(checkpoints.notes().iter().filter(|event| resumed(event)).count(), 1);
}

#[test]
fn another_schedule_starts_afresh() {
    let checkpoints = checkpoints();
    play(&schedule(), &checkpoints, Some(Duration::ZERO)).expect("no trouble");
    let other = Schedule { order: Order::Fixed, ..schedule() };
    let (model, _) = play(&other, &checkpoints, None).expect("no trouble");
    let (expected, _) = play(&other, &Arc::default(), None).expect("no trouble");
    assert_eq!(model, expected);
}

#[test]
fn a_loss_that_is_not_a_number_says_where_and_what_to_do() {
    let mut model = Walker { breaks_at: Some((2, 3)), ..Walker::new() };
    let error = train(&mut model, "walk", &schedule(), &Jury, &Run::silent(3)).expect_err("it breaks");
    let text = error.to_string();
    assert!(text.contains("NaN in epoch 2, batch 3") && text.contains("learning rate"), "{text}");
}

#[test]
fn another_score_is_noted_under_its_own_name() {
    let checkpoints = checkpoints();
    let run = Run { checkpoints: checkpoints.clone(), ..Run::silent(3) };
    let look = |walker: &mut Walker| Ok(walker.place.sin().abs());
    let judge = Judge { name: "H@10", key: "hits@10", look: &look };
    let mut model = Walker::new();
    let training = learn(&mut model, "walk", &schedule(), judge, &run).expect("no trouble");
    assert_eq!(model.place.sin().abs(), training.best_score, "the best state is the one it is left in");
    let notes = checkpoints.notes();
    let epochs: Vec<_> = notes.iter().filter(|note| note["event"] == "epoch").collect();
    assert_eq!(epochs.len(), 12);
    assert!(epochs.iter().all(|note| note["hits@10"].is_f64() && note.get("mrr").is_none()), "{epochs:?}");
    let last = notes.last().expect("a note");
    assert_eq!(
        (&last["event"], last["best_hits@10"].as_f64()),
        (&"trained".into(), Some(training.best_score))
    );
}

#[test]
fn notes_and_checkpoints_call_the_mrr_what_they_always_did() {
    let checkpoints = checkpoints();
    play(&schedule(), &checkpoints, None).expect("no trouble");
    let notes = checkpoints.notes();
    let epoch = notes.iter().find(|note| note["event"] == "epoch").expect("an epoch");
    assert!(epoch["mrr"].is_f64());
    assert!(notes.last().expect("a note")["best_mrr"].is_f64());
    let kept = checkpoints.kept();
    let position = String::from_utf8_lossy(&kept["walk-position"]).into_owned();
    assert!(position.contains("\"mrr\":"), "{position}");
}
