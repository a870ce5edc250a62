//! Results of a run beside those that a study has published.
//!
//! A run is set beside a row of a table if data, model and procedure are the same, and, where the row holds artefacts of
//! the code that made it, if the run repeats them. Other settings may differ: what comes of them is what the comparison shows.

use quadcast_core::{Step, TiePolicy};
use quadcast_eval::evolving::{EvolvingOutcome, Present};
use serde::Serialize;
use serde_json::Value;

use super::published_rows::{INFINITY, ROWS, Row, Values};
use super::{AskedAbout, EvolvingRecord, PublishedLine};

/// Test triples per step that the study of `WikidataEvolve` asked about.
const SAMPLE: usize = 6000;

/// A run beside one row of a published table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedComparison {
    /// Study and table.
    pub source: &'static str,
    /// Measure by measure, and step by step within one.
    pub lines: Vec<PublishedLine>,
}

/// What was published for the data, the model, the procedure and the artefacts of a run, beside what the run has. Empty if there
/// is nothing, and for updates and other candidates than those of the study.
pub fn published_comparisons(record: &EvolvingRecord) -> Vec<PublishedComparison> {
    let Some(outcome) = &record.outcome else { return Vec::new() };
    let fitting = ROWS.iter().filter(|row| fits(row, record) && asks_the_same(row, record, outcome));
    let comparisons = fitting.map(|row| PublishedComparison {
        source: row.source,
        lines: lines(row, record.protocol.ties, outcome),
    });
    comparisons.filter(|comparison| !comparison.lines.is_empty()).collect()
}

/// Where published values come from, every source once.
pub(crate) fn sources(comparisons: &[PublishedComparison]) -> String {
    let mut sources: Vec<&str> = Vec::new();
    for comparison in comparisons {
        if !sources.contains(&comparison.source) {
            sources.push(comparison.source);
        }
    }
    sources.join("; ")
}

/// Whether a run is of the kind that a row is about.
fn fits(row: &Row, record: &EvolvingRecord) -> bool {
    let setting = |key: &str| record.model.config.get(key);
    // Models that have artefacts of their own repeat them along with the evaluation, unless that was switched off.
    let artefacts =
        record.protocol.compat && setting("compat").is_none_or(|value| *value != Value::Bool(false));
    let missing = setting("missing").and_then(Value::as_str).unwrap_or(INFINITY);
    record.dataset.variant.as_deref() == Some(row.variant)
        && record.model.name == row.model
        && record.procedure == row.procedure
        && record.protocol.candidates == Present::Now
        && record.update.is_none()
        && (artefacts || !row.artefacts)
        && row.missing.is_none_or(|word| word == missing)
}

/// Whether a run was asked what the study asked: the sample of graphs that change, everything of a graph without time. Records of
/// earlier versions do not say it, but the number of test triples does.
fn asks_the_same(row: &Row, record: &EvolvingRecord, outcome: &EvolvingOutcome) -> bool {
    if row.variant != "WikidataEvolve" {
        return true;
    }
    record.asked.map_or_else(
        || outcome.steps.iter().all(|step| step.sizes.test <= SAMPLE),
        |asked| asked == AskedAbout::Sample,
    )
}

