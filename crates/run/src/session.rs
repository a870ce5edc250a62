//! Sessions: a checked plan with its data and its model, from opening to a complete record.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use quadcast_core::{Dataset, Forecaster, Names, Protocol, Rule, Run, Split, Task};
use quadcast_eval::{Evaluator, Forgetful, Journal, Judged, RankedQuery};
use quadcast_models::Entry;

use crate::checkpoints::{self, FolderCheckpoints};
use crate::evolving::EvolvingPart;
use crate::folder::{Place, RunFolder};
use crate::model_files::{model_fingerprint, read_model};
use crate::plan::{CheckedPlan, Plan};
use crate::ranks::{self, StepTimes};
use crate::rules::{expect_rule_model, rules_of_file};
use crate::source::{TimedData, open_any};
use crate::{
    AnyModel, DatasetCard, ModelCard, RankJournal, Record, RulesCard, RunError, Sample, Selection, Status,
    TrainedBy,
};
use crate::{read_complete, samples};

/// One run, open: its plan, its data, its model and its record.
pub struct Session {
    pub(crate) run: Run,
    pub(crate) plan: CheckedPlan,
    pub(crate) model: AnyModel,
    pub(crate) part: TaskPart,
    pub(crate) record: Record,
    /// What is used instead of training.
    given: Given,
}

/// The part of a session that depends on the task.
pub(crate) enum TaskPart {
    /// Forecasting and completion.
    Timed(Box<TimedPart>),
    /// Evolving graphs.
    Evolving(Box<EvolvingPart>),
}

/// Facts with times, and their evaluation.
pub(crate) struct TimedPart {
    pub evaluator: Evaluator<Arc<Dataset>>,
    pub judged: Option<Judged>,
}

/// What is used instead of training.
enum Given {
    Nothing,
    /// Rules of a file.
    Rules(Vec<Rule>),
    /// The model of another run, and its record.
    Model(AnyModel, Box<Record>),
}

impl Session {
    /// Checks a plan, reads its data and builds its model. Nothing is computed or written yet.
    pub fn open(plan: Plan, run: Run) -> Result<Self, RunError> {
        let start = Instant::now();
        let data = plan.data.clone().ok_or_else(|| {
            RunError::input(
                "which dataset? Give a folder or a name with --data, for example --data examples/harbour",
            )
        })?;
        let (format, progress) = (plan.format, run.progress.clone());
        let named = plan.named_task()?;
        let early =
            if named.is_none() { Some(open_any(&data, format, None, progress.as_ref())?) } else { None };
        let task = match (named, &early) {
            (Some(task), _) => task,
            (None, Some(opened)) => opened.task(progress.as_ref()),
            (None, None) => Task::Forecasting,
        };
        let mut plan = plan.check(task)?;
        if plan.idle_compat() {
            progress.remark(&format!("{} does nothing different under --compat", plan.entry.name));
        }
        let model = AnyModel::build(plan.entry, &plan.plan.config)?;
        if let Some(file) = &plan.plan.rules {
            expect_rule_model(plan.entry, file)?;
        }
        let opened = match early {
            Some(opened) => opened,
            None => open_any(&data, format, Some(task), progress.as_ref())?,
        };
        let (part, card) = if task == Task::Evolving {
            let graph = opened.graph()?;
            plan.bind(graph.fingerprint)?;
            let (part, card) = EvolvingPart::new(graph, &plan);
            (TaskPart::Evolving(Box::new(part)), card)
        } else {
            let TimedData { dataset, fingerprint, variant, intervals } =
                opened.timed(task, plan.protocol.intervals, progress.as_ref())?;
            plan.protocol.intervals = intervals;
            plan.plan.protocol = plan.protocol.into();
            plan.bind(fingerprint)?;
            plan.bind_names(&dataset.vocabulary)?;
            let card = DatasetCard::new(&dataset, variant, fingerprint);
            let card = DatasetCard { names: plan.plan.names, ..card };
            let evaluator = Evaluator::new(Arc::new(dataset), &plan.protocol);
            (TaskPart::Timed(Box::new(TimedPart { evaluator, judged: None })), card)
        };
        let config = serde_json::to_value(&plan.plan.config).map_err(RunError::internal)?;
        let card_of_model =
            ModelCard { name: plan.entry.name.to_owned(), config, rules: None, trained_by: None };
        let mut record = Record::begun(card, card_of_model, plan.protocol, plan.seed);
        let run = Run { seed: plan.seed, time_budget: plan.time_budget, ..run };
        let given = given(&plan, &part, &mut record, &run)?;
        if let TaskPart::Evolving(part) = &part {
            record.asked = Some(part.asked_about());
        }
        record.seconds.load = start.elapsed().as_secs_f64();
        Ok(Self { run, plan, model, part, record, given })
    }

