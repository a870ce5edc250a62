//! All learned numbers of a model, by name and in a fixed order.

use std::sync::{Arc, Mutex, PoisonError};

use burn::tensor::{Device, Tensor};
use quadcast_core::stream;

use super::any::{AnyTensor, Values};
use super::initial::Initial;
use super::store::{Arrays, StoreError};

/// Handle of one parameter in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter(usize);

/// Handle of one buffer in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer(usize);

/// Numbers that belong to a model but are not trained: running statistics.
pub type SharedBuffer = Arc<Mutex<Vec<f32>>>;

/// The store of a model's parameters.
///
/// Blocks hold handles and are given the store when they work, so the same block runs on the trained
/// parameters (with a tape) and on a [frozen](Self::frozen) copy of them (without).
#[derive(Debug)]
pub struct Parameters {
    seed: u64,
    device: Device,
    /// Whether parameters have names and shapes only, and no numbers.
    is_outline: bool,
    trained: Vec<Entry<AnyTensor>>,
    buffers: Vec<Entry<SharedBuffer>>,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    name: String,
    shape: Vec<usize>,
    value: T,
}

impl Parameters {
    /// An empty store. Initial values are drawn from streams named after the parameters.
    pub fn new(seed: u64, device: &Device) -> Self {
        let device = device.clone().inner();
        Self { seed, device, is_outline: false, trained: Vec::new(), buffers: Vec::new() }
    }

    /// An empty store of names and shapes without numbers: to count them before they are allocated, or to
    /// [load](Self::load_bytes) them.
    pub fn outline(device: &Device) -> Self {
        Self { is_outline: true, ..Self::new(0, device) }
    }

    /// The device of the parameters, for tensors without a tape.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Adds a parameter with initial values.
    /// Panics if there is one with this name.
    pub fn add(&mut self, name: impl Into<String>, shape: &[usize], initial: Initial) -> Parameter {
        let name = name.into();
        if self.is_outline {
            let (name, value) = (self.new_name(name), AnyTensor::new(Vec::new(), &[0], &self.device));
            self.trained.push(Entry { name, shape: shape.to_vec(), value });
            return Parameter(self.trained.len() - 1);
        }
        let len = shape.iter().product();
        let values = initial.draw(len, &mut stream(self.seed, &format!("parameter {name}"), 0));
        self.add_values(name, shape, values)
    }

    /// Adds a parameter with the given values.
    /// Panics if there is one with this name, or if the shape does not fit.
    pub fn add_values(&mut self, name: impl Into<String>, shape: &[usize], values: Vec<f32>) -> Parameter {
        let name = self.new_name(name.into());
        let value = AnyTensor::new(values, shape, &self.device).into_leaf();
        self.trained.push(Entry { name, shape: shape.to_vec(), value });
        Parameter(self.trained.len() - 1)
    }

    /// Adds numbers that are stored but not trained.
    /// Panics if the name is taken.
    pub fn add_buffer(&mut self, name: impl Into<String>, values: Vec<f32>) -> Buffer {
        let shape = vec![values.len()];
        self.push_buffer(name.into(), shape, values)
    }

    /// Adds `len` equal numbers that are stored but not trained.
    /// Panics if the name is taken.
    pub fn add_constant_buffer(&mut self, name: impl Into<String>, len: usize, value: f32) -> Buffer {
        let values = if self.is_outline { Vec::new() } else { vec![value; len] };
        self.push_buffer(name.into(), vec![len], values)
    }

    fn push_buffer(&mut self, name: String, shape: Vec<usize>, values: Vec<f32>) -> Buffer {
        let name = self.new_name(name);
        self.buffers.push(Entry { name, shape, value: Arc::new(Mutex::new(values)) });
        Buffer(self.buffers.len() - 1)
    }

    fn new_name(&self, name: String) -> String {
        let taken =
            self.trained.iter().any(|e| e.name == name) || self.buffers.iter().any(|e| e.name == name);
        assert!(!taken, "a second parameter named `{name}`");
        name
    }

