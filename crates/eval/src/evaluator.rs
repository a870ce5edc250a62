//! The evaluator of facts with times: it indexes what may be known, fits a model, and judges it on the test split.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use quadcast_core::{
    Dataset, EntityId, Facts, Forecaster, History, HistoryIndex, ModelError, Protocol, Quad, Query, Run,
    SelectionFilter, Setting, Split, Step, Task, TiePolicy, ValidationUse,
};

use crate::asking::{Among, Asking, Questions, RankedQuery, TrueAnswers};
use crate::journal::{Forgetful, Journal, JudgedStep};
use crate::validation::ValidationPeriod;
use crate::{EvalError, Isolation};

/// Questions that one thread scores in one go.
const CHUNK: usize = 64;

/// A finished evaluation.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Every question with its ranks, in order of (step, known entity, relation, direction, gold answer).
    pub ranked: Vec<RankedQuery>,
    /// Questions that were not asked again because their fact is a duplicate.
    pub repeated: usize,
    /// The latest step whose facts the model read: the proof that the setting was kept.
    pub latest_read: Option<Step>,
    /// Whether each query was answered without knowing the others; `None` if it was not checked.
    pub isolation: Option<Isolation>,
}

/// Which facts an index holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parts {
    Train,
    TrainValid,
    TrainTest,
    /// All splits.
    AllSplits,
    /// All splits and the facts that are true without being in a split.
    AllTrue,
}

/// Judges models on one dataset under one protocol. Each index of facts is built once, when it is first needed.
pub struct Evaluator<D> {
    dataset: D,
    protocol: Protocol,
    indexes: [OnceLock<HistoryIndex>; 5],
}

impl<D: Deref<Target = Dataset>> Evaluator<D> {
    /// An evaluator of a borrowed or shared dataset; nothing is computed yet.
    pub fn new(dataset: D, protocol: &Protocol) -> Self {
        Self { dataset, protocol: *protocol, indexes: Default::default() }
    }

    /// The protocol.
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// The dataset.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The dataset, borrowed or shared as it was given.
    pub fn shared_dataset(&self) -> D
    where
        D: Clone,
    {
        self.dataset.clone()
    }

    /// Fits a model on the facts before the validation period, or, for completion, on the training facts; the validation
    /// facts judge candidates. The index that the model's views rest on holds no test fact at all. Returns how often candidate models
    /// were judged.
    pub fn fit(&self, model: &mut dyn Forecaster, run: &Run) -> Result<u64, EvalError> {
        self.check(model)?;
        let (history, truth, view) = if self.protocol.task == Task::Completion {
            let known = self.index(Parts::Train);
            let truth = match self.protocol.selection {
                SelectionFilter::TrainAndValid => Parts::TrainValid,
                SelectionFilter::AllSplits => Parts::AllTrue,
            };
            (known, self.index(truth), known.whole())
        } else {
            let first = first_step(&self.dataset.splits.valid, Split::Valid)?;
            let known = self.index(Parts::TrainValid);
            (known, known, known.before(first))
        };
        let period = self.period(history, truth, &self.dataset.splits.valid, Depth::Selection);
        let validation = ValidationPeriod { period, run, plays: AtomicU64::new(0) };
        model.fit(&view, &validation, run)?;
        Ok(validation.plays.into_inner())
    }

    /// Judges a fitted model on the test split.
    pub fn judge(&self, model: &mut dyn Forecaster, run: &Run) -> Result<Judged, EvalError> {
        self.judge_with(model, run, &mut Forgetful)
    }

    /// As [`Self::judge`], and steps that the journal holds already are not asked again. The result is the same. Completion
    /// has no order of steps and leaves the journal alone.
    pub fn judge_with(
        &self,
        model: &mut dyn Forecaster,
        run: &Run,
        journal: &mut dyn Journal,
    ) -> Result<Judged, EvalError> {
        self.check(model)?;
        let test = &self.dataset.splits.test;
        let units = match self.protocol.task {
            Task::Completion => test.len(),
            _ => test.occupied().count(),
        };
        let period = self.period(self.history(), self.index(self.truth()), test, Depth::Full);
        run.progress.begin("test", units as u64);
        let played = period.play(model, run, journal);
        run.progress.end();
        let JudgedStep { ranked, latest_read } = played?;
        let repeated = 2 * test.len() - ranked.len();
        Ok(Judged { ranked, repeated, latest_read, isolation: None })
    }

