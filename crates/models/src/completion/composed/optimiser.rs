//! One step of the optimiser on all tables, and its state.

use quadcast_core::ModelError;
use quadcast_kernels::adagrad::{Adagrad, descend};
use quadcast_kernels::adam::{Adam, State};

use super::settings::{Config, OptimiserName};
use super::tables::{Gradients, Tables};

/// An optimiser and what it remembers of each table.
#[derive(Clone, Debug)]
pub(crate) struct Optimiser {
    name: OptimiserName,
    rate: f64,
    steps: u64,
    /// Adagrad: squares. Adam: means, then squares. Per table.
    memory: Vec<[Vec<f32>; 2]>,
}

impl Optimiser {
    pub fn new(config: &Config, tables: &Tables<f32>) -> Self {
        let remembered = |index: usize| match config.optimiser {
            OptimiserName::Adagrad => index == 1,
            OptimiserName::Adam => true,
            OptimiserName::Sgd => false,
        };
        let of = |values: &Vec<f32>, index| vec![0.0; if remembered(index) { values.len() } else { 0 }];
        let memory = tables.iter().map(|(_, values)| [of(values, 0), of(values, 1)]).collect();
        Self { name: config.optimiser, rate: config.learning_rate, steps: 0, memory }
    }

    pub fn step(&mut self, tables: &mut Tables<f32>, gradients: &Gradients<f32>) {
        self.steps += 1;
        let all = tables.iter_mut().zip(gradients.iter()).zip(&mut self.memory);
        for (((_, values), gradient), [mean, square]) in all {
            match self.name {
                OptimiserName::Adagrad => {
                    Adagrad { rate: self.rate, ..Adagrad::default() }.update(values, gradient, square);
                }
                OptimiserName::Adam => {
                    let state = State { mean, square, largest: None };
                    Adam { rate: self.rate, ..Adam::default() }
                        .update(self.steps, values, gradient, 1.0, state);
                }
                OptimiserName::Sgd => descend(self.rate, values, gradient),
            }
        }
        tables.constrain();
    }

    /// The tables and the optimiser, exactly.
    pub fn state(&self, tables: &Tables<f32>) -> Vec<u8> {
        let memory = self.memory.iter().flatten();
        let mut bytes = Vec::with_capacity(8 + 4 * 3 * tables.count());
        bytes.extend(self.steps.to_le_bytes());
        for values in tables.iter().map(|(_, values)| values).chain(memory) {
            bytes.extend(values.iter().flat_map(|x| x.to_le_bytes()));
        }
        bytes
    }

    /// Takes what `state` gave.
    pub fn restore(&mut self, tables: &mut Tables<f32>, state: &[u8]) -> Result<(), ModelError> {
        let cut = || ModelError::Saved("a checkpoint does not fit the model".to_owned());
        let (steps, mut rest) = state.split_first_chunk::<8>().ok_or_else(cut)?;
        let memory = self.memory.iter_mut().flatten();
        for values in tables.iter_mut().map(|(_, values)| values).chain(memory) {
            let (own, others) = rest.split_at_checked(4 * values.len()).ok_or_else(cut)?;
            for (value, bytes) in values.iter_mut().zip(own.chunks_exact(4)) {
                *value = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
            rest = others;
        }
        if !rest.is_empty() {
            return Err(cut());
        }
        self.steps = u64::from_le_bytes(*steps);
        Ok(())
    }
}
