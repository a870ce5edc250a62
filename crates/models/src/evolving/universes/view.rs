//! A borrowed universe, in memory or in a file, and its energies.

use quadcast_core::{Direction, EntityId, Query, RelationId, Triple};
use quadcast_kernels::triples::{Ends, Question, TablesView, for_each_answer};

use super::settings::Config;
use crate::evolving::examples::ids;
use crate::evolving::space::{Row, Space};

/// Rows are divided by their length, or by this if they are shorter.
const LEAST_LENGTH: f32 = 1e-12;

/// A borrowed universe.
#[derive(Clone, Copy, Debug)]
pub(super) struct UniverseView<'a> {
    /// Its entities, ascending; rows are in this order.
    pub entities: &'a [u32],
    /// Its relations, ascending; rows are in this order.
    pub relations: &'a [u32],
    /// Its training triples, ascending.
    pub triples: &'a [[u32; 3]],
    /// The rows.
    pub tables: TablesView<'a, f32>,
    /// Factor of all its energies, at least 1. Energies are distances, so a larger factor makes triples less plausible; 1 changes
    /// no bit.
    pub factor: f32,
}

/// All-zero placeholder row for a missing entity.
pub(super) struct ZeroRow {
    values: Vec<f32>,
    scales: Vec<f32>,
}

impl ZeroRow {
    pub fn new<M: Space>(space: &M) -> Self {
        let shape = space.entity().shape();
        Self { values: vec![0.0; shape.stride], scales: vec![0.0; shape.units] }
    }

    pub fn row(&self) -> Row<'_> {
        Row { values: &self.values, scales: &self.scales }
    }
}

impl UniverseView<'_> {
    fn entity(&self, id: EntityId) -> Option<u32> {
        self.entities.binary_search(&id.0).ok().map(|place| place as u32)
    }

    fn relation(&self, id: RelationId) -> Option<u32> {
        self.relations.binary_search(&id.0).ok().map(|place| place as u32)
    }

    /// Whether it knows all three parts of a triple.
    pub fn knows(&self, triple: &Triple) -> bool {
        self.relation(triple.relation).is_some()
            && self.entity(triple.subject).is_some()
            && self.entity(triple.object).is_some()
    }

    /// Whether it was trained on a triple.
    pub fn contains(&self, triple: &Triple) -> bool {
        self.triples.binary_search(&ids(triple)).is_ok()
    }

    /// A question in the local numbering, if its entity and relation are known here.
    pub fn local_question(&self, query: &Query) -> Option<Question> {
        let (known, relation) = (self.entity(query.known)?, self.relation(query.relation)?);
        Some(Question { known, relation, tails: query.direction == Direction::Object })
    }

    /// Takes the minimum of `lowest`, which is by entity, and the energies of all answers known here.
    pub fn lower<M: Space>(&self, space: &M, question: Question, scratch: &mut [f32], lowest: &mut [f32]) {
        let factor = self.factor;
        for_each_answer(
            space,
            &self.tables,
            question,
            scratch,
            #[inline(always)]
            |entity, energy| {
                let own = &mut lowest[self.entities[entity as usize] as usize];
                let energy = factor * energy;
                *own = if energy < *own { energy } else { *own };
            },
        );
    }

    /// The energy of a triple, if all three parts are known here.
    pub fn energy_of<M: Space>(&self, space: &M, triple: &Triple, scratch: &mut [f32]) -> Option<f32> {
        let relation = self.relation(triple.relation)?;
        let (known, answer) = (self.entity(triple.subject)?, self.entity(triple.object)?);
        let question = Question { known, relation, tails: true };
        Some(self.energy(space, question, self.tables.entities.row(answer), scratch))
    }

    /// The energy of the zero row as answer, as in the published code: that of `TransE`, also where entities are projected.
    pub fn published_zero_energy(&self, question: Question, config: &Config) -> f32 {
        let Config { dimension, norm, normalise, .. } = *config;
        let known = &self.tables.entities.row(question.known).values[..dimension];
        let relation = &self.tables.relations.row(question.relation).values[..dimension];
        let length = |row: &[f32]| row.iter().map(|x| x * x).sum::<f32>().sqrt().max(LEAST_LENGTH);
        let scale = |row: &[f32]| if normalise { 1.0 / length(row) } else { 1.0 };
        let (a, b) = (scale(known), scale(relation));
        let sign = if question.tails { a } else { -a };
        let moved = known.iter().zip(relation).map(|(x, y)| sign * x + b * y);
        let length: f32 =
            if norm == 1 { moved.map(f32::abs).sum() } else { moved.map(|u| u * u).sum::<f32>().sqrt() };
        self.factor * length
    }

    /// The energy of a row as answer.
    #[inline(always)]
    pub fn energy<M: Space>(
        &self,
        space: &M,
        question: Question,
        answer: Row<'_>,
        scratch: &mut [f32],
    ) -> f32 {
        let known = self.tables.entities.row(question.known);
        let relation = self.tables.relations.row(question.relation);
        let (head, tail) = if question.tails { (known, answer) } else { (answer, known) };
        self.factor * space.energy(&Ends { head, relation, tail }, scratch)
    }
}
