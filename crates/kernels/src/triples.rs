//! Learning from triples against drawn false ones, with sparse updates: what the embedding models of evolving graphs have
//! in common.
//!
//! A triple is a head, a relation and a tail, and has an [`Energy`]: the lower, the more plausible. Entities have one row
//! each, relations have one row each, and a row holds all that is learned of its owner, segment after segment. Segments
//! may be *unit* segments: energies read them divided by their length, while the numbers kept are free.
//!
//! [`Exact`] takes a step of the optimiser per batch. Samples are worked on in a fixed number of parts, each of which adds
//! up its gradients by itself, and the parts are added in order: the same bits for any number of threads. Gradients are
//! added up for the *divided* rows and go through the division once per touched row, which is the same, since that is
//! linear. [`LockFree`] takes a step per sample, on all threads at once and without waiting: faster for some shapes, and
//! different in every run.

mod answers;
mod energy;
mod exact;
mod lines;
mod loss;
mod memory;
mod negatives;
mod part;
mod random;
mod sample;
mod shared;
mod table;
mod torn;
mod translation;
mod update;
mod view;

pub use answers::{Question, for_each_answer};
pub use energy::{Ends, Energy, Row, Slopes, Wish};
pub use exact::Exact;
pub use lines::dot;
pub use loss::{Loss, LossKind};
pub use negatives::{Negatives, NegativesConfig, Replaced};
pub use random::Draws;
pub use sample::{Batch, Settings, Source};
pub use shared::LockFree;
pub use table::{LINE, Layout, Segment, Table, Tables, padded};
pub use translation::{Norm, Translation, distance, distance_slopes};
pub use update::Optimiser;
pub use view::{RowShape, TableView, TablesView};
