//! What is known of entities: facts, and after the last known step simulated ones.

use quadcast_core::{DirectedRelation, Direction, Edge, EntityId, History, Quad, Query, SimulatedFact, Step};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Simulated graphs.
#[derive(Clone, Debug, Default)]
pub(super) struct Simulated {
    graphs: BTreeMap<Step, Vec<SimulatedFact>>,
    /// By entity, in order of steps.
    edges: FxHashMap<EntityId, Vec<Edge>>,
}

impl Simulated {
    /// Takes the graph of a step that is later than all others. Facts that it holds several times count several times.
    pub fn push(&mut self, step: Step, graph: Vec<SimulatedFact>, relations: usize) {
        for SimulatedFact { fact, .. } in &graph {
            for direction in Direction::BOTH {
                let (query, other) = Query::hide(*fact, direction);
                let edge = Edge { step, relation: query.directed(relations), other };
                self.edges.entry(query.known).or_default().push(edge);
            }
        }
        self.graphs.insert(step, graph);
    }

    /// The steps that have been simulated, and their graphs.
    pub fn graphs(&self) -> &BTreeMap<Step, Vec<SimulatedFact>> {
        &self.graphs
    }

    pub fn clear(&mut self) {
        self.graphs.clear();
        self.edges.clear();
    }
}

/// A past that can be read.
#[derive(Clone, Copy)]
pub(super) struct Past<'a> {
    pub history: History<'a>,
    pub simulated: &'a Simulated,
    /// A fact to leave out, to see what it is worth.
    pub without: Option<Quad>,
    /// Whether an entity without known facts has no simulated ones either, as in the published code.
    pub known_first: bool,
}

impl<'a> Past<'a> {
    /// Facts and simulated facts that an entity takes part in, each list in order of steps, the second one later than the first.
    fn edges(&self, entity: EntityId) -> [&'a [Edge]; 2] {
        let simulated = self.simulated.edges.get(&entity).map_or(&[][..], Vec::as_slice);
        [self.history.edges(entity), simulated]
    }

    fn is_left_out(&self, entity: EntityId, edge: &Edge) -> bool {
        self.without.is_some_and(|fact| {
            let relations = self.history.relations();
            Direction::BOTH.into_iter().any(|direction| {
                let (query, other) = Query::hide(fact, direction);
                let same = Edge { step: fact.step, relation: query.directed(relations), other };
                query.known == entity && same == *edge
            })
        })
    }

    /// The facts of an entity at a step, as it sees them.
    pub fn at(&self, entity: EntityId, step: Step) -> impl Iterator<Item = &'a Edge> + use<'a, '_> {
        let lists = self.edges(entity).map(|edges| {
            let from = edges.partition_point(|edge| edge.step < step);
            let count = edges[from..].partition_point(|edge| edge.step == step);
            &edges[from..from + count]
        });
        lists.into_iter().flatten().filter(move |edge| !self.is_left_out(entity, edge))
    }

    /// The last steps before `before`, at most `count`, oldest first, at which an entity stood on the known side of a question of
    /// this direction.
    pub fn last_steps(
        &self,
        entity: EntityId,
        direction: Direction,
        before: Step,
        count: usize,
    ) -> Vec<Step> {
        let relations = self.history.relations();
        let [known, simulated] = self.edges(entity);
        let is_own = |relation: DirectedRelation| relation.split(relations).1 == direction;
        let counts =
            |edge: &&Edge| edge.step < before && is_own(edge.relation) && !self.is_left_out(entity, edge);
        if self.known_first && !known.iter().any(|edge| counts(&edge)) {
            return Vec::new();
        }
        let mut steps: Vec<Step> = Vec::new();
        for edge in simulated.iter().rev().chain(known.iter().rev()).filter(counts) {
            if steps.last() != Some(&edge.step) {
                if steps.len() == count {
                    break;
                }
                steps.push(edge.step);
            }
        }
        steps.reverse();
        steps
    }

    /// The entities with facts at a step, ascending.
    pub fn active(&self, step: Step) -> Vec<u32> {
        let ends = |fact: Quad| [fact.subject.0, fact.object.0];
        let mut entities: Vec<u32> = match self.simulated.graphs.get(&step) {
            Some(graph) => graph.iter().flat_map(|simulated| ends(simulated.fact)).collect(),
            None => self
                .history
                .snapshot(step)
                .into_iter()
                .flat_map(|s| s.iter().flat_map(ends).collect::<Vec<_>>())
                .collect(),
        };
        entities.sort_unstable();
        entities.dedup();
        entities
    }
}
