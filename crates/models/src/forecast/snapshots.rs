//! Snapshots prepared for graph networks: edges of both directions by destination, and the entities of each relation. And the
//! part of a network that reads one, and the questions that a training step asks about one.

use std::sync::Arc;

use burn::tensor::Tensor;
use quadcast_core::{Direction, History, ModelError, Quad, Query, Step};
use quadcast_kernels::segment::Csr;
use rustc_hash::FxHashMap;

use crate::blocks::{
    Gcn, GcnConfig, Graph, Parameters, Segments, Targets, TimeGate, Training, normalise_rows,
};

/// Channels of the decoders' convolutions.
pub(crate) const CHANNELS: usize = 50;

/// The facts of one step, prepared for a network.
#[derive(Debug)]
pub(crate) struct PreparedSnapshot {
    /// Edges (subject, r, object) and (object, r + R, subject).
    pub graph: Arc<Graph>,
    /// The directed relations that occur, ascending.
    pub relations: Arc<[u32]>,
    /// For each of them: its subjects and objects, each once, in order of ids.
    pub members: Arc<Segments>,
}

impl Prepare for PreparedSnapshot {
    fn prepare(history: &History<'_>, facts: &(impl Iterator<Item = Quad> + Clone)) -> Self {
        let (entities, relations) = (history.entities(), history.relations());
        let (mut edges, mut members) = (Vec::new(), Vec::new());
        for direction in Direction::BOTH {
            for fact in facts.clone() {
                let (query, answer) = Query::hide(fact, direction);
                let relation = query.directed(relations).0;
                edges.push((query.known.0, relation, answer.0));
                members.extend([(relation, query.known.0), (relation, answer.0)]);
            }
        }
        members.sort_unstable();
        members.dedup();
        let mut occurring: Vec<u32> = members.iter().map(|&(relation, _)| relation).collect();
        occurring.dedup();
        let mut place = 0;
        let pairs = members.iter().map(|&(relation, entity)| {
            place += usize::from(occurring[place] != relation);
            (place as u32, entity)
        });
        let pairs: Vec<(u32, u32)> = pairs.collect();
        let members = Csr::from_pairs(occurring.len(), pairs.iter().copied());
        Self {
            graph: Arc::new(Graph::new(entities, 2 * relations, edges)),
            relations: occurring.into(),
            members: Arc::new(Segments::new(members, entities)),
        }
    }
}

/// Graph layers, and a gate that decides how much they change the entities.
pub(crate) struct GraphLayers {
    layers: Vec<Gcn>,
    gate: TimeGate,
}

impl GraphLayers {
    /// Adds `count` layers for vectors of length `d` to the store.
    pub fn new(count: usize, d: usize, dropout: f64, store: &mut Parameters) -> Self {
        let gcn = GcnConfig::new(d, dropout);
        let layers = (0..count).map(|i| gcn.init(&format!("layer{i}"), store)).collect();
        Self { layers, gate: TimeGate::new("gate", d, store) }
    }

    /// Entities `[n, d]` after a snapshot, given those before it.
    pub fn forward(
        &self,
        parameters: &Parameters,
        snapshot: &PreparedSnapshot,
        entities: Tensor<2>,
        relations: &Tensor<2>,
        mut training: Training,
    ) -> Tensor<2> {
        let mut x = entities.clone();
        for layer in &self.layers {
            x = layer.forward(parameters, &snapshot.graph, x, relations.clone(), training.as_deref_mut());
        }
        self.gate.forward(parameters, entities, normalise_rows(x))
    }
}

/// The last `count` steps of a history that hold facts, the newest first.
pub(crate) fn last_steps<'a>(history: &'a History<'_>, count: usize) -> impl Iterator<Item = Step> + 'a {
    let end = history.ceiling().0.min(history.axis().len() as u32);
    let occupied = |step: &Step| history.snapshot(*step).is_ok_and(|snapshot| !snapshot.is_empty());
    (0..end).rev().map(Step).filter(occupied).take(count)
}

/// The facts of one step, as a network reads them.
pub(crate) trait Prepare: Sized {
    /// Prepares the facts of one step.
    fn prepare(history: &History<'_>, facts: &(impl Iterator<Item = Quad> + Clone)) -> Self;
}

/// What a network reads to answer about a step: the last snapshots that hold facts, oldest first.
pub(crate) struct Window<S> {
    pub snapshots: Vec<Arc<S>>,
    /// The time of each snapshot, as an ordinal of the time axis, and the time that is asked about.
    pub times: Vec<i64>,
}

impl<S> Clone for Window<S> {
    fn clone(&self) -> Self {
        Self { snapshots: self.snapshots.clone(), times: self.times.clone() }
    }
}

/// Prepared snapshots, kept between uses.
pub(crate) struct SnapshotCache<S> {
    kept: FxHashMap<Step, Arc<S>>,
}

impl<S> Default for SnapshotCache<S> {
    fn default() -> Self {
        Self { kept: FxHashMap::default() }
    }
}

impl<S: Prepare> SnapshotCache<S> {
    /// The last `count` snapshots that hold facts, to answer about `target`.
    pub fn last(&mut self, history: &History<'_>, target: Step, count: usize) -> Window<S> {
        let (mut snapshots, mut times) = (Vec::new(), vec![history.axis().ordinal(target)]);
        for step in last_steps(history, count) {
            let Ok(snapshot) = history.snapshot(step) else { continue };
            let prepare = || Arc::new(S::prepare(history, &snapshot.iter()));
            snapshots.push(Arc::clone(self.kept.entry(step).or_insert_with(prepare)));
            times.push(history.axis().ordinal(step));
        }
        snapshots.reverse();
        times.reverse();
        Window { snapshots, times }
    }