    /// Opens a complete run again, ready to answer. `data` replaces the place of the dataset, not its content.
    pub fn reopen(folder: &Path, data: Option<&str>, run: Run) -> Result<Self, RunError> {
        let start = Instant::now();
        let record = read_complete(folder)?;
        let mut file = Plan::read(&folder.join(Plan::FILE))?;
        let updated_from = file.updated_from.take();
        file.path = None;
        let own = (record.task == Task::Evolving).then(|| EvolvingPart::own_graph(folder)).flatten();
        let place = data.map(str::to_owned).or(own).or(file.data.clone());
        let place = place.unwrap_or_else(|| record.dataset.name.clone());
        let mut plan = file.check(record.task)?;
        plan.plan.updated_from = updated_from;
        let opened = open_any(&place, plan.plan.format, Some(record.task), run.progress.as_ref())?;
        let moved = |found| {
            let expected = record.dataset.fingerprint;
            if expected == found {
                return Ok(());
            }
            Err(RunError::input(format!(
                "{place} is not what the run was made on: expected fingerprint {expected}, found {found}. \
                 Name the right folder with --data"
            )))
        };
        let part = if record.task == Task::Evolving {
            let mut graph = opened.graph()?;
            moved(graph.fingerprint)?;
            // A stream is called as its file, its graph as the dataset that it began with.
            graph.dataset.name.clone_from(&record.dataset.name);
            let (mut part, _) = EvolvingPart::new(graph, &plan);
            part.restore_questions(folder)?;
            TaskPart::Evolving(Box::new(part))
        } else {
            let data = opened.timed(record.task, plan.protocol.intervals, run.progress.as_ref())?;
            moved(data.fingerprint)?;
            if record.dataset.names.is_some_and(|names| names != data.dataset.vocabulary.fingerprint()) {
                return Err(RunError::input(format!(
                    "{place} has other names than the run was made on, and {} reads them. Name the right folder with --data",
                    record.model.name
                )));
            }
            let evaluator = Evaluator::new(Arc::new(data.dataset), &plan.protocol);
            TaskPart::Timed(Box::new(TimedPart { evaluator, judged: None }))
        };
        let (entry, model) = read_model(folder, &record, part.relations())?;
        plan.entry = entry;
        let mut session = Self { run, plan, model, part, record, given: Given::Nothing };
        session.record.seconds.load = start.elapsed().as_secs_f64();
        Ok(session)
    }

    /// A session of parts that fit together.
    pub(crate) fn of_parts(
        run: Run,
        plan: CheckedPlan,
        model: AnyModel,
        part: TaskPart,
        record: Record,
    ) -> Self {
        Self { run, plan, model, part, record, given: Given::Nothing }
    }

    /// The task.
    pub fn task(&self) -> Task {
        self.plan.protocol.task
    }

