//! A float tensor of any number of dimensions, and the way to its numbers.

use std::ops::Deref;

use burn::backend::autodiff::Autodiff;
use burn::backend::flex::FlexTensor;
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn::backend::{
    BackendTensor, DType, Dispatch, DispatchKindConversion, DispatchTensor, DispatchTensorKind, Flex,
    TensorData, TensorMetadata,
};
use burn::tensor::{Device, Tensor};

/// A tensor on the tape of the CPU backend.
pub(super) type Tracked = FloatTensor<Autodiff<Flex>>;

/// A tensor without its number of dimensions in the type, so that tensors of different ranks fit in one list.
#[derive(Clone, Debug)]
pub struct AnyTensor(DispatchTensor);

/// The numbers of a tensor, row after row.
#[derive(Clone, Debug)]
pub enum Values {
    /// Shared with the tensor, which is in memory.
    Shared(FlexTensor),
    /// Copied from elsewhere.
    Copied(Vec<f32>),
}

impl Deref for Values {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match self {
            Self::Shared(tensor) => tensor.as_slice().expect("contiguous, of f32"),
            Self::Copied(values) => values,
        }
    }
}

/// Where the numbers of a tensor are.
pub(super) enum Place {
    /// In memory, without a tape.
    Plain(FlexTensor),
    /// In memory, on the tape.
    Tracked(Tracked),
    /// On another device, or not `f32`.
    Elsewhere(AnyTensor),
}

impl Place {
    pub fn any(self) -> AnyTensor {
        match self {
            Self::Plain(tensor) => AnyTensor::plain(tensor),
            Self::Tracked(tensor) => AnyTensor::tracked(tensor),
            Self::Elsewhere(tensor) => tensor,
        }
    }
}

impl<const D: usize> From<Tensor<D>> for AnyTensor {
    fn from(tensor: Tensor<D>) -> Self {
        Self(tensor.into_dispatch())
    }
}

impl AnyTensor {
    pub(super) fn plain(tensor: FlexTensor) -> Self {
        Self(<DispatchTensor as DispatchKindConversion<Flex>>::from_backend(BackendTensor::Float(tensor)))
    }

    pub(super) fn tracked(tensor: Tracked) -> Self {
        let tensor = BackendTensor::Float(tensor);
        Self(<DispatchTensor as DispatchKindConversion<Autodiff<Flex>>>::from_backend(tensor))
    }

    /// A tensor on a device with the given numbers. On the CPU they are moved, not copied.
    /// Panics if the number of values does not match the shape.
    pub fn new(values: Vec<f32>, shape: &[usize], device: &Device) -> Self {
        assert_eq!(values.len(), shape.iter().product::<usize>(), "number of values for shape {shape:?}");
        Self(Dispatch::float_from_data(TensorData::new(values, shape.to_vec()), device.as_dispatch()))
    }

    /// As [`new`](Self::new), with numbers of 64 bits.
    #[cfg(test)]
    pub(crate) fn wide(values: Vec<f64>, shape: &[usize], device: &Device) -> Self {
        Self(Dispatch::float_from_data(TensorData::new(values, shape.to_vec()), device.as_dispatch()))
    }

    /// The tensor with its number of dimensions in the type.
    /// Panics if it has another number of dimensions.
    pub fn tensor<const D: usize>(self) -> Tensor<D> {
        let shape = self.shape();
        assert_eq!(shape.len(), D, "number of dimensions of a tensor of shape {shape:?}");
        Tensor::from_dispatch(self.0)
    }

    /// Size of each dimension.
    pub fn shape(&self) -> Vec<usize> {
        self.0.shape().as_slice().to_vec()
    }

    /// The numbers, row after row, without a copy if they are in memory.
    pub fn values(&self) -> Values {
        match self.clone().place() {
            Place::Plain(tensor) => Values::Shared(tensor.to_contiguous()),
            Place::Tracked(tensor) => Values::Shared(tensor.primitive().to_contiguous()),
            Place::Elsewhere(tensor) => Values::Copied(tensor.into_values()),
        }
    }

    /// The numbers, row after row; moved if they are not shared.
    pub fn into_values(self) -> Vec<f32> {
        let data = match self.without_tape().place() {
            Place::Plain(tensor) => tensor.into_data(),
            Place::Tracked(tensor) => tensor.into_primitive().into_data(),
            Place::Elsewhere(tensor) => tensor.unranked().into_data().convert::<f32>(),
        };
        data.try_into_vec().expect("converted to f32 above")
    }

    /// The same numbers without a tape.
    #[must_use]
    pub fn without_tape(self) -> Self {
        Self::from(self.unranked().inner())
    }

    /// The same numbers as a new leaf of the tape, whose gradient is kept.
    #[must_use]
    pub(super) fn into_leaf(self) -> Self {
        Self::from(self.unranked().inner().autodiff().require_grad())
    }

    /// The same numbers in one dimension.
    pub(super) fn flat(self) -> Tensor<1> {
        let len = self.shape().iter().product::<usize>();
        Tensor::from_dispatch(Dispatch::float_reshape(self.0, [len].into()))
    }

    /// The same numbers in another shape of the same size.
    #[must_use]
    pub fn reshaped(self, shape: &[usize]) -> Self {
        Self(Dispatch::float_reshape(self.0, shape.to_vec().into()))
    }

    /// For the operations of burn that do not look at the number of dimensions in the type.
    pub(super) fn unranked(self) -> Tensor<1> {
        Tensor::from_dispatch(self.0)
    }

    #[allow(clippy::match_wildcard_for_single_variants, reason = "features of ours add variants")]
    pub(super) fn place(self) -> Place {
        if self.0.dtype() != DType::F32 {
            return Place::Elsewhere(self);
        }
        let autodiff = self.0.autodiff;
        match self.0.kind {
            DispatchTensorKind::Flex(BackendTensor::Float(tensor)) => Place::Plain(tensor),
            DispatchTensorKind::Autodiff(inner) => match *inner {
                DispatchTensorKind::Flex(BackendTensor::Autodiff(tensor)) => Place::Tracked(tensor),
                other => {
                    let kind = DispatchTensorKind::Autodiff(Box::new(other));
                    Place::Elsewhere(Self(DispatchTensor { kind, autodiff }))
                }
            },
            kind => Place::Elsewhere(Self(DispatchTensor { kind, autodiff })),
        }
    }
}

/// A tensor in memory made of the given numbers, which are moved.
pub(super) fn in_memory(values: Vec<f32>, shape: &[usize]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
}
