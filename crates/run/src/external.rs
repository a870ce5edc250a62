//! Scores or ranks of a model from elsewhere, judged under the protocol.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use quadcast_core::{Dataset, Fingerprint, Protocol, Run, Split, TiePolicy};
use quadcast_data::scores::{
    GoldAnswer, OpenOptions, QueryList, RankCounts, RankFile, ScoreFile, ScoreFileError,
};
use quadcast_data::{Format, LoadOptions, Loaded};
use quadcast_eval::{Judged, Rank, Ranks, judge, queries};

use crate::folder::{Place, RunFolder};
use crate::plan::{EXTERNAL, Plan};
use crate::ranks::StepTimes;
use crate::score_model::{AllTied, ScoreModel};
use crate::source::{forecasting_dataset, open};
use crate::{DatasetCard, ModelCard, RankJournal, Record, RunError, ScoreSource, checkpoints};

/// Scores of a model from elsewhere, and what is declared about them.
#[derive(Clone, Debug)]
pub struct ExternalScores {
    /// The file of scores or ranks.
    pub file: PathBuf,
    /// Name of the model in the record; by default the name of the file.
    pub name: Option<String>,
    /// The dataset.
    pub data: String,
    /// Layout of the dataset, where the detection is wrong.
    pub format: Option<Format>,
    /// What the model saw and how it is judged; the former is declared, not enforced.
    pub protocol: Protocol,
    /// Seed of random ties and of the intervals.
    pub seed: u64,
    /// Whether scores without keys are accepted: permuted rows then go unnoticed, and the record says so.
    pub unchecked_order: bool,
}

impl ExternalScores {
    /// Judges the scores and leaves a complete run folder. A file that turns out to be unusable leaves no record.
    pub fn complete(&self, place: &Place, run: &Run) -> Result<(PathBuf, Record), RunError> {
        let name = self.model_name()?;
        let start = Instant::now();
        let loaded = open(&self.data, LoadOptions { format: self.format, ..LoadOptions::default() })?;
        loaded.notes.iter().for_each(|note| run.progress.detail(note));
        let dataset = forecasting_dataset(&loaded)?;
        let fingerprint = dataset.fingerprint();
        let headline = self.protocol.headline();
        let folder = format!("external-{name}-{}-{headline}-{}", dataset.name, self.seed);
        place.check()?;
        let list = Arc::new(QueryList::new(dataset, Split::Test, queries(&dataset.splits.test)));
        let load = start.elapsed().as_secs_f64();
        let run = Run { seed: self.seed, ..run.clone() };
        let ranks = RankFile::open(&self.file, dataset, &list, self.unchecked_order)?;
        let (source, judged) = match &ranks {
            Some(ranks) => (self.ranks_source(ranks), self.judge_ranks(dataset, &list, ranks, &run)?),
            None => self.judge_file(dataset, &list, &run)?,
        };
        let mut record = self.begin_record(&name, &loaded, (dataset, fingerprint), source);
        record.seconds.load = load;
        let plan = self.plan(&record)?;
        let folder = RunFolder::choose(place, &folder, &plan.identity(&record.version)?)?;
        folder.begin(&record, &plan)?;
        // What a training or an interrupted run has left there.
        checkpoints::clear_all(folder.path())?;
        RankJournal::remove(folder.path())?;
        record.complete(dataset, &judged).ok_or_else(|| RunError::input("the test split holds no facts"))?;
        if let Some(ranks) = &ranks {
            record.forget_scores(ranks.ties_known, ranks.order_known);
        }
        record.seconds.evaluate = start.elapsed().as_secs_f64() - load;
        folder.finish(&mut record, &plan, &judged.ranked, StepTimes::Axis(&dataset.axis))?;
        Ok((folder.path().to_owned(), record))
    }

    /// The name that the user gives, or the file's without its endings.
    fn model_name(&self) -> Result<String, RunError> {
        let file = self.file.file_name().unwrap_or_default().to_string_lossy();
        let name = self.name.as_deref().unwrap_or_else(|| file.split('.').next().unwrap_or_default());
        let usable = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(usable) {
            return Err(RunError::input(format!(
                "{name:?} cannot name a model and its folder: use letters, digits and -_.+ (--name NAME)"
            )));
        }
        Ok(name.to_owned())
    }