    /// A parameter as a tensor: on the tape, unless the store is frozen.
    /// Panics if it does not have `D` dimensions.
    pub fn get<const D: usize>(&self, parameter: Parameter) -> Tensor<D> {
        self.any(parameter).tensor()
    }

    /// A parameter as an input of [`fused`](super::fused).
    pub fn any(&self, parameter: Parameter) -> AnyTensor {
        self.trained[parameter.0].value.clone()
    }

    /// A parameter as a constant, from which no gradient flows back.
    /// Panics if it does not have `D` dimensions.
    pub fn constant<const D: usize>(&self, parameter: Parameter) -> Tensor<D> {
        self.any(parameter).without_tape().tensor()
    }

    /// The numbers of a parameter, row after row, without a copy if they are in memory.
    ///
    /// Drop them before the next step of the optimiser, which else writes to new memory.
    pub fn values(&self, parameter: Parameter) -> Values {
        self.trained[parameter.0].value.values()
    }

    /// The parameter with this name.
    pub fn named(&self, name: &str) -> Option<Parameter> {
        self.trained.iter().position(|entry| entry.name == name).map(Parameter)
    }

    /// Replaces the numbers of a parameter, row after row.
    pub fn set(&mut self, parameter: Parameter, values: Vec<f32>) {
        let entry = &mut self.trained[parameter.0];
        entry.value = AnyTensor::new(values, &entry.shape, &self.device).into_leaf();
    }

    /// The same with numbers of 64 bits: the operations are composed then, and differences are exact.
    #[cfg(test)]
    pub(crate) fn widen(&mut self) {
        for entry in &mut self.trained {
            let values = entry.value.values().iter().copied().map(f64::from).collect();
            entry.value = AnyTensor::wide(values, &entry.shape, &self.device).into_leaf();
        }
    }

    /// Replaces the numbers of a parameter by such of 64 bits.
    #[cfg(test)]
    pub(crate) fn set_wide(&mut self, parameter: Parameter, values: Vec<f64>) {
        let entry = &mut self.trained[parameter.0];
        entry.value = AnyTensor::wide(values, &entry.shape, &self.device).into_leaf();
    }

    /// How many numbers are trained.
    pub fn count(&self) -> usize {
        self.trained.iter().map(|entry| entry.shape.iter().product::<usize>()).sum()
    }

    /// How many numbers are trained, also where there are too many for memory.
    pub fn estimate(&self) -> f64 {
        let numbers = |shape: &[usize]| shape.iter().map(|&size| size as f64).product::<f64>();
        self.trained.iter().map(|entry| numbers(&entry.shape)).sum()
    }

    /// Shape of a parameter.
    pub fn shape(&self, parameter: Parameter) -> &[usize] {
        &self.trained[parameter.0].shape
    }

    /// A buffer, shared with this store.
    pub fn buffer(&self, buffer: Buffer) -> SharedBuffer {
        Arc::clone(&self.buffers[buffer.0].value)
    }

    /// The trained parameters with their names, in the order they were added.
    pub fn names(&self) -> impl Iterator<Item = (Parameter, &str)> {
        self.trained.iter().enumerate().map(|(i, entry)| (Parameter(i), entry.name.as_str()))
    }

    /// A copy without a tape, with its own buffers: to score with, or to return to.
    ///
    /// The numbers are shared until the next step of the optimiser, which then writes to new memory; drop the
    /// copy before that step unless it is still needed.
    #[must_use]
    pub fn frozen(&self) -> Self {
        let trained = self.trained.iter().map(|entry| {
            let value = entry.value.clone().without_tape();
            Entry { name: entry.name.clone(), shape: entry.shape.clone(), value }
        });
        let buffers = self.buffers.iter().map(|entry| {
            let value = Arc::new(Mutex::new(copy(&entry.value)));
            Entry { name: entry.name.clone(), shape: entry.shape.clone(), value }
        });
        Self {
            seed: self.seed,
            device: self.device.clone(),
            is_outline: self.is_outline,
            trained: trained.collect(),
            buffers: buffers.collect(),
        }
    }

