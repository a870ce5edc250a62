//! `quadcast evolve synth`: a stream of operations out of nothing.

use std::path::PathBuf;

use clap::Args;
use quadcast_data::{synth_operations, write_operations};
use quadcast_report::counted;
use serde_json::json;

use super::convert::free;
use crate::failure::Failure;
use crate::output::Output;

/// Shown after the help.
pub const EXAMPLES: &str = "Examples:
  quadcast evolve synth --operations 50000 --out tmp-operations.txt
  quadcast evolve synth --operations 9500000 --seed 7 --out tmp-large.qops";

/// How much, and where to.
#[derive(Debug, Args)]
pub struct SynthArguments {
    /// Number of operations
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub operations: u32,
    /// Seed of every draw; the same seed gives the same file
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The file to be made: binary with the ending .qops, text otherwise; compressed with .gz, .bz2, .xz or .zst after it
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace the file
    #[arg(long)]
    pub overwrite: bool,
}

pub fn execute(arguments: &SynthArguments, output: &Output) -> Result<(), Failure> {
    let format = free(&arguments.out, arguments.overwrite)?;
    let stream = synth_operations(arguments.operations as usize, arguments.seed);
    write_operations(&arguments.out, &stream, format)?;
    let document = json!({
        "operations": stream.len(),
        "triples": stream.triples().len(),
        "seed": arguments.seed,
        "file": arguments.out,
    });
    output.result(&document, || {
        let [operations, triples] = [stream.len(), stream.triples().len()].map(|count| counted(count as u64));
        format!(
            "{operations} operations on {triples} triples (seed {}): {}\n",
            arguments.seed,
            arguments.out.display()
        )
    })
}
