//! What the model keeps between steps: global vectors of known steps, and simulated graphs after them.

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::tensor::Tensor;
use quadcast_core::{History, HistoryKey, SimulatedFact, Step};

use super::network::{GlobalVectors, Network};
use super::past::{Past, Simulated};
use super::simulation::{Simulation, simulate};
use crate::blocks::{AnyTensor, Parameters, floats};

/// Steps that are simulated after the last known one at most; a later step is asked about as if it were the next one. A question about
/// the far future would else never be answered.
const MOST_SIMULATED: u32 = 366;
/// Entities of snapshots that are pooled together: bounds memory.
pub(super) const ENTITIES_AT_ONCE: usize = 16_384;

/// What is derived from a history.
#[derive(Default)]
pub(super) struct Memory {
    key: Option<HistoryKey>,
    /// The largest numbers of each snapshot with facts.
    pooled: BTreeMap<Step, Arc<[f32]>>,
    pub vectors: GlobalVectors,
    pub simulated: Simulated,
}

impl Memory {
    /// The past before a step: known facts and simulated ones.
    pub fn past<'a>(&'a self, history: &History<'a>, simulation: &Simulation) -> Past<'a> {
        Past { history: *history, simulated: &self.simulated, without: None, known_first: simulation.compat }
    }

    /// Drops simulated graphs, because the parameters have changed.
    pub fn forget_simulated(&mut self) {
        for step in self.simulated.graphs().keys() {
            self.pooled.remove(step);
            self.vectors.0.remove(step);
        }
        self.simulated.clear();
    }

    /// Brings everything up to date with a history, and simulates the steps from its end up to `step`.
    pub fn update(&mut self, network: &Network, history: &History<'_>, step: Step, simulation: &Simulation) {
        let key = history.key();
        if self.key != Some(key) {
            self.forget_simulated();
            if !self.key.is_some_and(|old| old.follows_in(key)) {
                self.pooled.clear();
                self.vectors.0.clear();
            }
            self.key = Some(key);
        }
        let frozen = network.learned.parameters.frozen();
        // Steps are added in order: all up to the last one are there.
        let next = self.pooled.last_key_value().map_or(Step(0), |(last, _)| Step(last.0 + 1));
        let occupied = history.snapshots_from(next).filter(|snapshot| !snapshot.is_empty());
        let steps: Vec<Step> = occupied.map(|snapshot| snapshot.step).collect();
        self.add(network, &frozen, history, &steps, simulation);
        let known = history.ceiling().0;
        for next in (known..step.0.min(known.saturating_add(MOST_SIMULATED))).map(Step) {
            if self.simulated.graphs().contains_key(&next) {
                continue;
            }
            let graph = self.simulate(network, &frozen, history, next, simulation);
            self.simulated.push(next, graph, history.relations());
            self.add(network, &frozen, history, &[next], simulation);
        }
    }

    /// The graph that is expected at a step, up to which everything is known or simulated.
    pub fn simulate(
        &self,
        network: &Network,
        frozen: &Parameters,
        history: &History<'_>,
        step: Step,
        simulation: &Simulation,
    ) -> Vec<SimulatedFact> {
        let past = self.past(history, simulation);
        let latest = self.pooled.range(..step).next_back();
        let vector = latest.and_then(|(latest, _)| self.vectors.0.get(latest));
        simulate(network, frozen, &past, &self.vectors, (step, vector.map(|v| &**v)), simulation)
    }

    /// Adds the vectors of steps that are later than all others.
    fn add(
        &mut self,
        network: &Network,
        frozen: &Parameters,
        history: &History<'_>,
        steps: &[Step],
        simulation: &Simulation,
    ) {
        let Some(&first) = steps.first() else { return };
        let past = self.past(history, simulation);
        let mut rows: Vec<(Step, Arc<[f32]>)> = Vec::new();
        for part in parts(&past, steps) {
            if past.active(part[0]).is_empty() {
                continue; // A simulated graph can be empty.
            }
            let pooled = AnyTensor::from(network.pooled(frozen, &past, part, None)).into_values();
            let own = pooled.chunks_exact(pooled.len() / part.len()).map(Arc::from);
            rows.extend(part.iter().copied().zip(own));
        }
        self.pooled.extend(rows);
        // The vector of a step reads the last snapshots up to it.
        let before =
            self.pooled.range(..first).rev().take(network.history).last().map_or(first, |(step, _)| *step);
        let window: Vec<(Step, Arc<[f32]>)> =
            self.pooled.range(before..).map(|(step, row)| (*step, Arc::clone(row))).collect();
        let old = window.partition_point(|(step, _)| *step < first);
        let wanted: Vec<u32> = (old as u32..window.len() as u32).collect();
        if wanted.is_empty() {
            return;
        }
        let lists: Vec<Vec<u32>> = wanted
            .iter()
            .map(|&row| (row.saturating_sub(network.history as u32 - 1)..=row).collect())
            .collect();
        let d = window[0].1.len();
        let values: Vec<f32> = window.iter().flat_map(|(_, row)| row.iter().copied()).collect();
        let beside: Tensor<2> = Tensor::zeros([1, 1], frozen.device());
        let pooled = floats(values, [window.len(), d], &beside);
        let vectors = AnyTensor::from(network.global_vectors(frozen, pooled, &lists)).into_values();
        for (&row, vector) in wanted.iter().zip(vectors.chunks_exact(d)) {
            self.vectors.0.insert(window[row as usize].0, vector.into());
        }
    }
}

/// Steps in parts of at most [`ENTITIES_AT_ONCE`] entities, but at least one step.
pub(super) fn parts<'s>(past: &Past<'_>, steps: &'s [Step]) -> Vec<&'s [Step]> {
    let (mut parts, mut start, mut entities) = (Vec::new(), 0, 0);
    for (i, &step) in steps.iter().enumerate() {
        let own = past.active(step).len();
        if i > start && entities + own > ENTITIES_AT_ONCE {
            parts.push(&steps[start..i]);
            (start, entities) = (i, 0);
        }
        entities += own;
    }
    if start < steps.len() {
        parts.push(&steps[start..]);
    }
    parts
}
