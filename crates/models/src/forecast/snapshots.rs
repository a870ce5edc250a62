//! Snapshots prepared for graph networks: edges of both directions by destination, and the entities of each relation.

use std::sync::Arc;

use quadcast_core::{Direction, History, Quad, Query, Step};
use quadcast_kernels::segment::Csr;
use rustc_hash::FxHashMap;

use crate::blocks::{Graph, Segments};

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

impl PreparedSnapshot {
    /// Prepares the facts of one step.
    pub fn new(history: &History<'_>, facts: &(impl Iterator<Item = Quad> + Clone)) -> Self {
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

/// The last `count` steps of a history that hold facts, the newest first.
pub(crate) fn last_steps<'a>(history: &'a History<'_>, count: usize) -> impl Iterator<Item = Step> + 'a {
    let end = history.ceiling().0.min(history.axis().len() as u32);
    let occupied = |step: &Step| history.snapshot(*step).is_ok_and(|snapshot| !snapshot.is_empty());
    (0..end).rev().map(Step).filter(occupied).take(count)
}

/// Prepared snapshots, kept between uses.
#[derive(Default)]
pub(crate) struct SnapshotCache {
    kept: FxHashMap<Step, Arc<PreparedSnapshot>>,
}

impl SnapshotCache {
    /// The last `count` snapshots that hold facts, oldest first.
    pub fn last(&mut self, history: &History<'_>, count: usize) -> Vec<Arc<PreparedSnapshot>> {
        let mut found: Vec<Arc<PreparedSnapshot>> = last_steps(history, count)
            .filter_map(|step| {
                let snapshot = history.snapshot(step).ok()?;
                let prepare = || Arc::new(PreparedSnapshot::new(history, &snapshot.iter()));
                Some(Arc::clone(self.kept.entry(step).or_insert_with(prepare)))
            })
            .collect();
        found.reverse();
        found
    }

    /// Drops everything, because the next history may have other facts.
    pub fn clear(&mut self) {
        self.kept.clear();
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use quadcast_core::{Calendar, Facts, HistoryIndex, TimeAxis, stream};
    use rand::Rng;

    /// A small world of random facts, and its first `count` snapshots.
    pub fn snapshots(count: usize, f: impl FnOnce(&History<'_>, &[Arc<PreparedSnapshot>])) {
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
        let first = SnapshotCache::default().last(&index.before(Step(count as u32)), count);
        f(&index.before(Step(steps)), &first);
    }
}
