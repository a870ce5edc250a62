//! Adam with coupled L2, AMSGrad and clipping, on the numbers of a parameter store.

use burn::tensor::{Device, Tensor};
use quadcast_kernels::memory::give;
use quadcast_kernels::optimisers::{self as kernel, ADAM_EPSILON, BETAS};

use super::any::{AnyTensor, Place};
use super::parameters::{Gradients, Parameters};
use super::store::{Arrays, StoreError};

/// Settings of the optimiser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamConfig {
    /// Learning rate. Default: 0.001.
    pub learning_rate: f64,
    /// Coupled L2: this times the parameter is added to its gradient. Default: 0.
    pub weight_decay: f64,
    /// Divide by the largest mean of squares so far. Default: no.
    pub amsgrad: bool,
    /// Largest global norm of the gradients; longer ones are scaled down. Default: no limit.
    pub clip: Option<f64>,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self { learning_rate: 1e-3, weight_decay: 0.0, amsgrad: false, clip: None }
    }
}

impl AdamConfig {
    /// An optimiser that has not seen a gradient yet.
    pub fn init(self) -> Adam {
        Adam { config: self, states: Vec::new() }
    }
}

/// The optimiser: settings, and the moments of every parameter.
#[derive(Clone, Debug)]
pub struct Adam {
    config: AdamConfig,
    /// In the order of the parameters; none for those that have not had a gradient.
    states: Vec<Option<State>>,
}

#[derive(Clone, Debug)]
struct State {
    /// Steps of this parameter: without a gradient it does not take part in a step.
    steps: u64,
    moments: Moments,
}

/// The moments of a parameter, where it is.
#[derive(Clone, Debug)]
enum Moments {
    Memory(Means<Vec<f32>>),
    Device(Box<Means<Tensor<1>>>),
}

/// Mean of gradients, mean of squares and, for AMSGrad, the largest of these.
#[derive(Clone, Debug, Default)]
struct Means<V> {
    mean: V,
    square: V,
    largest: Option<V>,
}

impl<V> Means<V> {
    fn map<W>(self, f: impl Fn(V) -> W) -> Means<W> {
        Means { mean: f(self.mean), square: f(self.square), largest: self.largest.map(f) }
    }
}

impl Adam {
    /// One step. Returns the global norm of the gradients before clipping, if they are clipped.
    /// Panics if the gradients belong to another store.
    pub fn step(&mut self, parameters: &mut Parameters, gradients: Gradients) -> Option<f64> {
        let Gradients(gradients) = gradients;
        assert_eq!(gradients.len(), parameters.names().count(), "a gradient per parameter");
        let norm = self.config.clip.map(|_| squared_norm(&gradients).sqrt());
        let scale = match (self.config.clip, norm) {
            (Some(limit), Some(norm)) => kernel::clip_scale(norm * norm, limit),
            _ => 1.0,
        };
        self.states.resize(gradients.len(), None);
        for (i, gradient) in gradients.into_iter().enumerate() {
            let Some(gradient) = gradient else { continue };
            let len = gradient.shape().iter().product();
            let state = self.states[i].get_or_insert_with(|| State::new(len, self.config.amsgrad));
            state.steps += 1;
            parameters.update(i, |value| state.update(&self.config, value, gradient, scale));
        }
        norm
    }

    /// Moments and step counts as the bytes of a safetensors file.
    pub fn to_bytes(&self, parameters: &Parameters) -> Result<Vec<u8>, StoreError> {
        let mut arrays = Arrays::default();
        for ((parameter, name), state) in parameters.names().zip(&self.states) {
            let Some(state) = state else { continue };
            let shape = parameters.shape(parameter);
            let Means { mean, square, largest } = match state.moments.clone() {
                Moments::Memory(means) => means,
                Moments::Device(means) => means.map(|x| AnyTensor::from(x).into_values()),
            };
            arrays.insert(format!("{name}.mean"), shape.to_vec(), mean);
            arrays.insert(format!("{name}.square"), shape.to_vec(), square);
            if let Some(largest) = largest {
                arrays.insert(format!("{name}.largest"), shape.to_vec(), largest);
            }
            arrays.notes.insert(format!("{name}.steps"), state.steps.to_string());
        }
        arrays.to_bytes()
    }