    /// The record as it is now.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The registry entry of the model.
    pub fn entry(&self) -> &'static Entry {
        self.plan.entry
    }

    /// The plan with nothing left out.
    pub fn plan(&self) -> &Plan {
        &self.plan.plan
    }

    /// The dataset of forecasting or completion.
    pub fn dataset(&self) -> Option<&Dataset> {
        match &self.part {
            TaskPart::Timed(part) => Some(part.evaluator.dataset()),
            TaskPart::Evolving(_) => None,
        }
    }

    /// Fits the model, or takes what is used instead. A model of an evolving graph is fitted and judged step by step.
    pub fn fit(&mut self) -> Result<(), RunError> {
        match &self.part {
            TaskPart::Timed(_) => self.fit_timed(),
            TaskPart::Evolving(_) => {
                self.play(&mut Forgetful)?;
                self.complete_evolving(Vec::new())
            }
        }
    }

    /// Judges the fitted model on the test split; the record is complete then.
    pub fn judge(&mut self) -> Result<&Record, RunError> {
        if matches!(self.part, TaskPart::Timed(_)) {
            let start = Instant::now();
            self.judge_timed(&mut Forgetful)?;
            self.record.seconds.evaluate = start.elapsed().as_secs_f64();
            self.check_isolation()?;
        }
        Ok(&self.record)
    }

    /// Fits and judges, and leaves a complete run folder. What an interrupted run of the same plan has done is not done again.
    pub fn complete(&mut self, place: &Place) -> Result<PathBuf, RunError> {
        let Protocol { leak, .. } = self.plan.protocol;
        let name = format!(
            "{}-{}-{}{}-{}",
            self.plan.entry.name,
            self.record.dataset.name,
            self.plan.protocol.headline(),
            leak.map_or_else(String::new, |leak| format!("-leak-{}", leak.word())),
            self.plan.seed
        );
        let folder = RunFolder::choose(place, &name, &self.plan.plan.identity(&self.record.version)?)?;
        self.complete_in(&folder, place)?;
        Ok(folder.path().to_owned())
    }

    /// The same in a folder that is locked already.
    pub(crate) fn complete_in(&mut self, folder: &RunFolder, place: &Place) -> Result<(), RunError> {
        let owner = self.plan.plan.identity(&self.record.version)?;
        if place.resume {
            checkpoints::check_owner(folder.path(), &owner)?;
        }
        if !place.overwrite && !place.resume {
            self.take_interrupted(folder.path());
        }
        folder.begin(&self.record, &self.plan.plan)?;
        if place.overwrite {
            checkpoints::clear_all(folder.path())?;
            RankJournal::remove(folder.path())?;
        }
        let stored = Arc::new(FolderCheckpoints::open(folder.path(), &owner, self.record.fitted.is_some())?);
        self.run.checkpoints = stored.clone();
        self.perform(folder, &owner, &stored).map_err(|error| folder.fail(&self.record, error))
    }

    fn perform(
        &mut self,
        folder: &RunFolder,
        owner: &str,
        stored: &FolderCheckpoints,
    ) -> Result<(), RunError> {
        let dataset = match &self.part {
            TaskPart::Evolving(_) => return self.perform_evolving(folder, owner, stored),
            TaskPart::Timed(part) => part.evaluator.shared_dataset(),
        };
        let times = StepTimes::Axis(&dataset.axis);
        let resumed = self.record.fitted.is_some();
        if !resumed {
            RankJournal::remove(folder.path())?;
            self.fit_timed()?;
            // The training of another run is in its record.
            if self.record.model.trained_by.is_none() {
                self.record.training = stored.trained();
            }
            self.note_selection(stored.validations_before());
            // A training that was interrupted knows how long all its parts took.
            let trained: f64 = self.record.training.iter().filter_map(|t| t["seconds"].as_f64()).sum();
            self.record.seconds.fit = self.record.seconds.fit.max(trained);
        }
        // Also if the model is that of an interrupted run: its files may be damaged in a place that changes nothing, such as a blank.
        let saved = self.model.save()?;
        folder.save_fit(&mut self.record, &saved, &dataset.vocabulary.relations)?;
        drop(saved);
        if !resumed && self.record.training.iter().all(|training| training["ending"] != "time-budget") {
            checkpoints::clear(folder.path())?;
        }
        let possible = |row: &RankedQuery| ranks::check(row, &self.record).is_ok();
        let mut journal = RankJournal::open(folder.path(), owner, times, possible)?;
        if resumed {
            let steps = dataset.splits.test.occupied().count();
            let (path, done) = (folder.path().display(), journal.steps());
            self.run.progress.remark(&format!("resuming {path}: fitted, {done} of {steps} test steps done"));
        }
        self.judge_timed(&mut journal)?;
        self.record.seconds.evaluate = journal.seconds();
        self.check_isolation()?;
        self.warn_of_leaks();
        self.explain_samples(folder.path())?;
        let TaskPart::Timed(part) = &self.part else { return Ok(()) };
        let ranked = part.judged.as_ref().map_or(&[][..], |judged| &judged.ranked);
        folder.finish(&mut self.record, &self.plan.plan, ranked, times)
    }

    /// Looks for an interrupted run of the same plan, and takes its fitted model. Another plan, another version, a file that is
    /// damaged or missing: whatever the reason why it cannot be used, the remedy is to start over.
    fn take_interrupted(&mut self, folder: &Path) {
        let found = || {
            let record = Record::read(folder).ok()?;
            if record.status == Status::Complete || record.fitted.is_none() {
                return None;
            }
            let written = Plan::read(&folder.join(Plan::FILE)).ok()?.identity(&record.version).ok()?;
            if written != self.plan.plan.identity(&self.record.version).ok()? {
                return None;
            }
            let (entry, model) = read_model(folder, &record, self.part.relations()).ok()?;
            // Files that can be read may still not be what was written; a model that saves itself in the same way is.
            let saved = model.save().ok()?;
            let same = record.fitted == model_fingerprint(&saved).ok() && entry.name == self.plan.entry.name;
            // A file of rules may have been edited since.
            let rules = match &self.given {
                Given::Rules(rules) => saved.rules.as_ref() == Some(rules),
                _ => true,
            };
            // A run that trained the model may have been replaced since; its digest is in the card of the model.
            let card = record.model == self.record.model;
            (same && rules && card).then_some((record, model))
        };
        if let Some((record, model)) = found() {
            self.record.take_fit(&record);
            self.model = model;
        }
    }

    fn fit_timed(&mut self) -> Result<(), RunError> {
        let (TaskPart::Timed(part), start) = (&self.part, Instant::now()) else { return Ok(()) };
        match std::mem::replace(&mut self.given, Given::Nothing) {
            Given::Model(model, record) => {
                self.model = model;
                self.record.take_fit(&record);
                self.record.fitted = None;
            }
            Given::Rules(rules) => {
                let file = self.plan.plan.rules.as_deref().unwrap_or_default();
                let taken = self.model.timed()?.take_rules(rules);
                taken.map_err(|error| RunError::input(format!("{file}: {error}")))?;
                self.record.seconds.fit = start.elapsed().as_secs_f64();
            }
            Given::Nothing => {
                let plays = part.evaluator.fit(self.model.timed()?, &self.run)?;
                self.record.seconds.fit = start.elapsed().as_secs_f64();
                self.note_selection(plays);
            }
        }
        Ok(())
    }

    /// Notes how often states were compared on validation; adds up.
    fn note_selection(&mut self, plays: u64) {
        if plays == 0 {
            return;
        }
        let protocol = &self.plan.protocol;
        let (ties, headline) = (protocol.ties.word(), protocol.headline());
        let metric = format!("time-aware MRR, {ties} ties, {headline}");
        let before = self.record.selection.take().map_or(0, |selection| selection.plays);
        let plays = plays.saturating_add(before);
        self.record.selection = Some(Selection { split: Split::Valid, metric, plays });
    }

    fn judge_timed(&mut self, journal: &mut dyn Journal) -> Result<(), RunError> {
        let TaskPart::Timed(part) = &mut self.part else { return Ok(()) };
        let model = self.model.timed()?;
        let judged = part.evaluator.judge_with(model, &self.run, journal)?;
        self.record
            .complete(part.evaluator.dataset(), &judged)
            .ok_or_else(|| RunError::input("the test split holds no facts"))?;
        if self.plan.protocol.task == Task::Completion {
            self.record.relation_time = part.evaluator.relation_time(model, &self.run)?;
        }
        part.judged = Some(judged);
        Ok(())
    }

    /// Checks whether the model answers each query without knowing the others.
    fn check_isolation(&mut self) -> Result<(), RunError> {
        let TaskPart::Timed(part) = &mut self.part else { return Ok(()) };
        let TimedPart { evaluator, judged: Some(judged) } = part.as_mut() else { return Ok(()) };
        let isolation = evaluator.check_isolation(self.model.timed()?, &self.run, judged)?;
        self.record.isolation = Some(isolation);
        Ok(())
    }

    /// A model that knows the other queries completes its run. The record, the summary and every report say so, and this remark.
    fn warn_of_leaks(&self) {
        let name = self.plan.entry.name;
        match self.plan.protocol.leak {
            Some(leak) => self.run.progress.remark(&format!(
                "this run demonstrates the query-set leak ({}): its figures are not results, and compare and report refuse them",
                leak.word()
            )),
            None if self.record.isolation.is_some_and(|found| found.is_broken()) => self.run.progress.remark(&format!(
                "WARNING: the answers of {name} change when other queries are in the same batch (isolation broken): its figures \
                 may rest on the queries of the test step; see docs/query-set-leak.md"
            )),
            None => {}
        }
    }

    /// Saves a few explained test queries. The results stand without them: if the model cannot explain an answer, that is reported
    /// and the run still completes.
    fn explain_samples(&mut self, folder: &Path) -> Result<(), RunError> {
        match samples::choose_and_explain(self) {
            Ok(samples) if samples.is_empty() => Ok(()),
            Ok(samples) => Ok(Sample::write_all(folder, &samples)?),
            Err(error) => {
                self.run.progress.remark(&format!("no explanations are kept: {error}"));
                Ok(())
            }
        }
    }
}

