//! Tables: what stands in them, and the formats they are written in.

mod answers;
mod csv;
mod graphs;
mod grid;
mod latex;
mod markdown;
mod parts;
mod results;

pub use answers::answers_csv;
pub use csv::{csv, spreadsheet_text};
pub use graphs::graphs_csv;
pub use latex::latex;
pub use markdown::markdown;

pub(crate) use grid::{Cell, Grid, Head, Span};
pub(crate) use parts::{check_grid, frequency_grid, policy_grid, relation_grid, seed_grid, seen_grid};
pub(crate) use results::{filter_title, outcome_cells, results};
