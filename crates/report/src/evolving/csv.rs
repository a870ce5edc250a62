//! Runs on changing graphs as CSV for other programs: one row per run and step, fractions, no rounding.

use quadcast_eval::Metrics;
use quadcast_eval::evolving::StepResult;

use super::EvolvingRecord;
use super::values::TripleValues;
use crate::tables::csv_line;

const COLUMNS: [&str; 38] = [
    "run",
    "model",
    "procedure",
    "data",
    "seed",
    "step",
    "queries",
    "candidates",
    "filtered_mrr",
    "filtered_hits@1",
    "filtered_hits@3",
    "filtered_hits@10",
    "filtered_mr",
    "raw_mrr",
    "raw_hits@1",
    "raw_hits@3",
    "raw_hits@10",
    "raw_mr",
    "adjusted_mr",
    "unreached",
    "accuracy",
    "accuracy_by_relation",
    "auc",
    "coverage",
    "deleted",
    "returned",
    "gone_again",
    "balanced",
    "train_seconds",
    "evaluate_seconds",
    // What decides whether rows can be compared.
    "variant",
    "fingerprint",
    "asked",
    "among",
    "ties",
    "compat",
    "updated_from",
    "version",
];

/// Steps of runs as CSV; each run with its folder. What a step does not have is empty, and runs without results have no rows.
pub fn evolving_csv<'a>(runs: impl IntoIterator<Item = (&'a str, &'a EvolvingRecord)>) -> String {
    let mut text = csv_line(&COLUMNS.map(str::to_owned));
    for (run, record) in runs {
        for step in record.outcome.iter().flat_map(|outcome| &outcome.steps) {
            text.push_str(&csv_line(&row(run, record, step)));
        }
    }
    text
}

fn row(run: &str, record: &EvolvingRecord, step: &StepResult) -> Vec<String> {
    let link = step.link.as_ref();
    let mut row = vec![
        run.to_owned(),
        record.model.name.clone(),
        record.procedure.word().to_owned(),
        record.dataset.name.clone(),
        record.seed.to_string(),
        step.label.clone(),
        optional(link.map(|link| link.filtered.queries)),
        optional(link.map(|link| link.candidates)),
    ];
    row.extend(metrics(link.map(|link| link.filtered.metrics)));
    row.extend(metrics(link.map(|link| link.raw.metrics)));
    row.push(optional(link.map(|link| link.adjusted_mean_rank)));
    row.push(optional(link.map(|link| link.unreached)));
    row.extend(TripleValues::of(step).all().map(optional));
    row.extend([step.seconds.train, step.seconds.evaluate].map(|seconds| seconds.to_string()));
    row.extend([
        record.dataset.variant.clone().unwrap_or_default(),
        record.dataset.fingerprint.to_string(),
        optional(record.asked.map(super::AskedAbout::word)),
        record.protocol.candidates.word().to_owned(),
        record.protocol.ties.word().to_owned(),
        record.protocol.compat.to_string(),
        optional(record.update.as_ref().map(|update| &update.from)),
        record.version.clone(),
    ]);
    row
}

fn metrics(metrics: Option<Metrics>) -> [String; 5] {
    let of = |value: fn(&Metrics) -> f64| optional(metrics.as_ref().map(value));
    [of(|m| m.mrr), of(|m| m.hits1), of(|m| m.hits3), of(|m| m.hits10), of(|m| m.mr)]
}

fn optional(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AskedAbout;
    use crate::samples::changing;

    #[test]
    fn one_row_per_run_and_step_with_fractions() {
        let mut second = changing("transh", 20, 2);
        second.dataset.name = "a,b".to_owned();
        second.asked = Some(AskedAbout::Sample);
        let steps = &mut second.outcome.as_mut().expect("results").steps;
        steps[0].link.as_mut().expect("links").raw.metrics.mrr = 0.125;
        steps[1].link = None;
        let first = changing("transe", 20, 1);
        let text = evolving_csv([("runs/x", &first), ("runs/y", &second)]);
        let lines: Vec<String> = text.lines().map(|line| line.replace("\"a,b\"", "a;b")).collect();
        let rows: Vec<Vec<&str>> = lines.iter().map(|line| line.split(',').collect()).collect();
        assert_eq!(rows.len(), 1 + 2 * 2, "{text}");
        assert!(rows.iter().all(|row| row.len() == COLUMNS.len()), "{text}");
        let value = |row: usize, name: &str| {
            rows[row][COLUMNS.iter().position(|column| *column == name).expect("a column")]
        };
        assert_eq!(rows[1][..6], ["runs/x", "transe", "static", "graph", "1", "1"]);
        assert_eq!([value(1, "filtered_mrr"), value(1, "raw_mr"), value(2, "accuracy")], ["0.4", "4", "0.8"]);
        assert_eq!([value(3, "raw_mrr"), value(3, "asked"), value(3, "among")], ["0.125", "sample", "now"]);
        assert_eq!([value(4, "filtered_mrr"), value(4, "queries"), value(4, "deleted")], ["", "", ""]);
    }
}
