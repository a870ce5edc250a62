//! The import from end to end.

use std::path::{Path, PathBuf};

use quadcast_core::{Duplicates, Splits};

use super::collect::{Collector, Counts};
use super::columns::Role;
use super::divide::{divided, ordered};
use super::error::ImportError;
use super::json_lines::JsonLines;
use super::layout::{Layout, of_json, of_table};
use super::options::{Granularity, ImportOptions};
#[cfg(feature = "parquet")]
use super::parquet;
use super::report::{ColumnUse, ImportReport, NameChanges, Removed, Skipped, SourceReport, SplitReport};
use super::rows::Stop;
use super::source::{Kind, Source};
use super::steps::{Decision, StepFact, on_steps};
use super::table::{Dialect, Table};
use super::write::{check, label, write, written_names};
use crate::DataError;
use crate::files::failure;

/// Version of `import.json`.
const SCHEMA: u32 = 1;

/// Reads tables of events, divides them by time and writes a dataset folder. The report says everything that was
/// read, decided, skipped and written.
pub fn import(options: &ImportOptions) -> Result<ImportReport, DataError> {
    check(&options.out, options.overwrite)?;
    if options.inputs.iter().filter(|path| path.as_path() == Path::new("-")).count() > 1 {
        let message = "- (standard input) is given more than once; it can be read only once";
        return Err(ImportError::Unusable(message.to_owned()).into());
    }
    let mut collector = Collector::new(options);
    let mut sources = Vec::new();
    for path in &options.inputs {
        sources.push(read(path, options, &mut collector)?);
    }
    let decision = collector.dates.decide(options.date_order, options.granularity)?;
    let cleaned = collector.entities.cleaned + collector.relations.cleaned;
    let names = NameChanges { trimmed_rows: collector.trimmed, cleaned };
    let skipped: Vec<Skipped> = std::mem::take(&mut collector.skipped)
        .into_iter()
        .map(|(reason, (rows, examples))| Skipped { reason, rows, examples })
        .collect();
    if collector.facts.is_empty() {
        return Err(nothing(&options.inputs, &skipped).into());
    }
    let (facts, repeated) =
        ordered(on_steps(std::mem::take(&mut collector.facts), &decision), options.duplicates);
    let splits = divided(&facts, options.shares, decision.granularity)?;
    let duplicates = Removed { rows: repeated, policy: options.duplicates };
    let used = used(&facts, &collector);
    let report = ImportReport {
        schema: SCHEMA,
        out: options.out.clone(),
        layout: "labelled",
        rows: sources.iter().map(|source| source.rows).sum(),
        sources,
        skipped,
        duplicates,
        names,
        facts: facts.len(),
        entities: used[0],
        relations: used[1],
        granularity: decision.granularity,
        date_order: options.date_order.or(decision.order),
        shares: options.shares,
        splits: described(&splits, facts.len(), decision.granularity),
        notes: notes(decision, duplicates, names),
    };
    let [entities, relations] =
        [&collector.entities, &collector.relations].map(|names| written_names(&names.names));
    write(&options.out, &splits, [&entities, &relations], &report)?;
    Ok(report)
}

/// The error of an import without a single fact.
fn nothing(inputs: &[PathBuf], skipped: &[Skipped]) -> ImportError {
    let first = skipped.iter().flat_map(|reason| &reason.examples).next();
    match (first, inputs.first()) {
        (None, Some(path)) => ImportError::no_rows(path),
        (first, _) => ImportError::Unusable(format!(
            "no row could be used: {} rows were skipped; the first: {}",
            skipped.iter().map(|reason| reason.rows).sum::<u64>(),
            first.map_or("", String::as_str)
        )),
    }
}

