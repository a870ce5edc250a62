//! The oracle: a forecaster that knows the processes of a world and nothing of its future.
//!
//! Every candidate of a query is scored with its true probability given the history, the same view that any model gets.
//!
//! **Why nobody can do better.** Given the history, the facts of the next step are independent of each other. Take any
//! ranking of the candidates of one query and two neighbours in it, `a` right above `b`, with `P(a) < P(b)`. Exchanging them
//! changes nothing when both hold (under the time-aware filter neither competes with the other; raw, the two ranks are
//! only shared out differently) and nothing when neither holds. When one of them holds, it is ranked `k` or `k + 1`, where `k`
//! depends only on the candidates above, hence is independent of `a` and `b`. The exchange therefore changes the expected
//! value of any measure `f` that falls with the rank (reciprocal rank, hits) by
//! `(P(b only) − P(a only)) · E[f(k) − f(k+1)] = (P(b) − P(a)) · E[f(k) − f(k+1)] ≥ 0`. So ordering by probability is
//! optimal under the time-aware filter and raw. It is not under the static filter, which takes known
//! answers of other times off the list: a forecaster made for that filter would put everything seen before first.
//!
//! **Several steps ahead** the probabilities are means over roll-outs of the world from the end of the history. Each roll-out
//! adds its exact conditional probability, not a hit or a miss, so with `n` roll-outs the standard error of a probability
//! `p` is at most `√(p(1−p)/n)`, and usually far below it. Facts are no longer independent then (they share the unknown
//! steps between), so the argument holds exactly for raw ranks only; for the others the order is the best known, up to
//! the error of the means.

use std::sync::Arc;

use quadcast_core::{
    Background, Capabilities, Direction, EntityId, Forecaster, History, ModelError, Query, RelationId, Run,
    SavedModel, ScoreRow, ScoreSink, Setting, Step, Task, Triple, Validation,
};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::background::Standing;
use super::state::State;
use super::world::{World, merged, with_chance};

/// Knows the processes; see the module's text.
#[derive(Clone)]
pub struct Oracle {
    world: Arc<World>,
    step: Step,
    standing: Standing,
    standing_at: Option<u32>,
    rolled: Option<Rolled>,
}

/// By question: answers with their mean probability, background left out.
type AnswerTable = FxHashMap<(EntityId, RelationId, Direction), Vec<(EntityId, f64)>>;

/// The world rolled out from the end of a history.
#[derive(Clone)]
struct Rolled {
    from: Step,
    states: Vec<State>,
    table: AnswerTable,
}

impl Oracle {
    pub(super) fn new(world: Arc<World>) -> Self {
        Self { world, step: Step(0), standing: Standing::default(), standing_at: None, rolled: None }
    }

    fn stand(&mut self, step: u32) {
        if self.standing_at.is_none_or(|at| !self.world.chance.same_standing(at, step)) {
            self.standing = self.world.chance.standing(step);
        }
        self.standing_at = Some(step);
    }

    /// Rolls the world out from the end of the history to `step` and takes the means there.
    fn roll(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        let world = &self.world;
        if world.rollouts == 0 {
            return Err(ModelError::Unsupported(format!(
                "{} is too large to be rolled out: the oracle knows the next step only",
                world.name
            )));
        }
        let kept = self.rolled.take().filter(|rolled| rolled.from == history.ceiling());
        let kept = kept.filter(|rolled| rolled.states.iter().all(|state| state.now() <= step.0));
        let mut rolled = kept.unwrap_or_else(|| {
            let mut state = State::default();
            for snapshot in history.snapshots_from(Step(0)) {
                state.push(snapshot.iter().map(quadcast_core::Quad::triple).collect());
            }
            let states = vec![state; world.rollouts as usize];
            Rolled { from: history.ceiling(), states, table: AnswerTable::default() }
        });
        let lists: Vec<Vec<(Triple, f64)>> = rolled
            .states
            .par_iter_mut()
            .enumerate()
            .map(|(number, state)| {
                while state.now() < step.0 {
                    let drawn = world.draw(state, &format!("synth rollout {number}"));
                    state.push(drawn.into_iter().map(|(fact, _)| fact).collect());
                }
                caused(world, state)
            })
            .collect();
        rolled.table = tabulate(&lists);
        self.rolled = Some(rolled);
        Ok(())
    }

