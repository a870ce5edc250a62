//! `quadcast evolve …`: graphs that change by insertions and deletions.

mod asked;
mod compile;
mod convert;
mod examples;
mod file;
mod run;
mod source;
mod synth;
pub mod trained;
mod update;

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Output;

#[derive(Debug, Subcommand)]
pub enum EvolveCommand {
    /// Take a model through the steps of a changing graph, judge it after each, keep a record
    #[command(after_help = run::EXAMPLES)]
    Run(Box<run::RunArguments>),
    /// Bring a trained model up to date with new operations, as a new version of its run
    #[command(after_help = update::EXAMPLES)]
    Update(update::UpdateArguments),
    /// Compile a benchmark from a stream of operations: snapshots, updates, increments, splits
    #[command(after_help = compile::EXAMPLES)]
    Compile(compile::CompileArguments),
    /// Turn a stream of operations into text or into the compact binary form
    #[command(after_help = convert::EXAMPLES)]
    Convert(convert::ConvertArguments),
    /// Make a synthetic stream of operations of any size
    #[command(after_help = synth::EXAMPLES)]
    Synth(synth::SynthArguments),
}

pub fn execute(command: &EvolveCommand, output: &Output) -> Result<(), Failure> {
    match command {
        EvolveCommand::Run(arguments) => run::execute(arguments, output),
        EvolveCommand::Update(arguments) => update::execute(arguments, output),
        EvolveCommand::Compile(arguments) => compile::execute(arguments, output),
        EvolveCommand::Convert(arguments) => convert::execute(arguments, output),
        EvolveCommand::Synth(arguments) => synth::execute(arguments, output),
    }
}
