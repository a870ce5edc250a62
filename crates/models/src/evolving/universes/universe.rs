//! One universe: a few triples around a relation, in a space of their own.

use quadcast_core::{Direction, EntityId, GraphSizes, GraphView, Query, RelationId, Run, Step, Triple};
use quadcast_kernels::triples::{
    Batch, Ends, Exact, Negatives, Question, Row, Source, Tables, for_each_answer,
};
use rand::Rng;

use super::settings::Config;
use super::surroundings::Surroundings;
use crate::evolving::initial;
use crate::evolving::space::Space;

/// A universe.
#[derive(Clone, Debug)]
pub(super) struct Universe {
    /// Its entities, ascending; rows are in this order.
    pub entities: Vec<EntityId>,
    /// Its relations, ascending; rows are in this order.
    pub relations: Vec<RelationId>,
    /// What it was trained on, ascending.
    pub triples: Vec<Triple>,
    /// The rows.
    pub tables: Tables<f32>,
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
        let layout = space.entity();
        let units = layout.0.iter().filter(|segment| segment.unit).count();
        Self { values: vec![0.0; layout.stride()], scales: vec![0.0; units] }
    }

    fn row(&self) -> Row<'_, f32> {
        Row { values: &self.values, scales: &self.scales }
    }
}

impl Universe {
    /// Draws the settings of a universe, gathers its triples and trains it. The same for every number of threads and
    /// whatever else is trained.
    pub fn grow<M: Space>(config: &Config, around: &Surroundings, run: &Run, number: u64) -> Self {
        let mut random = run.stream("universe", number);
        let plan = config.draw_plan(&mut random);
        let focus = around.draw_relation(&mut random);
        let mut triples = around.walk(focus, plan, &mut random);
        triples.sort_unstable();
        let (entities, relations) = elements(&triples);
        let own = config.draw_settings(&mut random);
        let space = M::new(&own);
        let local: Vec<[u32; 3]> = triples.iter().map(|t| localised(&entities, &relations, t)).collect();
        let tables = begin(&space, &own, (entities.len(), relations.len()), random.random());
        let mut universe = Self { entities, relations, triples, tables };
        universe.train(&space, &own, &local, &mut random);
        universe
    }

    fn train<M: Space>(
        &mut self,
        space: &M,
        settings: &crate::evolving::Config,
        triples: &[[u32; 3]],
        random: &mut impl Rng,
    ) {
        let sizes = (self.entities.len(), self.relations.len());
        let pool = (0..sizes.0 as u32).collect();
        let negatives = Negatives::new(settings.drawing(), triples, triples, pool, sizes);
        let batches = settings.batches.min(triples.len()).max(1);
        let batch = triples.len() / batches;
        let mut exact = Exact::new(settings.settings(), &self.tables, batch);
        let source = Source { triples, against: &[], negatives: &negatives };
        let mut picks = vec![0_u32; batch];
        for _ in 0..settings.epochs as usize * batches {
            picks.iter_mut().for_each(|pick| *pick = random.random_range(0..triples.len() as u32));
            exact.step(space, &mut self.tables, &source, &Batch { picks: &picks, key: random.random() });
        }
    }

    fn entity(&self, id: EntityId) -> Option<u32> {
        self.entities.binary_search(&id).ok().map(|place| place as u32)
    }

    fn relation(&self, id: RelationId) -> Option<u32> {
        self.relations.binary_search(&id).ok().map(|place| place as u32)
    }

    /// Whether all three parts of a triple are known here.
    pub fn knows(&self, triple: &Triple) -> bool {
        self.relation(triple.relation).is_some()
            && self.entity(triple.subject).is_some()
            && self.entity(triple.object).is_some()
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
        for_each_answer(
            space,
            &self.tables,
            question,
            scratch,
            #[inline(always)]
            |entity, energy| {
                let own = &mut lowest[self.entities[entity as usize].index()];
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
        space.energy(&Ends { head, relation, tail }, scratch)
    }
}

/// Entities and relations of triples, ascending.
fn elements(triples: &[Triple]) -> (Vec<EntityId>, Vec<RelationId>) {
    let mut entities: Vec<EntityId> = triples.iter().flat_map(|t| [t.subject, t.object]).collect();
    let mut relations: Vec<RelationId> = triples.iter().map(|t| t.relation).collect();
    entities.sort_unstable();
    entities.dedup();
    relations.sort_unstable();
    relations.dedup();
    (entities, relations)
}

fn localised(entities: &[EntityId], relations: &[RelationId], triple: &Triple) -> [u32; 3] {
    let entity = |id: &EntityId| entities.partition_point(|own| own < id) as u32;
    let relation = relations.partition_point(|own| own < &triple.relation) as u32;
    [entity(&triple.subject), relation, entity(&triple.object)]
}

/// Rows that know nothing yet.
fn begin<M: Space>(
    space: &M,
    settings: &crate::evolving::Config,
    (entities, relations): (usize, usize),
    seed: u64,
) -> Tables<f32> {
    let present: Vec<EntityId> = (0..entities as u32).map(EntityId).collect();
    let ids: Vec<RelationId> = (0..relations as u32).map(RelationId).collect();
    let sizes = GraphSizes { entities, relations };
    let graph = GraphView { step: Step(0), triples: &[], present: &present, relations: &ids, sizes };
    initial::tables(space, settings, &graph, &Run::silent(seed))
}
