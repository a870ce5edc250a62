//! Training: the facts are played in time order. Before the facts of a step are counted, its questions are asked and the weights
//! learn from the answers; so no feature ever contains what it predicts.

use quadcast_core::{
    Direction, Forecaster, History, Leak, ModelError, Query, Run, ScoreSink, Step, Validation,
    ValidationReport,
};
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::chains::{Chain, choose};
use super::counts::Counts;
use super::features::FEATURES;
use super::leaked::LeakedQueries;
use super::moment::Moment;
use super::names::{LabelCounter, Labels};
use super::network::Weights;
use super::rules::{Asked, RuleCounter, Tables};
use super::settings::{Config, Form};
use super::{Herald, Learned, Worker};
use crate::capacity::check_memory;
use crate::training::{Learning, Order, Schedule, Trainable};

/// Questions of one task; gradients of tasks are added in their order.
const TASK: usize = 4;
/// How often in an epoch rules are brought up to date.
const REFRESHES: usize = 50;
/// The learning rate falls to this part.
const LAST_RATE: f64 = 0.2;
/// Adam.
const BETAS: [f64; 2] = [0.9, 0.999];
const EPSILON: f32 = 1e-8;

impl Config {
    pub(super) fn schedule(&self) -> Schedule {
        Schedule { epochs: self.epochs, order: Order::Fixed, ..Schedule::default() }
    }

    fn hidden_layers(&self) -> [usize; 2] {
        match self.form {
            Form::Full => [self.hidden, self.hidden / 2],
            Form::Additive => [0, 0],
        }
    }
}

/// The distinct questions about a step in order of relation and known entity, with their answers.
pub(super) fn questions(history: &History<'_>, step: Step) -> Result<Vec<Asked>, ModelError> {
    let relations = history.relations();
    let mut facts: Vec<(u32, u32, u32)> = Vec::new();
    for fact in history.snapshot(step)?.iter() {
        for direction in Direction::BOTH {
            let (query, answer) = Query::hide(fact, direction);
            facts.push((query.directed(relations).0, query.known.0, answer.0));
        }
    }
    facts.sort_unstable();
    facts.dedup();
    let groups = facts.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let asked = |group: &[(u32, u32, u32)]| Asked {
        relation: group[0].0,
        known: group[0].1,
        golds: group.iter().map(|fact| fact.2).collect(),
    };
    Ok(groups.map(asked).collect())
}

/// Steps between two updates of the counts in training: as in the period that will be tested.
pub(super) fn horizon(config: &Config, validation: &dyn Validation) -> usize {
    if config.horizon > 0 {
        return config.horizon;
    }
    if validation.at_once() { validation.steps().max(1) as usize } else { 1 }
}

/// Steps of a history that hold facts.
fn occupied(history: &History<'_>) -> Vec<Step> {
    history
        .snapshots_from(Step(0))
        .filter(|snapshot| !snapshot.is_empty())
        .map(|snapshot| snapshot.step)
        .collect()
}

/// The model in training.
///
/// While it learns, rules are those counted before the step at hand: with rules that have counted an answer already, the weights
/// would learn to trust rules more than they deserve. After the last step of an epoch the rules of all training facts stand again.
pub(super) struct Trainer<'a> {
    pub herald: &'a mut Herald,
    /// What the model is shown of the other queries, to demonstrate the query-set leak.
    pub leak: Option<Leak>,
    history: History<'a>,
    seed: u64,
    horizon: usize,
    /// Steps with facts; those from `warm_up` on are learned from.
    steps: Vec<Step>,
    warm_up: usize,
    /// Rules with two facts that are counted.
    chains: Vec<Chain>,
    /// Counted before the step at place `counted`.
    counter: Counter,
    counted: usize,
    /// The place before which the rules in use were counted; none while the rules of all steps are.
    refreshed: Option<usize>,
    /// Counted on all steps.
    whole: (Tables, Option<Labels>),
    optimiser: Adam,
}

/// Counts rules, and labels if names are read.
#[derive(Clone)]
struct Counter {
    rules: RuleCounter,
    labels: Option<LabelCounter>,
}

