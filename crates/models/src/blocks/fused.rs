//! Operations with a gradient written by hand: one mechanism for all blocks.
//!
//! A [`Fused`] operation defines how to compute its output and its gradients from plain slices, with the kernels,
//! and how to compose it from burn's operations. [`fused`] takes the first way for `f32` tensors on the CPU and
//! the second one everywhere else. Other inputs (graphs, masks, targets) are part of the operation.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use quadcast_models::blocks::{AnyTensor, Fused, Input, Output, Returned, fused};
//!
//! struct Square;
//!
//! impl Fused<1> for Square {
//!     type ForwardState = ();
//!     fn forward(&self, [x]: [Input; 1], _tape: bool) -> (Output, ()) {
//!         (Output::new(x.values.iter().map(|x| x * x).collect(), x.shape), ())
//!     }
//!     fn backward(self, [x]: [Input; 1], (): (), result: Returned, [dx]: &mut [Vec<f32>; 1]) {
//!         for ((dx, x), g) in dx.iter_mut().zip(x.values).zip(result.gradient) {
//!             *dx += 2.0 * x * g;
//!         }
//!     }
//!     fn composed(&self, [x]: [AnyTensor; 1]) -> AnyTensor {
//!         let x: Tensor<1> = x.tensor();
//!         (x.clone() * x).into()
//!     }
//! }
//!
//! let x = Tensor::<1>::from_floats([1.0, 3.0], &Device::flex().autodiff()).require_grad();
//! let gradients = fused::<_, 1, 1>(Square, [x.clone().into()]).sum().backward();
//! assert_eq!(x.grad(&gradients).unwrap().into_data().to_vec::<f32>().unwrap(), [2.0, 6.0]);
//! ```

use std::fmt;

use burn::backend::Flex;
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::NoCheckpointing};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, NodeGuard, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::tensor::Tensor;
use quadcast_kernels::memory::{give, take, take_zeroed};

use super::any::{AnyTensor, Place, Tracked, in_memory};

/// One input: its numbers, row after row, and its shape.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The numbers.
    pub values: &'a [f32],
    /// Size of each dimension.
    pub shape: &'a [usize],
}

/// The result of a forward pass.
#[derive(Clone, Debug)]
pub struct Output {
    values: Vec<f32>,
    shape: Vec<usize>,
}

impl Output {
    /// Numbers, row after row, and their shape.
    pub fn new(values: Vec<f32>, shape: &[usize]) -> Self {
        assert_eq!(values.len(), shape.iter().product::<usize>(), "number of values for shape {shape:?}");
        Self { values, shape: shape.to_vec() }
    }
}

/// The result of a forward pass, and the gradient of the loss for it.
#[derive(Clone, Copy, Debug)]
pub struct Returned<'a> {
    /// The numbers of the output.
    pub values: &'a [f32],
    /// Their gradient.
    pub gradient: &'a [f32],
}

/// An operation on `N` tensors with its own gradient.
pub trait Fused<const N: usize>: Send + Sized + 'static {
    /// Values that the backward pass needs besides the inputs.
    type ForwardState: Send + 'static;

    /// Computes the output. With a `tape`, the backward pass may follow.
    fn forward(&self, inputs: [Input; N], tape: bool) -> (Output, Self::ForwardState);

    /// For each input: whether `backward` sets all of its gradient, which then need not be 0 before.
    const SETS: [bool; N] = [false; N];

    /// Sets or adds to `gradients`, one for each input and of its length, initially 0 unless the operation sets it.
    fn backward(
        self,
        inputs: [Input; N],
        kept: Self::ForwardState,
        returned: Returned,
        gradients: &mut [Vec<f32>; N],
    );

    /// The same from burn's operations: for other devices, and to check the two passes above.
    fn composed(&self, inputs: [AnyTensor; N]) -> AnyTensor;
}

/// Applies an operation.
/// Panics if the output does not have `D` dimensions.
pub fn fused<O: Fused<N>, const N: usize, const D: usize>(op: O, inputs: [AnyTensor; N]) -> Tensor<D> {
    apply(op, inputs).tensor()
}

pub(super) fn apply<O: Fused<N>, const N: usize>(op: O, inputs: [AnyTensor; N]) -> AnyTensor {
    let places = inputs.map(AnyTensor::place);
    if places.iter().any(|place| matches!(place, Place::Elsewhere(_))) {
        return op.composed(places.map(Place::any));
    }
    let tape = places.iter().any(|place| matches!(place, Place::Tracked(tensor) if tensor.is_tracked()));
    let parts: [(FlexTensor, NodeGuard); N] = places.map(|place| match place {
        Place::Plain(tensor) => Tracked::new(tensor).into_parts(),
        Place::Tracked(tensor) => tensor.into_parts(),
        Place::Elsewhere(_) => unreachable!("composed above"),
    });
    let mut inputs = Vec::with_capacity(N);
    let nodes = parts.map(|(tensor, node)| {
        inputs.push(tensor.to_contiguous());
        node
    });
    let (Output { values, shape }, kept) = with_inputs(&inputs, |slices| op.forward(slices, tape));
    let output = in_memory(values, &shape);
    if !tape {
        return AnyTensor::plain(output);
    }
    let step = Step { op, kept, inputs, output: output.clone() };
    AnyTensor::tracked(match step.prepare::<NoCheckpointing>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => prepared.finish((), output),
        OpsKind::UnTracked(prepared) => prepared.finish(output),
    })
}

