//! Results as CSV for other programs: one row per run, filter and, of evolving graphs, step; fractions, no rounding.

use std::borrow::Cow;

use quadcast_core::{Filter, Task};
use quadcast_eval::evolving::{LinkOutcome, StepResult};
use quadcast_eval::{FilterOutcome, Part};
use quadcast_run::DatasetCard;

use crate::evolving::{TRIPLE_HEADS, triples_at};
use crate::significance::{Measure, winner};
use crate::study::{Group, Member, Study};
use crate::{LoadedRun, Options};

/// What a row is about and what decides whether rows can be compared; link prediction; triple classification of evolving graphs.
/// `step` is empty for all steps together.
const HEAD: &str = "dataset,variant,fingerprint,task,setting,validation,ties,duplicates,candidates,asked,compat,selection,\
                    updated_from,label,model,seed,version,record,filter,step,\
                    queries,mrr,mrr_low,mrr_high,hits@1,hits@3,hits@10,mr,object_mrr,subject_mrr,tied,unreached,\
                    fit_seconds,evaluate_seconds,peak_memory_bytes,best,ranked,\
                    accuracy,accuracy_by_relation,auc,coverage,deleted,returned,deleted_twice,balanced\n";

/// Results as CSV. `best` names the measures in which the run is significantly better than the next.
pub fn csv(runs: &[LoadedRun], options: &Options) -> String {
    let study = Study::new(runs, options);
    let mut text = HEAD.to_owned();
    for section in &study.sections {
        for group in &section.groups {
            for filter in Filter::ALL {
                for row in rows(section.dataset, group, filter) {
                    text.push_str(&line(&row, options.spreadsheet));
                }
            }
        }
    }
    text
}

fn rows(dataset: &DatasetCard, group: &Group<'_>, filter: Filter) -> Vec<Vec<String>> {
    let runs = group.runs();
    let winners = Measure::ALL.map(|measure| winner(&runs, filter, measure));
    let names = ["mrr", "hits@1", "hits@3", "hits@10", "mr", "object_mrr", "subject_mrr"];
    let best = |i: usize| {
        let won = names.iter().zip(winners).filter(|(_, winner)| *winner == Some(i));
        won.map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
    };
    let mut rows = Vec::new();
    for (i, member) in group.members.iter().enumerate() {
        let about = |step: &str| about(dataset, member, filter, step);
        rows.push(
            [about(""), results(member, filter, best(i)), vec![String::new(); TRIPLE_HEADS.len()]].concat(),
        );
        for step in member.run.record.evolving.iter().flat_map(|outcome| &outcome.steps) {
            let triples = triples_at(step).map(optional).to_vec();
            rows.push([about(&step.label), step_results(step, filter), triples].concat());
        }
    }
    rows
}

fn about(dataset: &DatasetCard, member: &Member<'_>, filter: Filter, step: &str) -> Vec<String> {
    let record = &member.run.record;
    let protocol = &record.protocol;
    let timed = |word: &str| if record.task == Task::Evolving { String::new() } else { word.to_owned() };
    vec![
        dataset.name.clone(),
        optional(dataset.variant.clone()),
        dataset.fingerprint.to_string(),
        record.task.word().to_owned(),
        protocol.headline().to_owned(),
        timed(protocol.validation.word()),
        protocol.ties.word().to_owned(),
        timed(protocol.duplicates.word()),
        protocol.candidates.word().to_owned(),
        optional(record.asked.map(quadcast_run::AskedAbout::word)),
        protocol.compat.to_string(),
        protocol.selection.word().to_owned(),
        optional(record.update.as_ref().map(|update| &update.from)),
        member.label.clone(),
        record.model.name.clone(),
        record.seed.to_string(),
        record.version.clone(),
        member.run.name.clone(),
        filter.word().to_owned(),
        step.to_owned(),
    ]
}

fn results(member: &Member<'_>, filter: Filter, best: String) -> Vec<String> {
    let record = &member.run.record;
    let mut row = outcome(member.run.outcome(filter), record.unreached);
    row.extend([
        record.seconds.fit.to_string(),
        record.seconds.evaluate.to_string(),
        optional(record.peak_memory_bytes),
        best,
        record.candidates().to_string(),
    ]);
    row
}

/// Link prediction at one step; what it does not have is empty.
fn step_results(step: &StepResult, filter: Filter) -> Vec<String> {
    let of = |link: &LinkOutcome| match filter {
        Filter::Time => link.filtered.clone(),
        Filter::Static => link.ever.clone(),
        Filter::Raw => link.raw.clone(),
    };
    let link = step.link.as_ref();
    let mut row = link.map_or_else(
        || [vec!["0".to_owned()], vec![String::new(); 11]].concat(),
        |link| outcome(&of(link), Some(link.unreached)),
    );
    row.extend([step.seconds.train, step.seconds.evaluate].map(|seconds| seconds.to_string()));
    row.extend([String::new(), String::new(), optional(link.map(|link| link.candidates))]);
    row
}

