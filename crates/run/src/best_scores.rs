//! The best scores that are possible on a synthetic world: its oracle is judged like any forecaster.

use quadcast_analysis::{Oracle, SynthWorld};
use quadcast_core::{Dataset, Filter, Fingerprint, Protocol, Run, Setting};
use quadcast_eval::{Interval, Metrics, Outcome, judge};
use serde_json::{Map, Value, json};

use crate::RunError;

/// A row to measure runs against that is not a run: the best score that is possible, or a published one.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The dataset it holds for.
    pub fingerprint: Fingerprint,
    /// The setting it holds for.
    pub setting: Setting,
    /// Its name in tables.
    pub name: String,
    /// Its results under the time-aware filter, as fractions.
    pub metrics: Metrics,
    /// 95 % interval of the mean reciprocal rank.
    pub interval: Option<Interval>,
}

/// What the oracle of a world reaches in every setting that it knows, for `world.json`.
///
/// ```no_run
/// use quadcast_analysis::{WorldName, synth};
/// use quadcast_core::Run;
/// use quadcast_run::best_scores;
///
/// # fn main() -> Result<(), quadcast_run::RunError> {
/// let world = synth(WorldName::RulesOnly, 7);
/// let best = best_scores(&world, &Run::silent(1))?;
/// println!("{}", best["single-step"]["time"]["mrr"]);
/// world.write("rules-only-7".as_ref(), false, &best)?;
/// # Ok(())
/// # }
/// ```
pub fn best_scores(world: &SynthWorld, run: &Run) -> Result<Value, RunError> {
    let (Some(dataset), Some(mut oracle)) = (world.dataset(), world.oracle()) else {
        return Ok(
            json!({ "missing": "there is nothing to forecast in a graph that changes by operations" }),
        );
    };
    let mut best = json!({
        "meaning": "what the oracle reaches: it ranks every candidate by its true probability given the history. \
                    Optimal in expectation for time and raw; under the static filter it is the score of the same \
                    ranking, not a bound. ci95 is the interval of the block bootstrap over test steps.",
        "single-step": by_filter(&outcome(world, dataset, &mut oracle, Setting::SingleStep, run)?)?,
    });
    best["multi-step"] = if world.rollouts() > 0 {
        let mut part = by_filter(&outcome(world, dataset, &mut oracle, Setting::MultiStep, run)?)?;
        let rollouts = world.rollouts();
        part["rollouts"] = json!(rollouts);
        // √(p(1−p)/n) is largest at p = 1/2.
        part["largest_standard_error_of_a_probability"] = json!(0.5 / f64::from(rollouts).sqrt());
        part
    } else {
        json!({ "missing": "the world is too large to be rolled out often enough from the end of validation" })
    };
    Ok(best)
}

/// The best score that is possible in one setting.
pub(crate) fn best_possible(
    world: &SynthWorld,
    dataset: &Dataset,
    setting: Setting,
    run: &Run,
) -> Result<Reference, RunError> {
    let mut oracle = world.oracle().ok_or_else(|| RunError::internal("the world has no oracle"))?;
    let outcome = outcome(world, dataset, &mut oracle, setting, run)?;
    let time = outcome.filter(Filter::Time);
    Ok(Reference {
        fingerprint: dataset.fingerprint(),
        setting,
        name: "best possible".to_owned(),
        metrics: time.metrics,
        interval: time.ci95.map(|ci| ci.mrr),
    })
}

/// What the oracle reaches in one setting.
fn outcome(
    world: &SynthWorld,
    dataset: &Dataset,
    oracle: &mut Oracle,
    setting: Setting,
    run: &Run,
) -> Result<Outcome, RunError> {
    let protocol = Protocol::forecasting(setting);
    let run = Run { seed: world.seed, ..run.clone() };
    let judged = judge(dataset, &protocol, oracle, &run)?;
    Outcome::new(&judged.ranked, dataset.entities(), &protocol, world.seed)
        .ok_or_else(|| RunError::internal("the test period of the world is empty"))
}

fn by_filter(outcome: &Outcome) -> Result<Value, RunError> {
    let mut part = Map::new();
    for filter in Filter::ALL {
        let result = outcome.filter(filter);
        let mut metrics = serde_json::to_value(result.metrics).map_err(RunError::internal)?;
        metrics["queries"] = json!(result.queries);
        metrics["ci95"] = serde_json::to_value(result.ci95).map_err(RunError::internal)?;
        part.insert(filter.word().to_owned(), metrics);
    }
    Ok(Value::Object(part))
}
