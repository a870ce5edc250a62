//! A benchmark as files.

use std::path::Path;

use quadcast_core::{Split, Triple};
use rustc_hash::FxHashMap;

use super::options::BenchmarkLayout;
use super::process::Compiled;
use crate::operations::StreamBuilder;
use crate::write::{fill_folder, write_evolving, write_file, write_lkge, write_snapshots};
use crate::{
    DataError, FaultPolicy, OperationStream, StreamClock, StreamFormat, division_target, write_operations,
};

/// What was done, beside the benchmark.
const REPORT: &str = "compile.json";

impl Compiled {
    /// Writes the benchmark to a folder that is absent or empty, and its operations with it if a form is given for them.
    pub fn write(
        &self,
        folder: &Path,
        layout: BenchmarkLayout,
        operations: Option<StreamFormat>,
    ) -> Result<(), DataError> {
        division_target(folder)?;
        fill_folder(folder, |folder| {
            match layout {
                BenchmarkLayout::WikidataEvolve => write_evolving(folder, &self.dataset)?,
                BenchmarkLayout::Snapshots => write_snapshots(folder, &self.dataset)?,
                BenchmarkLayout::Lkge => write_lkge(folder, &self.dataset)?,
            }
            if let Some(format) = operations {
                let name = match format {
                    StreamFormat::Text => "mapped_triple-op2id.txt",
                    StreamFormat::Binary => "operations.qops",
                };
                write_operations(&folder.join(name), &self.operations(format), format)?;
            }
            write_file(&folder.join(REPORT), |out| {
                serde_json::to_writer_pretty(&mut *out, &self.report)?;
                out.write_all(b"\n")
            })
        })
    }

    /// The operations of all steps as one stream, with their times, steps and splits. Text holds numbers, and there they
    /// are global ids; the binary form keeps the names.
    ///
    /// # Panics
    /// Never: the compiler leaves well-formed updates, and intervals follow each other in time.
    pub fn operations(&self, format: StreamFormat) -> OperationStream {
        let mut builder = StreamBuilder::new(self.dataset.name.clone(), self.clock, FaultPolicy::Error);
        let mut splits: FxHashMap<Triple, Split> = FxHashMap::default();
        for (step, moments) in self.dataset.steps.iter().zip(&self.moments) {
            // Updates of the published code are in order of first appearance, not of time.
            let mut operations: Vec<_> = step.operations.iter().flatten().zip(moments).collect();
            operations.sort_by_key(|(_, moment)| **moment);
            for (operation, &moment) in operations {
                builder
                    .push(operation.triple, operation.insert, moment)
                    .expect("updates are well-formed, and intervals follow each other in time");
            }
            builder.end_step();
            let held_out = step.evaluation_all.iter();
            for (split, triples) in
                held_out.flat_map(|all| [(Split::Valid, &all.valid), (Split::Test, &all.test)])
            {
                splits.extend(triples.iter().map(|&triple| (triple, split)));
            }
        }
        let vocabulary = match format {
            StreamFormat::Binary => self.dataset.vocabulary.clone(),
            StreamFormat::Text => quadcast_core::Vocabulary {
                entities: quadcast_core::Names::anonymous(self.dataset.vocabulary.entities.len()),
                relations: quadcast_core::Names::anonymous(self.dataset.vocabulary.relations.len()),
            },
        };
        let split = |triple: &Triple| splits.get(triple).copied().unwrap_or(Split::Train);
        builder.finish(vocabulary, Some(&split))
    }

    /// What the times of the operations are.
    pub const fn clock(&self) -> StreamClock {
        self.clock
    }
}
