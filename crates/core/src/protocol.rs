//! The protocol: everything that decides how a result came about, in one value that is written into every record.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use crate::words;

words! {
    /// What is asked of a model.
    pub enum Task {
        /// Future facts, given the facts before them.
        Forecasting = "forecasting",
        /// Missing facts, given other facts of any time.
        Completion = "completion",
        /// Triples of a graph that changes by insertions and deletions.
        Evolving = "evolving",
    }

    /// What a model may see of the test period.
    #[derive(Default)]
    pub enum Setting {
        /// The true facts of every earlier step, also test steps; parameters stay frozen.
        #[default]
        SingleStep = "single-step",
        /// Nothing of the test period.
        MultiStep = "multi-step",
        /// As single-step, and the parameters are updated with every observed step.
        Online = "online",
    }

    /// How a model of an evolving graph is brought from one step to the next.
    #[derive(Default)]
    pub enum Procedure {
        /// It learns the graph of every step from scratch.
        #[default]
        Static = "static",
        /// It continues with the inserted triples alone and is never told of deletions.
        PseudoIncremental = "pseudo-incremental",
        /// It is told which triples were inserted and deleted, and sees the graph.
        Incremental = "incremental",
    }

    /// Whether the validation facts are history at test time. They never train parameters.
    #[derive(Default)]
    pub enum ValidationUse {
        /// Option (a): only training facts precede the test period.
        Withheld = "withheld",
        /// Option (b), the field's choice: validation facts are history.
        #[default]
        Observed = "observed",
    }

    /// Which true answers leave the candidate list.
    pub enum Filter {
        /// Those that are true at the same step. The primary filter.
        Time = "time",
        /// Those that are true at any step of any split.
        Static = "static",
        /// None.
        Raw = "raw",
    }

    /// What happens to candidates that score exactly as the correct answer.
    #[derive(Default)]
    pub enum TiePolicy {
        /// The exact expectation of each metric under random order.
        #[default]
        Expected = "expected",
        /// One random order, drawn from the run's seed.
        Random = "random",
        /// The mean of the best and the worst rank.
        Mean = "mean",
        /// The correct answer first.
        Optimistic = "optimistic",
        /// The correct answer last.
        Pessimistic = "pessimistic",
        /// By entity id, as a stable sort does. Flatters sparse models: small ids are frequent entities.
        Ordinal = "ordinal",
    }

    /// Which entities are ranked.
    #[derive(Default)]
    pub enum Candidates {
        /// Every entity of the id space, seen or unseen, the known entity included.
        #[default]
        All = "all",
        /// Entities that are present at the step of an evolving graph. Ranks of steps of different size cannot be compared.
        Now = "now",
        /// Entities that were present at the step of an evolving graph or at an earlier one.
        Seen = "seen",
    }

    /// What happens to duplicate facts of the test split.
    #[derive(Default)]
    pub enum Duplicates {
        /// Each is asked once.
        #[default]
        Drop = "drop",
        /// Each is asked as often as the file lists it.
        Keep = "keep",
    }

    /// When facts that hold over an interval are asked about.
    #[derive(Default)]
    pub enum IntervalUse {
        /// At the first time at which they hold.
        #[default]
        Start = "start",
        /// At one time at which they hold, drawn at random and the same for every model and seed.
        Drawn = "drawn",
        /// At every time at which they hold.
        Every = "every",
    }

    /// Which true answers the filter knows while states of a model are selected on the validation split.
    #[derive(Default)]
    pub enum SelectionFilter {
        /// Those of the training and the validation split.
        #[default]
        TrainAndValid = "train-and-valid",
        /// Those of all splits, as published code did: test facts take part in the selection.
        AllSplits = "all-splits",
    }

    /// What a model is shown of the other queries of a step, to demonstrate the query-set leak.
    pub enum Leak {
        /// The other queries that miss the same side.
        SameDirection = "same-direction",
        /// All other queries. Those that miss the other side name the answers.
        BothDirections = "both-directions",
    }
}

/// How results come about. Results are comparable only when their protocols are equal. A field that a task does not use keeps its
/// default and is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// The task.
    pub task: Task,
    /// Forecasting: what a model may see of the test period.
    #[serde(default)]
    pub setting: Setting,
    /// Evolving graphs: how a model gets from step to step.
    #[serde(default)]
    pub procedure: Procedure,
    /// Forecasting and completion: whether validation facts are known at test time.
    #[serde(default)]
    pub validation: ValidationUse,
    /// The headline tie policy.
    pub ties: TiePolicy,
    /// Which entities are ranked.
    pub candidates: Candidates,
    /// Forecasting and completion: duplicate facts of the test split.
    #[serde(default)]
    pub duplicates: Duplicates,
    /// When facts with an interval are asked about; absent where facts have a time.
    #[serde(default)]
    pub intervals: Option<IntervalUse>,
    /// What the filter knows while states of a model are selected.
    pub selection: SelectionFilter,
    /// Whether the evaluator repeats artefacts of published code. Completion: see `selection`. Evolving graphs: also, procedures
    /// other than static rank test triples in a list that holds entity 0 in every other slot; models that may abstain are
    /// asked for the energy of a triple with object and relation swapped; thresholds lie on energies.
    #[serde(default)]
    pub compat: bool,
    /// Set only to demonstrate the query-set leak: the model is shown the other queries of each step. Such figures are not
    /// results; they are never compared or ranked.
    #[serde(default)]
    pub leak: Option<Leak>,
}