    /// Takes the state from [`to_bytes`](Self::to_bytes) for the same parameters. On an error nothing is
    /// changed.
    pub fn load_bytes(&mut self, parameters: &Parameters, bytes: &[u8]) -> Result<(), StoreError> {
        let mut arrays = Arrays::from_bytes(bytes)?;
        let mut states = Vec::new();
        for (parameter, name) in parameters.names() {
            let Some(steps) = arrays.notes.get(&format!("{name}.steps")) else {
                states.push(None);
                continue;
            };
            let steps =
                steps.parse().map_err(|_| StoreError::Format(format!("{steps} steps of `{name}`")))?;
            let shape = parameters.shape(parameter);
            let mean = arrays.take(&format!("{name}.mean"), shape)?;
            let square = arrays.take(&format!("{name}.square"), shape)?;
            let largest = self.config.amsgrad.then(|| arrays.take(&format!("{name}.largest"), shape));
            let means = Means { mean, square, largest: largest.transpose()? };
            states.push(Some(State { steps, moments: Moments::Memory(means) }));
        }
        arrays.finish()?;
        self.states = states;
        Ok(())
    }
}

impl State {
    fn new(len: usize, amsgrad: bool) -> Self {
        let zeros = || vec![0.0; len];
        let means = Means { mean: zeros(), square: zeros(), largest: amsgrad.then(zeros) };
        Self { steps: 0, moments: Moments::Memory(means) }
    }

    fn update(
        &mut self,
        config: &AdamConfig,
        value: AnyTensor,
        gradient: AnyTensor,
        scale: f64,
    ) -> AnyTensor {
        match (value.place(), gradient.place(), &mut self.moments) {
            (Place::Plain(mut value), Place::Plain(gradient), Moments::Memory(means)) => {
                let Means { mean, square, largest } = means;
                if value.storage::<f32>().len() != mean.len() {
                    value = value.to_contiguous();
                }
                let state = kernel::State { mean, square, largest: largest.as_deref_mut() };
                let gradient = AnyTensor::plain(gradient).into_values();
                kernel::Adam { rate: config.learning_rate, decay: config.weight_decay }.update(
                    self.steps,
                    value.storage_mut(),
                    &gradient,
                    scale,
                    state,
                );
                give(gradient);
                AnyTensor::plain(value)
            }
            (value, gradient, _) => self.update_on_device(config, value.any(), gradient.any(), scale),
        }
    }

    /// The kernel's update in burn's operations.
    fn update_on_device(
        &mut self,
        config: &AdamConfig,
        value: AnyTensor,
        gradient: AnyTensor,
        scale: f64,
    ) -> AnyTensor {
        let shape = value.shape();
        let value = value.flat();
        let Means { mean, square, largest } = self.moments.take_on(&value.device());
        let exponent = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let gradient = gradient.flat() * scale + value.clone() * config.weight_decay;
        let mean = mean * BETAS[0] + gradient.clone() * (1.0 - BETAS[0]);
        let square = square * BETAS[1] + gradient.clone() * gradient * (1.0 - BETAS[1]);
        let largest = largest.map(|largest| largest.max_pair(square.clone()));
        let root = 1.0 / (1.0 - BETAS[1].powi(exponent)).sqrt();
        let divisor = largest.clone().unwrap_or_else(|| square.clone()).sqrt() * root + ADAM_EPSILON;
        let rate = config.learning_rate / (1.0 - BETAS[0].powi(exponent));
        let value = value - mean.clone() * rate / divisor;
        self.moments = Moments::Device(Box::new(Means { mean, square, largest }));
        AnyTensor::from(value).reshaped(&shape)
    }
}

impl Moments {
    /// Takes the moments as tensors on a device; the caller must set new ones.
    fn take_on(&mut self, device: &Device) -> Means<Tensor<1>> {
        match std::mem::replace(self, Self::Memory(Means::default())) {
            Self::Device(means) => *means,
            Self::Memory(means) => means.map(|values| {
                let len = values.len();
                AnyTensor::new(values, &[len], device).tensor()
            }),
        }
    }
}

