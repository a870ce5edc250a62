//! A table of vectors, one per id, and the selection of rows.

use std::sync::Arc;

use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData};
use quadcast_kernels::memory::take;
use quadcast_kernels::rows::add_at;
use quadcast_kernels::segment::{gather, scatter_add, sum_of_rows};

use super::{AnyTensor, Fused, Initial, Input, Output, Parameter, Parameters, Returned, fused};

/// A table of vectors.
#[derive(Clone, Copy, Debug)]
pub struct Embedding {
    table: Parameter,
}

impl Embedding {
    /// Adds a table `[rows, columns]` to the store under this name.
    pub fn new(name: &str, shape: [usize; 2], initial: Initial, parameters: &mut Parameters) -> Self {
        Self { table: parameters.add(name, &shape, initial) }
    }

    /// The parameter.
    pub fn parameter(&self) -> Parameter {
        self.table
    }

    /// The whole table `[rows, columns]`.
    pub fn table(&self, parameters: &Parameters) -> Tensor<2> {
        parameters.get(self.table)
    }

    /// The vectors of some ids `[ids, columns]`; ids may repeat.
    pub fn rows(&self, parameters: &Parameters, ids: impl Into<Arc<[u32]>>) -> Tensor<2> {
        select_rows(self.table(parameters), ids)
    }
}

/// The rows of a matrix with the given numbers, which may repeat: `[ids, columns]`.
pub fn select_rows(matrix: Tensor<2>, ids: impl Into<Arc<[u32]>>) -> Tensor<2> {
    fused(SelectRows { ids: ids.into() }, [matrix.into()])
}

struct SelectRows {
    ids: Arc<[u32]>,
}

impl Fused<1> for SelectRows {
    type ForwardState = ();

    fn forward(&self, [x]: [Input; 1], _tape: bool) -> (Output, ()) {
        let d = x.shape[1];
        let mut out = take(self.ids.len() * d).into_vec();
        gather(&self.ids, x.values, d, &mut out);
        (Output::new(out, &[self.ids.len(), d]), ())
    }

    fn backward(self, [x]: [Input; 1], (): (), returned: Returned, [dx]: &mut [Vec<f32>; 1]) {
        scatter_add(&self.ids, returned.gradient, x.shape[1], dx);
    }

    fn composed(&self, [x]: [AnyTensor; 1]) -> AnyTensor {
        let x = x.tensor::<2>();
        let ids = integers(&self.ids, &x);
        x.select(0, ids).into()
    }
}

/// The matrix with `rows[i]` added to its row `ids[i]`.
pub fn add_rows(matrix: Tensor<2>, ids: impl Into<Arc<[u32]>>, rows: Tensor<2>) -> Tensor<2> {
    fused(AddRows { ids: ids.into() }, [matrix.into(), rows.into()])
}

struct AddRows {
    ids: Arc<[u32]>,
}

impl Fused<2> for AddRows {
    type ForwardState = ();

    const SETS: [bool; 2] = [true; 2];

    fn forward(&self, [matrix, rows]: [Input; 2], _tape: bool) -> (Output, ()) {
        let mut out = take(matrix.values.len()).into_vec();
        out.copy_from_slice(matrix.values);
        scatter_add(&self.ids, rows.values, matrix.shape[1], &mut out);
        (Output::new(out, matrix.shape), ())
    }

    fn backward(
        self,
        [matrix, _]: [Input; 2],
        (): (),
        returned: Returned,
        [dmatrix, drows]: &mut [Vec<f32>; 2],
    ) {
        dmatrix.copy_from_slice(returned.gradient);
        gather(&self.ids, returned.gradient, matrix.shape[1], drows);
    }

    fn composed(&self, [matrix, rows]: [AnyTensor; 2]) -> AnyTensor {
        let matrix = matrix.tensor::<2>();
        let ids = integers(&self.ids, &matrix);
        matrix.select_assign(0, ids, rows.tensor::<2>(), IndexingUpdateOp::Add).into()
    }
}

/// `[ids, columns]`: for each place the sum of one row of each matrix, `ids` of which are listed by matrix.
pub fn sum_rows<const N: usize>(matrices: [Tensor<2>; N], ids: [Arc<[u32]>; N]) -> Tensor<2> {
    fused(SumRows { ids }, matrices.map(AnyTensor::from))
}

struct SumRows<const N: usize> {
    ids: [Arc<[u32]>; N],
}

impl<const N: usize> Fused<N> for SumRows<N> {
    type ForwardState = ();

    fn forward(&self, matrices: [Input; N], _tape: bool) -> (Output, ()) {
        let (n, d) = (self.ids[0].len(), matrices[0].shape[1]);
        let mut out = take(n * d).into_vec();
        let parts = self.ids.each_ref().map(|ids| &**ids);
        sum_of_rows(&parts, &matrices.map(|matrix| matrix.values), d, &mut out);
        (Output::new(out, &[n, d]), ())
    }

    fn backward(self, matrices: [Input; N], (): (), returned: Returned, gradients: &mut [Vec<f32>; N]) {
        for ((ids, matrix), gradient) in self.ids.iter().zip(matrices).zip(gradients) {
            add_at(ids, returned.gradient, matrix.shape[1], gradient);
        }
    }

    fn composed(&self, matrices: [AnyTensor; N]) -> AnyTensor {
        let rows = matrices.into_iter().zip(&self.ids).map(|(matrix, ids)| {
            let matrix = matrix.tensor::<2>();
            let ids = integers(ids, &matrix);
            matrix.select(0, ids)
        });
        rows.reduce(|sum, rows| sum + rows).expect("at least one matrix").into()
    }
}

/// Numbers of rows as a tensor on the device of another one.
pub(crate) fn integers<const D: usize>(ids: &[u32], beside: &Tensor<D>) -> Tensor<1, Int> {
    let ids: Vec<i64> = ids.iter().copied().map(i64::from).collect();
    let len = ids.len();
    Tensor::from_data(TensorData::new(ids, [len]), &beside.device().inner())
}

/// Constants on the device and of the number type of another tensor.
pub(crate) fn floats<const D: usize, const E: usize>(
    values: Vec<f32>,
    shape: [usize; E],
    beside: &Tensor<D>,
) -> Tensor<E> {
    let values = TensorData::new(values, shape).convert_dtype(beside.dtype());
    Tensor::from_data(values, (&beside.device().inner(), beside.dtype()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};

    #[test]
    fn rows_and_their_gradients() {
        let ids: Arc<[u32]> = Arc::from([3, 0, 3, 3, 1]);
        check(|| SelectRows { ids: ids.clone() }, &[random("x", &[5, 4])]);
        check(|| AddRows { ids: ids.clone() }, &[random("matrix", &[5, 4]), random("rows", &[5, 4])]);
        let lists = [ids, Arc::from([0, 1, 1, 0, 0])];
        check(|| SumRows { ids: lists.clone() }, &[random("first", &[5, 4]), random("second", &[2, 4])]);
    }
}