/// The steps of a row that the run has values for.
fn lines(row: &Row, ties: TiePolicy, outcome: &EvolvingOutcome) -> Vec<PublishedLine> {
    let mut lines = Vec::new();
    for &Values { measure, first, by_step } in row.values {
        for (step, &published) in (first..).zip(by_step) {
            let Some(result) = outcome.steps.iter().find(|result| result.step == Step(step)) else {
                continue;
            };
            let Some(ours) = measure.of(result, ties) else { continue };
            lines.push(PublishedLine::new(measure, result, [ours, published], row.allowance));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use quadcast_core::Split;
    use quadcast_eval::Metrics;
    use quadcast_eval::evolving::{CategoryOutcome, Counts, NegativeClassification, Procedure};
    use serde_json::json;

    use super::*;
    use crate::samples::changing;
    use crate::{PublishedMeasure, PublishedVerdict, UpdateCard};

    /// A run of two steps that could be one of the study: H@10 50 per cent, mean rank 4, accuracy 60 and 80 per cent.
    fn run(variant: &str, model: &str, procedure: Procedure, compat: bool) -> EvolvingRecord {
        let mut record = changing(model, 20, 1);
        record.dataset.variant = Some(variant.to_owned());
        record.procedure = procedure;
        record.protocol.ties = TiePolicy::Optimistic;
        record.protocol.compat = compat;
        record.asked = Some(AskedAbout::Sample);
        record
    }

    fn transe(procedure: Procedure, compat: bool) -> EvolvingRecord {
        run("WikidataEvolve", "transe", procedure, compat)
    }

    /// The numbers of the tables that a run is set beside.
    fn tables(record: &EvolvingRecord) -> Vec<&'static str> {
        let number = |source: &'static str| source.rsplit(' ').next().expect("a number");
        published_comparisons(record).iter().map(|comparison| number(comparison.source)).collect()
    }

    #[test]
    fn artefacts_are_compared_with_artefacts() {
        assert_eq!(tables(&transe(Procedure::Static, false)), ["9"]);
        assert_eq!(tables(&transe(Procedure::Static, true)), ["9", "10"]);
        assert!(tables(&transe(Procedure::PseudoIncremental, false)).is_empty());
        let mut pseudo = transe(Procedure::PseudoIncremental, true);
        assert_eq!(tables(&pseudo), ["9", "10"]);
        pseudo.model.config["compat"] = json!(true);
        assert_eq!(tables(&pseudo), ["9", "10"]);
        pseudo.model.config["compat"] = json!(false);
        assert!(tables(&pseudo).is_empty());
        assert!(tables(&transe(Procedure::Incremental, true)).is_empty());
        let universes = |compat| run("WikidataEvolve", "putranse", Procedure::Incremental, compat);
        assert!(tables(&universes(false)).is_empty());
        assert_eq!(tables(&universes(true)), ["9", "10"]);
    }

    /// The tables for the static procedure after a change.
    fn changed(change: impl FnOnce(&mut EvolvingRecord)) -> Vec<&'static str> {
        let mut record = transe(Procedure::Static, false);
        change(&mut record);
        tables(&record)
    }

    #[test]
    fn other_data_questions_and_candidates_are_not_compared() {
        assert!(changed(|record| record.dataset.variant = None).is_empty());
        let other = "WikidataEvolve-openke".to_owned();
        assert!(changed(|record| record.dataset.variant = Some(other)).is_empty());
        assert!(changed(|record| record.model.name = "incremental-transe".to_owned()).is_empty());
        assert!(changed(|record| record.asked = Some(AskedAbout::All)).is_empty());
        assert!(changed(|record| record.protocol.candidates = Present::Seen).is_empty());
        assert!(changed(|record| record.outcome = None).is_empty());
        let update = UpdateCard {
            from: "run".to_owned(),
            file: "news.txt".to_owned(),
            operations: 1,
            new_entities: 0,
            new_relations: 0,
            learned: Vec::new(),
        };
        assert!(changed(|record| record.update = Some(update)).is_empty());
        // An earlier version: the number of questions tells what they are.
        let unsaid = |test: usize| {
            changed(|record| {
                record.asked = None;
                record.outcome.as_mut().expect("results").steps[1].sizes.test = test;
            })
        };
        assert_eq!(unsaid(6000), ["9"]);
        assert!(unsaid(6001).is_empty());
    }

    #[test]
    fn unknown_answers_choose_the_row() {
        let hits = |model: &str, missing: Option<&str>, compat: bool| {
            let mut record = run("WN18", model, Procedure::Static, compat);
            record.asked = Some(AskedAbout::All);
            if let Some(word) = missing {
                record.model.config["missing"] = json!(word);
            }
            published_comparisons(&record).first().map(|comparison| {
                assert_eq!(comparison.lines.len(), 4);
                comparison.lines[0].published
            })
        };
        assert_eq!(hits("putranse", None, false), Some(83.66));
        assert_eq!(hits("putranse", Some("infinity"), true), Some(83.66));
        assert_eq!(hits("putranse", Some("null"), false), Some(83.62));
        assert_eq!(hits("putransh", Some("infinity"), false), Some(83.08));
        assert_eq!(hits("putransh", Some("null"), false), None);
        assert_eq!(hits("putransd", Some("null"), true), Some(54.93));
        assert_eq!(hits("transe", None, false), Some(91.6));
        assert_eq!(hits("transh", None, true), Some(89.81));
        assert_eq!(hits("transd", None, false), None);
    }

    #[test]
    fn settings_that_were_not_searched_to_the_end_bound_one_side() {
        let comparisons = published_comparisons(&run("WN18", "transh", Procedure::Static, false));
        let words: Vec<String> = comparisons[0].lines.iter().map(PublishedLine::allowed_words).collect();
        assert_eq!(words, ["≥ -1", "≤ +10 %", "≥ -1", "≤ +10 %"]);
        // 4 and 303.
        let last = comparisons[0].lines.last().expect("a line");
        assert_eq!((last.ours, last.difference, last.verdict), (4.0, -299.0, PublishedVerdict::Better));
    }

    #[test]
    fn ranks_are_those_of_optimistic_ties() {
        let mut record = transe(Procedure::Static, false);
        record.protocol.ties = TiePolicy::Expected;
        assert!(tables(&record).is_empty());
        let link = record.outcome.as_mut().expect("results").steps[1].link.as_mut().expect("links");
        let kept = Metrics { hits10: 0.38674, mr: 437.5, ..Metrics::default() };
        link.filtered.policy.insert("optimistic".to_owned(), kept);
        let comparisons = published_comparisons(&record);
        let lines = &comparisons[0].lines;
        let values = |line: &PublishedLine| (line.step, line.ours, line.published, line.difference);
        assert_eq!(lines.len(), 2);
        assert_eq!(values(&lines[0]), (Step(1), 38.67, 38.67, 0.0));
        assert_eq!(values(&lines[1]), (Step(1), 438.0, 438.0, 0.0));
        assert!(lines.iter().all(|line| line.verdict == PublishedVerdict::Within && line.label == "2"));
    }

    #[test]
    fn triples_of_the_past_have_values_from_the_second_step_on() {
        let mut record = run("WikidataEvolve", "putranse", Procedure::Incremental, true);
        // Counts of the study: 6666 of 7999 are taken for false.
        let counts = Counts { true_negatives: 6666, false_positives: 1333, ..Counts::default() };
        let deleted = CategoryOutcome { category: 2, split: Split::Train, counts };
        let steps = &mut record.outcome.as_mut().expect("results").steps;
        steps[1].negative = Some(NegativeClassification { categories: vec![deleted] });
        let comparisons = published_comparisons(&record);
        let last = comparisons.last().expect("a comparison");
        assert_eq!((last.source, last.lines.len()), ("Lafraie 2020, table 11", 1));
        let line = &last.lines[0];
        assert_eq!((line.measure, line.step, line.ours), (PublishedMeasure::Deleted, Step(1), 83.34));
        assert_eq!((line.verdict, line.allowed_words().as_str()), (PublishedVerdict::Within, "±1.5"));
        assert_eq!(sources(&comparisons[1..]), "Lafraie 2020, table 10; Lafraie 2020, table 11");
        let value = serde_json::to_value(line).expect("a line");
        assert_eq!((&value["measure"], &value["verdict"]), (&json!("deleted"), &json!("within")));
    }
}
