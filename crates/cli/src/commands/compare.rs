//! `quadcast compare`: is one run better than another, or was it luck?

use std::path::{Path, PathBuf};

use clap::Args;
use quadcast_core::{Filter, Protocol};
use quadcast_eval::{Comparison, Difference, Differences, SignFlips};
use quadcast_report::{
    DatasetCard, RunRecord, ScoreSource, Status, counted, percent, plain_table, read_ranks,
};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;
use crate::trained::read_record;

pub const EXAMPLES: &str = "Examples:
  quadcast compare runs/recurrency-ICEWS14-single-step-1 runs/external-mine-ICEWS14-single-step-1
  quadcast compare tmp-first tmp-second --json

Differences are second minus first. Runs on other data, under another protocol or with other
queries are refused.";

/// Which runs to compare.
#[derive(Debug, Args)]
pub struct CompareOptions {
    /// Folder of the first run
    #[arg(value_name = "RUN")]
    first: PathBuf,
    /// Folder of the second run
    #[arg(value_name = "RUN")]
    second: PathBuf,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    first: Side<'a>,
    second: Side<'a>,
    dataset: &'a DatasetCard,
    protocol: Protocol,
    differences: ByFilter<'a>,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

#[derive(Serialize)]
struct Side<'a> {
    record: &'a Path,
    model: &'a str,
    seed: u64,
    version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<&'a ScoreSource>,
}

#[derive(Serialize)]
struct ByFilter<'a> {
    time: &'a Differences,
    #[serde(rename = "static")]
    fixed: &'a Differences,
    raw: &'a Differences,
}

pub fn execute(options: &CompareOptions, output: &Output) -> Result<(), Failure> {
    let folders = [options.first.as_path(), options.second.as_path()];
    let records = [complete(folders[0])?, complete(folders[1])?];
    comparable(folders, &records)?;
    let ranks = [read_ranks(folders[0])?, read_ranks(folders[1])?];
    let [first, second] = &records;
    let comparison = Comparison::new(
        [&ranks[0], &ranks[1]],
        first.dataset.entities,
        first.protocol.ties,
        [first.seed, second.seed],
    )?;
    let side = |i: usize| Side {
        record: folders[i],
        model: &records[i].model.name,
        seed: records[i].seed,
        version: &records[i].version,
        scores: records[i].scores.as_ref(),
    };
    let [time, fixed, raw] = &comparison.filters;
    let document = Document {
        first: side(0),
        second: side(1),
        dataset: &first.dataset,
        protocol: first.protocol,
        differences: ByFilter { time, fixed, raw },
        comparison: &comparison,
    };
    output.result(&document, || text(folders, &records, &comparison))
}

/// The record of a run that was finished.
fn complete(folder: &Path) -> Result<RunRecord, Failure> {
    let advice = "its record has results by step and no rank of a single query, so that there is nothing to compare query by \
                  query. `quadcast compare` takes runs of forecasting and completion; `quadcast report` shows runs on \
                  changing graphs side by side";
    let record = read_record(folder, advice)?;
    let state = match record.status {
        Status::Complete => return Ok(record),
        Status::Failed => "failed",
        Status::Incomplete => "is incomplete: still running, or interrupted",
    };
    Err(Failure::input(format!(
        "the run in {} {state}; only complete runs can be compared",
        folder.display()
    )))
}

