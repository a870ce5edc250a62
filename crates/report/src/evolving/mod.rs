//! What only runs on evolving graphs have: classification, transfer, cost by step, and published values.

mod grids;
mod published;
mod published_line;
mod text;
mod values;

pub use published::{PublishedComparison, published_comparisons};
pub use published_line::{PublishedLine, PublishedMeasure, PublishedVerdict};

pub(crate) use grids::{ages, link_means, link_steps, triple_means, triple_steps};
pub(crate) use published::{Published, published, sources};
pub(crate) use text::{evolving_footing, evolving_tables};
pub(crate) use values::{TRIPLE_HEADS, triples_at};
