//! Runs on changing graphs: their record, as text and as a page.

mod published;
mod published_line;
mod published_rows;
mod record;
mod text;

pub(crate) use published::sources;
pub use published::{PublishedComparison, published_comparisons};
pub use published_line::{PublishedLine, PublishedMeasure, PublishedVerdict};
pub use record::{AskedAbout, EvolvingCard, EvolvingRecord, EvolvingSeconds, UpdateCard};
pub use text::evolving_summary;
