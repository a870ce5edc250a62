//! A model goes through the steps of a changing graph, and is judged after each.

use std::time::Instant;

use quadcast_core::{
    EvolvingDataset, EvolvingModel, GraphValidation, ModelError, Procedure, Protocol, Run, SavedModel,
    SelectionFilter, Split, Tensors, Triple,
};
use serde::Serialize;

use super::classification::EnergyRequest;
use super::links::{StepValidation, ask};
use super::outcome::{Seconds, Sizes};
use super::unlearning::plausibility;
use super::{
    Classification, EvolvingOutcome, Learned, LinkOutcome, NegativeClassification, StepGraph, StepResult,
    Thresholds, Transfer, Unlearning, walk,
};
use crate::candidates::{CandidateList, ListKind};
use crate::{EvalError, Journal, JudgedStep, RankedQuery};

/// Examples of triple classification at one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepExamples {
    /// The threshold is chosen on these.
    pub valid: Vec<(Triple, bool)>,
    /// These are judged.
    pub test: Vec<(Triple, bool)>,
}

/// What is played, and how.
pub struct Playing<'a> {
    /// The graph.
    pub data: &'a EvolvingDataset,
    /// How the model gets from step to step, and how links are ranked.
    pub protocol: Protocol,
    /// Examples of triple classification, by step. Without validation examples nothing is classified, without test examples only
    /// triples of the past are.
    pub examples: &'a [StepExamples],
    /// The first step that is played. If there are steps before it, the model is as they left it.
    pub first: usize,
    /// Whether each state is also asked about the steps before it and the next one.
    pub transfer: bool,
    /// How the model did on steps before the first right after it had learned them, as far as that is known.
    pub earlier: &'a [Learned],
}

/// A model that was played through the steps.
#[derive(Clone, Debug)]
pub struct Played {
    /// Results by step, and their means.
    pub outcome: EvolvingOutcome,
    /// Every link prediction question with its ranks, step by step, within a step in order of (relation, direction, known entity,
    /// gold answer).
    pub ranked: Vec<RankedQuery>,
}

/// Name of the checkpoint with the results of judged steps.
const RESULTS: &str = "steps.json";

/// Takes a model through all steps from the first that is to be played. After an interruption it continues with the step after the
/// last that was judged, and within a training where the model stores checkpoints. Checkpoints and journal stay: the caller removes
/// them once the model is saved, so that a kill in between costs nothing.
pub fn play(
    playing: &Playing<'_>,
    model: &mut dyn EvolvingModel,
    run: &Run,
    journal: &mut dyn Journal,
) -> Result<Played, EvalError> {
    let Playing { protocol, data, .. } = playing;
    if protocol.procedure != Procedure::Static && !model.capabilities().updates {
        let word = protocol.procedure.word();
        return Err(ModelError::Unsupported(format!(
            "the model cannot continue learning; {word} training needs that"
        ))
        .into());
    }
    check(playing)?;
    let (mut results, ranked) = resume(playing, model, run, journal)?;
    let mut played: Vec<RankedQuery> = ranked.into_iter().flat_map(|step| step.ranked).collect();
    let steps = data.steps.len();
    let first = playing.first.min(steps);
    run.progress.begin("steps", (steps - first) as u64);
    run.progress.advance(results.len() as u64);
    let mut graphs = Graphs::of(playing);
    for index in first + results.len()..steps {
        run.check_cancelled()?;
        let (result, ranked) = play_step(playing, &mut graphs, index, model, run)?;
        results.push(result);
        let judged = JudgedStep { ranked, latest_read: None };
        journal.note(&judged).map_err(EvalError::Journal)?;
        // Results without their ranks would be of no use.
        journal.flush().map_err(EvalError::Journal)?;
        save(&results, model, run)?;
        played.extend(judged.ranked);
        run.progress.advance(1);
    }
    run.progress.end();
    Ok(Played { outcome: EvolvingOutcome::new(results, playing.earlier), ranked: played })
}

