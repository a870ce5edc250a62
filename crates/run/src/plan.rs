//! Plans: what to run, as a file says it and as it is checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quadcast_core::{
    Candidates, Duplicates, Fingerprint, IntervalUse, Leak, Procedure, Protocol, SelectionFilter, Setting,
    Task, TiePolicy, ValidationUse, Vocabulary,
};
use quadcast_data::Format;
use quadcast_eval::EvalError;
use quadcast_models::{Entry, find, set, set_value};
use serde::{Deserialize, Serialize};

use crate::RunError;

/// What precedes the name of a model that is not ours.
pub(crate) const EXTERNAL: &str = "external:";

/// The setting of a model that can repeat artefacts of its published code.
const COMPAT: &str = "compat";

/// The only model that can demonstrate the query-set leak.
const LEAKING: &str = "herald";

/// The model that runs when none is named: our own forecaster, the rules that need no training, the plainest embeddings.
const fn default_model(task: Task) -> &'static str {
    match task {
        Task::Forecasting => "herald",
        Task::Completion => "naive-rules",
        Task::Evolving => "transe",
    }
}

/// The parts of a protocol that a plan chooses; the rest is usual for the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProtocolChoice {
    /// The task.
    pub task: Option<Task>,
    /// Forecasting: what the model may see of the test period.
    pub setting: Option<Setting>,
    /// Evolving graphs: how the model gets from step to step.
    pub procedure: Option<Procedure>,
    /// Whether validation facts are known at test time.
    pub validation: Option<ValidationUse>,
    /// The headline tie policy.
    pub ties: Option<TiePolicy>,
    /// Which entities are ranked.
    pub candidates: Option<Candidates>,
    /// What happens to duplicate facts of the test split.
    pub duplicates: Option<Duplicates>,
    /// When facts that hold over an interval are asked about.
    pub intervals: Option<IntervalUse>,
    /// What the filter knows while states are selected. It follows from `compat`; a file may repeat it.
    pub selection: Option<SelectionFilter>,
    /// Whether the evaluator repeats artefacts of published code.
    pub compat: bool,
    /// What the model is shown of the other queries of a step: only to demonstrate the query-set leak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leak: Option<Leak>,
}

impl From<Protocol> for ProtocolChoice {
    fn from(protocol: Protocol) -> Self {
        let Protocol {
            task,
            setting,
            procedure,
            validation,
            ties,
            candidates,
            duplicates,
            intervals,
            selection,
            compat,
            leak,
        } = protocol;
        let timed = task != Task::Evolving;
        Self {
            task: Some(task),
            setting: (task == Task::Forecasting).then_some(setting),
            procedure: (task == Task::Evolving).then_some(procedure),
            validation: timed.then_some(validation),
            ties: Some(ties),
            candidates: Some(candidates),
            duplicates: timed.then_some(duplicates),
            intervals,
            selection: Some(selection),
            compat,
            leak,
        }
    }
}

impl ProtocolChoice {
    /// The protocol of a task with these choices. Choices that the task does not have are errors.
    fn resolve(&self, task: Task) -> Result<Protocol, RunError> {
        let usual = Protocol::of(task);
        let refuse = |what: &str, why: &str| Err(RunError::input(format!("{what} {why}: leave it out")));
        match task {
            Task::Completion if self.setting.is_some() => {
                return refuse(
                    "--setting",
                    "says what of the test period is known; completion has no such period",
                );
            }
            Task::Evolving if self.setting.is_some() => {
                return refuse("--setting", "is for forecasting; evolving graphs have a --procedure");
            }
            Task::Forecasting | Task::Completion if self.procedure.is_some() => {
                return refuse("--procedure", "is for evolving graphs");
            }
            Task::Forecasting | Task::Completion
                if self.candidates.is_some_and(|who| who != Candidates::All) =>
            {
                return refuse(
                    "--candidates",
                    "is for evolving graphs; everywhere else all entities are ranked",
                );
            }
            Task::Completion | Task::Evolving if self.leak.is_some() => {
                return refuse("--demonstrate-leak", "is for forecasting");
            }
            Task::Evolving if self.validation.is_some() || self.duplicates.is_some() => {
                return refuse(
                    "--validation or --duplicates",
                    "is for facts with times, not for evolving graphs",
                );
            }
            _ => {}
        }
        Ok(Protocol {
            setting: self.setting.unwrap_or(usual.setting),
            procedure: self.procedure.unwrap_or(usual.procedure),
            validation: self.validation.unwrap_or(usual.validation),
            ties: self.ties.unwrap_or(usual.ties),
            candidates: self.candidates.unwrap_or(usual.candidates),
            duplicates: self.duplicates.unwrap_or(usual.duplicates),
            intervals: self.intervals,
            leak: self.leak,
            ..usual.with_compat(self.compat)
        })
    }
}

