//! Everything that people read: run records as terminal text, HTML, Markdown, LaTeX and CSV, with charts as SVG.
//!
//! What is shown or compared is derived from run folders and from nothing else; see [`quadcast_run::Record`].

mod answers;
mod comparison;
#[cfg(test)]
mod control_characters;
mod datasets;
mod demo;
mod evolving;
mod graphs;
mod html;
mod models;
mod plain_table;
mod rules;
mod runs;
#[cfg(test)]
mod samples;
mod shares;
mod shown;
mod significance;
mod study;
mod svg;
mod tables;
mod terminal;
mod verification;

pub use answers::answer_text;
pub use comparison::comparison_text;
pub use datasets::{
    CompileCost, SynthCost, audit_text, catalogue_text, compile_text, converted_text, diff_text,
    division_text, fetch_text, import_text, info_text, patterns_text, synth_stream_text, synth_text,
};
pub use demo::{demo_page, demo_text};
pub use evolving::{
    PublishedComparison, PublishedLine, PublishedMeasure, PublishedVerdict, published_comparisons,
};
pub use graphs::{graphs_text, judged_graphs_text};
pub use html::{html, patterns_page};
pub use models::{model_text, models_text};
pub use plain_table::{PlainTable, plain_table};
pub use rules::{rule_count, rules_text};
pub use runs::{LoadedRun, Options, Reading};
pub use shown::{Shown, shown, shown_json, shown_lines};
pub use tables::{answers_csv, csv, graphs_csv, latex, markdown, spreadsheet_text};
pub use terminal::{
    bytes, counted, percent, rules_words, seconds, summary, weight_words, wrapped, wrapped_within,
};
pub use verification::verification_text;
