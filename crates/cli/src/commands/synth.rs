//! `quadcast data synth`: a synthetic world with known structure and the best score that any model can reach on it, or a
//! synthetic stream of operations.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use quadcast_analysis::{WorldName, synth, synth_operations, synth_target};
use quadcast_data::write_operations;
use quadcast_report::{SynthCost, synth_stream_text, synth_text};
use quadcast_run::{best_scores, peak_memory};
use serde_json::json;

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
    let best = best_scores(&world, &output.run())?;
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
    output.result(&document, || synth_stream_text(&stream, options.seed, &options.out))
}
