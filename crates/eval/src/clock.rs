//! The clock: which facts a model may see when, and which questions it is asked.

use std::collections::BTreeSet;

use quadcast_core::{
    Dataset, DirectedRelation, Facts, Forecaster, History, HistoryIndex, Protocol, Quad, Query, Run,
    ScoreError, ScoreRow, ScoreSink, Setting, Split, Step, TiePolicy, ValidationUse,
};
use rayon::prelude::*;

use crate::completion;
use crate::journal::{Forgetful, Journal, JudgedStep};
use crate::questions::{Depth, Questions, RankSink, RankedQuery};
use crate::rehearsal::Past;
use crate::validation::ValidationPeriod;
use crate::{EvalError, Ranker};

/// Questions that one thread scores in one go.
const CHUNK: usize = 64;

/// A finished fit.
#[derive(Clone, Copy, Debug)]
pub struct Fitted {
    /// How often candidate models were judged on the validation period.
    pub plays: u64,
}

/// A finished evaluation.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Every question with its ranks, in order of (step, known entity, relation, direction, gold answer).
    pub ranked: Vec<RankedQuery>,
    /// Questions that were not asked again because their fact stands in the test split more than once.
    pub repeated: usize,
    /// The latest step whose facts the model read: the proof that the setting was kept.
    pub latest_read: Option<Step>,
}

/// Fits a model on the facts before the validation period, or, for completion, on the training facts; the validation
/// facts judge candidates. The index that the model's views rest on holds no test fact at all.
pub fn fit(
    dataset: &Dataset,
    protocol: &Protocol,
    model: &mut dyn Forecaster,
    run: &Run,
) -> Result<Fitted, EvalError> {
    check(dataset, protocol, model)?;
    if protocol.setting == Setting::Completion {
        return completion::fit(dataset, protocol, model, run);
    }
    let splits = &dataset.splits;
    let index = index(dataset, &[&splits.train, &splits.valid]);
    let first_valid = first_step(&splits.valid, Split::Valid)?;
    let period = Period {
        history: &index,
        truth: &index,
        asked: &splits.valid,
        relations: dataset.relations(),
        protocol,
        depth: Depth::Selection,
    };
    let validation = ValidationPeriod::new(period, run);
    model.fit(&index.before(first_valid), &validation, run)?;
    Ok(Fitted { plays: validation.plays() })
}

/// Judges a fitted model on the test period.
pub fn judge(
    dataset: &Dataset,
    protocol: &Protocol,
    model: &mut dyn Forecaster,
    run: &Run,
) -> Result<Judged, EvalError> {
    judge_with(dataset, protocol, model, run, &mut Forgetful)
}

/// As [`judge`], and steps that the journal holds already are not asked again. The result is the same. Completion has
/// no order of steps and leaves the journal alone.
pub fn judge_with(
    dataset: &Dataset,
    protocol: &Protocol,
    model: &mut dyn Forecaster,
    run: &Run,
    journal: &mut dyn Journal,
) -> Result<Judged, EvalError> {
    check(dataset, protocol, model)?;
    if protocol.setting == Setting::Completion {
        return completion::judge(dataset, protocol, model, run);
    }
    let splits = &dataset.splits;
    let all = index(dataset, &[&splits.train, &splits.valid, &splits.test]);
    let withheld = match protocol.validation {
        ValidationUse::Observed => None,
        ValidationUse::Withheld => Some(index(dataset, &[&splits.train, &splits.test])),
    };
    let history = withheld.as_ref().unwrap_or(&all);
    let period = Period {
        history,
        truth: &all,
        asked: &splits.test,
        relations: dataset.relations(),
        protocol,
        depth: Depth::Full,
    };
    run.progress.begin("test", splits.test.occupied().count() as u64);
    let played = period.play(model, run, journal);
    run.progress.end();
    let JudgedStep { ranked, latest_read } = played?;
    let repeated = 2 * splits.test.len() - ranked.len();
    Ok(Judged { ranked, repeated, latest_read })
}

pub(crate) fn index(dataset: &Dataset, parts: &[&Facts]) -> HistoryIndex {
    HistoryIndex::new(&dataset.axis, dataset.entities(), dataset.relations(), parts)
        .with_names(&dataset.vocabulary)
}

fn first_step(facts: &Facts, split: Split) -> Result<Step, EvalError> {
    facts.first_step().ok_or(EvalError::Empty { split })
}

/// The model knows the setting, no split is empty, and, for forecasting, they follow each other in time (they may share
/// the step at a boundary).
fn check(dataset: &Dataset, protocol: &Protocol, model: &dyn Forecaster) -> Result<(), EvalError> {
    let settings = model.capabilities().settings;
    if !settings.contains(&protocol.setting) {
        return Err(EvalError::Setting { setting: protocol.setting, settings });
    }
    if protocol.setting == Setting::Completion {
        let empty = Split::ALL.into_iter().find(|&split| dataset.splits.get(split).is_empty());
        return empty.map_or(Ok(()), |split| Err(EvalError::Empty { split }));
    }
    for pair in Split::ALL.windows(2) {
        let (earlier, later) = (pair[0], pair[1]);
        let last = dataset.splits.get(earlier).last_step().ok_or(EvalError::Empty { split: earlier })?;
        let first = first_step(dataset.splits.get(later), later)?;
        if first < last {
            return Err(EvalError::NotChronological {
                earlier,
                earlier_last: dataset.axis.label(last),
                later,
                later_first: dataset.axis.label(first),
            });
        }
        let shared = shared_facts(dataset.splits.get(earlier), dataset.splits.get(later), first);
        if shared > 0 {
            return Err(EvalError::SharedFacts { earlier, later, shared });
        }
    }
    Ok(())
}

