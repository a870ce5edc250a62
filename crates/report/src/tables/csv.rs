//! Results as CSV for other programs: one row per run and filter, fractions, no rounding.

use quadcast_core::{Duplicates, Filter, ValidationUse};

use crate::significance::{Measure, winner};
use crate::study::{Group, Member, Study};
use crate::{DatasetCard, LoadedRun, Options};

const COLUMNS: [&str; 29] = [
    "dataset",
    "variant",
    "fingerprint",
    "setting",
    "validation",
    "ties",
    "duplicates",
    "label",
    "model",
    "seed",
    "version",
    "record",
    "filter",
    "queries",
    "mrr",
    "mrr_low",
    "mrr_high",
    "hits@1",
    "hits@3",
    "hits@10",
    "mr",
    "object_mrr",
    "subject_mrr",
    "tied",
    "unreached",
    "fit_seconds",
    "evaluate_seconds",
    "peak_memory_bytes",
    "best",
];

/// Results as CSV. `best` names the measures in which the run is significantly better than the next.
pub fn csv(runs: &[LoadedRun], options: &Options) -> String {
    let study = Study::new(runs, options);
    let mut text = line(&COLUMNS.map(str::to_owned));
    for section in &study.sections {
        for group in &section.groups {
            for filter in Filter::ALL {
                text.push_str(&rows(section.dataset, group, filter));
            }
        }
    }
    text
}

fn rows(dataset: &DatasetCard, group: &Group<'_>, filter: Filter) -> String {
    let runs = group.runs();
    let winners = Measure::ALL.map(|measure| winner(&runs, filter, measure));
    let names = ["mrr", "hits@1", "hits@3", "hits@10", "mr", "object_mrr", "subject_mrr"];
    let best = |i: usize| {
        let won = names.iter().zip(winners).filter(|(_, winner)| *winner == Some(i));
        won.map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
    };
    let members = group.members.iter().enumerate();
    members.map(|(i, member)| line(&row(dataset, member, filter, best(i)))).collect()
}

fn row(dataset: &DatasetCard, member: &Member<'_>, filter: Filter, best: String) -> [String; 29] {
    let (run, record) = (member.run, &member.run.record);
    let (outcome, protocol) = (run.outcome(filter), &record.protocol);
    let validation = match protocol.validation {
        ValidationUse::Observed => "observed",
        ValidationUse::Withheld => "withheld",
    };
    let duplicates = match protocol.duplicates {
        Duplicates::Drop => "drop",
        Duplicates::Keep => "keep",
    };
    let end = |i: usize| outcome.ci95.map(|ci| ci.mrr[i].to_string()).unwrap_or_default();
    let measure = |measure: Measure| measure.value(run, filter).map(|v| v.to_string()).unwrap_or_default();
    let optional = |value: Option<String>| value.unwrap_or_default();
    [
        dataset.name.clone(),
        optional(dataset.variant.clone()),
        dataset.fingerprint.to_string(),
        protocol.setting.word().to_owned(),
        validation.to_owned(),
        protocol.ties.word().to_owned(),
        duplicates.to_owned(),
        member.label.clone(),
        record.model.name.clone(),
        record.seed.to_string(),
        record.version.clone(),
        run.name.clone(),
        filter.word().to_owned(),
        outcome.queries.to_string(),
        measure(Measure::Mrr),
        end(0),
        end(1),
        measure(Measure::Hits1),
        measure(Measure::Hits3),
        measure(Measure::Hits10),
        measure(Measure::Mr),
        measure(Measure::Object),
        measure(Measure::Subject),
        outcome.ties.to_string(),
        optional(record.unreached.map(|share| share.to_string())),
        record.seconds.fit.to_string(),
        record.seconds.evaluate.to_string(),
        optional(record.peak_memory_bytes.map(|bytes| bytes.to_string())),
        best,
    ]
}

/// The fields of a row, each escaped, with the end of the line.
pub(crate) fn line(fields: &[String]) -> String {
    fields.iter().map(|field| escape(field)).collect::<Vec<_>>().join(",") + "\n"
}

/// A field after RFC 4180. A leading sign of a formula gets a quote, so that no spreadsheet computes a name.
fn escape(field: &str) -> String {
    let number = field.parse::<f64>().is_ok();
    let guarded = match field.chars().next() {
        Some('=' | '+' | '-' | '@') if !number => format!("'{field}"),
        _ => field.to_owned(),
    };
    if guarded.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::run;

    #[test]
    fn fields_are_quoted_where_needed() {
        let fields = ["plain é", "a,b", "say \"x\"", "=1+1", "-0.5", "two\nlines"].map(escape);
        assert_eq!(fields, ["plain é", "\"a,b\"", "\"say \"\"x\"\"\"", "'=1+1", "-0.5", "\"two\nlines\""]);
    }

    #[test]
    fn one_row_per_run_and_filter_with_fractions() {
        let text = csv(&[run("a", |_| 0), run("b", |_| 3)], &Options::default());
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!(rows.len(), 1 + 2 * 3);
        assert!(rows.iter().all(|row| row.len() == COLUMNS.len()), "{text}");
        assert_eq!((rows[1][12], rows[1][14], rows[2][14]), ("time", "1", "0.25"));
        assert_eq!(rows[1][28], "mrr hits@1 hits@3 mr object_mrr subject_mrr");
    }
}