impl TaskPart {
    fn relations(&self) -> &Names {
        match self {
            Self::Timed(part) => &part.evaluator.dataset().vocabulary.relations,
            Self::Evolving(part) => &part.graph.dataset.vocabulary.relations,
        }
    }
}

impl TaskPart {
    /// The latest time of the facts that a model is trained and selected on.
    fn trained_until(&self) -> Option<String> {
        let Self::Timed(part) = self else { return None };
        let data = part.evaluator.dataset();
        let last = data.splits.train.last_step().max(data.splits.valid.last_step());
        last.map(|step| data.axis.label(step))
    }

    /// An error unless a model that another run trained on this data has seen nothing of what it is asked about.
    fn expect_training_before_test(&self, folder: &str) -> Result<(), RunError> {
        let Self::Timed(part) = self else {
            return Err(RunError::input(format!(
                "--trained-by {folder}: a model of an evolving graph has learned from all its steps and cannot be judged on them \
                 again; continue with quadcast update"
            )));
        };
        let data = part.evaluator.dataset();
        let last = data.splits.train.last_step().max(data.splits.valid.last_step());
        let first = data.splits.test.first_step();
        match (part.evaluator.protocol().task, last, first) {
            (Task::Forecasting, Some(last), Some(first)) if last >= first => Err(RunError::input(format!(
                "--trained-by {folder}: its model was trained on facts up to {}, and the test facts begin at {}; train a model on \
                 data that ends before the test facts",
                data.axis.label(last),
                data.axis.label(first)
            ))),
            _ => Ok(()),
        }
    }
}

