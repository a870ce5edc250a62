//! Runs on changing graphs: their record, as text, as a page and as tables.

mod csv;
mod grids;
mod labels;
mod latex;
mod markdown;
mod published;
mod published_grid;
mod published_line;
mod published_rows;
mod record;
mod section;
mod text;
mod values;

pub use csv::evolving_csv;
pub use latex::evolving_latex;
pub use markdown::evolving_markdown;
pub use published::{PublishedComparison, published_comparisons};
pub use published_line::{PublishedLine, PublishedMeasure, PublishedVerdict};
pub use record::{AskedAbout, EvolvingCard, EvolvingRecord, EvolvingSeconds, UpdateCard};
pub use text::evolving_summary;

pub(crate) use grids::{ages, link_means, link_steps, triple_means, triple_steps};
pub(crate) use published::sources;
pub(crate) use published_grid::{Published, published};
pub(crate) use section::{Section, sections};
