//! The random walk that gathers the triples of a universe.

use quadcast_core::{EntityId, GraphView, RelationId, Triple};
use quadcast_kernels::segment::Csr;
use rand::Rng;
use rand::seq::index;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Draws of known triples after which an entity gives up its turn.
const TOLERANCE: u32 = 5;
/// Rounds without a new triple after which the published walk ends.
const IDLE_ROUNDS: u32 = 20;

/// The training triples, indexed for walks.
#[derive(Clone, Debug)]
pub(super) struct WalkGraph {
    triples: Vec<Triple>,
    by_subject: Csr,
    by_object: Csr,
    by_relation: Csr,
    /// Relations that have a training triple.
    relations: Vec<RelationId>,
}

/// The drawn settings of a walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WalkPlan {
    /// Triples to gather.
    pub budget: usize,
    /// Largest number of start entities, as a share of the budget.
    pub balance: f64,
    /// Whether the walk is that of the published code.
    pub published: bool,
}

impl WalkGraph {
    pub fn new(graph: &GraphView<'_>) -> Self {
        let triples = graph.triples.to_vec();
        let sizes = graph.sizes;
        let by = |count, id: fn(&Triple) -> u32| Csr::from_pairs(count, triples.iter().map(id).zip(0..));
        let by_relation = by(sizes.relations, |triple| triple.relation.0);
        let relations = (0..sizes.relations).filter(|&r| !by_relation.segment(r).is_empty());
        Self {
            by_subject: by(sizes.entities, |triple| triple.subject.0),
            by_object: by(sizes.entities, |triple| triple.object.0),
            relations: relations.map(|r| RelationId(r as u32)).collect(),
            by_relation,
            triples,
        }
    }

    /// Whether there is anything to learn.
    pub fn is_empty(&self) -> bool {
        self.triples.is_empty()
    }

    /// A relation that has training triples.
    pub fn draw_relation(&self, random: &mut impl Rng) -> RelationId {
        self.relations[random.random_range(0..self.relations.len())]
    }

    /// Distinct triples around a relation, in the order of the walk.
    pub fn walk(&self, focus: RelationId, plan: WalkPlan, random: &mut impl Rng) -> Vec<Triple> {
        if plan.published {
            return self.published_walk(focus, plan, random);
        }
        let budget = plan.budget.min(self.triples.len());
        let mut frontier = self.seeds(focus, plan, random);
        let (mut met, mut known) = (Vec::with_capacity(budget), FxHashSet::default());
        while met.len() < budget && !frontier.is_empty() {
            let mut next = BTreeSet::new();
            for &entity in &frontier {
                if met.len() == budget {
                    break;
                }
                if let Some(id) = self.draw_new(entity, &known, random) {
                    known.insert(id);
                    let triple = self.triples[id as usize];
                    next.insert(if triple.subject == entity { triple.object } else { triple.subject });
                    met.push(triple);
                }
            }
            frontier = next;
        }
        met
    }

    /// The walk of the published code. Entities that found nothing new try again two rounds later, and the number of failures that
    /// an entity may have depends on the entities before it.
    fn published_walk(&self, focus: RelationId, plan: WalkPlan, random: &mut impl Rng) -> Vec<Triple> {
        let mut frontier = self.seeds(focus, plan, random);
        let (mut other, mut met, mut known) = (BTreeSet::new(), Vec::new(), FxHashSet::default());
        let (mut tolerance, mut failed) = (TOLERANCE, None);
        let mut idle = 0;
        while met.len() < plan.budget && idle < IDLE_ROUNDS {
            let before = met.len();
            for entity in frontier.iter().copied().collect::<Vec<_>>() {
                if met.len() == plan.budget {
                    break;
                }
                loop {
                    let id = self.draw(entity, random);
                    if known.insert(id) {
                        let triple = self.triples[id as usize];
                        met.push(triple);
                        other.insert(if triple.subject == entity { triple.object } else { triple.subject });
                        frontier.remove(&entity);
                        break;
                    }
                    tolerance -= u32::from(failed == Some(entity));
                    failed = Some(entity);
                    if tolerance == 0 {
                        tolerance = TOLERANCE;
                        break;
                    }
                }
            }
            std::mem::swap(&mut frontier, &mut other);
            idle = if met.len() == before { idle + 1 } else { 0 };
        }
        met
    }