    /// Answers with the probability that some process brings them about.
    fn caused(&self, history: &History<'_>, query: &Query, found: &mut Found) {
        found.clear();
        if let Some(rolled) = &self.rolled {
            let key = (query.known, query.relation, query.direction);
            for &(answer, probability) in rolled.table.get(&key).into_iter().flatten() {
                found.add(answer, probability);
            }
            return;
        }
        for (_, process) in &self.world.processes {
            process.answers(history, query, &mut |answer, probability| found.add(answer, probability));
        }
    }
}

/// Every fact that the processes can bring about at the next step, sorted, with the probability that one of them does.
fn caused(world: &World, state: &State) -> Vec<(Triple, f64)> {
    let mut all = Vec::new();
    for (_, process) in &world.processes {
        process.candidates(state, &mut |fact, probability| all.push((fact, 1.0 - probability)));
    }
    let silences = merged(all, |first, later| first * later);
    silences.into_iter().map(|(fact, silence)| (fact, 1.0 - silence)).collect()
}

/// Means over the roll-outs, by question. Sums are taken in the order of the roll-outs.
fn tabulate(lists: &[Vec<(Triple, f64)>]) -> AnswerTable {
    let mut sums: FxHashMap<Triple, f64> = FxHashMap::default();
    for &(fact, probability) in lists.iter().flatten() {
        *sums.entry(fact).or_default() += probability;
    }
    let mut table = AnswerTable::default();
    for (fact, sum) in sums {
        let mean = sum / lists.len() as f64;
        let Triple { subject, relation, object } = fact;
        table.entry((subject, relation, Direction::Object)).or_default().push((object, mean));
        table.entry((object, relation, Direction::Subject)).or_default().push((subject, mean));
    }
    table
}

/// Answers to one question and their scores.
#[derive(Default)]
struct Found {
    slots: FxHashMap<EntityId, usize>,
    ids: Vec<EntityId>,
    /// First the probability that no process fires, in the end the score.
    values: Vec<f64>,
}

impl Found {
    fn clear(&mut self) {
        self.slots.clear();
        self.ids.clear();
        self.values.clear();
    }

    fn add(&mut self, answer: EntityId, probability: f64) {
        let slot = *self.slots.entry(answer).or_insert_with(|| {
            self.ids.push(answer);
            self.values.push(1.0);
            self.ids.len() - 1
        });
        self.values[slot] *= 1.0 - probability;
    }
}

const SETTINGS: &[Setting] = &[Setting::SingleStep, Setting::MultiStep];

impl Forecaster for Oracle {
    fn capabilities(&self) -> Capabilities {
        let settings = if self.world.rollouts == 0 { &SETTINGS[..1] } else { SETTINGS };
        Capabilities { inductive: true, ..Capabilities::new(Task::Forecasting, settings) }
    }

    fn fit(&mut self, _: &History<'_>, _: &dyn Validation, _: &Run) -> Result<(), ModelError> {
        Ok(())
    }

    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        let world = &self.world;
        if (history.entities(), history.relations()) != (world.entities.len(), world.relations.len()) {
            return Err(ModelError::Unsupported(format!(
                "this oracle knows the world {} with seed {}; the data is another one",
                world.name, world.seed
            )));
        }
        self.step = step;
        self.stand(step.0);
        if history.ceiling() < step {
            return self.roll(step, history);
        }
        self.rolled = None;
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        let mut found = Found::default();
        for (index, query) in queries.iter().enumerate() {
            self.caused(history, query, &mut found);
            let background = self.world.chance.answers(&self.standing, query);
            for (&id, value) in found.ids.iter().zip(&mut found.values) {
                *value = with_chance(*value, background.score(id));
            }
            // Nothing relates an entity to itself.
            found.ids.push(query.known);
            found.values.push(0.0);
            sink.accept(
                index,
                ScoreRow::Sparse { ids: &found.ids, scores: &found.values, background: &background },
            )?;
        }
        Ok(())
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        Ok(SavedModel::plain(serde_json::json!({ "world": self.world.name, "seed": self.world.seed })))
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        if *saved == self.save()? {
            return Ok(());
        }
        Err(ModelError::Saved(format!("it is the oracle of another world than {}", self.world.name)))
    }
}
