//! Training of embeddings on triples against sampled false triples, with sparse updates.
//!
//! A triple is a head, a relation and a tail, and has an [`Energy`]: the lower, the more plausible. Entities have one row
//! each, relations have one row each, and a row consists of segments. A segment may be a *unit* segment: energies read it divided
//! by its length, while the stored numbers are free.
//!
//! [`Exact`] takes one step of the optimiser per batch. A batch has a fixed number of parts; each part sums its own gradients, and
//! the parts are added in order: the same bits for any number of threads. Gradients are summed for the *divided* rows, and the
//! derivative of the division, which is linear, is applied once per touched row. [`LockFree`] takes one step per sample, on all
//! threads and without locks: faster for some shapes, and different in every run.

mod atomic_rows;
mod energy;
mod exact;
mod lock_free;
mod loss;
mod negatives;
mod sample;
mod table;
mod translation;
mod update;

pub use crate::optimisers::Optimiser;
pub use energy::{Ends, Energy, Question, RowView, Slopes, SoftConstraint, for_each_answer};
pub use exact::Exact;
pub use lock_free::LockFree;
pub use loss::{Loss, LossKind};
pub use negatives::{Negatives, NegativesConfig, Replaced};
pub use sample::{Batch, Draws, Settings, Source};
pub use table::{LINE, Layout, RowShape, Segment, Table, TableView, Tables, TablesView, dot, padded};
pub use translation::{Norm, Translation, distance, distance_slopes};
pub use update::unit_slopes;