    /// Takes the values of another store of the same model, for instance a [frozen](Self::frozen) one.
    /// Panics if it belongs to another model.
    pub fn restore(&mut self, other: &Self) {
        let layout = |store: &Self| -> Vec<(String, Vec<usize>)> {
            store.trained.iter().map(|e| (e.name.clone(), e.shape.clone())).collect()
        };
        assert_eq!(layout(self), layout(other), "parameters of the same model");
        for (own, other) in self.trained.iter_mut().zip(&other.trained) {
            own.value = other.value.clone().into_leaf();
        }
        for (own, other) in self.buffers.iter_mut().zip(&other.buffers) {
            own.value = Arc::new(Mutex::new(copy(&other.value)));
        }
    }

    /// Gradients of a loss, one number. The tape that led to it is used up.
    /// Panics if the loss does not depend on any parameter of an unfrozen store.
    pub fn backward(&self, loss: &Tensor<1>) -> Gradients {
        self.collect(&mut loss.backward())
    }

    /// The same, and the gradient of a leaf of the tape.
    pub fn backward_to<const D: usize>(&self, loss: &Tensor<1>, leaf: &Tensor<D>) -> (Gradients, Tensor<D>) {
        let mut gradients = loss.backward();
        let of_leaf = leaf.grad_remove(&mut gradients);
        let zeros = || Tensor::zeros(leaf.dims(), (self.device(), leaf.dtype()));
        (self.collect(&mut gradients), of_leaf.unwrap_or_else(zeros))
    }

    fn collect(&self, gradients: &mut burn::tensor::Gradients) -> Gradients {
        let each = self.trained.iter().map(|entry| {
            let gradient = entry.value.clone().unranked().grad_remove(gradients)?;
            Some(AnyTensor::from(gradient))
        });
        Gradients(each.collect())
    }

    /// Takes the value out, changes it without a tape, and puts it back as a new leaf.
    pub(super) fn update(&mut self, index: usize, change: impl FnOnce(AnyTensor) -> AnyTensor) {
        let entry = &mut self.trained[index];
        let empty = AnyTensor::new(Vec::new(), &[0], &self.device);
        let value = std::mem::replace(&mut entry.value, empty).without_tape();
        entry.value = change(value).into_leaf();
    }

    /// Parameters and buffers as the bytes of a safetensors file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, StoreError> {
        let mut arrays = Arrays::default();
        for entry in &self.trained {
            arrays.insert(&entry.name, entry.shape.clone(), entry.value.clone().into_values());
        }
        for entry in &self.buffers {
            arrays.insert(&entry.name, entry.shape.clone(), copy(&entry.value));
        }
        arrays.to_bytes()
    }

    /// Takes the values from [`to_bytes`](Self::to_bytes) of a store with the same names and shapes. On an
    /// error nothing is changed.
    pub fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let mut arrays = Arrays::from_bytes(bytes)?;
        let trained = self.trained.iter().map(|entry| arrays.take(&entry.name, &entry.shape));
        let trained = trained.collect::<Result<Vec<_>, _>>()?;
        let buffers = self.buffers.iter().map(|entry| arrays.take(&entry.name, &entry.shape));
        let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
        arrays.finish()?;
        self.is_outline = false;
        for (entry, values) in self.trained.iter_mut().zip(trained) {
            entry.value = AnyTensor::new(values, &entry.shape, &self.device).into_leaf();
        }
        for (entry, values) in self.buffers.iter_mut().zip(buffers) {
            entry.value = Arc::new(Mutex::new(values));
        }
        Ok(())
    }
}