impl Protocol {
    /// The usual protocol of a task.
    pub const fn of(task: Task) -> Self {
        Self {
            task,
            setting: Setting::SingleStep,
            procedure: Procedure::Static,
            validation: match task {
                Task::Completion => ValidationUse::Withheld,
                Task::Forecasting | Task::Evolving => ValidationUse::Observed,
            },
            ties: TiePolicy::Expected,
            candidates: match task {
                Task::Evolving => Candidates::Now,
                Task::Forecasting | Task::Completion => Candidates::All,
            },
            duplicates: Duplicates::Drop,
            intervals: None,
            selection: SelectionFilter::TrainAndValid,
            compat: false,
            leak: None,
        }
    }

    /// The usual protocol of forecasting in a setting.
    pub const fn forecasting(setting: Setting) -> Self {
        Self { setting, ..Self::of(Task::Forecasting) }
    }

    /// The usual protocol of completion: validation facts are not known at test time.
    pub const fn completion() -> Self {
        Self::of(Task::Completion)
    }

    /// The usual protocol of an evolving graph.
    pub const fn evolving(procedure: Procedure) -> Self {
        Self { procedure, ..Self::of(Task::Evolving) }
    }

    /// The same, with artefacts of published code repeated as far as the evaluator has any for the task.
    #[must_use]
    pub const fn with_compat(self, compat: bool) -> Self {
        match self.task {
            Task::Completion | Task::Evolving if compat => {
                Self { compat, selection: SelectionFilter::AllSplits, ..self }
            }
            _ => self,
        }
    }

    /// The protocol as far as it decides whether results can be compared: procedures of evolving graphs are ways to train, and are
    /// compared with each other.
    #[must_use]
    pub const fn comparison_key(self) -> Self {
        Self { procedure: Procedure::Static, ..self }
    }

    /// What tells runs of one task apart first: the setting, the procedure, or the task itself.
    pub const fn headline(&self) -> &'static str {
        match self.task {
            Task::Forecasting => self.setting.word(),
            Task::Completion => self.task.word(),
            Task::Evolving => self.procedure.word(),
        }
    }
}

impl Default for Protocol {
    /// The usual protocol of single-step forecasting.
    fn default() -> Self {
        Self::of(Task::Forecasting)
    }
}

impl Serialize for Protocol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Protocol", 11)?;
        fields.serialize_field("task", &self.task)?;
        match self.task {
            Task::Forecasting => fields.serialize_field("setting", &self.setting)?,
            Task::Evolving => fields.serialize_field("procedure", &self.procedure)?,
            Task::Completion => {}
        }
        if self.task != Task::Evolving {
            fields.serialize_field("validation", &self.validation)?;
            fields.serialize_field("duplicates", &self.duplicates)?;
        }
        fields.serialize_field("ties", &self.ties)?;
        fields.serialize_field("candidates", &self.candidates)?;
        if let Some(intervals) = &self.intervals {
            fields.serialize_field("intervals", intervals)?;
        }
        fields.serialize_field("selection", &self.selection)?;
        if self.task != Task::Forecasting {
            fields.serialize_field("compat", &self.compat)?;
        }
        if let Some(leak) = &self.leak {
            fields.serialize_field("leak", leak)?;
        }
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_other_tasks_leave_no_trace() {
        let protocols = [
            Protocol::forecasting(Setting::MultiStep),
            Protocol::completion().with_compat(true),
            Protocol::evolving(Procedure::Incremental).with_compat(true),
            Protocol { leak: Some(Leak::SameDirection), ..Protocol::default() },
        ];
        for protocol in protocols {
            let value = serde_json::to_value(protocol).expect("a protocol");
            assert_eq!(
                serde_json::from_value::<Protocol>(value.clone()).expect("what was written"),
                protocol
            );
            assert_eq!(value.get("setting").is_some(), protocol.task == Task::Forecasting);
            assert_eq!(value.get("procedure").is_some(), protocol.task == Task::Evolving);
            assert_eq!(value.get("leak").is_some(), protocol.leak.is_some());
        }
        assert_eq!(
            Protocol::forecasting(Setting::Online).with_compat(true).selection.word(),
            "train-and-valid"
        );
    }
}