impl Counter {
    fn new(config: &Config, history: &History<'_>, chains: &[Chain]) -> Self {
        let relations = 2 * history.relations();
        let labels = config.names.then(|| Labels::new(history.entity_names(), history.entities()));
        let labels = labels.map(|labels| LabelCounter::new(labels, relations));
        Self { rules: RuleCounter::new(relations, chains), labels }
    }

    fn add(&mut self, asked: &[Asked], counts: &Counts, moment: &Moment) {
        self.rules.add(asked, counts, moment);
        if let Some(labels) = &mut self.labels {
            labels.add(asked);
        }
    }

    fn finish(&self) -> (Tables, Option<Labels>) {
        (self.rules.finish(), self.labels.as_ref().map(LabelCounter::finish))
    }
}

impl<'a> Trainer<'a> {
    /// Counts rules and prepares weights.
    pub fn new(
        herald: &'a mut Herald,
        history: &History<'a>,
        horizon: usize,
        run: &Run,
    ) -> Result<Self, ModelError> {
        let steps = occupied(history);
        if steps.is_empty() {
            return Err(ModelError::Training("there is no fact to learn from".to_owned()));
        }
        let relations = 2 * history.relations();
        let pairs = (relations as u128).pow(2);
        check_memory(
            3 * pairs,
            &format!("tables of all pairs of {relations} directed relations"),
            "data with fewer relations",
        )?;
        let weights = Weights::new(herald.config.hidden_layers(), relations, run.seed);
        let optimiser = Adam::new(weights.values.len(), relations);
        let chains = if herald.config.chains { choose(history, run) } else { Vec::new() };
        let counter = Counter::new(&herald.config, history, &chains);
        let warm_up = ((steps.len() as f64 * herald.config.warm_up) as usize).min(steps.len() - 1);
        let (tables, labels) = counter.finish();
        let until = history.ceiling();
        herald.learned = Some(Learned { tables, labels, weights, horizon, until, seed: run.seed });
        herald.online = None;
        let (whole, seed) = (counter.finish(), run.seed);
        let mut trainer = Self {
            herald,
            leak: None,
            history: *history,
            seed,
            horizon,
            steps,
            warm_up,
            chains,
            counter,
            counted: 0,
            refreshed: None,
            whole,
            optimiser,
        };
        run.progress.begin("rules", trainer.steps.len() as u64);
        while trainer.counted < trainer.steps.len() {
            run.check_cancelled()?;
            trainer.count(trainer.counted + 1)?;
            run.progress.advance(1);
        }
        run.progress.end();
        trainer.whole = trainer.counter.finish();
        trainer.use_whole();
        Ok(trainer)
    }

    /// Rules of all training facts.
    pub fn use_whole(&mut self) {
        self.refreshed = None;
        if let Some(learned) = &mut self.herald.learned {
            (learned.tables, learned.labels) = self.whole.clone();
        }
    }

    /// Counts rules on the steps before a place.
    fn count(&mut self, place: usize) -> Result<(), ModelError> {
        if self.counted > place {
            (self.counter, self.counted) =
                (Counter::new(&self.herald.config, &self.history, &self.chains), 0);
        }
        while self.counted < place {
            self.look_at(self.counted)?;
            let asked = questions(&self.history, self.steps[self.counted])?;
            self.count_step(&asked);
        }
        Ok(())
    }

    /// Uses the rules counted before a place, also if training goes on after an interruption between two such places.
    fn use_rules_before(&mut self, place: usize) -> Result<(), ModelError> {
        if self.refreshed != Some(place) {
            self.count(place)?;
            if let Some(learned) = &mut self.herald.learned {
                (learned.tables, learned.labels) = self.counter.finish();
            }
            self.refreshed = Some(place);
        }
        Ok(())
    }

    /// Looks at a step as it will be looked at in the test: from the last update of the counts, every `horizon` steps.
    fn look_at(&mut self, place: usize) -> Result<(), ModelError> {
        let ceiling = self.steps[place / self.horizon * self.horizon];
        self.herald.begin_at(self.steps[place], &self.history.until(ceiling)?);
        Ok(())
    }

    /// Counts the questions of the next step, in order of relations.
    fn count_step(&mut self, asked: &[Asked]) {
        if let Some(moment) = &self.herald.moment {
            self.counter.add(asked, &self.herald.counts, moment);
        }
        self.counted += 1;
    }
}

