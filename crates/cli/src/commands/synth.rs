//! `quadcast data synth`: a synthetic world with known structure and the best score that any model can reach on it, or a
//! synthetic stream of operations.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use quadcast_analysis::{Oracle, SynthWorld, WorldName, synth, synth_operations, synth_target};
use quadcast_core::{Dataset, Filter, Protocol, Run, Setting};
use quadcast_data::write_operations;
use quadcast_eval::{Outcome, judge};
use quadcast_report::{SynthCost, counted, shown, synth_text};
use quadcast_run::peak_memory;
use serde_json::{Value, json};

use super::convert::free;
use crate::output::{Failure, Output};

/// Shown after the help.
pub const EXAMPLES: &str = "Examples:
  quadcast data synth --out tmp-village
  quadcast data synth --world icews-like --seed 7 --out tmp-icews
  quadcast data synth --operations 50000 --out tmp-operations.txt
  quadcast data synth --operations 9500000 --seed 7 --out tmp-large.qops";

/// Which world or how many operations, and where to.
#[derive(Debug, Args)]
pub struct Options {
    /// The world: village, icews-like, gdelt-like, evolving, recurrence-only, rules-only or
    /// chains-only
    #[arg(long, value_name = "NAME", default_value = "village")]
    pub world: String,
    /// Seed of every random draw; the same seed gives the same files
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Instead of a world, a stream of so many insertions and deletions
    #[arg(long, value_name = "N", conflicts_with = "world", value_parser = clap::value_parser!(u32).range(1..))]
    pub operations: Option<u32>,
    /// Folder of the world; of a stream, its file: binary with the ending .qops, text otherwise; compressed with .gz, .bz2,
    /// .xz or .zst after it
    #[arg(long, value_name = "DIR|FILE")]
    pub out: PathBuf,
    /// Replace a synthetic world in the output folder, or the file
    #[arg(long)]
    pub overwrite: bool,
}

pub fn execute(options: &Options, output: &Output) -> Result<(), Failure> {
    if let Some(operations) = options.operations {
        return stream(options, operations as usize, output);
    }
    let name: WorldName = options.world.parse()?;
    synth_target(&options.out, options.overwrite)?;
    let start = Instant::now();
    let world = synth(name, options.seed);
    let generate = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let best = best(&world, output)?;
    let judged = start.elapsed().as_secs_f64();
    let start = Instant::now();
    world.write(&options.out, options.overwrite, &best)?;
    let write = start.elapsed().as_secs_f64();
    let cost = SynthCost { generate, best: judged, write, peak_memory_bytes: peak_memory() };
    let mut document = world.description.clone();
    document["best"] = best;
    document["folder"] = json!(options.out);
    document["seconds"] = json!({ "generate": generate, "best": judged, "write": write });
    document["peak_memory_bytes"] = json!(cost.peak_memory_bytes);
    output.result(&document, || synth_text(&document, &options.out, &cost))
}

/// Makes a stream of operations.
fn stream(options: &Options, operations: usize, output: &Output) -> Result<(), Failure> {
    let format = free(&options.out, options.overwrite)?;
    let stream = synth_operations(operations, options.seed);
    write_operations(&options.out, &stream, format)?;
    let document = json!({
        "operations": stream.len(),
        "triples": stream.triples().len(),
        "seed": options.seed,
        "file": options.out,
    });
    output.result(&document, || {
        let [operations, triples] = [stream.len(), stream.triples().len()].map(|count| counted(count as u64));
        format!(
            "{operations} operations on {triples} triples (seed {}): {}\n",
            options.seed,
            shown(options.out.display())
        )
    })
}

/// Plays the oracle through the protocol, in every setting that it knows.
pub fn best(world: &SynthWorld, output: &Output) -> Result<Value, Failure> {
    let (Some(dataset), Some(mut oracle)) = (world.dataset(), world.oracle()) else {
        return Ok(
            json!({ "missing": "there is nothing to forecast in a graph that changes by operations" }),
        );
    };
    let mut best = json!({
        "meaning": "what the oracle reaches: it ranks every candidate by its true probability given the history. \
                    Optimal in expectation for time and raw; under the static filter it is the score of the same \
                    ranking, not a bound. ci95 is the interval of the block bootstrap over test steps.",
        "single-step": play(world, dataset, &mut oracle, Setting::SingleStep, output)?,
    });
    best["multi-step"] = if world.rollouts() > 0 {
        let mut part = play(world, dataset, &mut oracle, Setting::MultiStep, output)?;
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

/// What the oracle reaches in one setting.
pub fn best_outcome(
    world: &SynthWorld,
    dataset: &Dataset,
    oracle: &mut Oracle,
    setting: Setting,
    output: &Output,
) -> Result<Outcome, Failure> {
    let protocol = Protocol::forecasting(setting);
    let run = Run { seed: world.seed, ..output.run() };
    let judged = judge(dataset, &protocol, oracle, &run)?;
    Outcome::new(&judged.ranked, dataset.entities(), &protocol, world.seed)
        .ok_or_else(|| Failure::internal("the test period of the world is empty"))
}

fn play(
    world: &SynthWorld,
    dataset: &Dataset,
    oracle: &mut Oracle,
    setting: Setting,
    output: &Output,
) -> Result<Value, Failure> {
    let outcome = best_outcome(world, dataset, oracle, setting, output)?;
    let mut part = serde_json::Map::new();
    for filter in Filter::ALL {
        let result = outcome.filter(filter);
        let mut metrics = serde_json::to_value(result.metrics).map_err(Failure::internal)?;
        metrics["queries"] = json!(result.queries);
        metrics["ci95"] = serde_json::to_value(result.ci95).map_err(Failure::internal)?;
        part.insert(filter.word().to_owned(), metrics);
    }
    Ok(Value::Object(part))
}
