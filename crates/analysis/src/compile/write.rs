//! A benchmark as files. Every step is written when it is made, and then forgotten.

use std::path::Path;
use std::time::{Duration, Instant};

use quadcast_core::{Names, Split, Triple, Vocabulary};
use rustc_hash::FxHashMap;

use super::normalise::Update;
use super::options::{BenchmarkLayout, CompileOptions};
use super::process::Compilation;
use super::report::CompileReport;
use super::state::State;
use crate::AnalysisError;
use quadcast_data::write::{
    EvolvingWriter, LkgeWriter, SnapshotsWriter, StepWriter, fill_folder, free_folder, write_file,
};
use quadcast_data::{
    COMPILED, FaultPolicy, OperationStream, StreamBuilder, StreamFormat, wikidata, write_operations,
};

/// Where a benchmark goes, and in which form.
#[derive(Clone, Copy, Debug)]
pub struct BenchmarkTarget<'a> {
    /// A folder that is absent or empty.
    pub folder: &'a Path,
    /// Its layout.
    pub layout: BenchmarkLayout,
    /// The form in which the operations of all steps are added, if at all.
    pub operations: Option<StreamFormat>,
}

/// A benchmark on the disk.
#[derive(Clone, Debug)]
pub struct WrittenBenchmark {
    /// What was done, as it stands in `compile.json`.
    pub report: CompileReport,
    /// How long it took to make the steps.
    pub compiling: Duration,
    /// How long it took to write them.
    pub writing: Duration,
}

/// Compiles a benchmark into a folder, which is whole in the end or not there at all. The same stream, options and seed give
/// the same bytes, for any number of threads.
pub fn compile_to(
    stream: &OperationStream,
    options: &CompileOptions,
    target: BenchmarkTarget<'_>,
) -> Result<WrittenBenchmark, AnalysisError> {
    free_folder(target.folder)?;
    let start = Instant::now();
    let everything = target.layout == BenchmarkLayout::WikidataEvolve;
    let compilation = Compilation::new(stream, options, everything)?;
    let mut writing = Duration::ZERO;
    let report = fill_folder(target.folder, |folder| {
        let vocabulary = &compilation.numbered.vocabulary;
        let mut writer: Box<dyn StepWriter> = match target.layout {
            BenchmarkLayout::WikidataEvolve => Box::new(EvolvingWriter::new(folder, vocabulary)?),
            BenchmarkLayout::Snapshots => Box::new(SnapshotsWriter::new(folder, vocabulary)?),
            BenchmarkLayout::Lkge => Box::new(LkgeWriter::new(folder, vocabulary)?),
        };
        let mut exported = target.operations.map(|format| Exported::new(stream, format));
        let mut report = compilation.perform(|step, update, state| {
            let start = Instant::now();
            if let Some(exported) = &mut exported {
                exported.add(stream, update, state);
            }
            let written = writer.step(&step);
            writing += start.elapsed();
            Ok(written?)
        })?;
        let start = Instant::now();
        if let Some(exported) = exported {
            exported.write(folder, vocabulary)?;
        }
        let bare = everything && wikidata::all_numbers(vocabulary);
        report.names = bare.then_some(wikidata::NUMBERS);
        write_file(&folder.join(COMPILED), |out| {
            serde_json::to_writer_pretty(&mut *out, &report)?;
            out.write_all(b"\n")
        })?;
        writing += start.elapsed();
        Ok::<_, AnalysisError>(report)
    })?;
    Ok(WrittenBenchmark { report, compiling: start.elapsed().saturating_sub(writing), writing })
}

/// The operations of all steps as one stream, with their times, steps and splits.
struct Exported {
    format: StreamFormat,
    builder: StreamBuilder,
    /// Splits of the triples that are not for training.
    held_out: FxHashMap<Triple, Split>,
}

impl Exported {
    fn new(stream: &OperationStream, format: StreamFormat) -> Self {
        let builder = StreamBuilder::new(stream.name.clone(), stream.clock, FaultPolicy::Error);
        Self { format, builder, held_out: FxHashMap::default() }
    }

    /// Adds the operations of a step.
    fn add(&mut self, stream: &OperationStream, update: &Update, state: &State<'_>) {
        // Updates of the published code are in order of first appearance, not of time.
        let mut places = update.clone();
        places.sort_by_key(|&at| stream.moments()[at as usize]);
        for at in places {
            let entry = stream.entries()[at as usize];
            let triple = state.triples[entry.triple()];
            self.builder
                .push(triple, entry.insert(), stream.moments()[at as usize])
                .expect("updates are well-formed, and intervals follow each other in time");
            if let Some(split @ (Split::Valid | Split::Test)) = state.lives[entry.triple()].split() {
                self.held_out.insert(triple, split);
            }
        }
        self.builder.end_step();
    }

    /// Writes them. Text holds numbers, and there they are global ids; the binary form keeps the names.
    fn write(self, folder: &Path, vocabulary: &Vocabulary) -> Result<(), AnalysisError> {
        let (name, vocabulary) = match self.format {
            StreamFormat::Binary => ("operations.qops", vocabulary.clone()),
            StreamFormat::Text => (
                "mapped_triple-op2id.txt",
                Vocabulary {
                    entities: Names::anonymous(vocabulary.entities.len()),
                    relations: Names::anonymous(vocabulary.relations.len()),
                },
            ),
        };
        let split = |triple: &Triple| self.held_out.get(triple).copied().unwrap_or(Split::Train);
        let stream = self.builder.finish(vocabulary, Some(&split));
        Ok(write_operations(&folder.join(name), &stream, self.format)?)
    }
}