/// The graphs of the steps so far. Those of earlier steps are kept for what is still asked about them, which is much less than
/// what was learned from.
struct Graphs<'a> {
    walk: Box<dyn Iterator<Item = StepGraph> + 'a>,
    made: Vec<StepGraph>,
    /// How many there are in the end.
    steps: usize,
    /// How many of them were left behind.
    left: usize,
    keep_exams: bool,
}

impl<'a> Graphs<'a> {
    fn of(playing: &'a Playing<'_>) -> Self {
        let (walk, steps) = (Box::new(walk(playing.data)), playing.data.steps.len());
        Self { walk, made: Vec::new(), steps, left: 0, keep_exams: playing.transfer }
    }

    /// Goes on to a step; those before it are left behind.
    fn enter(&mut self, index: usize) {
        for graph in self.made.iter_mut().take(index).skip(self.left) {
            graph.forget(self.keep_exams);
        }
        self.left = index;
        self.look_ahead(index);
    }

    /// The graphs up to a step; without it, if it is beyond the last.
    fn look_ahead(&mut self, index: usize) -> &[StepGraph] {
        while self.made.len() <= index
            && let Some(mut graph) = self.walk.next()
        {
            // On resume, finished steps are skipped.
            if self.made.len() < self.left {
                graph.forget(self.keep_exams);
            }
            self.made.push(graph);
            if self.made.len() == self.steps {
                // A walk remembers all that was ever true, which nobody asks for after the last step.
                self.walk = Box::new(std::iter::empty());
            }
        }
        &self.made
    }
}

/// The triples that a model learns from at a step.
fn lessons(procedure: Procedure, graph: &StepGraph) -> &[Triple] {
    match procedure {
        Procedure::PseudoIncremental if graph.step.0 > 0 => &graph.inserted,
        _ => &graph.train,
    }
}

/// Refuses what no training could bring to an end, before any begins.
fn check(playing: &Playing<'_>) -> Result<(), EvalError> {
    let steps = &playing.data.steps;
    if steps.iter().all(|step| step.evaluation.test.is_empty()) {
        return Err(EvalError::Empty(Split::Test));
    }
    if steps.iter().all(|step| !step.evaluation.valid.is_empty()) {
        return Ok(());
    }
    let blind = walk(playing.data).find(|graph| {
        graph.valid.is_empty() && graph.is_lesson() && !lessons(playing.protocol.procedure, graph).is_empty()
    });
    blind.map_or(Ok(()), |graph| Err(EvalError::NoValidation(graph.title())))
}

fn play_step(
    playing: &Playing<'_>,
    graphs: &mut Graphs<'_>,
    index: usize,
    model: &mut dyn EvolvingModel,
    run: &Run,
) -> Result<(StepResult, Vec<RankedQuery>), EvalError> {
    graphs.enter(index);
    let graph = &graphs.made[index];
    let own = run.within(&graph.label);
    // Whom the model can be asked about before it hears of the step; at the first step there is nothing to forget.
    let known =
        graphs.made[..index].last().filter(|_| !graph.forgotten.is_empty()).map(|before| &before.seen);
    let before = known.map(|known| plausibility(model, graph, known)).transpose()?;
    let begun = Instant::now();
    let validation = StepValidation::new(graph, &playing.protocol);
    learn(playing.protocol.procedure, graph, &validation, model, &own)?;
    let train = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let (link, ranked) = links(playing, graph, model, run)?;
    let (classification, negative) = classify(playing, graph, model)?;
    let after = known.map(|known| plausibility(model, graph, known)).transpose()?;
    let asked = graph.forgotten.len();
    let unlearning = before.zip(after).map(|(before, after)| Unlearning { asked, before, after });
    let (step, label, sizes) = (graph.step, graph.label.clone(), Sizes::of(graph));
    let transfer = if playing.transfer {
        transfer(playing, graphs.look_ahead(index + 1), index, model)?
    } else {
        Vec::new()
    };
    let seconds = Seconds { train, evaluate: begun.elapsed().as_secs_f64() };
    let result =
        StepResult { step, label, sizes, link, classification, negative, unlearning, transfer, seconds };
    Ok((result, ranked))
}