    /// Asks a sample of the test queries again, to see whether the model answers each without knowing the others, and notes the
    /// finding. `judged` is what [`Self::judge_with`] returned for this model, which has not learned anything since.
    pub fn check_isolation(
        &self,
        model: &mut dyn Forecaster,
        run: &Run,
        judged: &mut Judged,
    ) -> Result<Isolation, EvalError> {
        self.check(model)?;
        let truth = self.index(self.truth());
        let period = self.period(self.history(), truth, &self.dataset.splits.test, Depth::Full);
        let isolation = period.check_isolation(model, run, &judged.ranked)?;
        judged.isolation = Some(isolation);
        Ok(isolation)
    }

    /// What a model saw when it was asked about a step of the test period.
    pub fn view(&self, step: Step) -> History<'_> {
        let history = self.history();
        match (self.protocol.task, self.protocol.setting) {
            (Task::Completion, _) => history.whole(),
            (_, Setting::MultiStep) => {
                history.before(self.dataset.splits.test.first_step().unwrap_or(step).min(step))
            }
            (_, Setting::SingleStep | Setting::Online) => history.before(step),
        }
    }

    /// Everything that may be known when a question is asked after the evaluation: the facts of all splits, or, for completion, those
    /// that were known at test time.
    pub fn known_now(&self) -> &HistoryIndex {
        match self.protocol.task {
            Task::Completion => self.history(),
            _ => self.index(Parts::AllSplits),
        }
    }

    /// What is known at test time: facts of which a model sees those before a ceiling, or, for completion, all.
    pub(crate) fn history(&self) -> &HistoryIndex {
        self.index(match (self.protocol.task, self.protocol.validation) {
            (Task::Completion, ValidationUse::Withheld) => Parts::Train,
            (Task::Completion, ValidationUse::Observed) => Parts::TrainValid,
            (_, ValidationUse::Withheld) => Parts::TrainTest,
            (_, ValidationUse::Observed) => Parts::AllSplits,
        })
    }

    /// What the filters of the test split know.
    fn truth(&self) -> Parts {
        match self.protocol.task {
            Task::Completion => Parts::AllTrue,
            _ => Parts::AllSplits,
        }
    }

    fn index(&self, parts: Parts) -> &HistoryIndex {
        let (data, splits) = (self.dataset(), &self.dataset.splits);
        self.indexes[parts as usize].get_or_init(|| {
            let facts: &[&Facts] = match parts {
                Parts::Train => &[&splits.train],
                Parts::TrainValid => &[&splits.train, &splits.valid],
                Parts::TrainTest => &[&splits.train, &splits.test],
                Parts::AllSplits => &[&splits.train, &splits.valid, &splits.test],
                Parts::AllTrue => &[&splits.train, &splits.valid, &splits.test, &data.beyond],
            };
            HistoryIndex::new(&data.axis, data.entities(), data.relations(), facts)
                .with_names(&data.vocabulary)
        })
    }

    fn period<'b>(
        &'b self,
        history: &'b HistoryIndex,
        truth: &'b HistoryIndex,
        asked: &'b Facts,
        depth: Depth,
    ) -> Period<'b> {
        Period { history, truth, asked, relations: self.dataset.relations(), protocol: &self.protocol, depth }
    }

    /// The model knows the task and the setting, no split is empty, and, for forecasting, they follow each other in time (they
    /// may share the step at a boundary).
    fn check(&self, model: &dyn Forecaster) -> Result<(), EvalError> {
        let capabilities = model.capabilities();
        if capabilities.task != self.protocol.task {
            return Err(EvalError::Task { task: self.protocol.task, own: capabilities.task });
        }
        let splits = &self.dataset.splits;
        if self.protocol.task == Task::Completion {
            let empty = Split::ALL.into_iter().find(|&split| splits.get(split).is_empty());
            return empty.map_or(Ok(()), |split| Err(EvalError::Empty(split)));
        }
        let (setting, settings) = (self.protocol.setting, capabilities.settings);
        if !settings.contains(&setting) {
            return Err(EvalError::Setting { setting, settings });
        }
        for pair in Split::ALL.windows(2) {
            let (earlier, later) = (pair[0], pair[1]);
            let last = splits.get(earlier).last_step().ok_or(EvalError::Empty(earlier))?;
            let first = first_step(splits.get(later), later)?;
            if first < last {
                let [starts, ends] = [first, last].map(|step| self.dataset.axis.label(step));
                return Err(EvalError::Splits(format!(
                    "{later} starts at {starts}, before {earlier} ends at {ends}: this is not a forecasting split. Use a dataset whose \
                     splits follow each other in time, or treat it as a completion dataset"
                )));
            }
            let shared = shared_facts(splits.get(earlier), splits.get(later), first);
            if shared > 0 {
                return Err(EvalError::Splits(format!(
                    "{shared} facts are in both {earlier} and {later}: the model would be judged on what it was given. Remove them from \
                     one of the two"
                )));
            }
        }
        Ok(())
    }
}

