//! The other queries of a step as features of candidates: the demonstration of the query-set leak.
//!
//! An honest run never comes here. The evaluator shows the queries only if the protocol asks for the demonstration, the record says
//! so, and such records are never compared or ranked; see `docs/query-set-leak.md`.

use quadcast_core::Leak;
use rustc_hash::{FxHashMap, FxHashSet};

use super::evidence::Evidence;
use super::features::{FEATURES, LEAKED};

/// The queries of a step, by what they give away.
pub(super) struct LeakedQueries {
    leak: Leak,
    /// Directed relations; the second half are inverse.
    relations: u32,
    /// By direction and known entity: how many queries. The direction is whether the relation is inverse.
    by_entity: FxHashMap<(bool, u32), u32>,
    /// Directed relation and known entity of each query.
    queries: FxHashSet<(u32, u32)>,
}

impl LeakedQueries {
    /// The queries of a step as directed relations and known entities, among so many directed relations.
    pub fn new(leak: Leak, relations: usize, asked: impl Iterator<Item = (u32, u32)>) -> Self {
        let relations = relations as u32;
        let queries: FxHashSet<(u32, u32)> = asked.collect();
        let mut by_entity = FxHashMap::default();
        for &(relation, known) in &queries {
            *by_entity.entry((relation >= relations / 2, known)).or_insert(0) += 1;
        }
        Self { leak, relations, by_entity, queries }
    }

    /// Writes four features of each candidate of a query with this relation: whether and how often the candidate is asked about in
    /// the same direction, whether with the same relation, and, if both directions are shown, whether a query of the other direction
    /// asks about it with this relation: it then answers some query with this relation today.
    pub fn write(&self, relation: u32, evidence: &Evidence, rows: &mut [f32]) {
        let half = self.relations / 2;
        let direction = relation >= half;
        let inverse = if direction { relation - half } else { relation + half };
        for (&place, row) in evidence.candidates.iter().zip(rows.chunks_exact_mut(FEATURES)) {
            let id = evidence.found[place as usize].id;
            let has = |relation: u32| f32::from(u8::from(self.queries.contains(&(relation, id))));
            let count = self.by_entity.get(&(direction, id)).copied().unwrap_or(0) as f32;
            let answers = if self.leak == Leak::BothDirections { has(inverse) } else { 0.0 };
            row[LEAKED..].copy_from_slice(&[count.min(1.0), 0.3 * count.ln_1p(), has(relation), answers]);
        }
    }
}
