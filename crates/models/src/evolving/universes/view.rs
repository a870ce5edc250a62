//! A universe as it is asked, wherever it lies.

use quadcast_core::{Direction, EntityId, Query, RelationId, Triple};
use quadcast_kernels::triples::{Ends, Question, Row, TablesView, for_each_answer};

use super::settings::Config;
use crate::evolving::space::Space;

/// Rows are divided by their length, or by this if they are shorter.
const LEAST_LENGTH: f32 = 1e-12;

/// A universe that belongs to somebody else.
#[derive(Clone, Copy, Debug)]
pub(super) struct UniverseView<'a> {
    /// Its entities, ascending; rows are in this order.
    pub entities: &'a [u32],
    /// Its relations, ascending; rows are in this order.
    pub relations: &'a [u32],
    /// What it was trained on, ascending.
    pub triples: &'a [[u32; 3]],
    /// The rows.
    pub tables: TablesView<'a, f32>,
    /// What all its energies are multiplied by, 1 or more. They are distances and never below 0, so that this makes them
    /// worse; 1 leaves every bit as it is.
    pub factor: f32,
}

/// A known entity and a relation, as a universe counts them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    known: u32,
    relation: u32,
    direction: Direction,
}

/// The rows of nobody: of no length, and in no direction.
pub(super) struct Nobody {
    values: Vec<f32>,
    scales: Vec<f32>,
}

impl Nobody {
    pub fn new<M: Space>(space: &M) -> Self {
        let shape = space.entity().shape();
        Self { values: vec![0.0; shape.stride], scales: vec![0.0; shape.units] }
    }

    fn row(&self) -> Row<'_, f32> {
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

    /// Whether all three parts of a triple are known here.
    pub fn knows(&self, triple: &Triple) -> bool {
        self.relation(triple.relation).is_some()
            && self.entity(triple.subject).is_some()
            && self.entity(triple.object).is_some()
    }

    /// Whether it was trained on a triple.
    pub fn contains(&self, triple: &Triple) -> bool {
        self.triples.binary_search(&words(triple)).is_ok()
    }

    /// A question, if its known entity and its relation are known here.
    pub fn asked(&self, query: &Query) -> Option<Asked> {
        let relation = self.relation(query.relation)?;
        Some(Asked { known: self.entity(query.known)?, relation, direction: query.direction })
    }

    /// Lowers the energies of all answers that are known here; `lowest` is by entity.
    pub fn lower<M: Space>(&self, space: &M, asked: Asked, scratch: &mut [f32], lowest: &mut [f32]) {
        let Asked { known, relation, direction } = asked;
        let question = Question { known, relation, tails: direction == Direction::Object };
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

    /// The energy of a triple, if all of it is known here.
    pub fn energy_of<M: Space>(&self, space: &M, triple: &Triple, scratch: &mut [f32]) -> Option<f32> {
        let relation = self.relation(triple.relation)?;
        let (known, answer) = (self.entity(triple.subject)?, self.entity(triple.object)?);
        let asked = Asked { known, relation, direction: Direction::Object };
        Some(self.energy(space, asked, self.tables.entities.row(answer), scratch))
    }

    /// The energy with nobody as the answer as the published code has it: that of `TransE`, also where entities are projected.
    pub fn published_energy_of_nobody(&self, asked: Asked, config: &Config) -> f32 {
        let Config { dimension, norm, normalise, .. } = *config;
        let known = &self.tables.entities.row(asked.known).values[..dimension];
        let relation = &self.tables.relations.row(asked.relation).values[..dimension];
        let length = |row: &[f32]| row.iter().map(|x| x * x).sum::<f32>().sqrt().max(LEAST_LENGTH);
        let scale = |row: &[f32]| if normalise { 1.0 / length(row) } else { 1.0 };
        let (a, b) = (scale(known), scale(relation));
        let sign = if asked.direction == Direction::Object { a } else { -a };
        let moved = known.iter().zip(relation).map(|(x, y)| sign * x + b * y);
        let length: f32 =
            if norm == 1 { moved.map(f32::abs).sum() } else { moved.map(|u| u * u).sum::<f32>().sqrt() };
        self.factor * length
    }

    /// The energy with nobody as the answer.
    pub fn energy_of_nobody<M: Space>(
        &self,
        space: &M,
        asked: Asked,
        nobody: &Nobody,
        scratch: &mut [f32],
    ) -> f32 {
        self.energy(space, asked, nobody.row(), scratch)
    }

    #[inline(always)]
    fn energy<M: Space>(&self, space: &M, asked: Asked, answer: Row<'_, f32>, scratch: &mut [f32]) -> f32 {
        let known = self.tables.entities.row(asked.known);
        let relation = self.tables.relations.row(asked.relation);
        let (head, tail) = match asked.direction {
            Direction::Object => (known, answer),
            Direction::Subject => (answer, known),
        };
        self.factor * space.energy(&Ends { head, relation, tail }, scratch)
    }
}

/// A triple as universes keep it; the order of triples is that of their words.
pub(super) fn words(triple: &Triple) -> [u32; 3] {
    [triple.subject.0, triple.relation.0, triple.object.0]
}