    /// Drops everything, because the next history may have other facts.
    pub fn clear(&mut self) {
        self.kept.clear();
    }
}

/// The distinct questions of a training step, with two known parts, and all their answers.
///
/// Facts of one snapshot with the same known parts have the same scores, so the network computes them once. Batch statistics
/// and the loss weigh a question by its number of facts; only the dropout mask is shared.
#[derive(Clone, Debug)]
pub(crate) struct StepQuestions {
    /// The known parts, by question.
    pub first: Arc<[u32]>,
    pub second: Arc<[u32]>,
    /// Number of facts of the question.
    pub counts: Arc<[f32]>,
    /// The answers; each weighs 1 over the number of answers of its question.
    pub targets: Targets,
}

impl StepQuestions {
    /// Which entity? Known are an entity and a directed relation of a fact of this step.
    pub fn missing_entities(history: &History<'_>, step: Step) -> Result<Self, ModelError> {
        Self::both_ways(history, step, |known, relation, answer| (known, relation, answer))
    }

    /// Which directed relation? Known are the two entities of a fact of this step.
    pub fn missing_relations(history: &History<'_>, step: Step) -> Result<Self, ModelError> {
        Self::both_ways(history, step, |known, relation, answer| (known, answer, relation))
    }

    /// Which entity? Each fact of this step counts once, and the known parts are the directed relation, then the entity.
    pub fn distinct_by_relation(history: &History<'_>, step: Step) -> Result<Self, ModelError> {
        let mut facts = Self::facts(history, step, |known, relation, answer| (relation, known, answer))?;
        facts.sort_unstable();
        facts.dedup();
        Ok(Self::new(facts))
    }

    fn both_ways(
        history: &History<'_>,
        step: Step,
        fact: impl Fn(u32, u32, u32) -> (u32, u32, u32),
    ) -> Result<Self, ModelError> {
        Ok(Self::new(Self::facts(history, step, fact)?))
    }

    /// The facts of a step in both directions.
    fn facts(
        history: &History<'_>,
        step: Step,
        fact: impl Fn(u32, u32, u32) -> (u32, u32, u32),
    ) -> Result<Vec<(u32, u32, u32)>, ModelError> {
        let snapshot = history.snapshot(step)?;
        let mut facts = Vec::with_capacity(2 * snapshot.len());
        for direction in Direction::BOTH {
            for (query, answer) in snapshot.iter().map(|fact| Query::hide(fact, direction)) {
                facts.push(fact(query.known.0, query.directed(history.relations()).0, answer.0));
            }
        }
        Ok(facts)
    }

    /// From (first, second, answer), in any order.
    fn new(mut facts: Vec<(u32, u32, u32)>) -> Self {
        facts.sort_unstable();
        let (mut first, mut second, mut counts) = (Vec::new(), Vec::new(), Vec::<f32>::new());
        let mut answers = Csr { starts: vec![0], items: Vec::new() };
        for group in facts.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            first.push(group[0].0);
            second.push(group[0].1);
            counts.push(group.len() as f32);
            answers.items.extend(group.iter().map(|fact| fact.2));
            answers.starts.push(answers.items.len() as u32);
        }
        let shares = counts.iter().flat_map(|&count| std::iter::repeat_n(1.0 / count, count as usize));
        let targets = Targets { weights: shares.collect(), lists: Arc::new(answers) };
        Self { targets, first: first.into(), second: second.into(), counts: counts.into() }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use quadcast_core::{Calendar, Facts, HistoryIndex, TimeAxis, stream};
    use rand::Rng;

    /// A small world of random facts, and its first `count` snapshots.
    pub fn snapshots<S: Prepare>(count: usize, f: impl FnOnce(&History<'_>, &Window<S>)) {
        let (entities, relations, steps) = (14, 3, 6);
        let mut random = stream(5, "small world", 0);
        let facts = (0..steps).flat_map(|step| std::iter::repeat_n(step, 12));
        let facts = facts.map(|step| {
            let mut below = |n: u32| random.random_range(0..n);
            Quad::new(below(entities), below(relations), below(entities), step)
        });
        let facts = Facts::new(facts.collect(), steps as usize);
        let axis = TimeAxis::new((0..i64::from(steps)).collect(), Calendar::years_from(2000));
        let index = HistoryIndex::new(&axis, entities as usize, relations as usize, &[&facts]);
        let next = Step(count as u32);
        let first = SnapshotCache::default().last(&index.before(next), next, count);
        f(&index.before(Step(steps)), &first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_questions_are_merged() {
        let questions = StepQuestions::new(vec![(3, 1, 5), (0, 2, 7), (3, 1, 4), (3, 0, 4)]);
        assert_eq!(questions.first[..], [0, 3, 3]);
        assert_eq!(questions.second[..], [2, 0, 1]);
        assert_eq!(questions.counts[..], [1.0, 1.0, 2.0]);
        assert_eq!(questions.targets.lists.segment(2), [4, 5]);
        assert_eq!(questions.targets.weights[..], [1.0, 1.0, 0.5, 0.5]);
    }
}
