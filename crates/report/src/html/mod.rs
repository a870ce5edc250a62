//! A report as one HTML file: no network, no fonts, no scripts from elsewhere.

mod page;
mod patterns;
mod patterns_table;
mod view;
mod why;

pub use page::html;
pub use patterns::{PatternMap, PatternPartner, PatternReport, PatternRow, patterns_page};
