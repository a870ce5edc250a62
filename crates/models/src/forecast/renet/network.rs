//! The two networks: a global one, which reads whole snapshots, and a local one, which reads the neighbourhoods of an entity.

use std::sync::Arc;

use burn::tensor::Tensor;
use quadcast_core::{Direction, EntityId, Step};
use rustc_hash::FxHashMap;

use super::Config;
use super::past::Past;
use super::plan::{Neighbourhoods, Numbered, Place, Sequences};
use crate::blocks::device::Device;
use crate::blocks::{
    AdamConfig, BlockGcn, Csr, Embedding, GruCell, Initial, Parameter, Parameters, Training, dropout, floats,
    linear, linear_without_bias, segment_max, select_rows, sum_rows,
};
use crate::forecast::state::{Learned, Shape, pad_rows};

/// Two graph layers over a table of entities.
struct Layers {
    entities: Embedding,
    first: BlockGcn,
    second: BlockGcn,
}

impl Layers {
    fn new(name: &str, shape: Shape, config: &Config, store: &mut Parameters) -> Self {
        let (n, d, directed) = (shape.entities, config.dimension, 2 * shape.relations);
        let initial = Initial::xavier_uniform_relu(d, n);
        let entities = Embedding::new(&format!("{name}.entity"), [n, d], initial, store);
        let mut layer =
            |which: &str| BlockGcn::new(&format!("{name}.{which}"), d, directed, config.dropout, store);
        Self { entities, first: layer("first"), second: layer("second") }
    }

    /// The vectors of places, in their order, perhaps followed by repetitions.
    fn forward(&self, parameters: &Parameters, near: &Neighbourhoods, mut training: Training) -> Tensor<2> {
        let table = self.entities.table(parameters);
        let own = select_rows(table.clone(), Arc::clone(&near.entities));
        let x = self.first.forward(parameters, (table, own), &near.first, true, training.as_deref_mut());
        let own = select_rows(x.clone(), Arc::clone(&near.own));
        self.second.forward(parameters, (x, own), &near.second, false, training)
    }
}

/// A vector per step: what the last snapshots up to this one look like.
#[derive(Default)]
pub(super) struct GlobalVectors(pub FxHashMap<Step, Arc<[f32]>>);

impl GlobalVectors {
    /// The vectors of some steps, `[steps, d]`; 0 for steps without one.
    fn rows<const D: usize>(&self, steps: &[Step], d: usize, beside: &Tensor<D>) -> Tensor<2> {
        let zeros: Arc<[f32]> = vec![0.0; d].into();
        let values = steps.iter().flat_map(|step| self.0.get(step).unwrap_or(&zeros).iter().copied());
        floats(values.collect(), [steps.len(), d], beside)
    }
}

/// A question without its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Asked {
    pub step: Step,
    pub known: EntityId,
    /// The original relation.
    pub relation: u32,
}

/// What is compared with the rows of a head: the questions, and for each the entity and step that it is about.
pub(super) struct Encoded {
    /// `[asked, 3d + 1]`
    pub entity: Tensor<2>,
    /// `[pairs, 2d + 1]`
    pub relation: Tensor<2>,
    /// The pairs of known entity and step.
    pub pairs: Vec<Place>,
}

/// All parameters and their optimiser.
pub(super) struct Network {
    pub shape: Shape,
    pub learned: Learned,
    d: usize,
    dropout: f64,
    /// Snapshots that are read.
    pub history: usize,
    global: Layers,
    global_cell: GruCell,
    /// Of subjects and of objects; the last column is the bias.
    pub global_heads: [Parameter; 2],
    local: Layers,
    relations: Embedding,
    entity_cell: GruCell,
    relation_cell: GruCell,
    /// The last column is the bias.
    pub entity_head: Parameter,
    pub relation_head: Parameter,
}

impl Network {
    /// A network with its initial numbers.
    pub fn new(shape: Shape, config: &Config, seed: u64) -> Self {
        Self::with(Parameters::new(seed, &Device::chosen()), shape, config)
    }

    /// A network without numbers.
    pub fn outline(shape: Shape, config: &Config) -> Self {
        Self::with(Parameters::outline(&Device::chosen()), shape, config)
    }