fn outcome(outcome: &FilterOutcome, unreached: Option<f64>) -> Vec<String> {
    let metrics = &outcome.metrics;
    let end = |i: usize| optional(outcome.ci95.map(|ci| ci.mrr[i]));
    let part = |part: Option<Part>| optional(part.map(|part| part.metrics.mrr));
    vec![
        outcome.queries.to_string(),
        metrics.mrr.to_string(),
        end(0),
        end(1),
        metrics.hits1.to_string(),
        metrics.hits3.to_string(),
        metrics.hits10.to_string(),
        metrics.mr.to_string(),
        part(outcome.object),
        part(outcome.subject),
        outcome.ties.to_string(),
        optional(unreached),
    ]
}

pub(super) fn optional(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The fields of a row, each escaped, with the end of the line.
pub(super) fn line(fields: &[String], spreadsheet: bool) -> String {
    let field = |field: &String| {
        escape(&if spreadsheet { spreadsheet_text(field) } else { Cow::Borrowed(field.as_str()) })
    };
    fields.iter().map(field).collect::<Vec<_>>().join(",") + "\n"
}

/// A field for a spreadsheet: a text that begins like a formula gets an apostrophe, so that it is not computed. Numbers stay.
pub fn spreadsheet_text(field: &str) -> Cow<'_, str> {
    let number = field.parse::<f64>().is_ok();
    match field.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r') if !number => Cow::Owned(format!("'{field}")),
        _ => Cow::Borrowed(field),
    }
}

/// A field after RFC 4180.
fn escape(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{changing, run};

    #[test]
    fn fields_are_quoted_where_needed() {
        let fields = ["plain é", "a,b", "say \"x\"", "=1+1", "-0.5", "two\nlines"].map(str::to_owned);
        let quoted = "plain é,\"a,b\",\"say \"\"x\"\"\",=1+1,-0.5,\"two\nlines\"\n";
        assert_eq!(line(&fields, false), quoted);
        assert_eq!(line(&fields, true), quoted.replace("=1+1", "'=1+1"));
        for text in ["=1", "+x", "-x", "@x", "\tx"] {
            assert_eq!(spreadsheet_text(text), format!("'{text}"));
        }
    }

    /// The rows of a report by column name.
    fn table(runs: &[LoadedRun]) -> Vec<std::collections::BTreeMap<String, String>> {
        // Labels of evolving runs hold a comma and are quoted.
        let text = csv(runs, &Options::default()).replace(", ", "; ");
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        let head = lines.next().expect("a head");
        lines
            .map(|row| {
                assert_eq!(row.len(), head.len(), "{row:?}");
                head.iter().cloned().zip(row).collect()
            })
            .collect()
    }

    #[test]
    fn one_row_per_run_and_filter_with_fractions() {
        let rows = table(&[run("a", |_| 0), run("b", |_| 3)]);
        assert_eq!(rows.len(), 2 * 3);
        assert_eq!([&rows[0]["filter"], &rows[0]["mrr"], &rows[1]["mrr"]], ["time", "1", "0.25"]);
        assert_eq!(rows[0]["best"], "mrr hits@1 hits@3 mr object_mrr subject_mrr");
    }

    #[test]
    fn evolving_runs_have_a_row_per_step_too() {
        let mut odd = changing("transh", 20, 2);
        let steps = &mut odd.record.evolving.as_mut().expect("results").steps;
        steps[0].link.as_mut().expect("links").raw.metrics.mrr = 0.125;
        steps[1].link = None;
        let rows = table(&[changing("transe", 20, 1), odd]);
        assert_eq!(rows.len(), 2 * 3 * 3);
        let of = |model: &str, filter: &str, step: &str| {
            let same = |row: &&std::collections::BTreeMap<String, String>| {
                row["model"] == model && row["filter"] == filter && row["step"] == step
            };
            rows.iter().find(same).expect("a row")
        };
        assert_eq!(of("transe", "time", "")["queries"], "12");
        assert_eq!(
            [&of("transe", "time", "1")["mrr"], &of("transe", "time", "2")["accuracy"]],
            ["0.4", "0.8"]
        );
        assert_eq!(of("transh", "raw", "1")["mrr"], "0.125");
        assert_eq!([&of("transh", "time", "2")["mrr"], &of("transh", "time", "2")["queries"]], ["", "0"]);
    }
}