/// Σ x² over all gradients, added in a fixed order.
fn squared_norm(gradients: &[Option<AnyTensor>]) -> f64 {
    let one = |gradient: &AnyTensor| match gradient.clone().place() {
        Place::Plain(_) => kernel::squared_norm(&gradient.values()),
        other => f64::from(other.any().flat().powi_scalar(2).sum().into_scalar::<f32>()),
    };
    gradients.iter().flatten().map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::{Initial, Parameter};

    fn store() -> (Parameters, [Parameter; 2]) {
        let mut parameters = Parameters::new(3, &Device::flex());
        let weight = parameters.add("weight", &[7, 5], Initial::Normal(1.0));
        let bias = parameters.add("bias", &[5], Initial::Normal(1.0));
        (parameters, [weight, bias])
    }

    fn step(parameters: &mut Parameters, ids: [Parameter; 2], adam: &mut Adam) -> Option<f64> {
        let weight = parameters.get::<2>(ids[0]);
        let loss = (weight.powi_scalar(2) * parameters.get::<1>(ids[1]).unsqueeze()).sum();
        let gradients = parameters.backward(&loss);
        adam.step(parameters, gradients)
    }

    const FULL: AdamConfig =
        AdamConfig { learning_rate: 0.01, weight_decay: 0.1, amsgrad: true, clip: Some(1.0) };

    #[test]
    fn the_first_step_moves_by_the_learning_rate() {
        let (mut parameters, ids) = store();
        let old = parameters.values(ids[1]).to_vec();
        step(&mut parameters, ids, &mut AdamConfig::default().init());
        for (old, new) in old.iter().zip(parameters.values(ids[1]).iter()) {
            assert!(((old - new).abs() - 1e-3).abs() < 1e-6, "{old} {new}");
        }
    }

    #[test]
    fn an_update_reuses_the_memory_of_the_parameter() {
        let (mut parameters, ids) = store();
        let place = |parameters: &Parameters| match parameters.any(ids[0]).without_tape().place() {
            Place::Plain(tensor) => tensor.storage::<f32>().as_ptr(),
            _ => panic!("not in memory"),
        };
        let before = place(&parameters);
        let mut adam = FULL.init();
        step(&mut parameters, ids, &mut adam);
        step(&mut parameters, ids, &mut adam);
        assert_eq!(before, place(&parameters));
    }

    #[test]
    fn the_update_for_other_devices_is_the_same() {
        let (parameters, ids) = store();
        for amsgrad in [false, true] {
            let adam = AdamConfig { amsgrad, ..FULL };
            let (mut a, mut b) = (State::new(35, amsgrad), State::new(35, amsgrad));
            let (mut x, mut y) =
                (parameters.any(ids[0]).without_tape(), parameters.any(ids[0]).without_tape());
            for i in 0_u8..5 {
                let gradient = AnyTensor::from(x.clone().tensor::<2>().cos() * f32::from(i));
                a.steps += 1;
                b.steps += 1;
                x = a.update(&adam, x, gradient.clone(), 0.5);
                y = b.update_on_device(&adam, y, gradient, 0.5);
            }
            for (x, y) in x.into_values().iter().zip(y.into_values()) {
                assert!((x - y).abs() < 1e-5, "{x} {y}");
            }
        }
    }

    #[test]
    fn going_on_from_stored_state_gives_the_same_bytes() {
        let (mut a, ids) = store();
        let mut adam = FULL.init();
        let norms: Vec<_> = (0..3).map(|_| step(&mut a, ids, &mut adam)).collect();
        assert!(norms.iter().all(|norm| norm.unwrap() > 1.0));
        let (bytes, state) = (a.to_bytes().unwrap(), adam.to_bytes(&a).unwrap());
        let (mut b, _) = store();
        let mut other = FULL.init();
        b.load_bytes(&bytes).unwrap();
        other.load_bytes(&b, &state).unwrap();
        step(&mut a, ids, &mut adam);
        step(&mut b, ids, &mut other);
        assert_eq!(a.to_bytes().unwrap(), b.to_bytes().unwrap());
        assert_eq!(adam.to_bytes(&a).unwrap(), other.to_bytes(&b).unwrap());
        let mut plain = AdamConfig::default().init();
        assert!(plain.load_bytes(&b, &state).unwrap_err().to_string().contains("has no place"));
    }
}