/// Facts that stand in both splits. Splits that follow each other can only share the step at their boundary.
fn shared_facts(earlier: &Facts, later: &Facts, step: Step) -> usize {
    let known: Vec<Quad> = earlier.snapshot(step).iter().collect();
    later.snapshot(step).iter().filter(|fact| known.binary_search(fact).is_ok()).count()
}

/// A stretch of time that is asked about.
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
    /// Plays all steps of the period, as if they were one.
    pub fn play(
        &self,
        model: &mut dyn Forecaster,
        run: &Run,
        journal: &mut dyn Journal,
    ) -> Result<JudgedStep, EvalError> {
        if self.protocol.setting == Setting::Completion {
            return self.play_at_once(model, run);
        }
        let mut all = JudgedStep { ranked: Vec::new(), latest_read: None };
        let Some(first) = self.asked.first_step() else { return Ok(all) };
        // In the online setting the weights change from step to step and no journal holds them: it is left alone, and
        // all steps are played from the start.
        let remembers = self.protocol.setting != Setting::Online;
        let mut earlier = if remembers { journal.judged() } else { Vec::new() }.into_iter();
        let multi_step = self.protocol.setting == Setting::MultiStep;
        let mut met = BTreeSet::new();
        for step in self.asked.occupied() {
            let questions = Questions::of(&self.asked.snapshot(step), self.protocol.duplicates);
            let known = earlier.next().filter(|judged| questions.are_answered_by(&judged.ranked));
            let ceiling = if multi_step { first } else { step };
            let judged = if let Some(judged) = known {
                if multi_step {
                    self.remind(model, step, ceiling, &questions, &mut met)?;
                }
                judged
            } else {
                // What follows a step that is missing belongs to another evaluation.
                earlier = Vec::new().into_iter();
                if self.protocol.setting == Setting::Online {
                    let past = Past { period: *self, now: step, run };
                    model.learn(step, &self.history.before(ceiling), &past)?;
                }
                let ranked = self.ask(model, step, ceiling, &questions)?;
                let latest_read = all.latest_read.max(self.history.latest_read());
                let judged = JudgedStep { ranked, latest_read };
                if remembers {
                    journal.note(&judged).map_err(EvalError::Journal)?;
                }
                judged
            };
            all.latest_read = judged.latest_read;
            all.ranked.extend(judged.ranked);
            // Also for a step that was judged earlier: the model may follow the truth.
            if !multi_step {
                model.observe(&self.history.facts().snapshot(step))?;
            }
            run.progress.advance(1);
        }
        Ok(all)
    }

    /// Puts the first question about each relation to the model again, and lets nobody hear the answer. While the
    /// history stands still, a model may keep what it took from that question for all later steps: the published code of
    /// the recurrency baseline does so with its normaliser. Without it, later ranks would differ.
    fn remind(
        &self,
        model: &mut dyn Forecaster,
        step: Step,
        ceiling: Step,
        questions: &Questions,
        met: &mut BTreeSet<DirectedRelation>,
    ) -> Result<(), EvalError> {
        let first = |query: &Query| met.insert(query.directed(self.relations));
        let queries: Vec<Query> = questions.queries.iter().copied().filter(first).collect();
        if !queries.is_empty() {
            let history = self.history.before(ceiling);
            model.begin(step, &history)?;
            model.score(&history, &queries, &mut Nobody)?;
        }
        Ok(())
    }

    /// Asks all questions of one step. Ranks come back in the order of the questions for any number of threads.
    pub fn ask(
        &self,
        model: &mut dyn Forecaster,
        step: Step,
        ceiling: Step,
        questions: &Questions,
    ) -> Result<Vec<RankedQuery>, EvalError> {
        let history = self.history.before(ceiling);
        model.begin(step, &history)?;
        self.ask_prepared(&*model, &history, questions)
    }

    /// Asks questions that the model has prepared for.
    pub fn ask_prepared(
        &self,
        model: &dyn Forecaster,
        history: &History<'_>,
        questions: &Questions,
    ) -> Result<Vec<RankedQuery>, EvalError> {
        let chunks: Vec<Result<Vec<RankedQuery>, EvalError>> = questions
            .queries
            .par_chunks(CHUNK)
            .enumerate()
            .map_init(
                || self.ranker(history.entities()),
                |ranker, (i, queries)| {
                    let range = (i * CHUNK, queries.len());
                    let mut sink = RankSink::new(questions, range, self, ranker);
                    model.score(history, queries, &mut sink)?;
                    Ok(sink.finish().map_err(quadcast_core::ModelError::from)?)
                },
            )
            .collect();
        let mut ranked = Vec::with_capacity(questions.queries.len());
        for chunk in chunks {
            ranked.extend(chunk?);
        }
        Ok(ranked)
    }

    fn ranker(&self, entities: usize) -> Ranker {
        let ranker = Ranker::new(entities);
        let by_id = self.depth == Depth::Full || self.protocol.ties == TiePolicy::Ordinal;
        if by_id { ranker } else { ranker.without_ordinal() }
    }
}

/// Takes scores that nobody needs.
struct Nobody;

impl ScoreSink for Nobody {
    fn accept(&mut self, _: usize, _: ScoreRow<'_>) -> Result<(), ScoreError> {
        Ok(())
    }
}