    fn with(mut parameters: Parameters, shape: Shape, config: &Config) -> Self {
        let store = &mut parameters;
        let (n, r, d) = (shape.entities, shape.relations, config.dimension);
        let global = Layers::new("global", shape, config, store);
        let global_cell = GruCell::new("global.cell", d, d, store);
        let mut head = |name: &str, rows: usize, inputs: usize| {
            store.add(format!("{name}.head"), &[rows, inputs + 1], Initial::by_inputs(inputs))
        };
        let global_heads = [head("global.subject", n, d), head("global.object", n, d)];
        let (entity_head, relation_head) = (head("entity", n, 3 * d), head("relation", r, 2 * d));
        let local = Layers::new("local", shape, config, store);
        let initial = Initial::xavier_uniform_relu(d, 2 * r);
        let relations = Embedding::new("local.relation", [2 * r, d], initial, store);
        let entity_cell = GruCell::new("local.entity_cell", 4 * d, d, store);
        let relation_cell = GruCell::new("local.relation_cell", 3 * d, d, store);
        let adam = AdamConfig {
            learning_rate: config.learning_rate,
            weight_decay: config.weight_decay,
            amsgrad: false,
            clip: Some(config.clip),
        };
        Self {
            shape,
            learned: Learned { parameters, adam: adam.init() },
            d,
            dropout: config.dropout,
            history: config.history,
            global,
            global_cell,
            global_heads,
            local,
            relations,
            entity_cell,
            relation_cell,
            entity_head,
            relation_head,
        }
    }

    /// The largest numbers among the entities of each snapshot, `[steps, d]`; each must have facts.
    pub fn pooled(
        &self,
        parameters: &Parameters,
        past: &Past<'_>,
        steps: &[Step],
        training: Training,
    ) -> Tensor<2> {
        let (mut places, mut pairs) = (Vec::new(), Vec::new());
        for (segment, &step) in steps.iter().enumerate() {
            for entity in past.active(step) {
                pairs.push((segment as u32, places.len() as u32));
                places.push((step, EntityId(entity)));
            }
        }
        let Shape { entities, relations } = self.shape;
        let near = Neighbourhoods::new(past, &places, Direction::Object, entities, relations);
        let rows = self.global.forward(parameters, &near, training);
        segment_max(rows, Arc::new(Csr::from_pairs(steps.len(), pairs.into_iter())))
    }

    /// The global vectors `[lists, d]` for lists of rows of `pooled`, oldest first.
    pub fn global_vectors(
        &self,
        parameters: &Parameters,
        pooled: Tensor<2>,
        lists: &[Vec<u32>],
    ) -> Tensor<2> {
        let lists: Vec<Vec<Step>> =
            lists.iter().map(|list| list.iter().map(|&row| Step(row)).collect()).collect();
        let sequences = Sequences::new(&lists);
        let used: Vec<u32> = pad_rows(&(0..pooled.dims()[0] as u32).collect::<Vec<u32>>());
        let (weight, bias) = self.global_cell.input_map(parameters);
        let mapped = linear(select_rows(pooled, used), weight, bias);
        let rows: Arc<[u32]> = sequences.places.iter().map(|&(_, row)| row.0).collect();
        let x = select_rows(mapped, rows);
        let states =
            self.global_cell.last_states(parameters, x, sequences.count, Arc::clone(&sequences.members));
        select_rows(states, sequences.of_input)
    }

