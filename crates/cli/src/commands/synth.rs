//! `quadcast data synth`: make a world with known structure, and the best score that anybody could reach on it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use quadcast_core::{Dataset, Filter, Protocol, Run, Setting};
use quadcast_data::{Oracle, SynthWorld, WorldName, synth, synth_target};
use quadcast_eval::{Outcome, judge};
use quadcast_report::{bytes, percent, plain_table, seconds};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::memory;
use crate::output::Output;

/// Which world, and where to.
#[derive(Debug, Args)]
pub struct Options {
    /// The world: village, icews-like, gdelt-like, evolving, recurrence-only, rules-only or
    /// chains-only
    #[arg(long, value_name = "NAME", default_value = "village")]
    pub world: String,
    /// Seed of every random draw; the same seed gives the same files
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Folder to write to
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace a synthetic world in the output folder
    #[arg(long)]
    pub overwrite: bool,
}

/// What is done and how long it took.
struct Timing {
    generate: f64,
    best: f64,
    write: f64,
}

pub fn execute(options: &Options, output: &Output) -> Result<(), Failure> {
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
    let timing = Timing { generate, best: judged, write: start.elapsed().as_secs_f64() };
    let mut document = world.description.clone();
    document["best"] = best;
    document["folder"] = json!(options.out);
    document["seconds"] = json!({ "generate": timing.generate, "best": timing.best, "write": timing.write });
    document["peak_memory_bytes"] = json!(memory::peak_bytes());
    output.result(&document, || text(&document, &options.out, &timing))
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
    let protocol = Protocol { setting, ..Protocol::default() };
    let run = Run::new(world.seed, output.progress());
    let judged = judge(dataset, &protocol, oracle, &run)?;
    Outcome::new(&judged.ranked, dataset.entities(), protocol.ties, world.seed)
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

fn text(document: &Value, folder: &Path, timing: &Timing) -> String {
    let word = |key: &str| document[key].as_str().unwrap_or_default().to_owned();
    let mut text = format!("{} (seed {}): {}\n", word("world"), document["seed"], word("about"));
    text += &format!("sizes: {}\n", sizes(&document["sizes"]));
    let mut rows = Vec::new();
    for setting in [Setting::SingleStep, Setting::MultiStep] {
        for filter in Filter::ALL {
            let metrics = &document["best"][setting.word()][filter.word()];
            let Some(mrr) = metrics["mrr"].as_f64() else { continue };
            let number = |value: &Value| percent(value.as_f64().unwrap_or_default());
            let ends = &metrics["ci95"]["mrr"];
            rows.push(vec![
                setting.word().to_owned(),
                filter.word().to_owned(),
                percent(mrr),
                format!("{} to {}", number(&ends[0]), number(&ends[1])),
                number(&metrics["hits@1"]),
                number(&metrics["hits@3"]),
                number(&metrics["hits@10"]),
            ]);
        }
    }
    if !rows.is_empty() {
        let header = ["best possible", "filter", "MRR", "95 % interval", "H@1", "H@3", "H@10"];
        let mut table = plain_table(&header, 2..7);
        table.add_rows(rows);
        text += &format!("\n{table}\n\n");
    }
    let memory =
        memory::peak_bytes().map(|peak| format!(", peak memory {}", bytes(peak))).unwrap_or_default();
    text += &format!(
        "made in {}, judged in {}, written in {}{memory}\nworld: {}\n",
        seconds(timing.generate),
        seconds(timing.best),
        seconds(timing.write),
        folder.display()
    );
    text
}

/// The sizes as `3 of this, 4 of that`.
fn sizes(sizes: &Value) -> String {
    let parts = sizes.as_object().into_iter().flatten().map(|(what, count)| match count.as_object() {
        Some(splits) => {
            let splits: Vec<String> =
                splits.iter().map(|(split, count)| format!("{split} {count}")).collect();
            format!("{what} {}", splits.join(" / "))
        }
        None => format!("{count} {what}"),
    });
    parts.collect::<Vec<_>>().join(", ")
}
