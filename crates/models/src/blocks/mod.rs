//! The parts that neural models are assembled from, between the models and burn.
//!
//! Every block is a small type that holds handles of its parameters; the numbers themselves live in one
//! [`Parameters`] store. Its work is done by the kernels through [`fused`], which see plain slices; burn keeps
//! the tape. Nothing here draws from burn's random generator: initial values and dropout masks come from named
//! streams. Shapes are checked by assertions: a wrong one is a mistake in the calling code, never bad input.
//!
//! A model in short (CyGNet without its time vector):
//!
//! ```
//! use std::sync::Arc;
//! use burn::tensor::Tensor;
//! use quadcast_models::blocks::device::Device;
//! use quadcast_models::blocks::{AdamConfig, Csr, Embedding, Initial, MixtureHead, Parameters};
//!
//! let mut parameters = Parameters::new(1, &Device::Cpu.open()?);
//! let entities = Embedding::new("entities", [5, 4], Initial::Normal(1.0), &mut parameters);
//! let relations = Embedding::new("relations", [2, 4], Initial::Normal(1.0), &mut parameters);
//! let head = MixtureHead::new("head", 8, 5, 0.8, &mut parameters);
//! let mut adam = AdamConfig { amsgrad: true, ..AdamConfig::default() }.init();
//!
//! // Two queries, (0, 1, ?) with the answer 3 and (2, 0, ?) with the answer 4; the first had 3 before.
//! let queries = |parameters: &Parameters| {
//!     Tensor::cat(vec![entities.rows(parameters, [0, 2]), relations.rows(parameters, [1, 0])], 1)
//! };
//! let vocabulary = Arc::new(Csr::from_pairs(2, [(0, 3)].into_iter()));
//! let mut losses = Vec::new();
//! for _ in 0..10 {
//!     let loss = head.loss(&parameters, queries(&parameters), [3, 4], vocabulary.clone());
//!     let gradients = parameters.backward(&loss);
//!     adam.step(&mut parameters, gradients);
//!     losses.push(loss.into_scalar::<f32>());
//! }
//! assert!(losses[9] < losses[0]);
//!
//! let trained = parameters.frozen(); // without a tape
//! assert!(!head.loss(&trained, queries(&trained), [3, 4], vocabulary).is_autodiff());
//! let bytes = parameters.to_bytes()?; // a safetensors file
//! parameters.load_bytes(&bytes)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(clippy::missing_panics_doc, reason = "said once, above")]

mod adam;
mod any;
mod batch_norm;
mod block_gcn;
mod conv_trans;
pub mod device;
pub mod dropout;
mod embedding;
mod fused;
mod gate;
mod gcn;
mod grouped;
mod gru;
mod head;
mod initial;
mod messages;
mod mixture;
mod ode;
mod operations;
mod parameters;
mod recompute;
pub(crate) mod store;
#[cfg(test)]
pub(crate) mod testing;

pub use quadcast_kernels::grouped::Groups;
pub use quadcast_kernels::messages::{Edge, Edges};
pub use quadcast_kernels::segment::Csr;

pub use adam::{Adam, AdamConfig};
pub use any::{AnyTensor, Values};
pub use batch_norm::{BatchNorm, Moments};
pub use block_gcn::BlockGcn;
pub use conv_trans::{ConvTrans, ConvTransConfig, pair_rows, pair_rows_within};
pub use dropout::{Training, dropout};
pub use embedding::{Embedding, add_rows, select_rows, sum_rows};
pub(crate) use embedding::{floats, integers};
pub use fused::{Fused, Input, Output, Returned, fused};
pub use gate::TimeGate;
pub use gcn::{Gcn, GcnConfig, Graph};
pub use grouped::grouped_product;
pub use gru::GruCell;
pub use head::{Targets, cross_entropy, score_strips};
pub use initial::Initial;
pub use messages::{block_messages, product_messages};
pub use mixture::MixtureHead;
pub use ode::runge_kutta_step;
pub use operations::{
    Segments, distance, linear, linear_without_bias, normalise_rows, segment_max, segment_mean, tanh,
};
pub use parameters::{Buffer, Gradients, Parameter, Parameters, SharedBuffer};
pub use recompute::{leaf, pull_back};
pub use store::StoreError;