/// What to run. A TOML file is a plan; whatever it leaves out is usual. The `run.toml` of a run folder is a plan that leaves out
/// nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Name of the model.
    pub model: Option<String>,
    /// Where the dataset is: a folder, or a name to be found in `$QUADCAST_DATA` or the cache.
    pub data: Option<String>,
    /// Layout of the dataset, where it is named and not detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Content hash of the dataset; a repetition on other data is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// Content hash of the names, if the model reads them; a repetition with other names is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Fingerprint>,
    /// Seed of every random draw.
    pub seed: Option<u64>,
    /// How long training may take, such as `90s`, `45m` or `2h`. Decides when it stops, not what it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<String>,
    /// A file of rules that are used instead of learning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// A run whose trained model is used instead of training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trained_by: Option<String>,
    /// Evolving graphs: the run whose model was updated, if this is an update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_from: Option<String>,
    /// Evolving graphs: whether all held-out triples are asked about, also where the dataset samples.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// Evolving graphs: whether each state is also asked about earlier steps and the next one. By default it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer: Option<bool>,
    /// How results come about.
    pub protocol: ProtocolChoice,
    /// Settings of the model.
    pub config: toml::Table,
    /// Settings as `key=value`, which override `config`.
    #[serde(skip)]
    pub settings: Vec<String>,
    /// Whether artefacts of published code are repeated, by the model and by the evaluator.
    #[serde(skip)]
    pub compat: bool,
    /// Whether `data` was named anew: then its content may differ from `fingerprint`.
    #[serde(skip)]
    pub other_data: bool,
    /// The file that this plan was read from.
    #[serde(skip)]
    pub path: Option<PathBuf>,
}

impl Plan {
    /// File name inside a run folder.
    pub const FILE: &str = "run.toml";

    /// A plan for a model and a dataset; everything else is usual.
    pub fn new(model: impl Into<String>, data: impl Into<String>) -> Self {
        Self { model: Some(model.into()), data: Some(data.into()), ..Self::default() }
    }