/// Brings the model to a step.
fn learn(
    procedure: Procedure,
    graph: &StepGraph,
    validation: &StepValidation<'_>,
    model: &mut dyn EvolvingModel,
    run: &Run,
) -> Result<(), ModelError> {
    match procedure {
        _ if !graph.is_lesson() => Ok(()),
        Procedure::Static => model.fit(&graph.view(), validation, run),
        _ if graph.step.0 == 0 => model.fit(&graph.view(), validation, run),
        Procedure::PseudoIncremental => model.update(&graph.increment(), validation, run),
        Procedure::Incremental => model.update(&graph.update(), validation, run),
    }
}

/// Link prediction on the test triples; `None` without any.
fn links(
    playing: &Playing<'_>,
    graph: &StepGraph,
    model: &mut dyn EvolvingModel,
    run: &Run,
) -> Result<(Option<LinkOutcome>, Vec<RankedQuery>), EvalError> {
    if graph.test.is_empty() {
        return Ok((None, Vec::new()));
    }
    let protocol = &playing.protocol;
    let candidates = CandidateList::of(graph, protocol.candidates, ListKind::of_test(protocol));
    let ranked = ask(model, graph, (&graph.test, SelectionFilter::AllSplits), &candidates)?;
    let wrong = ranked.iter().filter(|query| query.ranks.not_a_number).count();
    if wrong > 0 {
        return Err(EvalError::NotANumber { step: graph.title(), wrong, queries: ranked.len() });
    }
    Ok((LinkOutcome::new(graph, &ranked, candidates.ids().len(), protocol, run.seed), ranked))
}

/// How the model does on earlier steps, and on the next one before it learns it.
fn transfer(
    playing: &Playing<'_>,
    graphs: &[StepGraph],
    index: usize,
    model: &mut dyn EvolvingModel,
) -> Result<Vec<Transfer>, EvalError> {
    let others = graphs.iter().take(index + 2).filter(|graph| graph.step.index() != index);
    others
        .filter(|graph| !graph.test.is_empty())
        .map(|graph| {
            let validation = StepValidation::of_test(graph, &playing.protocol);
            Ok(Transfer { step: graph.step, score: validation.judge(model)? })
        })
        .collect()
}

/// Classification with a threshold chosen on validation examples; there is none without them.
fn classify(
    playing: &Playing<'_>,
    graph: &StepGraph,
    model: &dyn EvolvingModel,
) -> Result<(Option<Classification>, Option<NegativeClassification>), EvalError> {
    let index = graph.step.index();
    let Some(examples) = playing.examples.get(index).filter(|examples| !examples.valid.is_empty()) else {
        return Ok((None, None));
    };
    let asking = EnergyRequest::new(model, playing.protocol.compat, graph.sizes);
    let energies = |examples: &[(Triple, bool)]| {
        let triples: Vec<Triple> = examples.iter().map(|example| example.0).collect();
        asking.energies(&triples)
    };
    let valid = energies(&examples.valid)?;
    let thresholds = Thresholds::best(&examples.valid, &valid, playing.protocol.compat);
    let test = energies(&examples.test)?;
    let classification =
        (!test.is_empty()).then(|| Classification::judge(&examples.test, &test, &thresholds));
    let categories = &playing.data.steps[index].categories;
    // Examples are made of entities that are present; triples of the past may have lost theirs.
    let past = if playing.protocol.procedure == Procedure::Static { asking.within(graph) } else { asking };
    let negative = (!categories.is_empty())
        .then(|| NegativeClassification::judge(&past, categories, &thresholds))
        .transpose()?;
    Ok((classification, negative))
}

