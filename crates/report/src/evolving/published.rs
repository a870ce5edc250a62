//! Results of a run beside those that a study has published.
//!
//! A run is compared with a row of a table if data, model and procedure are the same, and, where the row holds artefacts of
//! the code that made it, if the run repeats them. Other settings may differ: the comparison shows their effect.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use quadcast_core::{Candidates, Procedure, Step, TiePolicy};
use quadcast_eval::evolving::EvolvingOutcome;
use quadcast_run::{AskedAbout, Record};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::published_line::{PublishedLine, PublishedMeasure, PublishedVerdict};
use crate::study::Group;
use crate::tables::{Cell, Grid, Head};

/// What an answer counts that no universe knows, by default.
const INFINITY: &str = "infinity";

/// How far values may lie from published ones.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Allowance {
    /// Of mean ranks, in per cent of the published one.
    pub mean_rank: f64,
    /// Of everything else, in points.
    pub points: f64,
    /// Whether only worse values have a bound.
    #[serde(default)]
    pub one_sided: bool,
}

/// What one table says about one model and procedure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedRow {
    source: String,
    /// The catalogue variant of the data.
    variant: String,
    model: String,
    procedure: Procedure,
    /// Whether artefacts of the code that made the values are in them.
    #[serde(default)]
    artefacts: bool,
    missing: Option<String>,
    allowance: Allowance,
    /// Steps of the data, where lists of values may be shorter.
    steps: Option<usize>,
    /// By measure and step; a list that is shorter than `steps` ends with the last step.
    values: BTreeMap<PublishedMeasure, Vec<f64>>,
}

/// All rows, in the order of the tables; the file has them under the key `row`.
static ROWS: LazyLock<BTreeMap<String, Vec<PublishedRow>>> = LazyLock::new(|| {
    toml::from_str(include_str!("../../published/evolving.toml"))
        .expect("the file is part of the program, and a test reads it")
});

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
pub fn published_comparisons(record: &Record) -> Vec<PublishedComparison> {
    let Some(outcome) = &record.evolving else { return Vec::new() };
    let fitting = ROWS.values().flatten().filter(|row| fits(row, record));
    let comparisons = fitting.map(|row| PublishedComparison {
        source: row.source.as_str(),
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
fn fits(row: &PublishedRow, record: &Record) -> bool {
    let setting = |key: &str| record.model.config.get(key);
    // Models that have artefacts of their own repeat them along with the evaluation, unless that was switched off.
    let artefacts =
        record.protocol.compat && setting("compat").is_none_or(|value| *value != Value::Bool(false));
    let missing = setting("missing").and_then(Value::as_str).unwrap_or(INFINITY);
    record.dataset.variant.as_ref() == Some(&row.variant)
        && record.model.name == row.model
        && record.protocol.procedure == row.procedure
        && record.protocol.candidates == Candidates::Now
        && record.update.is_none()
        && (artefacts || !row.artefacts)
        && row.missing.as_ref().is_none_or(|word| word == missing)
        // The study asked a sample of graphs that change, and everything of a graph without time.
        && (row.variant != "WikidataEvolve" || record.asked == Some(AskedAbout::Sample))
}

/// The steps of a row that the run has values for.
fn lines(row: &PublishedRow, ties: TiePolicy, outcome: &EvolvingOutcome) -> Vec<PublishedLine> {
    let mut lines = Vec::new();
    for (&measure, by_step) in &row.values {
        let first = row.steps.map_or(0, |steps| steps - by_step.len()) as u32;
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

/// The part of a group on published values.
#[derive(Serialize)]
pub(crate) struct Published {
    pub sources: String,
    pub lines: Grid,
}

/// Nothing if nothing is published for any of the runs.
pub(crate) fn published(group: &Group<'_>) -> Option<Published> {
    let mut lines = Grid::new(vec![
        Head::text("run"),
        Head::text("measure"),
        Head::text("step"),
        Head::number("ours", "by optimistic ties"),
        Head::number("published", ""),
        Head::number("difference", "ours less published"),
        Head::number("allowed", "per cent of a published mean rank, points of everything else"),
        Head::text("verdict"),
    ]);
    let mut all = Vec::new();
    for member in &group.members {
        let comparisons = published_comparisons(&member.run.record);
        let compared = comparisons.iter().flat_map(|comparison| &comparison.lines);
        lines.rows.extend(compared.map(|line| row(&member.label, member.series, line)));
        all.extend(comparisons);
    }
    (!all.is_empty()).then(|| Published { sources: sources(&all), lines })
}

fn row(label: &str, series: usize, line: &PublishedLine) -> Vec<Cell> {
    let number = |value: f64| Cell::number(value, line.measure.written(value));
    let decimals = if line.measure.is_rank() { 0 } else { 2 };
    let kind = if line.verdict == PublishedVerdict::Misses { "fail" } else { "pass" };
    vec![
        Cell::run(label, series),
        Cell::text(line.measure.word()),
        Cell::number(f64::from(line.step.0), line.label.as_str()),
        number(line.ours),
        number(line.published),
        Cell::number(line.difference, format!("{:+.decimals$}", line.difference)),
        Cell::number(line.allowed, line.allowed_words()),
        Cell::text(line.verdict.word()).of_kind(kind),
    ]
}

#[cfg(test)]
mod tests {
    use quadcast_core::Split;
    use quadcast_eval::Metrics;
    use quadcast_eval::evolving::{CategoryOutcome, Counts, NegativeClassification};
    use quadcast_run::UpdateCard;
    use serde_json::json;

    use super::*;
    use crate::samples::changing;

    /// A run of two steps that could be one of the study: H@10 50 per cent, mean rank 4, accuracy 60 and 80 per cent.
    fn run(variant: &str, model: &str, procedure: Procedure, compat: bool) -> Record {
        let mut record = changing(model, 20, 1).record;
        record.dataset.variant = Some(variant.to_owned());
        record.protocol.procedure = procedure;
        record.protocol.ties = TiePolicy::Optimistic;
        record.protocol.compat = compat;
        record.asked = Some(AskedAbout::Sample);
        record
    }

    fn transe(procedure: Procedure, compat: bool) -> Record {
        run("WikidataEvolve", "transe", procedure, compat)
    }

    /// The numbers of the tables that a run is set beside.
    fn tables(record: &Record) -> Vec<&'static str> {
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
    fn changed(change: impl FnOnce(&mut Record)) -> Vec<&'static str> {
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
        assert!(changed(|record| record.protocol.candidates = Candidates::Seen).is_empty());
        assert!(changed(|record| record.evolving = None).is_empty());
        let update = UpdateCard {
            from: "run".to_owned(),
            file: "news.txt".to_owned(),
            operations: 1,
            new_entities: 0,
            new_relations: 0,
            learned: Vec::new(),
        };
        assert!(changed(|record| record.update = Some(update)).is_empty());
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
        let link = record.evolving.as_mut().expect("results").steps[1].link.as_mut().expect("links");
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
        let steps = &mut record.evolving.as_mut().expect("results").steps;
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