    /// Reads a plan from a TOML file.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let text = fs::read_to_string(path).map_err(|error| {
            RunError::input(format!("cannot read the configuration {}: {error}", path.display()))
        })?;
        let plan: Self = toml::from_str(&text).map_err(|error| {
            RunError::input(format!("{}: {}", path.display(), error.to_string().trim_end()))
        })?;
        Ok(Self { path: Some(path.to_owned()), ..plan })
    }

    /// The plan of a finished run, for its model to be used under another protocol instead of training again.
    pub fn trained_by(run: &Path) -> Result<Self, RunError> {
        let trained_by = Some(run.display().to_string());
        let plan = Self::read(&run.join(Self::FILE))?;
        // Another setting has a usual validation use of its own.
        Ok(Self { trained_by, time_budget: None, ..plan })
    }

    /// The plan as the text of a file.
    pub(crate) fn text(&self) -> Result<String, RunError> {
        toml::to_string(self).map_err(RunError::internal)
    }

    /// Everything that decides results, and the version that makes them, as text. Where the data is does not: its content is named
    /// by the fingerprint.
    pub(crate) fn identity(&self, version: &str) -> Result<String, RunError> {
        let deciding = Self { data: None, format: None, time_budget: None, ..self.clone() };
        Ok(format!("# quadcast {version}\n{}", deciding.text()?))
    }

    /// The task, if the plan or its model says it.
    pub(crate) fn named_task(&self) -> Result<Option<Task>, RunError> {
        let entry = self.model.as_deref().filter(|name| !name.starts_with(EXTERNAL)).map(find).transpose()?;
        let own = entry.map(Entry::task);
        if let (Some(task), Some(own), Some(entry)) = (self.protocol.task, own, entry)
            && task != own
        {
            return Err(RunError::input(format!(
                "{} is a model for {}, not for {}; quadcast models lists which model does what",
                entry.name,
                own.word(),
                task.word()
            )));
        }
        let of_setting = self.protocol.setting.map(|_| Task::Forecasting);
        let of_procedure = self.protocol.procedure.map(|_| Task::Evolving);
        Ok(self.protocol.task.or(own).or(of_setting).or(of_procedure))
    }

    /// Checks everything that can be checked without the data.
    pub(crate) fn check(mut self, task: Task) -> Result<CheckedPlan, RunError> {
        let name = self.model.as_deref().unwrap_or(default_model(task));
        if name.starts_with(EXTERNAL) {
            return Err(RunError::input(format!(
                "{name} was judged from a score file; repeat it with quadcast evaluate"
            )));
        }
        if let Some(from) = &self.updated_from {
            return Err(RunError::input(format!(
                "this is the configuration of an update, which begins with the model of {from}: repeat it with \
                 quadcast update"
            )));
        }
        let entry = find(name)?;
        if self.protocol.leak.is_some() && entry.name != LEAKING {
            return Err(RunError::input(format!(
                "--demonstrate-leak: {} answers each query without knowing the others and has no variant that does not. Add --model \
                 {LEAKING}, or leave the option out",
                entry.name
            )));
        }
        self.protocol.compat |= self.compat;
        self.config = self.expanded(entry)?;
        let protocol = self.protocol.resolve(task)?;
        let settings = (entry.capabilities)().settings;
        if task == Task::Forecasting && !settings.contains(&protocol.setting) {
            return Err(EvalError::Setting { setting: protocol.setting, settings }.into());
        }
        let seed = self.seed.unwrap_or(1);
        let time_budget = self.time_budget.as_deref().map(duration).transpose()?;
        self.model = Some(entry.name.to_owned());
        self.seed = Some(seed);
        self.protocol = protocol.into();
        self.settings.clear();
        Ok(CheckedPlan { entry, protocol, seed, time_budget, plan: self })
    }

    /// The defaults of the model, changed by the file, changed by the settings.
    fn expanded(&self, entry: &Entry) -> Result<toml::Table, RunError> {
        let mut config = (entry.defaults)();
        for (key, value) in &self.config {
            set_value(&mut config, key, value.clone()).map_err(|error| match &self.path {
                Some(path) => RunError::input(format!("{}: {error}", path.display())),
                None => error.into(),
            })?;
        }
        if self.protocol.compat && config.contains_key(COMPAT) {
            set_value(&mut config, COMPAT, true.into())?;
        }
        for setting in &self.settings {
            set(&mut config, setting)?;
        }
        Ok(config)
    }
}

/// A plan of which everything but the data is known and checked.
pub(crate) struct CheckedPlan {
    pub entry: &'static Entry,
    pub protocol: Protocol,
    pub seed: u64,
    pub time_budget: Option<Duration>,
    /// The plan with nothing left out.
    pub plan: Plan,
}

impl CheckedPlan {
    /// Whether published artefacts were asked for and there are none.
    pub fn idle_compat(&self) -> bool {
        self.plan.compat && !self.protocol.compat && !self.plan.config.contains_key(COMPAT)
    }

    /// Binds the plan to the content of its dataset. A plan that names a content runs on that content only, unless the dataset was
    /// named anew.
    pub fn bind(&mut self, found: Fingerprint) -> Result<(), RunError> {
        match self.plan.fingerprint {
            Some(expected) if expected != found && !self.plan.other_data => Err(RunError::input(format!(
                "{} has changed: the configuration was made for fingerprint {expected}, this is {found}. \
                 Name the dataset with --data to run on it all the same",
                self.plan.data.as_deref().unwrap_or_default()
            ))),
            _ => {
                self.plan.fingerprint = Some(found);
                Ok(())
            }
        }
    }
}

