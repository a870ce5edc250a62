//! Runs on changing graphs: their record, as text and as a page.

mod record;
mod text;

pub use record::{AskedAbout, EvolvingCard, EvolvingRecord, EvolvingSeconds, UpdateCard};
pub use text::evolving_summary;