    /// Encodes distinct questions of one direction.
    pub fn encode(
        &self,
        parameters: &Parameters,
        past: &Past<'_>,
        vectors: &GlobalVectors,
        (direction, asked): (Direction, &[Asked]),
        mut training: Training,
    ) -> Encoded {
        let Shape { entities, relations } = self.shape;
        let mut pairs = Numbered::default();
        let pair_of: Vec<u32> = asked.iter().map(|asked| pairs.number((asked.step, asked.known))).collect();
        let histories: Vec<Vec<Step>> = pairs
            .list
            .iter()
            .map(|&(step, known)| past.last_steps(known, direction, step, self.history))
            .collect();
        let of_asked: Vec<Vec<Step>> = pair_of.iter().map(|&pair| histories[pair as usize].clone()).collect();
        let (by_pair, by_asked) = (Sequences::new(&histories), Sequences::new(&of_asked));

        // What the members of the sequences are made of, each once.
        let (mut near, mut steps) = (Numbered::default(), Numbered::default());
        let (mut known, mut used) = (Numbered::default(), Numbered::default());
        let mut member = |pair: u32, step: Step| {
            let entity = pairs.list[pair as usize].1;
            (near.number((step, entity)), steps.number(step))
        };
        let pair_members: Vec<(u32, u32)> =
            by_pair.places.iter().map(|&(pair, step)| member(pair, step)).collect();
        let asked_members: Vec<(u32, u32)> =
            by_asked.places.iter().map(|&(i, step)| member(pair_of[i as usize], step)).collect();
        let known_of_pair: Vec<u32> = pairs.list.iter().map(|&(_, entity)| known.number(entity.0)).collect();
        let shift = if direction == Direction::Subject { relations as u32 } else { 0 };
        let relation_of: Vec<u32> = asked.iter().map(|asked| used.number(asked.relation + shift)).collect();

        let mut drop = |x: Tensor<2>| dropout(x, self.dropout, training.as_deref_mut());
        let entity_rows = self.local.entities.rows(parameters, pad_rows(&known.list));
        let relation_rows = self.relations.rows(parameters, pad_rows(&used.list));
        let global = drop(vectors.rows(&pad_rows(&steps.list), self.d, &entity_rows));
        let (entity_input, relation_input) = (drop(entity_rows.clone()), drop(relation_rows.clone()));
        let (of_entity, of_pair) = if near.list.is_empty() {
            let zeros = |rows| Tensor::zeros([rows, self.d], (&entity_rows.device(), entity_rows.dtype()));
            (zeros(asked.len()), zeros(pairs.list.len()))
        } else {
            let plan = Neighbourhoods::new(past, &near.list, direction, entities, relations);
            let near = self.local.forward(parameters, &plan, training.as_deref_mut());
            let near = dropout(near, self.dropout, training.as_deref_mut());
            let ids = |members: &[(u32, u32)]| -> [Arc<[u32]>; 2] {
                [members.iter().map(|m| m.0).collect(), members.iter().map(|m| m.1).collect()]
            };
            // W·[a; b; …] = W₁·a + W₂·b + …: each part is mapped once, however many members have it.
            let parts = |cell: &GruCell, count: usize| -> (Vec<Tensor<2>>, Tensor<1>) {
                let (weight, bias) = cell.input_map(parameters);
                ((0..count).map(|i| weight.clone().narrow(1, i * self.d, self.d)).collect(), bias)
            };
            let (maps, bias) = parts(&self.relation_cell, 3);
            let [of_near, of_step] = ids(&pair_members);
            let of_known: Arc<[u32]> = by_pair.places.iter().map(|p| known_of_pair[p.0 as usize]).collect();
            let x = sum_rows(
                [
                    linear(near.clone(), maps[0].clone(), bias),
                    linear_without_bias(entity_input.clone(), maps[1].clone()),
                    linear_without_bias(global.clone(), maps[2].clone()),
                ],
                [of_near, of_known, of_step],
            );
            let members = Arc::clone(&by_pair.members);
            let of_pair = self.relation_cell.last_states(parameters, x, by_pair.count, members);

            let (maps, bias) = parts(&self.entity_cell, 4);
            let [of_near, of_step] = ids(&asked_members);
            let places = &by_asked.places;
            let of_known: Arc<[u32]> =
                places.iter().map(|p| known_of_pair[pair_of[p.0 as usize] as usize]).collect();
            let of_relation: Arc<[u32]> = places.iter().map(|p| relation_of[p.0 as usize]).collect();
            let x = sum_rows(
                [
                    linear(near, maps[0].clone(), bias),
                    linear_without_bias(entity_input, maps[1].clone()),
                    linear_without_bias(relation_input, maps[2].clone()),
                    linear_without_bias(global, maps[3].clone()),
                ],
                [of_near, of_known, of_relation, of_step],
            );
            let members = Arc::clone(&by_asked.members);
            let of_entity = self.entity_cell.last_states(parameters, x, by_asked.count, members);
            (select_rows(of_entity, by_asked.of_input), select_rows(of_pair, by_pair.of_input))
        };

        let of_known: Vec<u32> = pair_of.iter().map(|&pair| known_of_pair[pair as usize]).collect();
        let entity = vec![
            select_rows(entity_rows.clone(), of_known),
            of_entity,
            select_rows(relation_rows, relation_of),
        ];
        let relation = vec![select_rows(entity_rows, known_of_pair), of_pair];
        let mut queries = |parts: Vec<Tensor<2>>| {
            let x = dropout(Tensor::cat(parts, 1), self.dropout, training.as_deref_mut());
            with_one(x)
        };
        Encoded { entity: queries(entity), relation: queries(relation), pairs: pairs.list }
    }
}

/// The same rows with a column of ones at the end, so that the last column of a head is its bias.
pub(super) fn with_one(x: Tensor<2>) -> Tensor<2> {
    let ones = Tensor::ones([x.dims()[0], 1], (&x.device(), x.dtype()));
    Tensor::cat(vec![x, ones], 1)
}
