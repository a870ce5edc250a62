//! Sums by entity without a map: one slot per entity, cleared by what was touched.

use quadcast_core::EntityId;

/// Sums by entity, reused from query to query.
pub(super) struct Sums {
    pub ids: Vec<EntityId>,
    pub values: Vec<f64>,
    /// Position in `values` plus one; zero where the entity has no sum.
    slots: Vec<u32>,
}

impl Sums {
    pub fn new(entities: usize) -> Self {
        Self { ids: Vec::new(), values: Vec::new(), slots: vec![0; entities] }
    }

    pub fn clear(&mut self) {
        for id in self.ids.drain(..) {
            self.slots[id.index()] = 0;
        }
        self.values.clear();
    }

    pub fn add(&mut self, id: EntityId, value: f64) {
        let slot = &mut self.slots[id.index()];
        if *slot == 0 {
            self.ids.push(id);
            self.values.push(value);
            *slot = self.ids.len() as u32;
        } else {
            self.values[*slot as usize - 1] += value;
        }
    }
}
