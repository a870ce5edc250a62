//! Graph layer with a block-diagonal matrix per relation.

use std::sync::Arc;

use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use super::messages::block_messages;
use super::{Edges, Initial, Parameter, Parameters, Training, dropout, linear_without_bias};

/// `x'_v = φ(Σ w·x_u·B_r over the edges (u, r, v, w) + dropout(W·x_v))` with 2×2 blocks on the diagonal of `B_r`. The length of a
/// vector must be even.
#[derive(Clone, Copy, Debug)]
pub struct BlockGcn {
    blocks: Parameter,
    own: Parameter,
    dropout: f64,
}

impl BlockGcn {
    /// Adds blocks for so many relations and the matrix of the vertices themselves to the store under this name, Xavier uniform with
    /// the gain of `ReLU`.
    pub fn new(name: &str, d: usize, relations: usize, dropout: f64, parameters: &mut Parameters) -> Self {
        let initial = Initial::xavier_uniform_relu(2 * d, relations);
        let blocks = parameters.add(format!("{name}.blocks"), &[relations, 2 * d], initial);
        let own = parameters.add(format!("{name}.own"), &[d, d], Initial::xavier_uniform_relu(d, d));
        Self { blocks, own, dropout }
    }

    /// `[vertices, d]` for the sources of edges `x[_, d]` and the vertices themselves `own[vertices, d]`; φ is `ReLU` or nothing.
    pub fn forward(
        &self,
        parameters: &Parameters,
        (x, own): (Tensor<2>, Tensor<2>),
        edges: &Arc<Edges>,
        rectified: bool,
        training: Training,
    ) -> Tensor<2> {
        let sums = block_messages(x, parameters.get(self.blocks), Arc::clone(edges));
        let own = linear_without_bias(own, parameters.any(self.own));
        let out = sums + dropout(own, self.dropout, training);
        if rectified { relu(out) } else { out }
    }
}
