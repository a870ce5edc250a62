//! Products of groups of rows with a matrix per group.

use std::sync::Arc;

use burn::tensor::Tensor;
use quadcast_kernels::grouped::{Groups, backward, forward};
use quadcast_kernels::memory::take;

use super::{AnyTensor, Fused, Input, Output, Returned, fused};

/// `[rows, n]`: each row of `x[rows, k]` times the matrix of its group, a row of `matrices[groups, k·n]`.
pub fn grouped_product(x: Tensor<2>, matrices: Tensor<2>, groups: Arc<Groups>) -> Tensor<2> {
    fused(Grouped { groups }, [x.into(), matrices.into()])
}

struct Grouped {
    groups: Arc<Groups>,
}

/// Rows and columns of a group's matrix.
fn sides(k: usize, size: usize) -> (usize, usize) {
    assert!(k > 0 && size.is_multiple_of(k), "matrices of {size} numbers for rows of {k}");
    (k, size / k)
}

impl Fused<2> for Grouped {
    type ForwardState = ();

    const SETS: [bool; 2] = [true, false];

    fn forward(&self, [x, m]: [Input; 2], _tape: bool) -> (Output, ()) {
        let (k, n) = sides(x.shape[1], m.shape[1]);
        let mut out = take(x.shape[0] * n).into_vec();
        forward(&self.groups, (k, n), x.values, m.values, &mut out);
        (Output::new(out, &[x.shape[0], n]), ())
    }

    fn backward(self, [x, m]: [Input; 2], (): (), returned: Returned, [dx, dm]: &mut [Vec<f32>; 2]) {
        let sides = sides(x.shape[1], m.shape[1]);
        backward(&self.groups, sides, (x.values, m.values), returned.gradient, dx, dm);
    }

    fn composed(&self, [x, m]: [AnyTensor; 2]) -> AnyTensor {
        let (x, m) = (x.tensor::<2>(), m.tensor::<2>());
        let (k, n) = sides(x.dims()[1], m.dims()[1]);
        let products = (0..self.groups.len()).filter(|&group| self.groups.rows(group) > 0).map(|group| {
            let rows = x.clone().narrow(0, self.groups.starts[group], self.groups.rows(group));
            rows.matmul(m.clone().narrow(0, group, 1).reshape([k, n]))
        });
        Tensor::cat(products.collect(), 0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};

    #[test]
    fn products_and_their_gradients() {
        let groups = Arc::new(Groups { starts: vec![0, 2, 2, 5] });
        check(|| Grouped { groups: groups.clone() }, &[random("x", &[5, 4]), random("m", &[3, 12])]);
    }
}
