//! Sums of messages along edges with relations: products of vectors (TANGO) and block-diagonal maps (RE-Net).

use std::marker::PhantomData;
use std::sync::Arc;

use burn::tensor::{IndexingUpdateOp, Tensor};
use quadcast_kernels::memory::take;
use quadcast_kernels::messages::{Blocks, Edge, Edges, Inputs, Message, Product, backward, forward};

use super::embedding::{floats, integers};
use super::{AnyTensor, Fused, Input, Output, Returned, fused};

/// `out_v = Σ w·(x_u∘p_r)` over the edges (u, r, v, w), for sources `x[_, d]` and relations `p[_, d]`.
pub fn product_messages(x: Tensor<2>, p: Tensor<2>, edges: Arc<Edges>) -> Tensor<2> {
    fused(Messages::<Product> { edges, message: PhantomData }, [x.into(), p.into()])
}

/// `out_v = Σ w·x_u·B_r` over the edges (u, r, v, w), for sources `x[_, d]` and relations `blocks[_, 2d]`, each the 2×2 blocks of
/// its matrix.
pub fn block_messages(x: Tensor<2>, blocks: Tensor<2>, edges: Arc<Edges>) -> Tensor<2> {
    fused(Messages::<Blocks> { edges, message: PhantomData }, [x.into(), blocks.into()])
}

struct Messages<M> {
    edges: Arc<Edges>,
    message: PhantomData<M>,
}

/// A message composed from burn's operations: one row per edge.
trait Composed: Message {
    fn composed(x: Tensor<2>, p: Tensor<2>) -> Tensor<2>;
}

impl Composed for Product {
    fn composed(x: Tensor<2>, p: Tensor<2>) -> Tensor<2> {
        x * p
    }
}

impl Composed for Blocks {
    fn composed(x: Tensor<2>, p: Tensor<2>) -> Tensor<2> {
        let [n, d] = x.dims();
        (x.reshape([n, d / 2, 2, 1]) * p.reshape([n, d / 2, 2, 2])).sum_dim(2).reshape([n, d])
    }
}

impl<M: Composed> Fused<2> for Messages<M> {
    type ForwardState = ();

    fn forward(&self, [x, p]: [Input; 2], _tape: bool) -> (Output, ()) {
        let (n, d) = (self.edges.destinations(), x.shape[1]);
        let mut out = take(n * d).into_vec();
        forward(&self.edges, &Inputs::<f32, M>::new(x.values, p.values, d), &mut out);
        (Output::new(out, &[n, d]), ())
    }

    fn backward(self, [x, p]: [Input; 2], (): (), returned: Returned, [dx, dp]: &mut [Vec<f32>; 2]) {
        let inputs = Inputs::<f32, M>::new(x.values, p.values, x.shape[1]);
        backward(&self.edges, &inputs, returned.gradient, dx, dp);
    }

    fn composed(&self, [x, p]: [AnyTensor; 2]) -> AnyTensor {
        let (x, p) = (x.tensor::<2>(), p.tensor::<2>());
        let edges = self.edges.edges();
        let column = |of: fn(&Edge) -> u32| -> Vec<u32> { edges.iter().map(of).collect() };
        let sums = Tensor::<2>::zeros([self.edges.destinations(), x.dims()[1]], (&x.device(), x.dtype()));
        if edges.is_empty() {
            return sums.into();
        }
        let weights = floats(edges.iter().map(|edge| edge.weight).collect(), [edges.len(), 1], &x);
        let (sources, relations) =
            (integers(&column(|e| e.source), &x), integers(&column(|e| e.relation), &x));
        let destinations = integers(&column(|e| e.destination), &x);
        let messages = M::composed(x.select(0, sources), p.select(0, relations)) * weights;
        sums.select_assign(0, destinations, messages, IndexingUpdateOp::Add).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};

    #[test]
    fn sums_and_their_gradients() {
        let list = [(0, 0, 1, 1.0), (2, 1, 1, 0.5), (2, 1, 1, 0.5), (1, 2, 3, -1.0), (4, 0, 0, 2.0)];
        let edge = |(source, relation, destination, weight)| Edge { source, relation, destination, weight };
        let edges = Arc::new(Edges::new(list.map(edge).to_vec(), 5, 3, 4));
        let x = random("x", &[5, 6]);
        let product = || Messages::<Product> { edges: Arc::clone(&edges), message: PhantomData };
        check(product, &[x.clone(), random("p", &[3, 6])]);
        let blocks = || Messages::<Blocks> { edges: Arc::clone(&edges), message: PhantomData };
        check(blocks, &[x, random("blocks", &[3, 12])]);
    }
}
