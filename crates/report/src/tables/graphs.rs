//! Predicted graphs as CSV.

use quadcast_run::{GRAPH_COLUMNS, PredictedGraph, graph_rows};

use super::csv::line;

/// Predicted graphs as CSV: one row per fact, exact numbers. Names are exact, or for a spreadsheet marked where it would compute them.
pub fn graphs_csv(graphs: &[PredictedGraph], spreadsheet: bool) -> String {
    let mut text = line(&GRAPH_COLUMNS.map(str::to_owned), false);
    graph_rows(graphs).for_each(|row| text.push_str(&line(&row, spreadsheet)));
    text
}
