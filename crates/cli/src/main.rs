//! The `quadcast` command: learn from, forecast with and fairly judge temporal and evolving knowledge graphs.

mod arguments;
mod commands;
mod output;
mod process;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command, DataCommand};
use output::{Failure, Output, say};
use quadcast_report::shown;

// Large short-lived buffers are the rule here; this allocator hands their pages back without a system call each time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(error),
    };
    match execute(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let interrupted = matches!(failure, Failure::Interrupted { .. });
            say(&format!("{}{failure}", if interrupted { "" } else { "error: " }));
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Prints what the parser has to say: help, the version, or what is wrong. It repeats arguments, so it is given them as they
/// are shown.
fn refuse(error: clap::Error) -> ExitCode {
    let arguments = std::env::args_os().map(|argument| shown(argument.to_string_lossy()).to_string());
    let error = Arguments::try_parse_from(arguments).err().unwrap_or(error);
    // A reader that is gone needs no message; the exit code still tells.
    error.print().ok();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1))
}

fn execute(arguments: Arguments) -> Result<(), Failure> {
    let common = arguments.common;
    if let Some(threads) = common.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .map_err(Failure::internal)?;
    }
    if let Some(device) = common.device {
        device.choose();
    }
    // A run keeps pages once it is known to train a network.
    process::release_pages();
    let output = Output { json: common.json, quiet: common.quiet, verbose: common.verbose };
    match arguments.command {
        Command::Demo(options) => commands::demo::execute(&options, &output),
        Command::Run(options) => commands::run::execute(&options, &output),
        Command::Forecast(options) => commands::forecast::execute(&options, &output),
        Command::Report(options) => commands::report::execute(&options, &output),
        Command::Compare(options) => commands::compare::execute(&options, &output),
        Command::Evaluate(options) => commands::evaluate::execute(&options, &output),
        Command::Rules(options) => commands::rules::execute(&options, &output),
        Command::Update(arguments) => commands::run::update(&arguments, &output),
        Command::Verify(options) => commands::verify::execute(&options, &output),
        Command::Models { name } => commands::models::execute(name.as_deref(), &output),
        Command::Data(DataCommand::Info(source)) => commands::data::info(&source, &output),
        Command::Data(DataCommand::Audit(arguments)) => commands::data::audit(&arguments, &output),
        Command::Data(DataCommand::Patterns(arguments)) => commands::data::patterns(&arguments, &output),
        Command::Data(DataCommand::Export(options)) => commands::evaluate::export(&options, &output),
        Command::Data(DataCommand::List) => commands::data::list(&output),
        Command::Data(DataCommand::Synth(options)) => commands::synth::execute(&options, &output),
        Command::Data(DataCommand::Compile(arguments)) => commands::compile::execute(&arguments, &output),
        Command::Data(DataCommand::Convert(arguments)) => commands::convert::execute(&arguments, &output),
        Command::Data(DataCommand::Split(arguments)) => commands::split::execute(&arguments, &output),
        Command::Data(DataCommand::Diff(arguments)) => commands::data::diff(&arguments, &output),
        Command::Data(DataCommand::Fetch(arguments)) => commands::data::fetch(arguments, &output),
        Command::Data(DataCommand::Import(arguments)) => commands::import::execute(arguments, &output),
    }
}
