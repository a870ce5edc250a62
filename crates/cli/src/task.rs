//! Which task a run is about: said, or seen from the model or from the data.

use clap::ValueEnum;
use quadcast_core::{Facts, Protocol, Setting};
use quadcast_data::Loaded;
use quadcast_models::{Family, find};

use crate::arguments::RunOptions;
use crate::commands::data::with_time;
use crate::failure::Failure;
use crate::output::Output;
use crate::record_folder::RunFile;

/// What is asked of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Task {
    /// Facts to come, from those before them
    Forecasting,
    /// Facts that are missing, from others of any time
    Completion,
}

impl Task {
    /// The protocol of a configuration file, brought to the task. A file that says nothing says single-step.
    pub fn protocol(self, file: &Protocol) -> Protocol {
        let fits = (file.setting == Setting::Completion) == (self == Self::Completion);
        let setting = match self {
            Self::Forecasting => Setting::default(),
            Self::Completion => Setting::Completion,
        };
        if fits {
            *file
        } else {
            Protocol { ties: file.ties, duplicates: file.duplicates, ..Protocol::usual(setting) }
        }
    }
}

/// The task, if the options, the configuration or the model say it.
pub fn named(options: &RunOptions, file: &RunFile) -> Result<Option<Task>, Failure> {
    let of_model = match options.model.as_deref().or(file.model.as_deref()) {
        Some(name) => find(name).ok().map(|entry| match entry.family {
            Family::Forecasting => Task::Forecasting,
            Family::Completion => Task::Completion,
        }),
        None => None,
    };
    if options.task == Some(Task::Completion) && options.setting.is_some() {
        return Err(Failure::input(
            "--setting says what of the test period is known; completion has no such period: leave it out",
        ));
    }
    if let (Some(task), Some(own)) = (options.task, of_model)
        && task != own
    {
        let (wanted, name) =
            (word(task), options.model.as_deref().or(file.model.as_deref()).unwrap_or_default());
        return Err(Failure::input(format!(
            "{name} is a model for {}, not for {wanted}; quadcast models lists which model does what",
            word(own)
        )));
    }
    let of_setting = options.setting.map(|_| Task::Forecasting);
    let of_file = (file.protocol.setting == Setting::Completion).then_some(Task::Completion);
    Ok(options.task.or(of_model).or(of_setting).or(of_file))
}

/// Share of the held-out facts that must not be later than train for a division to be taken for a random one.
const RANDOM: f64 = 0.9;

/// The task that the splits of a dataset are made for. A random division is unmistakable, and the user is told; whatever
/// else is wrong with the order of splits is an error of forecasting, which names the lines.
pub fn inferred(loaded: &Loaded, output: &Output) -> Result<Task, Failure> {
    let splits = &with_time(loaded)?.splits;
    let last = splits.train.last_step();
    let inside = |facts: &Facts| {
        let inside = facts.iter().filter(|fact| Some(fact.step) <= last).count();
        inside as f64 >= RANDOM * facts.len().max(1) as f64
    };
    if inside(&splits.valid) && inside(&splits.test) {
        output.remark("the splits share their times, so this is completion (--task says otherwise)");
        return Ok(Task::Completion);
    }
    Ok(Task::Forecasting)
}

const fn word(task: Task) -> &'static str {
    match task {
        Task::Forecasting => "forecasting",
        Task::Completion => "completion",
    }
}
