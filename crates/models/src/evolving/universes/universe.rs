//! One universe: an embedding space for the triples around one relation, and its training.

use quadcast_core::{GraphSizes, GraphView, ModelError, Run, Triple};
use quadcast_kernels::triples::{Batch, Exact, Negatives, Source, Tables};
use rand::Rng;

use super::settings::Config;
use super::view::UniverseView;
use super::walk::WalkGraph;
use crate::capacity::{NUMBER, check_settings};
use crate::evolving::examples::ids;
use crate::evolving::new_rows;
use crate::evolving::space::Space;

/// Numbers besides the rows of a universe in training, per number of a row: gradients and their squares.
const TRAINED: usize = 2;

/// A universe in training.
#[derive(Clone, Debug)]
pub(super) struct Universe {
    /// Its entities, ascending; rows are in this order.
    pub entities: Vec<u32>,
    /// Its relations, ascending; rows are in this order.
    pub relations: Vec<u32>,
    /// Its training triples, ascending.
    pub triples: Vec<[u32; 3]>,
    /// The rows.
    pub tables: Tables<f32>,
}

impl Universe {
    /// Draws the settings of a universe, gathers its triples and trains it. The result depends on the number of the universe
    /// only, not on threads or on other universes.
    pub fn grow<M: Space>(config: &Config, graph: &WalkGraph, run: &Run, number: u64) -> Self {
        let mut random = run.stream("universe", number);
        let plan = config.draw_plan(&mut random);
        let focus = graph.draw_relation(&mut random);
        let walked: Vec<Triple> = graph.walk(focus, plan, &mut random);
        let mut triples: Vec<[u32; 3]> = walked.iter().map(ids).collect();
        triples.sort_unstable();
        let (entities, relations) = elements(&triples);
        let own = config.draw_settings(&mut random);
        let space = M::new(&own);
        let place = |ids: &[u32], id: u32| ids.partition_point(|&own| own < id) as u32;
        let local = |&[head, relation, tail]: &[u32; 3]| {
            [place(&entities, head), place(&relations, relation), place(&entities, tail)]
        };
        let local: Vec<[u32; 3]> = triples.iter().map(local).collect();
        let sizes = GraphSizes { entities: entities.len(), relations: relations.len() };
        let tables = new_rows::tables(&space, &own, (sizes, sizes), &Run::silent(random.random()));
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
        for turn in 0..u64::from(settings.epochs) * batches as u64 {
            picks.iter_mut().for_each(|pick| *pick = random.random_range(0..triples.len() as u32));
            let batch = Batch { picks: &picks, key: random.random(), turn };
            exact.step(space, &mut self.tables, &source, &batch);
        }
    }

    pub fn view(&self) -> UniverseView<'_> {
        UniverseView {
            entities: &self.entities,
            relations: &self.relations,
            triples: &self.triples,
            tables: self.tables.view(),
            factor: 1.0,
        }
    }
}

/// Entities and relations of triples, ascending.
fn elements(triples: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut entities: Vec<u32> = triples.iter().flat_map(|&[head, _, tail]| [head, tail]).collect();
    let mut relations: Vec<u32> = triples.iter().map(|&[_, relation, _]| relation).collect();
    for ids in [&mut entities, &mut relations] {
        ids.sort_unstable();
        ids.dedup();
    }
    (entities, relations)
}

/// Refuses universes whose rows cannot fit into memory. All universes of a block are in memory before they are written to a
/// file, and each thread trains one, with gradients and the squares of Adagrad. Their size is an estimate: budgets are drawn, and
/// each triple of a walk adds at most one entity.
pub(super) fn check_memory<M: Space>(config: &Config, graph: &GraphView<'_>) -> Result<(), ModelError> {
    let entities = |config: &Config| {
        let budget = usize::midpoint(config.least_triples, config.most_triples);
        budget.min(graph.triples.len()).min(graph.sizes.entities)
    };
    let block = |config: &Config| config.validate_every.min(config.universes);
    let what = format!("{} universes of about {} entities", block(config), entities(config));
    check_settings(config, &what, |config| {
        let sizes = GraphSizes { entities: entities(config), relations: 1 };
        let universe = new_rows::numbers(&M::new(&config.space_config()), sizes) as f64;
        let training = TRAINED * rayon::current_num_threads().min(block(config));
        NUMBER * universe * (block(config) + training) as f64
    })
}