fn read(path: &Path, options: &ImportOptions, collector: &mut Collector) -> Result<SourceReport, DataError> {
    let source = Source::open(path)?;
    let layout = match source.kind {
        Kind::Table(promised) => of_table(&source, promised, options)?,
        Kind::JsonLines => of_json(&source, options.columns.as_ref())?,
        #[cfg(feature = "parquet")]
        Kind::Parquet => parquet::layout(&source, options.columns.as_ref())?,
    };
    collector.dates.expect(layout.form);
    let (path, kind, compression) = (source.path.clone(), source.kind, source.compression);
    let counts = rows(source, &layout, collector, &|stop| match stop {
        Stop::OpenQuote(line) => ImportError::open_quote(&path, line).into(),
        #[cfg(feature = "parquet")]
        Stop::Read(error) if kind == Kind::Parquet => parquet::damaged(&path, &error),
        Stop::Read(error) => failure(&path, compression, error),
    })?;
    let columns = Role::ALL.map(|role| {
        let position = layout.positions[role as usize];
        let name = layout.names.as_ref().and_then(|names| names.get(position)).cloned();
        ColumnUse { role, position: position + 1, name }
    });
    let mut notes = layout.notes;
    if let Some(compression) = compression {
        notes.insert(0, format!("Decompressed ({}).", compression.word()));
    }
    Ok(SourceReport {
        path,
        format: kind.word(),
        delimiter: layout.dialect.map(Dialect::delimiter_words),
        header: layout.dialect.is_some() && layout.names.is_some(),
        columns,
        guessed: layout.guessed,
        rows: counts.rows,
        skipped: counts.skipped,
        notes,
    })
}

fn rows(
    source: Source,
    layout: &Layout,
    collector: &mut Collector,
    stopped: &dyn Fn(Stop) -> DataError,
) -> Result<Counts, DataError> {
    let path = source.path.clone();
    #[cfg(feature = "parquet")]
    if source.kind == Kind::Parquet {
        let file = parquet::ParquetFile::open(&path).map_err(|error| stopped(Stop::Read(error)))?;
        return collector.read(&path, &mut file.rows(layout.positions).map_err(stopped)?, stopped);
    }
    match (layout.dialect, &layout.names) {
        (Some(dialect), names) => {
            let reader = source.into_reader();
            let mut table = Table::new(reader, dialect, names.is_some(), layout.width, layout.positions);
            collector.read(&path, &mut table, stopped)
        }
        (None, names) => {
            let key = |position: usize| names.as_ref().and_then(|names| names.get(position)).cloned();
            let keys = layout.positions.map(|position| key(position).unwrap_or_default());
            collector.read(&path, &mut JsonLines::new(source.into_reader(), keys), stopped)
        }
    }
}

/// Entities and relations that facts use.
fn used(facts: &[StepFact], collector: &Collector) -> [usize; 2] {
    let mut entities = vec![false; collector.entities.names.len()];
    let mut relations = vec![false; collector.relations.names.len()];
    for fact in facts {
        entities[fact.subject as usize] = true;
        entities[fact.object as usize] = true;
        relations[fact.relation as usize] = true;
    }
    [entities, relations].map(|used| used.into_iter().filter(|used| *used).count())
}

fn described(splits: &Splits<&[StepFact]>, all: usize, granularity: Granularity) -> Splits<SplitReport> {
    let named = |fact: Option<&StepFact>| fact.map_or_else(String::new, |fact| label(fact.step, granularity));
    splits.map(|facts| SplitReport {
        facts: facts.len(),
        share: facts.len() as f64 / all as f64,
        steps: facts.chunk_by(|a, b| a.step == b.step).count(),
        first: named(facts.first()),
        last: named(facts.last()),
    })
}

fn notes(decision: Decision, duplicates: Removed, names: NameChanges) -> Vec<String> {
    let mut notes = decision.notes;
    if duplicates.rows > 0 {
        let done = match duplicates.policy {
            Duplicates::Drop => "dropped",
            Duplicates::Keep => "kept",
        };
        let (rows, step) = (duplicates.rows, decision.granularity);
        notes.push(format!("{rows} rows repeat a fact of the same {step} and were {done}."));
    }
    if names.trimmed_rows > 0 {
        notes.push(format!("Blanks around fields were cut off in {} rows.", names.trimmed_rows));
    }
    if names.cleaned > 0 {
        notes.push(format!("Tabs and line ends became blanks in {} names.", names.cleaned));
    }
    notes
}