/// Fits a model with an evaluator of its own; see [`Evaluator::fit`].
pub fn fit(
    dataset: &Dataset,
    protocol: &Protocol,
    model: &mut dyn Forecaster,
    run: &Run,
) -> Result<u64, EvalError> {
    Evaluator::new(dataset, protocol).fit(model, run)
}

/// Judges a fitted model with an evaluator of its own.
pub fn judge(
    dataset: &Dataset,
    protocol: &Protocol,
    model: &mut dyn Forecaster,
    run: &Run,
) -> Result<Judged, EvalError> {
    Evaluator::new(dataset, protocol).judge(model, run)
}

fn first_step(facts: &Facts, split: Split) -> Result<Step, EvalError> {
    facts.first_step().ok_or(EvalError::Empty(split))
}

/// Facts that are in both splits. Splits that follow each other can only share the step at their boundary.
fn shared_facts(earlier: &Facts, later: &Facts, step: Step) -> usize {
    let known: Vec<Quad> = earlier.snapshot(step).iter().collect();
    later.snapshot(step).iter().filter(|fact| known.binary_search(fact).is_ok()).count()
}

/// How much to compute per question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The time-aware filter only: what model selection needs.
    Selection,
    /// All filters and policies.
    Full,
}

/// Facts that are asked about, and what is known and true meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Period<'a> {
    /// What views are taken from.
    pub history: &'a HistoryIndex,
    /// What the filters know.
    pub truth: &'a HistoryIndex,
    /// Facts to ask about.
    pub asked: &'a Facts,
    pub relations: usize,
    pub protocol: &'a Protocol,
    pub depth: Depth,
}

impl Period<'_> {
    /// Asks everything, by the clock of the task.
    pub fn play(
        &self,
        model: &mut dyn Forecaster,
        run: &Run,
        journal: &mut dyn Journal,
    ) -> Result<JudgedStep, EvalError> {
        match self.protocol.task {
            Task::Completion => self.play_without_clock(model, run),
            _ => self.play_steps(model, run, journal),
        }
    }

    /// Asks all questions of one step.
    pub fn ask(
        &self,
        model: &mut dyn Forecaster,
        step: Step,
        ceiling: Step,
        questions: &Questions,
    ) -> Result<Vec<RankedQuery>, EvalError> {
        let history = self.history.before(ceiling);
        model.begin(step, &history)?;
        if let Some(leak) = self.protocol.leak {
            model.shown_queries(leak, &questions.queries);
        }
        self.ask_prepared(&*model, &history, questions)
    }

    /// Asks questions that the model has prepared for.
    pub fn ask_prepared(
        &self,
        model: &dyn Forecaster,
        history: &History<'_>,
        questions: &Questions,
    ) -> Result<Vec<RankedQuery>, EvalError> {
        let asking = Asking {
            questions,
            truth: self,
            among: Among::All(history.entities()),
            chunk: CHUNK,
            ordinal: self.depth == Depth::Full || self.protocol.ties == TiePolicy::Ordinal,
        };
        asking.ask(|queries, sink| -> Result<(), ModelError> { model.score(history, queries, sink) })
    }
}

impl TrueAnswers for Period<'_> {
    fn collect(&self, query: &Query, now: &mut Vec<EntityId>, ever: &mut Vec<EntityId>) {
        let events = self.truth.events(query.known, query.directed(self.relations));
        let start = events.partition_point(|event| event.step < query.step);
        let end = events.partition_point(|event| event.step <= query.step);
        now.extend(events[start..end].iter().map(|event| event.answer));
        now.dedup();
        if self.depth == Depth::Full {
            ever.extend(events.iter().map(|event| event.answer));
            ever.sort_unstable();
            ever.dedup();
        }
    }

    fn seen(&self, query: &Query, gold: EntityId) -> bool {
        let completion = self.protocol.task == Task::Completion;
        let index = if completion { self.history } else { self.truth };
        let mut events = index.events(query.known, query.directed(self.relations)).iter();
        self.depth == Depth::Full && events.any(|e| e.answer == gold && (completion || e.step < query.step))
    }
}
