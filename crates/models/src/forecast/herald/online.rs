//! Weights that go on learning in the online setting: one pass over the questions of every step, once its facts are known.

use quadcast_core::{History, ModelError, Step};
use rand::seq::SliceRandom;

use super::Herald;
use super::network::Weights;
use super::training::{Adam, learn_from, questions};

/// Weights after training. They belong to an evaluation, not to the model: they are not saved.
pub(super) struct Online {
    pub weights: Weights,
    optimiser: Adam,
    /// The step that they were last prepared for.
    pub ready_for: Step,
    /// Whether that is the step at hand.
    pub in_use: bool,
    /// The first step that they did not learn from.
    next: Step,
}

impl Online {
    fn new(herald: &Herald) -> Result<Self, ModelError> {
        let learned = herald.learned()?;
        let weights = learned.weights.clone();
        let optimiser = Adam::new(weights.values.len(), learned.tables.relations);
        let next = learned.until;
        Ok(Self { weights, optimiser, ready_for: next, in_use: true, next })
    }
}

/// Learns from all known steps that are new, in time order, each with the facts before it counted. A step that is no later than the
/// last one begins a new evaluation, which starts from the weights that training left.
pub(super) fn learn(herald: &mut Herald, step: Step, history: &History<'_>) -> Result<(), ModelError> {
    let seed = herald.learned()?.seed;
    let mut online = match herald.online.take().filter(|online| online.ready_for < step) {
        Some(online) => online,
        None => Online::new(herald)?,
    };
    (online.ready_for, online.in_use) = (step, true);
    let from = std::mem::replace(&mut online.next, history.ceiling());
    let mut optimiser = std::mem::take(&mut online.optimiser);
    herald.online = Some(online);
    let rate = herald.config.online_rate;
    let occupied = history.snapshots_from(from).filter(|snapshot| !snapshot.is_empty());
    for known in occupied.map(|snapshot| snapshot.step) {
        herald.begin_at(known, &history.until(known)?);
        let mut asked = questions(history, known)?;
        asked.shuffle(&mut quadcast_core::stream(seed, "herald online order", u64::from(known.0)));
        learn_from(herald, &mut optimiser, &asked, rate)?;
    }
    if let Some(online) = &mut herald.online {
        online.optimiser = optimiser;
    }
    Ok(())
}