fn copy(buffer: &SharedBuffer) -> Vec<f32> {
    buffer.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The gradients of one loss, in the order of the parameters; none for parameters it does not depend on.
#[derive(Debug)]
pub struct Gradients(pub(super) Vec<Option<AnyTensor>>);

impl Gradients {
    /// Adds the gradients of another part of the loss.
    /// Panics if they belong to another store.
    pub fn add(&mut self, other: Self) {
        assert_eq!(self.0.len(), other.0.len(), "gradients of one store");
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = match (own.take(), other) {
                (Some(a), Some(b)) => Some((a.unranked() + b.unranked()).into()),
                (a, b) => a.or(b),
            };
        }
    }

    /// The gradient of a parameter, row after row.
    pub fn values(&self, parameter: Parameter) -> Option<Vec<f32>> {
        self.0[parameter.0].clone().map(AnyTensor::into_values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(seed: u64) -> (Parameters, Parameter, Buffer) {
        let mut parameters = Parameters::new(seed, &Device::flex());
        let weight = parameters.add("weight", &[3, 2], Initial::Normal(1.0));
        parameters.add("bias", &[2], Initial::Uniform(0.5));
        let buffer = parameters.add_buffer("mean", vec![0.5, 0.25]);
        (parameters, weight, buffer)
    }

    #[test]
    fn initial_values_depend_on_seed_and_name_only() {
        let (a, weight, _) = store(1);
        let mut b = Parameters::new(1, &Device::flex());
        b.add("bias", &[2], Initial::Uniform(0.5));
        let other = b.add("weight", &[3, 2], Initial::Normal(1.0));
        assert_eq!(*a.values(weight), *b.values(other));
        assert_ne!(*a.values(weight), *store(2).0.values(weight));
    }

    #[test]
    fn saved_and_loaded_is_identical() {
        let (a, weight, buffer) = store(1);
        let bytes = a.to_bytes().unwrap();
        let (mut b, ..) = store(2);
        b.buffer(buffer).lock().unwrap().fill(7.0);
        b.load_bytes(&bytes).unwrap();
        assert_eq!(*b.values(weight), *a.values(weight));
        assert_eq!(*b.buffer(buffer).lock().unwrap(), [0.5, 0.25]);
        assert_eq!(b.to_bytes().unwrap(), bytes);
        let mut c = Parameters::new(1, &Device::flex());
        c.add("weight", &[3, 2], Initial::ZERO);
        assert!(c.load_bytes(&bytes).unwrap_err().to_string().contains("has no place"));
        assert_eq!(*c.values(Parameter(0)), [0.0; 6], "unchanged after an error");
    }

    #[test]
    fn an_outline_is_counted_without_memory_and_can_be_loaded() {
        let mut large = Parameters::outline(&Device::flex());
        large.add("weight", &[1 << 40, 1 << 40], Initial::Normal(1.0));
        large.add_constant_buffer("mean", 1 << 60, 1.0);
        assert_eq!(large.estimate(), 2_f64.powi(80));
        let bytes = store(1).0.to_bytes().unwrap();
        let error = large.load_bytes(&bytes).unwrap_err().to_string();
        assert!(error.contains("`weight` has the shape [3, 2] instead of"), "{error}");
        let mut outline = Parameters::outline(&Device::flex());
        outline.add("weight", &[3, 2], Initial::Normal(1.0));
        outline.add("bias", &[2], Initial::Uniform(0.5));
        outline.add_constant_buffer("mean", 2, 0.0);
        outline.load_bytes(&bytes).unwrap();
        assert_eq!(outline.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn gradients_come_in_order_and_only_where_the_loss_depends() {
        let (a, weight, _) = store(1);
        let loss = a.get::<2>(weight).powi_scalar(2).sum();
        let gradients = a.backward(&loss);
        let expected: Vec<f32> = a.values(weight).iter().map(|x| 2.0 * x).collect();
        assert_eq!(gradients.values(weight), Some(expected));
        assert_eq!(gradients.values(Parameter(1)), None);
    }

    #[test]
    fn a_frozen_copy_keeps_the_values_of_its_time() {
        let (mut a, weight, buffer) = store(1);
        let old = a.values(weight).to_vec();
        let frozen = a.frozen();
        assert!(!frozen.get::<2>(weight).is_autodiff());
        a.update(0, |value| (value.unranked() * 2.0).into());
        a.buffer(buffer).lock().unwrap().fill(7.0);
        assert_eq!(*frozen.values(weight), old);
        assert_ne!(*a.values(weight), old);
        a.restore(&frozen);
        assert_eq!(*a.values(weight), old);
        assert_eq!(*a.buffer(buffer).lock().unwrap(), [0.5, 0.25]);
        assert!(a.get::<2>(weight).is_autodiff(), "still trained");
    }
}