impl AnyModel {
    /// The model of forecasting or completion.
    pub(crate) fn timed(&mut self) -> Result<&mut dyn Forecaster, RunError> {
        match self {
            Self::Timed(model) => Ok(model.as_mut()),
            Self::Evolving(_) => Err(RunError::internal("a model of facts with times is expected here")),
        }
    }
}

/// Reads what a plan uses instead of training.
fn given(plan: &CheckedPlan, part: &TaskPart, record: &mut Record, run: &Run) -> Result<Given, RunError> {
    if let Some(folder) = &plan.plan.trained_by {
        part.expect_training_before_test(folder)?;
        let (model, trained) = pretrained(folder, plan.entry, record, part.relations())?;
        let headline = trained.protocol.headline();
        run.progress.detail(&format!("the model of {folder}, chosen under {headline}"));
        record.model.trained_by = Some(TrainedBy {
            run: folder.clone(),
            digest: trained.digest.clone().unwrap_or_default(),
            protocol: headline.to_owned(),
            until: part.trained_until(),
        });
        return Ok(Given::Model(model, Box::new(trained)));
    }
    let Some(file) = &plan.plan.rules else { return Ok(Given::Nothing) };
    let read = rules_of_file(file, part.relations(), run)?;
    record.model.rules =
        Some(RulesCard { file: file.clone(), used: read.rules.len(), dropped: read.dropped });
    Ok(Given::Rules(read.rules))
}

/// The model of a complete run on the same data.
fn pretrained(
    folder: &str,
    entry: &Entry,
    record: &Record,
    relations: &Names,
) -> Result<(AnyModel, Record), RunError> {
    let path = Path::new(folder);
    let trained = read_complete(path)?;
    let refuse = |why: String| Err(RunError::input(format!("{folder}: {why}")));
    if trained.protocol.leak != record.protocol.leak {
        return refuse(
            "its model was trained with other knowledge of the queries (--demonstrate-leak); train a model in this run"
                .to_owned(),
        );
    }
    if trained.model.name != entry.name {
        return refuse(format!("holds a model of {}, expected {}", trained.model.name, entry.name));
    }
    let (expected, found) = (record.dataset.fingerprint, trained.dataset.fingerprint);
    if expected != found {
        return refuse(format!(
            "its model was trained on data with fingerprint {found}, this is {expected}; train a model on this data"
        ));
    }
    if record.dataset.names != trained.dataset.names {
        return refuse("its model read other names; train a model on this data".to_owned());
    }
    let (_, model) = read_model(path, &trained, relations)?;
    Ok((model, trained))
}