/// One pass over questions in their order, in batches; returns the sum of the losses and the number of golds.
pub(super) fn learn_from(
    herald: &mut Herald,
    optimiser: &mut Adam,
    asked: &[Asked],
    rate: f64,
) -> Result<(f64, usize), ModelError> {
    let size = herald.config.batch;
    let (mut loss, mut golds, mut from, mut waiting) = (0.0, 0, 0, 0);
    for place in 0..asked.len() {
        waiting += asked[place].golds.len();
        if waiting >= size || place + 1 == asked.len() {
            let (own_loss, own_golds) = update(herald, optimiser, &asked[from..=place], rate)?;
            (loss, golds) = (loss + own_loss, golds + own_golds);
            (from, waiting) = (place + 1, 0);
        }
    }
    Ok((loss, golds))
}

/// One update of the weights; returns the loss and the number of golds.
fn update(
    herald: &mut Herald,
    optimiser: &mut Adam,
    asked: &[Asked],
    rate: f64,
) -> Result<(f64, usize), ModelError> {
    let shared = herald.weights()?.shared();
    let fixed = &*herald;
    let parts: Vec<Gradient> = asked
        .par_chunks(TASK)
        .map(|asked| fixed.with_worker(|worker| gradient(fixed, asked, worker)))
        .collect::<Result<_, _>>()?;
    let mut sum = vec![0.0; shared];
    let mut by_relation: Vec<(u32, Vec<f32>)> = Vec::new();
    let (mut loss, mut golds) = (0.0, 0);
    for part in parts {
        (loss, golds) = (loss + part.loss, golds + part.golds);
        sum.iter_mut().zip(&part.shared).for_each(|(sum, part)| *sum += part);
        by_relation.extend(part.by_relation);
    }
    if golds == 0 {
        return Ok((0.0, 0));
    }
    // A stable sort: gradients of one relation keep their order.
    by_relation.sort_by_key(|(relation, _)| *relation);
    let scale = 1.0 / golds as f32;
    let decay = herald.config.relation_decay as f32;
    let weights = herald.weights_mut()?;
    for value in &mut sum {
        *value *= scale;
    }
    optimiser.step(0, 0..shared, &mut weights.values, &sum, rate);
    for group in by_relation.chunk_by(|a, b| a.0 == b.0) {
        let place = weights.of_relation(group[0].0);
        let mut sum: Vec<f32> = weights.values[place.clone()].iter().map(|value| decay * value).collect();
        for (_, own) in group {
            sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += scale * own);
        }
        optimiser.step(1 + group[0].0 as usize, place, &mut weights.values, &sum, rate);
    }
    Ok((loss, golds))
}

/// The gradient of some questions.
#[derive(Default)]
struct Gradient {
    shared: Vec<f32>,
    by_relation: Vec<(u32, Vec<f32>)>,
    loss: f64,
    golds: usize,
}

fn gradient(herald: &Herald, asked: &[Asked], worker: &mut Worker) -> Result<Gradient, ModelError> {
    let weights = herald.weights()?;
    let mut sum = Gradient { shared: vec![0.0; weights.shared()], ..Gradient::default() };
    for asked in asked {
        herald.prepare(asked.known, asked.relation, worker)?;
        let evidence = &worker.evidence;
        let candidates = evidence.candidates.iter().map(|&place| evidence.found[place as usize].id);
        worker.is_gold.clear();
        worker.is_gold.extend(candidates.map(|id| asked.golds.binary_search(&id).is_ok()));
        if !worker.is_gold.contains(&true) {
            continue;
        }
        worker.layers.forward(weights, asked.relation, &worker.rows);
        let (loss, golds) = worker.layers.loss(&worker.is_gold);
        (sum.loss, sum.golds) = (sum.loss + loss, sum.golds + golds);
        let mut own = vec![0.0; FEATURES];
        worker.layers.backward(weights, &worker.rows, &mut sum.shared, &mut own);
        sum.by_relation.push((asked.relation, own));
    }
    Ok(sum)
}

