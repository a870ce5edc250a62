//! Everything that people read: run records as terminal text, HTML, Markdown, LaTeX and CSV, with charts as SVG.
//!
//! What is shown or compared is derived from run folders and from nothing else; see [`quadcast_run::Record`].

mod answers;
mod comparison;
mod datasets;
mod evolving;
mod html;
mod runs;
#[cfg(test)]
mod samples;
mod significance;
mod study;
mod svg;
mod tables;
mod terminal;

pub use answers::answer_text;
pub use comparison::comparison_text;
pub use datasets::{
    CompileCost, SynthCost, audit_text, catalogue_text, compile_text, diff_text, division_text,
    dropped_words, fetch_text, import_text, info_text, patterns_text, synth_text,
};
pub use evolving::{
    PublishedComparison, PublishedLine, PublishedMeasure, PublishedVerdict, published_comparisons,
};
pub use html::{html, patterns_page};
pub use runs::{LoadedRun, Options, Reading, Reference};
pub use tables::{csv, latex, markdown};
pub use terminal::{
    bytes, counted, percent, plain_table, rules_words, seconds, summary, weight_words, wrapped,
};
