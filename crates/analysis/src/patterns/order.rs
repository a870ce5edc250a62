//! Which relations have a pattern worth drawing, and in which order.

use quadcast_core::RelationId;

use super::{Partner, Patterns, RelationPatterns};

/// From this share on, in both directions, a pattern is worth a look.
const NOTICEABLE: f64 = 0.1;

impl Patterns {
    /// Relations that are noticeably mirrored by themselves or, mutually, by another, the strongest first and partners
    /// side by side.
    pub fn noticeable(&self) -> Vec<RelationId> {
        let worth = |row: &&RelationPatterns| row.supported && row.strength().any_time >= NOTICEABLE;
        let rows: Vec<&RelationPatterns> = self.relations.iter().filter(worth).collect();
        let mut order: Vec<RelationId> = Vec::with_capacity(rows.len());
        for row in &rows {
            let partner = row.inverse.as_ref().filter(|partner| by_partner(row, partner));
            let partner = partner.filter(|partner| rows.iter().any(|other| other.id == partner.id));
            for id in [Some(row.id), partner.map(|partner| partner.id)].into_iter().flatten() {
                if !order.contains(&id) {
                    order.push(id);
                }
            }
        }
        order
    }
}

/// Whether a relation is rather mirrored by its partner than by itself.
fn by_partner(row: &RelationPatterns, partner: &Partner) -> bool {
    partner.mutual().any_time >= NOTICEABLE.max(row.symmetric.any_time)
}

/// Orders relations for people: those with enough facts first, then by strength, then by size.
pub(super) fn strongest_first(relations: &mut [RelationPatterns]) {
    relations.sort_by(|a, b| {
        let (strong, stronger) = (a.strength(), b.strength());
        b.supported
            .cmp(&a.supported)
            .then(stronger.same_time.total_cmp(&strong.same_time))
            .then(stronger.any_time.total_cmp(&strong.any_time))
            .then(b.repeated.total_cmp(&a.repeated))
            .then(b.facts.cmp(&a.facts))
            .then(a.id.cmp(&b.id))
    });
}