    /// The start entities: all that the relation connects, or a sample if they are many.
    fn seeds(&self, focus: RelationId, plan: WalkPlan, random: &mut impl Rng) -> BTreeSet<EntityId> {
        let ends = |&id: &u32| {
            let triple = self.triples[id as usize];
            [triple.subject, triple.object]
        };
        let all: BTreeSet<EntityId> = self.by_relation.segment(focus.index()).iter().flat_map(ends).collect();
        let most = ((plan.balance * plan.budget as f64) as usize).max(1);
        if all.len() <= most {
            return all;
        }
        let all: Vec<EntityId> = all.into_iter().collect();
        index::sample(random, all.len(), most).into_iter().map(|i| all[i]).collect()
    }

    /// A new triple of an entity; `None` after too many known ones.
    fn draw_new(&self, entity: EntityId, known: &FxHashSet<u32>, random: &mut impl Rng) -> Option<u32> {
        (0..=TOLERANCE).map(|_| self.draw(entity, random)).find(|id| !known.contains(id))
    }

    /// A triple of an entity, from a drawn side.
    fn draw(&self, entity: EntityId, random: &mut impl Rng) -> u32 {
        let sides = [self.by_subject.segment(entity.index()), self.by_object.segment(entity.index())];
        let side = usize::from(random.random::<bool>());
        let list = if sides[side].is_empty() { sides[1 - side] } else { sides[side] };
        list[random.random_range(0..list.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quadcast_core::{GraphSizes, Step, stream};

    fn walk_graph(triples: &[Triple]) -> WalkGraph {
        let sizes = GraphSizes { entities: 40, relations: 4 };
        WalkGraph::new(&GraphView { step: Step(0), triples, present: &[], relations: &[], sizes })
    }

    proptest! {
        #[test]
        fn a_walk_gathers_distinct_training_triples_within_its_budget(
            triples in prop::collection::btree_set((0_u32..40, 0_u32..4, 0_u32..40), 1..120),
            budget in 1_usize..80,
            published in any::<bool>(),
            seed in any::<u64>(),
        ) {
            let triples: Vec<Triple> = triples.into_iter().map(|(s, r, o)| Triple::new(s, r, o)).collect();
            let graph = walk_graph(&triples);
            let mut random = stream(seed, "walk", 0);
            let focus = graph.draw_relation(&mut random);
            prop_assert!(triples.iter().any(|t| t.relation == focus));
            let met = graph.walk(focus, WalkPlan { budget, balance: 0.3, published }, &mut random);
            prop_assert!(!met.is_empty() && met.len() <= budget);
            let distinct: BTreeSet<Triple> = met.iter().copied().collect();
            prop_assert_eq!(distinct.len(), met.len());
            prop_assert!(met.iter().all(|t| triples.binary_search(t).is_ok()));
        }
    }

    #[test]
    fn a_walk_goes_both_ways_and_stays_connected_to_its_seeds() {
        // A path 0 → 1 → 2 → 3 of relation 0, hanging on one triple of relation 1; and an island.
        let triples = [
            Triple::new(0, 0, 1),
            Triple::new(1, 0, 2),
            Triple::new(2, 0, 3),
            Triple::new(3, 1, 4),
            Triple::new(20, 0, 21),
        ];
        let graph = walk_graph(&triples);
        for published in [false, true] {
            let mut reached = BTreeSet::new();
            for seed in 0..40 {
                let plan = WalkPlan { budget: 5, balance: 1.0, published };
                reached.extend(graph.walk(RelationId(1), plan, &mut stream(seed, "walk", 0)));
            }
            let reached: Vec<Triple> = reached.into_iter().collect();
            assert_eq!(reached, triples[..4], "all of the path, never the island");
        }
    }
}
