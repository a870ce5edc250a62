//! Means over lists of rows.

use std::sync::Arc;

use burn::tensor::{IndexingUpdateOp, Tensor};
use quadcast_kernels::memory::take;
use quadcast_kernels::segment::{Csr, mean, mean_backward};

use super::embedding::{floats, integers};
use super::{AnyTensor, Fused, Input, Output, Returned, fused};

/// Lists of rows of a matrix, arranged for both passes.
#[derive(Clone, Debug)]
pub struct Segments {
    lists: Csr,
    transposed: Csr,
}

impl Segments {
    /// Lists of rows of a matrix with `rows` rows.
    pub fn new(lists: Csr, rows: usize) -> Self {
        Self { transposed: lists.transpose(rows), lists }
    }
}

/// `[segments, d]`: the mean of the rows of `x[n, d]` in each list, 0 for an empty one.
pub fn segment_mean(x: Tensor<2>, segments: Arc<Segments>) -> Tensor<2> {
    fused(SegmentMean { segments }, [x.into()])
}

struct SegmentMean {
    segments: Arc<Segments>,
}

impl Fused<1> for SegmentMean {
    type Kept = ();

    fn forward(&self, [x]: [Input; 1], _tape: bool) -> (Output, ()) {
        let (lists, d) = (&self.segments.lists, x.shape[1]);
        let mut out = take(lists.segments() * d).into_vec();
        mean(lists, x.values, d, &mut out);
        (Output::new(out, &[lists.segments(), d]), ())
    }

    fn backward(self, [x]: [Input; 1], (): (), returned: Returned, [dx]: &mut [Vec<f32>; 1]) {
        let Segments { lists, transposed } = &*self.segments;
        mean_backward(lists, transposed, returned.gradient, x.shape[1], dx);
    }

    fn composed(&self, [x]: [AnyTensor; 1]) -> AnyTensor {
        let x = x.tensor::<2>();
        let lists = &self.segments.lists;
        let (n, d) = (lists.segments(), x.dims()[1]);
        let of_place: Vec<u32> =
            (0..n).flat_map(|i| std::iter::repeat_n(i as u32, lists.segment(i).len())).collect();
        let shares = (0..n).map(|i| 1.0 / lists.segment(i).len().max(1) as f32).collect();
        let shares = floats(shares, [n, 1], &x);
        let (items, of_place) = (integers(&lists.items, &x), integers(&of_place, &x));
        let sums = Tensor::<2>::zeros([n, d], (&x.device(), x.dtype()));
        let sums = sums.select_assign(0, of_place, x.select(0, items), IndexingUpdateOp::Add);
        (sums * shares).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};

    #[test]
    fn means_and_their_gradients() {
        let lists = Csr::from_pairs(4, [(0, 2), (0, 0), (2, 2), (3, 1), (3, 4), (3, 2)].into_iter());
        let segments = Arc::new(Segments::new(lists, 5));
        check(|| SegmentMean { segments: segments.clone() }, &[random("x", &[5, 3])]);
    }
}