impl Learning for Trainer<'_> {
    fn parameters(&self) -> usize {
        self.optimiser.mean.len()
    }

    fn batches(&self) -> usize {
        self.steps.len() - self.warm_up
    }

    fn step(&mut self, epoch: u32, batch: usize) -> Result<f64, ModelError> {
        let place = self.warm_up + batch;
        let every = self.batches().div_ceil(REFRESHES);
        self.use_rules_before(self.warm_up + batch / every * every)?;
        self.count(place)?;
        self.look_at(place)?;
        let step = self.steps[place];
        let mut asked = questions(&self.history, step)?;
        self.count_step(&asked);
        if let Some(leak) = self.leak {
            let queries = asked.iter().map(|asked| (asked.relation, asked.known));
            self.herald.leaked = Some(LeakedQueries::new(leak, 2 * self.history.relations(), queries));
        }
        let index = u64::from(epoch) << 32 | u64::from(step.0);
        asked.shuffle(&mut quadcast_core::stream(self.seed, "herald order", index));
        let config = &self.herald.config;
        let done = f64::from(epoch - 1) + batch as f64 / self.batches() as f64;
        let rate = config.learning_rate * (1.0 - (1.0 - LAST_RATE) * done / f64::from(config.epochs));
        let (loss, golds) = learn_from(self.herald, &mut self.optimiser, &asked, rate)?;
        if batch + 1 == self.batches() {
            self.use_whole();
        }
        Ok(loss / golds.max(1) as f64)
    }

    fn state(&self) -> Result<Vec<u8>, ModelError> {
        let learned = self.herald.learned()?;
        let Adam { mean, square, counts } = &self.optimiser;
        let floats =
            learned.weights.values.iter().chain(mean).chain(square).flat_map(|value| value.to_le_bytes());
        Ok(floats.chain(counts.iter().flat_map(|count| count.to_le_bytes())).collect())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), ModelError> {
        let Some(learned) = &mut self.herald.learned else { return Err(super::unfitted()) };
        let Adam { mean, square, counts } = &mut self.optimiser;
        if state.len() != 4 * (3 * mean.len() + counts.len()) {
            return Err(ModelError::Saved("a checkpoint has another size".to_owned()));
        }
        let mut numbers = state.chunks_exact(4).map(|bytes| [bytes[0], bytes[1], bytes[2], bytes[3]]);
        let floats = learned.weights.values.iter_mut().chain(mean).chain(square);
        floats.zip(&mut numbers).for_each(|(value, bytes)| *value = f32::from_le_bytes(bytes));
        counts.iter_mut().zip(numbers).for_each(|(count, bytes)| *count = u32::from_le_bytes(bytes));
        Ok(())
    }
}

impl Trainable for Trainer<'_> {
    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        self.herald.begin_at(step, history);
        Ok(())
    }

    fn shown_queries(&mut self, leak: Leak, queries: &[Query]) {
        self.herald.shown_queries(leak, queries);
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        Forecaster::score(&*self.herald, history, queries, sink)
    }

    fn selection(&self, report: &ValidationReport) -> f64 {
        report.all.mrr
    }
}

/// Adam over ranges of one slice, each with its own number of steps: a relation that is rarely asked about moves when it is.
#[derive(Default)]
pub(super) struct Adam {
    mean: Vec<f32>,
    square: Vec<f32>,
    /// Steps of the shared weights, and of each relation.
    counts: Vec<u32>,
}

impl Adam {
    pub fn new(len: usize, relations: usize) -> Self {
        Self { mean: vec![0.0; len], square: vec![0.0; len], counts: vec![0; 1 + relations] }
    }

    fn step(
        &mut self,
        count: usize,
        place: std::ops::Range<usize>,
        values: &mut [f32],
        gradient: &[f32],
        rate: f64,
    ) {
        self.counts[count] += 1;
        let steps = self.counts[count] as i32;
        let [first, second] = BETAS;
        let rate = (rate * (1.0 - second.powi(steps)).sqrt() / (1.0 - first.powi(steps))) as f32;
        let (first, second) = (first as f32, second as f32);
        let moments = self.mean[place.clone()].iter_mut().zip(&mut self.square[place.clone()]);
        for ((value, &gradient), (mean, square)) in values[place].iter_mut().zip(gradient).zip(moments) {
            *mean = first * *mean + (1.0 - first) * gradient;
            *square = second * *square + (1.0 - second) * gradient * gradient;
            *value -= rate * *mean / (square.sqrt() + EPSILON);
        }
    }
}
