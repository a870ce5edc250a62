//! A synthetic world as text.

use std::path::Path;

use quadcast_core::{Filter, Setting};
use serde_json::Value;

use super::compile::peak_memory;
use crate::{percent, plain_table, seconds};

/// What making a synthetic world cost.
pub struct SynthCost {
    /// Seconds that making the facts took.
    pub generate: f64,
    /// Seconds that judging the oracle took.
    pub best: f64,
    /// Seconds that writing the files took.
    pub write: f64,
    /// Peak memory of the process, if known.
    pub peak_memory_bytes: Option<u64>,
}

/// A world from its `world.json`: sizes, the best possible scores, and the cost.
pub fn synth_text(document: &Value, folder: &Path, cost: &SynthCost) -> String {
    let word = |key: &str| document[key].as_str().unwrap_or_default().to_owned();
    let mut text = format!("{} (seed {}): {}\n", word("world"), document["seed"], word("about"));
    text += &format!("sizes: {}\n", sizes(&document["sizes"]));
    let mut rows = Vec::new();
    for setting in [Setting::SingleStep, Setting::MultiStep] {
        for filter in Filter::ALL {
            let metrics = &document["best"][setting.word()][filter.word()];
            let Some(mrr) = metrics["mrr"].as_f64() else { continue };
            let number = |value: &Value| percent(value.as_f64().unwrap_or_default());
            let ends = &metrics["ci95"]["mrr"];
            rows.push(vec![
                setting.word().to_owned(),
                filter.word().to_owned(),
                percent(mrr),
                format!("{} to {}", number(&ends[0]), number(&ends[1])),
                number(&metrics["hits@1"]),
                number(&metrics["hits@3"]),
                number(&metrics["hits@10"]),
            ]);
        }
    }
    if !rows.is_empty() {
        let header = ["best possible", "filter", "MRR", "95 % interval", "H@1", "H@3", "H@10"];
        let mut table = plain_table(&header, 2..7);
        table.add_rows(rows);
        text += &format!("\n{table}\n\n");
    }
    let memory = peak_memory(cost.peak_memory_bytes);
    text += &format!(
        "made in {}, judged in {}, written in {}{memory}\nworld: {}\n",
        seconds(cost.generate),
        seconds(cost.best),
        seconds(cost.write),
        folder.display()
    );
    text
}

/// The sizes as `3 of this, 4 of that`.
fn sizes(sizes: &Value) -> String {
    let parts = sizes.as_object().into_iter().flatten().map(|(what, count)| match count.as_object() {
        Some(splits) => {
            let splits: Vec<String> =
                splits.iter().map(|(split, count)| format!("{split} {count}")).collect();
            format!("{what} {}", splits.join(" / "))
        }
        None => format!("{count} {what}"),
    });
    parts.collect::<Vec<_>>().join(", ")
}
