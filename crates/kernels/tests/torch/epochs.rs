//! The epoch `w3` of the side-by-side baseline `torch_steps.py`: `TransE` with one false triple per true one, same sizes,
//! same hashed initial values, same triples in the same batches.

#![allow(dead_code)] // Tests and benches use a part of it each.

use quadcast_kernels::triples::{
    Batch, Exact, LockFree, Loss, LossKind, Negatives, NegativesConfig, Norm, Optimiser, Settings, Source,
    Tables, Translation,
};
use quadcast_testing::hashed::{self, uniform};

fn integers(seed: u64, below: usize) -> Vec<u32> {
    hashed::integers(seed, TRIPLES, below)
}

/// The reach of the initial values.
const REACH: f32 = 0.1;
pub const ENTITIES: usize = 15_000;
pub const TRIPLES: usize = 483_000;
pub const WIDTH: usize = 100;
const RELATIONS: usize = 1345;
const BATCH: usize = 4800;
const ENERGY: Translation = Translation { dimension: WIDTH, norm: Norm::L1, unit: false };

/// The triples, true and false.
pub struct Epochs {
    triples: Vec<[u32; 3]>,
    false_ones: Vec<[u32; 3]>,
    picks: Vec<u32>,
    negatives: Negatives,
}

impl Epochs {
    pub fn new() -> Self {
        let [s, o, c] = [11, 13, 14].map(|seed| integers(seed, ENTITIES));
        let (r, keeps_tail) = (integers(12, RELATIONS), integers(15, 2));
        let triples: Vec<[u32; 3]> = (0..TRIPLES).map(|i| [s[i], r[i], o[i]]).collect();
        let corrupt = |i: usize| if keeps_tail[i] == 1 { [c[i], r[i], o[i]] } else { [s[i], r[i], c[i]] };
        let (pool, one) = ((0..ENTITIES as u32).collect(), &triples[..1]);
        Self {
            false_ones: (0..TRIPLES).map(corrupt).collect(),
            picks: (0..TRIPLES as u32).collect(),
            negatives: Negatives::new(NegativesConfig::default(), one, one, pool, (ENTITIES, RELATIONS)),
            triples,
        }
    }

    fn tables() -> Tables<f32> {
        let mut tables = Tables::new(&ENERGY, ENTITIES, RELATIONS);
        tables.entities.replace_segment(0, &uniform(1, ENTITIES * WIDTH, REACH));
        tables.relations.replace_segment(0, &uniform(2, RELATIONS * WIDTH, REACH));
        tables
    }

    /// The mean loss of an epoch; the last batch is shorter.
    fn epoch(&self, mut step: impl FnMut(&Source<'_>, &Batch<'_>) -> f64) -> f64 {
        let Self { triples, false_ones, negatives, .. } = self;
        let source = Source { triples, against: false_ones, negatives };
        let batches = self.picks.chunks(BATCH);
        let sum: f64 =
            batches.map(|picks| picks.len() as f64 * step(&source, &Batch { picks, key: 0, turn: 0 })).sum();
        sum / TRIPLES as f64
    }

    /// Epochs of a batch at a time.
    pub fn exact(&self) -> impl FnMut() -> f64 + '_ {
        let mut tables = Self::tables();
        let [mut whole, mut last] =
            [BATCH, TRIPLES % BATCH].map(|samples| Exact::new(settings(samples), &tables, samples));
        move || {
            self.epoch(|source, batch| {
                let exact = if batch.picks.len() == BATCH { &mut whole } else { &mut last };
                exact.step(&ENERGY, &mut tables, source, batch)
            })
        }
    }

    /// Epochs of a sample at a time, on all threads. The samples of the last batch have larger steps than in the script, by
    /// 4800 to 3000: one batch in a hundred.
    pub fn lock_free(&self) -> impl FnMut() -> f64 + '_ {
        let mut free = LockFree::new(settings(BATCH), &Self::tables());
        move || self.epoch(|source, batch| free.step(&ENERGY, source, batch))
    }
}

/// The script descends along the sum of a batch, kernels along its mean.
fn settings(samples: usize) -> Settings {
    Settings {
        loss: Loss { kind: LossKind::Margin, margin: 1.0, temperature: None },
        negatives: 1,
        relation_negatives: 0,
        optimiser: Optimiser::Sgd { rate: 0.01 * samples as f64 },
        penalty: 0.0,
        cubes: 0.0,
    }
}