/// A computed operation on the tape.
struct Step<O: Fused<N>, const N: usize> {
    op: O,
    kept: O::ForwardState,
    /// Shared with the tape, not copied.
    inputs: Vec<FlexTensor>,
    /// Likewise.
    output: FlexTensor,
}

impl<O: Fused<N>, const N: usize> fmt::Debug for Step<O, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::any::type_name::<O>())
    }
}

impl<O: Fused<N>, const N: usize> Backward<Flex, N> for Step<O, N> {
    type State = ();

    fn backward(self, ops: Ops<(), N>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let Self { op, kept, inputs, output } = self;
        let mut buffers: [Vec<f32>; N] = std::array::from_fn(|i| {
            let len = inputs[i].layout().num_elements();
            if O::SETS[i] { take(len).into_vec() } else { take_zeroed(len).into_vec() }
        });
        with_inputs(&inputs, |slices| {
            let returned = Returned { values: slice(&output), gradient: slice(&gradient) };
            op.backward(slices, kept, returned, &mut buffers);
        });
        for ((parent, buffer), input) in ops.parents.into_iter().zip(buffers).zip(&inputs) {
            if let Some(parent) = parent {
                gradients.register::<Flex>(parent.id, in_memory(buffer, input.layout().shape().as_slice()));
            } else {
                give(buffer);
            }
        }
        for tensor in inputs.into_iter().chain([output, gradient]) {
            give_back(tensor);
        }
    }
}

/// Returns the memory of an unshared tensor to the pool.
fn give_back(tensor: FlexTensor) {
    if tensor.is_unique()
        && let Ok(values) = tensor.into_data().try_into_vec()
    {
        give::<f32>(values);
    }
}

fn slice(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().expect("made contiguous, of f32")
}

fn with_inputs<const N: usize, R>(inputs: &[FlexTensor], f: impl FnOnce([Input; N]) -> R) -> R {
    f(std::array::from_fn(|i| Input {
        values: slice(&inputs[i]),
        shape: inputs[i].layout().shape().as_slice(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    /// a·b, element by element.
    struct Multiply;

    impl Fused<2> for Multiply {
        type ForwardState = ();

        fn forward(&self, [a, b]: [Input; 2], _tape: bool) -> (Output, ()) {
            (Output::new(a.values.iter().zip(b.values).map(|(a, b)| a * b).collect(), a.shape), ())
        }

        fn backward(self, [a, b]: [Input; 2], (): (), returned: Returned, [da, db]: &mut [Vec<f32>; 2]) {
            for (i, g) in returned.gradient.iter().enumerate() {
                da[i] += g * b.values[i];
                db[i] += g * a.values[i];
            }
        }

        fn composed(&self, [a, b]: [AnyTensor; 2]) -> AnyTensor {
            (a.tensor::<2>() * b.tensor::<2>()).into()
        }
    }

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        AnyTensor::from(tensor).into_values()
    }

    #[test]
    fn gradients_flow_through_views_and_repeated_inputs() {
        let device = Device::flex().autodiff();
        let a = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0]], &device).require_grad();
        let b = Tensor::<2>::from_floats([[5.0, 6.0], [7.0, 8.0]], &device).require_grad();
        let product: Tensor<2> = fused(Multiply, [a.clone().into(), b.clone().transpose().into()]);
        let square: Tensor<2> = fused(Multiply, [a.clone().into(), a.clone().into()]);
        let gradients = (product * 2.0 + square).sum().backward();
        assert_eq!(values(a.grad(&gradients).unwrap()), [12.0, 18.0, 18.0, 24.0]);
        assert_eq!(values(b.grad(&gradients).unwrap()), [2.0, 6.0, 4.0, 8.0]);
    }

    #[test]
    fn constants_get_no_gradient_and_need_no_tape() {
        let device = Device::flex();
        let a = Tensor::<2>::from_floats([[1.0, 2.0]], &device);
        let b = Tensor::<2>::from_floats([[3.0, 4.0]], &device);
        let product: Tensor<2> = fused(Multiply, [a.clone().into(), b.clone().into()]);
        assert!(!product.is_autodiff());
        assert_eq!(values(product), [3.0, 8.0]);
        let leaf = b.autodiff().require_grad();
        let product: Tensor<2> = fused(Multiply, [a.into(), leaf.clone().into()]);
        let gradients = product.sum().backward();
        assert_eq!(values(leaf.grad(&gradients).unwrap()), [1.0, 2.0]);
    }

    #[test]
    fn other_number_types_are_composed() {
        let device = Device::flex().autodiff();
        let a = Tensor::<2>::from_data([[1.0_f64, 2.0]], (&device, burn::tensor::DType::F64)).require_grad();
        let product: Tensor<2> = fused(Multiply, [a.clone().into(), a.clone().into()]);
        let gradients = product.sum().backward();
        let gradient = a.grad(&gradients).unwrap().into_data();
        assert_eq!(gradient.try_to_vec::<f64>().unwrap(), [2.0, 4.0]);
    }
}
