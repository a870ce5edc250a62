//! Online updates, step by step.

use quadcast_core::{History, ModelError, Rehearsal, Step};

use super::network::{Anchor, Network};
use super::{Config, Trained};
use crate::blocks::Parameters;
use crate::forecast::snapshot_network::{EncodedHistory, Trainer};
use crate::forecast::snapshots::{SnapshotCache, StepQuestions, last_steps};
use crate::training::InTraining;

/// A network that is updated at every step after training.
pub(super) struct OnlineNetwork {
    pub network: Network,
    /// The target of the pull: the parameters after the last epoch of the step before.
    anchor: Anchor,
    /// The last step that it was prepared for.
    ready_for: Option<Step>,
}

impl OnlineNetwork {
    /// Starts from the trained network.
    pub fn new(trained: &Network, config: &Config) -> Result<Self, ModelError> {
        let mut network = Network::outline(trained.shape, config);
        network.learned.load_bytes(&trained.learned.to_bytes()?)?;
        // One optimiser for all steps, without decay.
        network.restart_optimiser(config.online_rate, 0.0, config);
        let anchor = network.anchor(config.online_pull);
        Ok(Self { network, anchor, ready_for: None })
    }

    /// Whether a step is later than all that the network has learned from.
    pub fn can_advance_to(&self, step: Step) -> bool {
        self.ready_for.is_some_and(|ready| ready < step)
    }

    /// Learns from every known step after the last one, or after training, and prepares for `step`.
    pub fn advance_to(
        self,
        step: Step,
        history: &History<'_>,
        rehearsal: &dyn Rehearsal,
        config: &Config,
        trained: &Trained,
        seed: u64,
    ) -> Result<Self, ModelError> {
        let Self { network, mut anchor, ready_for } = self;
        let mut trainer = Trainer {
            history: *history,
            seed,
            purpose: "cen online dropout".to_owned(),
            network,
            length: trained.length,
            cache: SnapshotCache::default(),
            targets: Vec::new(),
            encoded: EncodedHistory::default(),
        };
        let from = ready_for.map_or(trained.until, |ready| Step(ready.0 + 1));
        let known = history.snapshots_from(from).filter(|snapshot| !snapshot.is_empty());
        let steps: Vec<Step> = known.map(|snapshot| snapshot.step).filter(|&known| known < step).collect();
        for next in steps.into_iter().chain([step]) {
            anchor = prepare_for(&mut trainer, anchor, next, rehearsal, config)?;
        }
        Ok(Self { network: trainer.network, anchor, ready_for: Some(step) })
    }
}

/// Learns from the step before `next` and validates on the one before that. Returns the anchor of the following step.
fn prepare_for(
    trainer: &mut Trainer<'_, Network>,
    anchor: Anchor,
    next: Step,
    rehearsal: &dyn Rehearsal,
    config: &Config,
) -> Result<Anchor, ModelError> {
    let earlier = trainer.history.until(next)?;
    let [Some(latest), Some(validation)] = ({
        let mut steps = last_steps(&earlier, 2);
        [steps.next(), steps.next()]
    }) else {
        return Ok(anchor);
    };
    let window = trainer.cache.last(&earlier.until(latest)?, latest, trainer.length);
    let asked = StepQuestions::missing_entities(&trainer.history, latest)?;
    let rehearse = |trainer: &mut Trainer<'_, Network>| -> Result<f64, ModelError> {
        trainer.encoded.invalidate();
        Ok(rehearsal.play(validation, &mut InTraining(trainer))?.mrr)
    };
    let before = trainer.network.learned.parameters.frozen();
    let mut best = rehearse(trainer)?;
    let mut kept: Option<Parameters> = None;
    for epoch in 0..config.online_epochs {
        let index = u64::from(next.0) << 32 | u64::from(epoch);
        let mut random = quadcast_core::stream(trainer.seed, &trainer.purpose, index);
        trainer.network.step(&window.snapshots, &asked, Some(&anchor), &mut random);
        let mrr = rehearse(trainer)?;
        if mrr >= best {
            best = mrr;
            kept = Some(trainer.network.learned.parameters.frozen());
        } else if kept.is_none() {
            // One more attempt from the state before.
            trainer.network.learned.parameters.restore(&before);
            kept = Some(trainer.network.learned.parameters.frozen());
        } else {
            break;
        }
    }
    // As in the published code: taken before returning to the best epoch.
    let anchor = trainer.network.anchor(config.online_pull);
    if let Some(kept) = kept {
        trainer.network.learned.parameters.restore(&kept);
    }
    trainer.encoded.invalidate();
    Ok(anchor)
}
