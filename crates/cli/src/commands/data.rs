//! `quadcast data …`: what is in a dataset, is it sound, and which are known.

use clap::Args;
use comfy_table::{ColumnConstraint, ContentArrangement};
use quadcast_core::{Dataset, IntervalUse, Split, Verdict};
use quadcast_data::{
    Content, Family, LeakageOptions, LoadOptions, Loaded, VARIANTS, Variant, load, locate, unroll,
};
use quadcast_report::{counted, plain_table};

use super::patterns::{DetectionArguments, share};
use crate::arguments::Source;
use crate::failure::Failure;
use crate::output::Output;
use crate::reference_scores::reference_scores;

/// Columns that a table may take.
const WIDTH: u16 = 100;

/// Finds and reads a dataset.
pub fn open(data: &str, options: LoadOptions) -> Result<Loaded, Failure> {
    Ok(load(&locate(data)?, &options)?)
}

/// The dataset, if it is one that forecasting can use.
pub fn temporal(loaded: &Loaded) -> Result<&Dataset, Failure> {
    let dataset = with_time(loaded)?;
    in_order(loaded, dataset).map(|()| dataset)
}

/// The dataset, if its facts have time stamps.
pub fn with_time(loaded: &Loaded) -> Result<&Dataset, Failure> {
    let kind = match &loaded.content {
        Content::Temporal(dataset) => return Ok(dataset),
        Content::Static(_) => "a graph without time",
        Content::Intervals(_) => "a set of facts with validity intervals",
        Content::Evolving(_) => "a graph that changes by insertions and deletions",
    };
    Err(Failure::input(format!(
        "{} is {kind}; a run needs facts with time stamps (see quadcast data info)",
        loaded.content.name()
    )))
}

/// Facts with intervals as facts at steps; everything else as it is. Tells when they are asked about, if they have intervals.
pub fn unrolled(mut loaded: Loaded, asked: IntervalUse) -> (Loaded, Option<IntervalUse>) {
    let Content::Intervals(intervals) = &loaded.content else { return (loaded, None) };
    let dataset = unroll(intervals, asked);
    loaded.notes.push(format!(
        "Intervals are unrolled over the {} years that begin or end one; held-out facts are asked about at {}.",
        dataset.axis.len(),
        match asked {
            IntervalUse::Start => "their first",
            IntervalUse::Drawn => "one of theirs",
            IntervalUse::Every => "each of theirs",
        }
    ));
    loaded.content = Content::Temporal(dataset);
    (loaded, Some(asked))
}

/// The splits follow each other in time; if not, the message names the lines.
fn in_order(loaded: &Loaded, dataset: &Dataset) -> Result<(), Failure> {
    for pair in Split::ALL.windows(2) {
        let (earlier, later) = (dataset.splits.get(pair[0]), dataset.splits.get(pair[1]));
        let (Some(last), Some(first)) = (earlier.last_step(), later.first_step()) else { continue };
        if first < last {
            let place = |split: Split, latest: bool| {
                let source = loaded.sources.as_ref().map(|sources| sources.get(split));
                let line = source.and_then(|s| if latest { s.latest_at } else { s.earliest_at });
                let file = source.map(|s| s.path.display().to_string()).unwrap_or_default();
                format!("{file}:{}", line.unwrap_or_default())
            };
            return Err(Failure::input(format!(
                "{} is not a forecasting dataset, {} starts before {} ends:\n  {} is dated {}\n  {} is dated {}\n\
                 expected splits that follow each other in time; a random split is for completion: \
                 quadcast run --task completion. quadcast data audit says more",
                dataset.name,
                pair[1],
                pair[0],
                place(pair[1], false),
                dataset.axis.label(first),
                place(pair[0], true),
                dataset.axis.label(last),
            )));
        }
    }
    Ok(())
}

/// Finds and reads a dataset in the layout that may be given.
pub fn open_source(source: &Source) -> Result<Loaded, Failure> {
    open(&source.data, LoadOptions { format: source.format.map(Into::into), ..LoadOptions::default() })
}

/// The same for who counts what is wrong with a dataset: operations that contradict the graph are read too.
fn open_to_inspect(source: &Source) -> Result<Loaded, Failure> {
    open(&source.data, LoadOptions { format: source.format.map(Into::into), contradictory: true })
}

pub fn info(source: &Source, output: &Output) -> Result<(), Failure> {
    let info = quadcast_data::info(&open_to_inspect(source)?);
    output.result(&info, || info.text())
}

/// Shown after the help.
pub const AUDIT_EXAMPLES: &str = "Examples:
  quadcast data audit examples/harbour
  quadcast data audit YAGO --json
  quadcast data audit completion/icews14 --max-leakage 0.05

Leakage is what train tells about a test fact: it warns, and fails only above --max-leakage.";

/// What to check.
#[derive(Debug, Args)]
pub struct AuditArguments {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub detection: DetectionArguments,
    /// Fail if more test facts than this stand in train or follow from a pattern at their time
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub max_leakage: Option<f64>,
}

pub fn audit(arguments: &AuditArguments, output: &Output) -> Result<(), Failure> {
    let options =
        LeakageOptions { detection: (&arguments.detection).into(), max_leakage: arguments.max_leakage };
    let loaded = open_to_inspect(&arguments.source)?;
    let mut audit = quadcast_data::audit_with(&loaded, &options);
    audit.leakage.scores = reference_scores(&loaded, audit.leakage.split_kind)?;
    output.result(&audit, || audit.text())?;
    if audit.worst() == Verdict::Fail {
        return Err(Failure::input("the audit failed; see the checks above"));
    }
    Ok(())
}

pub fn list(output: &Output) -> Result<(), Failure> {
    output.result(&VARIANTS, || {
        let mut text = catalogue();
        text.push_str("✓ counted and hashed by this project, the rest as published\n");
        text.push_str("↓ `quadcast data fetch` can download it; -v shows sources and quirks\n");
        if output.verbose {
            text.extend(VARIANTS.iter().map(details));
        }
        text
    })
}

/// One table per task.
fn catalogue() -> String {
    let families =
        [Family::Forecasting, Family::Completion, Family::Intervals, Family::Evolving, Family::Static];
    let number = |count: Option<usize>| count.map_or_else(|| "–".to_owned(), |count| counted(count as u64));
    let mut text = String::new();
    for family in families {
        let mut table =
            plain_table(&["name", "", "entities", "relations", "train", "valid", "test", "time"], 2..7);
        for variant in VARIANTS.iter().filter(|variant| variant.family == family) {
            table.add_row([
                variant.name.to_owned(),
                format!("{}{}", mark(variant.stored, "✓"), mark(!variant.files.is_empty(), "↓")),
                number(variant.entities),
                number(variant.relations),
                number(variant.train),
                number(variant.valid),
                number(variant.test),
                variant.time.to_owned(),
            ]);
        }
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
        for column in table.column_iter_mut().take(7) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        text.push_str(&format!("{}\n{}\n\n", family.word(), table.trim_fmt()));
    }
    text
}

const fn mark(set: bool, sign: &str) -> &str {
    if set { sign } else { "" }
}

/// Source, licence, other names and quirks of a variant.
fn details(variant: &Variant) -> String {
    let mut text =
        format!("\n{}\n  source: {}\n  licence: {}\n", variant.name, variant.source, variant.licence);
    if !variant.aliases.is_empty() {
        text.push_str(&format!("  also called: {}\n", variant.aliases.join(", ")));
    }
    text.extend(variant.quirks.iter().map(|quirk| format!("  - {quirk}\n")));
    text
}
