//! Going on to learn, step by step.

use quadcast_core::{History, ModelError, Rehearsal, Step};
use quadcast_train::InTraining;

use super::network::{Anchor, Network};
use super::settings::Config;
use crate::blocks::Parameters;
use crate::forecast::asked::Asked;
use crate::forecast::reader::Reader;
use crate::forecast::snapshots::{Arrangements, last_steps};
use crate::forecast::trainer::Trainer;

/// A network on its way through the steps after training.
pub(super) struct Tuned {
    network: Network,
    /// Where the pull leads back to: the parameters after the last epoch of the step before.
    anchor: Anchor,
    /// The last step that it was made ready for.
    ready_for: Option<Step>,
}

impl Tuned {
    /// Begins with what training left.
    pub fn new(trained: &Network, config: &Config) -> Result<Self, ModelError> {
        let mut network = Network::new(trained.shape(), config, 0);
        network.learned.load_bytes(&trained.learned.to_bytes()?)?;
        // One optimiser for the whole way, without decay.
        network.restart_optimiser(config.online_rate, 0.0, config);
        let anchor = network.anchor(config.online_pull);
        Ok(Self { network, anchor, ready_for: None })
    }

    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Whether a step lies ahead, so that nothing learned comes from it or from later ones.
    pub fn can_go_on_to(&self, step: Step) -> bool {
        self.ready_for.is_some_and(|ready| ready < step)
    }

    /// Learns from every known step after the last one, or after training, and gets ready for `step`.
    pub fn go_on_to(
        self,
        step: Step,
        history: &History<'_>,
        rehearsal: &dyn Rehearsal,
        way: &Way<'_>,
    ) -> Result<Self, ModelError> {
        let Self { network, mut anchor, ready_for } = self;
        let mut trainer = Trainer {
            history: *history,
            seed: way.seed,
            purpose: "cen online dropout".to_owned(),
            network,
            length: way.length,
            arrangements: Arrangements::default(),
            targets: Vec::new(),
            reader: Reader::default(),
        };
        let from = ready_for.map_or(way.trained_until, |ready| Step(ready.0 + 1));
        let known = history.snapshots_from(from).filter(|snapshot| !snapshot.is_empty());
        let steps: Vec<Step> = known.map(|snapshot| snapshot.step).filter(|&known| known < step).collect();
        for next in steps.into_iter().chain([step]) {
            anchor = get_ready(&mut trainer, anchor, next, rehearsal, way.config)?;
        }
        Ok(Self { network: trainer.network, anchor, ready_for: Some(step) })
    }
}

/// What is the same for all steps of the way.
pub(super) struct Way<'a> {
    pub config: &'a Config,
    /// Snapshots that are read.
    pub length: usize,
    pub seed: u64,
    /// The first step that training did not see.
    pub trained_until: Step,
}

/// Learns from the step before `next`; the one before that judges. Returns the anchor of the step that follows.
fn get_ready(
    trainer: &mut Trainer<'_, Network>,
    anchor: Anchor,
    next: Step,
    rehearsal: &dyn Rehearsal,
    config: &Config,
) -> Result<Anchor, ModelError> {
    let earlier = trainer.history.until(next)?;
    let [Some(latest), Some(judge)] = ({
        let mut steps = last_steps(&earlier, 2);
        [steps.next(), steps.next()]
    }) else {
        return Ok(anchor);
    };
    let snapshots = trainer.arrangements.last(&earlier.until(latest)?, trainer.length);
    let asked = Asked::about(&trainer.history, latest)?;
    let rehearse = |trainer: &mut Trainer<'_, Network>| -> Result<f64, ModelError> {
        trainer.reader.forget();
        Ok(rehearsal.play(judge, &mut InTraining(trainer))?.mrr)
    };
    let before = trainer.network.snapshot();
    let mut best = rehearse(trainer)?;
    let mut kept: Option<Parameters> = None;
    for epoch in 0..config.online_epochs {
        let index = u64::from(next.0) << 32 | u64::from(epoch);
        let mut random = quadcast_core::stream(trainer.seed, &trainer.purpose, index);
        trainer.network.step(&snapshots, &asked, Some(&anchor), &mut random);
        let mrr = rehearse(trainer)?;
        if mrr >= best {
            best = mrr;
            kept = Some(trainer.network.snapshot());
        } else if kept.is_none() {
            // One more try from where it was.
            trainer.network.go_back(&before);
            kept = Some(trainer.network.snapshot());
        } else {
            break;
        }
    }
    // As in the published code: read before going back.
    let anchor = trainer.network.anchor(config.online_pull);
    if let Some(kept) = kept {
        trainer.network.go_back(&kept);
    }
    trainer.reader.forget();
    Ok(anchor)
}