/// Same data, same protocol; the message lists what differs.
fn comparable(folders: [&Path; 2], [first, second]: &[RunRecord; 2]) -> Result<(), Failure> {
    let mut reasons = Vec::new();
    let (a, b) = (&first.dataset, &second.dataset);
    if a.fingerprint != b.fingerprint {
        reasons.push(format!(
            "dataset: {} (fingerprint {}) and {} (fingerprint {})",
            a.name, a.fingerprint, b.name, b.fingerprint
        ));
    }
    let fields = |protocol: &Protocol| serde_json::to_value(protocol).map_err(Failure::internal);
    let (theirs, ours) = (fields(&first.protocol)?, fields(&second.protocol)?);
    for (field, value) in theirs.as_object().into_iter().flatten() {
        if ours[field] != *value {
            reasons.push(format!("{field}: {} and {}", word(value), word(&ours[field])));
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    let [one, other] = folders.map(Path::display);
    Err(Failure::input(format!(
        "{one} and {other} cannot be compared, they differ in\n  {}",
        reasons.join("\n  ")
    )))
}

/// A protocol value without the quotes of JSON.
fn word(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text(folders: [&Path; 2], records: &[RunRecord; 2], comparison: &Comparison) -> String {
    let [first, second] = records;
    let mut text = format!(
        "{} · {} · ties {} · {} queries in {} steps\n",
        first.dataset.name,
        first.protocol.setting.word(),
        first.protocol.ties.word(),
        counted(comparison.queries),
        comparison.bootstrap.steps
    );
    for (title, folder, record) in [("first ", folders[0], first), ("second", folders[1], second)] {
        let (model, seed) = (&record.model.name, record.seed);
        text.push_str(&format!("{title}  {model}, seed {seed}: {}\n", folder.display()));
    }
    text.push('\n');
    text.push_str(&table(comparison));
    text.push('\n');
    text.push_str(&format!("{}\n", conclusion(&comparison.filters[0].mrr)));
    text.push_str(&format!("{}\n", method(comparison)));
    for (title, record) in [("first", first), ("second", second)] {
        if record.scores.as_ref().is_some_and(|scores| !scores.order_verified) {
            text.push_str(&format!(
                "warning: the {title} run comes from scores whose row order was not verified\n"
            ));
        }
        if record.scores.as_ref().is_some_and(|scores| scores.ranked_by.is_some()) {
            text.push_str(&format!("warning: the ranks of the {title} run were made elsewhere\n"));
        }
    }
    text
}

fn table(comparison: &Comparison) -> String {
    let header = ["filter", "metric", "first", "second", "difference", "95 % interval", "p", "verdict"];
    let mut table = plain_table(&header, 2..header.len() - 1);
    for (filter, differences) in Filter::ALL.into_iter().zip(&comparison.filters) {
        let name = if filter == Filter::Time { "time-aware" } else { filter.word() };
        let metrics = [
            ("MRR", differences.mrr),
            ("H@1", differences.hits1),
            ("H@3", differences.hits3),
            ("H@10", differences.hits10),
        ];
        for (metric, difference) in metrics {
            table.add_row([
                name.to_owned(),
                metric.to_owned(),
                percent(difference.first),
                percent(difference.second),
                points(difference.difference),
                interval(&difference),
                p_value(difference.p),
                verdict(&difference).to_owned(),
            ]);
        }
    }
    table.trim_fmt() + "\n"
}

/// Per cent points with their sign.
fn points(fraction: f64) -> String {
    match format!("{:+.2}", 100.0 * fraction) {
        zero if zero == "-0.00" || zero == "+0.00" => "0.00".to_owned(),
        other => other,
    }
}

fn interval(difference: &Difference) -> String {
    difference
        .ci95
        .map_or_else(|| "–".to_owned(), |[low, high]| format!("{} – {}", points(low), points(high)))
}

fn p_value(p: f64) -> String {
    if p < 0.001 { format!("{p:.4}") } else { format!("{p:.3}") }
}

fn verdict(difference: &Difference) -> &'static str {
    match difference {
        d if d.is_clear() && d.difference > 0.0 => "second better",
        d if d.is_clear() => "first better",
        d if d.difference == 0.0 && d.p == 1.0 => "equal",
        _ => "no clear difference",
    }
}

/// The one sentence to take away: the primary filter and metric.
fn conclusion(mrr: &Difference) -> String {
    let size = format!("{} points", points(mrr.difference.abs()).trim_start_matches('+'));
    let p = p_value(mrr.p);
    match verdict(mrr) {
        "second better" => format!("The second run is better by {size} of time-aware MRR (p = {p})."),
        "first better" => format!("The first run is better by {size} of time-aware MRR (p = {p})."),
        "equal" => "The two runs are equal in time-aware MRR.".to_owned(),
        _ => format!("The difference of {size} of time-aware MRR may be chance (p = {p})."),
    }
}

fn method(comparison: &Comparison) -> String {
    let SignFlips { blocks, patterns, exact } = comparison.permutation;
    let patterns = counted(patterns.into());
    let patterns =
        if exact { format!("all {patterns} patterns") } else { format!("{patterns} drawn patterns") };
    let mut text = format!(
        "Intervals: bootstrap over blocks of {} steps. p: sign flips of {blocks} blocks, {patterns}, two-sided.",
        comparison.bootstrap.block
    );
    let least = 2.0 / 2_f64.powf(blocks as f64);
    if least >= 0.05 {
        text.push_str(&format!(
            "\nToo few steps for a verdict: {blocks} blocks cannot give a p below {}.",
            p_value(least)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_have_signs_except_zero() {
        assert_eq!(points(0.0123), "+1.23");
        assert_eq!(points(-0.00001), "0.00");
        assert_eq!(points(0.0), "0.00");
    }

    #[test]
    fn a_verdict_needs_interval_and_p() {
        let difference =
            |ci95, p| Difference { first: 0.5, second: 0.4, difference: -0.1, ci95: Some(ci95), p };
        assert_eq!(verdict(&difference([-0.2, -0.05], 0.01)), "first better");
        assert_eq!(verdict(&difference([-0.2, 0.05], 0.01)), "no clear difference");
        assert_eq!(verdict(&difference([-0.2, -0.05], 0.06)), "no clear difference");
    }
}