/// Names of the checkpoints of the model after so many steps.
fn names(steps: usize) -> [String; 2] {
    [format!("after-{steps}.json"), format!("after-{steps}.safetensors")]
}

/// Stores what was judged so far and the model as it is. The results come after the model that they belong to, and the previous model
/// is removed last: a kill in between loses nothing.
fn save(results: &[StepResult], model: &dyn EvolvingModel, run: &Run) -> Result<(), ModelError> {
    let SavedModel { state, tensors, .. } = model.save()?;
    let [state_name, tensors_name] = names(results.len());
    run.checkpoints.save(&state_name, &[&bytes(&state)?])?;
    if let Some(Tensors(bytes)) = tensors {
        run.checkpoints.save(&tensors_name, &[&bytes])?;
    }
    run.checkpoints.save(RESULTS, &[&bytes(results)?])?;
    names(results.len() - 1).iter().try_for_each(|name| run.checkpoints.remove(name))
}

/// What an interrupted run had judged; the model is left as it was then. A run whose journal has lost ranks starts over.
fn resume(
    playing: &Playing<'_>,
    model: &mut dyn EvolvingModel,
    run: &Run,
    journal: &mut dyn Journal,
) -> Result<(Vec<StepResult>, Vec<JudgedStep>), EvalError> {
    let mut ranked = journal.judged();
    let results = load(playing, model, run, &ranked)?.unwrap_or_default();
    ranked.truncate(results.len());
    journal.keep_first(&ranked).map_err(EvalError::Journal)?;
    Ok((results, ranked))
}

/// Loads the model and the results of the last checkpoint; `None` if there is none, if a part of it is damaged, or if its results are
/// not those of the first ranks.
fn load(
    playing: &Playing<'_>,
    model: &mut dyn EvolvingModel,
    run: &Run,
    ranked: &[JudgedStep],
) -> Result<Option<Vec<StepResult>>, ModelError> {
    let Some(results) = run.checkpoints.load(RESULTS)? else { return Ok(None) };
    let Ok(results) = serde_json::from_slice::<Vec<StepResult>>(&results) else { return Ok(None) };
    if !are_of(playing, &results, ranked, run.seed) {
        return Ok(None);
    }
    let [state_name, tensors_name] = names(results.len());
    let Some(state) = run.checkpoints.load(&state_name)? else { return Ok(None) };
    let Ok(state) = serde_json::from_slice(&state) else { return Ok(None) };
    let tensors = run.checkpoints.load(&tensors_name)?.map(Tensors);
    if tensors.is_none() && run.checkpoints.names()?.contains(&tensors_name) {
        return Ok(None);
    }
    model.load(&SavedModel { state, rules: None, tensors })?;
    Ok(Some(results))
}

/// Whether results are those of the first steps that are played, and each follows from its ranks: whole entries of a journal may be in
/// the wrong place.
fn are_of(playing: &Playing<'_>, results: &[StepResult], ranked: &[JudgedStep], seed: u64) -> bool {
    let steps = playing.data.steps.iter().skip(playing.first).zip(playing.first..);
    let steps: Vec<_> = steps.map(|(step, index)| (index, step.label.as_str())).collect();
    let (ties, entities) = (playing.protocol.ties, playing.data.vocabulary.entities.len());
    let follows = |((result, judged), &(index, label)): ((&StepResult, &JudgedStep), &(usize, &str))| {
        let own = judged.ranked.iter().all(|row| row.query.step == result.step);
        let same = match &result.link {
            Some(link) => link.follows_from(&judged.ranked, entities, ties, seed),
            None => judged.ranked.is_empty(),
        };
        result.step.index() == index && result.label == label && own && same
    };
    results.len() <= ranked.len().min(steps.len()) && results.iter().zip(ranked).zip(&steps).all(follows)
}

fn bytes(value: &(impl Serialize + ?Sized)) -> Result<Vec<u8>, ModelError> {
    serde_json::to_vec(value).map_err(|error| ModelError::Checkpoint(error.to_string()))
}
