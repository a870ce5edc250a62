//! A report as one HTML file: no network, no fonts, no external scripts.

mod page;
mod patterns;
mod view;
mod why;

pub use page::html;
pub use patterns::patterns_page;