impl CheckedPlan {
    /// Whether the model reads the names of entities.
    fn reads_names(&self) -> bool {
        let setting = (self.entry.capabilities)().reads_names;
        setting.is_some_and(|key| self.plan.config.get(key).and_then(toml::Value::as_bool) == Some(true))
    }

    /// Notes the content hash of the names if the model reads them; an error if the plan was made for others.
    pub fn bind_names(&mut self, vocabulary: &Vocabulary) -> Result<(), RunError> {
        let found = self.reads_names().then(|| vocabulary.fingerprint());
        match (self.plan.names, found) {
            (Some(expected), Some(found)) if expected != found && !self.plan.other_data => {
                Err(RunError::input(format!(
                    "the names in {} have changed, and {} reads them: the configuration was made for names with fingerprint \
                     {expected}, these have {found}. Name the dataset with --data to run on it all the same",
                    self.plan.data.as_deref().unwrap_or_default(),
                    self.entry.name
                )))
            }
            _ => {
                self.plan.names = found;
                Ok(())
            }
        }
    }
}

/// A span of time as people write it: 90s, 45m, 2h.
pub(crate) fn duration(text: &str) -> Result<Duration, RunError> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len()));
    let seconds = match unit.trim() {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => 0.0,
    };
    let parsed = number.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    match parsed {
        Some(number) if seconds > 0.0 && number * seconds < 1e9 => {
            Ok(Duration::from_secs_f64(number * seconds))
        }
        _ => Err(RunError::input(format!(
            "{text:?} is not a time budget: write a number and a unit, for example 90s, 45m or 2h"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checked_plan_leaves_out_nothing_and_is_read_again() {
        let plan = Plan { compat: true, ..Plan::new("transe", "somewhere") };
        let checked = plan.check(Task::Evolving).expect("a plan");
        assert_eq!(checked.protocol.selection, SelectionFilter::AllSplits);
        let text = checked.plan.text().expect("TOML");
        let read: Plan = toml::from_str(&text).expect("what was written");
        let again = read.check(Task::Evolving).expect("a plan");
        assert_eq!(again.protocol, checked.protocol);
        assert_eq!(again.plan.identity("1").expect("text"), checked.plan.identity("1").expect("text"));
    }

    #[test]
    fn what_belongs_to_another_task_is_refused() {
        let plan = |choice: ProtocolChoice| Plan { protocol: choice, ..Plan::default() };
        let setting = ProtocolChoice { setting: Some(Setting::MultiStep), ..ProtocolChoice::default() };
        let procedure = ProtocolChoice { procedure: Some(Procedure::Static), ..ProtocolChoice::default() };
        for (choice, task) in
            [(setting, Task::Completion), (setting, Task::Evolving), (procedure, Task::Forecasting)]
        {
            let error = plan(choice).check(task).err().expect("another task").to_string();
            assert!(error.contains("leave it out"), "{error}");
        }
    }

    #[test]
    fn one_model_demonstrates_the_leak_and_plans_without_it_do_not_mention_it() {
        let choice = ProtocolChoice { leak: Some(Leak::BothDirections), ..ProtocolChoice::default() };
        let plan = |model: &str| Plan { protocol: choice, ..Plan::new(model, "somewhere") };
        let checked = plan("herald").check(Task::Forecasting).expect("a plan");
        assert_eq!(checked.protocol.leak, choice.leak);
        assert!(checked.plan.text().expect("TOML").contains("leak = \"both-directions\""));
        let error = plan("tlogic").check(Task::Forecasting).err().expect("an honest model").to_string();
        assert!(error.contains("--model herald"), "{error}");
        let honest = Plan::new("herald", "somewhere").check(Task::Forecasting).expect("a plan");
        assert!(!honest.plan.text().expect("TOML").contains("leak"));
    }

    #[test]
    fn time_budgets_have_a_unit() {
        assert_eq!(duration("90s").expect("a time"), Duration::from_secs(90));
        assert_eq!(duration("1.5 h").expect("a time"), Duration::from_mins(90));
        assert!(["", "5", "-1s", "NaNs", "3 days"].iter().all(|text| duration(text).is_err()));
    }
}