    /// Ranks the scores of a file.
    fn judge_file(
        &self,
        dataset: &Dataset,
        list: &Arc<QueryList>,
        run: &Run,
    ) -> Result<(ScoreSource, Judged), RunError> {
        let open_file = |hold_all| {
            let options = OpenOptions { unchecked_order: self.unchecked_order, hold_all };
            ScoreFile::open(&self.file, dataset, list, options)
        };
        let scores = open_file(false)?;
        let source = self.source(scores.layout(), scores.bytes, scores.verified);
        let mut attempt = self.judge_scores(dataset, scores, run);
        if let Err(RunError::Scores(ScoreFileError::Unsorted { .. })) = attempt {
            run.progress.detail("the lines are not in order of steps; the file is held in memory as a whole");
            attempt = self.judge_scores(dataset, open_file(true)?, run);
        }
        Ok((source, attempt?))
    }

    fn judge_scores(&self, dataset: &Dataset, file: ScoreFile, run: &Run) -> Result<Judged, RunError> {
        let mut scores = ScoreModel::new(file);
        let judged = judge(dataset, &self.protocol, &mut scores, run);
        // Without results, only what the file knows it did wrong counts: rows that were never asked for are not missing.
        match (judged, scores.take_fault()) {
            (_, Some(fault)) => Err(fault.into()),
            (Err(error), None) => Err(error.into()),
            (Ok(judged), None) => Ok(scores.check().map(|()| judged)?),
        }
    }

    /// Takes ranks from a file. The evaluator still asks the questions, of a model without scores: its ties tell how many candidates
    /// there are.
    fn judge_ranks(
        &self,
        dataset: &Dataset,
        list: &QueryList,
        ranks: &RankFile,
        run: &Run,
    ) -> Result<Judged, RunError> {
        if self.protocol.ties == TiePolicy::Ordinal && !ranks.order_known {
            return Err(RunError::input(format!(
                "{}: --ties ordinal needs the columns time_tied_before, static_tied_before and raw_tied_before",
                self.file.display()
            )));
        }
        let mut judged = judge(dataset, &self.protocol, &mut AllTied, run)?;
        let asked: Vec<GoldAnswer> = judged
            .ranked
            .iter()
            .map(|question| GoldAnswer {
                row: list.row(&question.query).expect("the list holds every query of the test split"),
                gold: question.gold,
                candidates: [question.ranks.time, question.ranks.fixed, question.ranks.raw]
                    .map(|rank| rank.tied),
            })
            .collect();
        for (question, counts) in judged.ranked.iter_mut().zip(ranks.answer(&asked)?) {
            let [time, fixed, raw] =
                counts.map(|RankCounts { greater, tied, tied_before }| Rank { greater, tied, tied_before });
            question.ranks = Ranks { time, fixed, raw, reached: true, not_a_number: false };
        }
        Ok(judged)
    }

    /// Where the scores came from, if the evaluator ranks them.
    fn source(&self, layout: &str, bytes: u64, order_verified: bool) -> ScoreSource {
        ScoreSource {
            file: self.file.display().to_string(),
            layout: layout.to_owned(),
            bytes,
            order_verified,
            ranked_by: None,
            ties_known: None,
        }
    }

    /// Where the ranks came from, which the evaluator did not make.
    fn ranks_source(&self, ranks: &RankFile) -> ScoreSource {
        ScoreSource {
            ranked_by: Some("file".to_owned()),
            ties_known: Some(ranks.ties_known),
            ..self.source("ranks", ranks.bytes, ranks.verified)
        }
    }

    fn begin_record(
        &self,
        name: &str,
        loaded: &Loaded,
        (dataset, fingerprint): (&Dataset, Fingerprint),
        source: ScoreSource,
    ) -> Record {
        let config = serde_json::json!({ "scores": source.file, "unchecked_order": self.unchecked_order });
        let model = ModelCard { name: format!("{EXTERNAL}{name}"), config, rules: None, trained_by: None };
        let card = DatasetCard::new(dataset, loaded.variant.map(|variant| variant.name), fingerprint);
        Record { scores: Some(source), ..Record::begun(card, model, self.protocol, self.seed) }
    }

    /// What was judged, in the form of a plan.
    fn plan(&self, record: &Record) -> Result<Plan, RunError> {
        Ok(Plan {
            model: Some(record.model.name.clone()),
            data: Some(self.data.clone()),
            format: self.format,
            fingerprint: Some(record.dataset.fingerprint),
            seed: Some(self.seed),
            protocol: record.protocol.into(),
            config: toml::Table::try_from(&record.model.config).map_err(RunError::internal)?,
            ..Plan::default()
        })
    }
}

/// Whether a model of a record is from elsewhere.
pub fn is_external(record: &Record) -> bool {
    record.model.name.starts_with(EXTERNAL)
}
