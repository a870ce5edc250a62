//! The compiler from end to end.

use quadcast_core::EvolvingDataset;

use super::assign::play;
use super::error::CompileError;
use super::ever::Ever;
use super::frequency::Kept;
use super::ids::Numbered;
use super::intervals::intervals;
use super::negatives::Published;
use super::normalise::{Update, normalise};
use super::options::{CompileOptions, SplitRule};
use super::report::{CompileReport, RemovedReport, SCHEMA, StreamReport, spread};
use super::state::State;
use super::steps::Workshop;
use crate::{DataError, OperationStream, StreamClock};

/// A benchmark in memory.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The benchmark.
    pub dataset: EvolvingDataset,
    /// What was done.
    pub report: CompileReport,
    /// What the times of its operations are.
    pub(super) clock: StreamClock,
    /// Times of the operations of each step.
    pub(super) moments: Vec<Vec<i64>>,
}

/// Compiles a benchmark. The same stream, options and seed give the same benchmark, for any number of threads.
pub fn compile(stream: &OperationStream, options: &CompileOptions) -> Result<Compiled, DataError> {
    if stream.is_empty() {
        let (name, dropped) = (stream.name.clone(), stream.dropped);
        let void = dropped.void_inserts + dropped.void_deletes;
        return Err(CompileError::NoOperations { name, reflexive: dropped.reflexive, void }.into());
    }
    if options.split == SplitRule::Given && stream.splits.is_none() {
        return Err(CompileError::NoSplits { name: stream.name.clone() }.into());
    }
    let ranges = intervals(stream, &options.intervals)?;
    let mut updates = normalise(stream, &ranges, options);
    let mut removed = filter(stream, &mut updates, options)?;
    let numbered = Numbered::of(stream, &updates, options.ids);
    let sizes = [numbered.vocabulary.entities.len(), numbered.vocabulary.relations.len()];
    let mut workshop = Workshop {
        stream,
        options,
        ever: if options.compat { Ever::default() } else { numbered.ever() },
        published: options.compat.then(|| Published::new(options.seed, sizes[0])),
    };
    let mut state = State::new(&numbered.triples, sizes);
    let (mut steps, mut rows, mut moments) = (Vec::new(), Vec::new(), Vec::new());
    for (index, (update, range)) in updates.iter().zip(&ranges).enumerate() {
        play(stream, update, index, options, &mut state);
        let made = workshop.make(index, range.len(), update, &state);
        removed.without_negative += made.without_negative;
        moments.push(update.iter().map(|&at| stream.moments[at as usize]).collect());
        steps.push(made.step);
        rows.push(made.row);
    }
    let report = CompileReport {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        options: options.clone(),
        stream: describe(stream),
        removed,
        entities: sizes[0],
        relations: sizes[1],
        spread: spread(&rows),
        steps: rows,
    };
    let dataset = EvolvingDataset { name: stream.name.clone(), vocabulary: numbered.vocabulary, steps };
    Ok(Compiled { dataset, report, clock: stream.clock, moments })
}

/// Takes rare entities and relations out of the updates and says what was removed so far.
fn filter(
    stream: &OperationStream,
    updates: &mut [Update],
    options: &CompileOptions,
) -> Result<RemovedReport, CompileError> {
    let size = |updates: &[Update]| updates.iter().map(Vec::len).sum::<usize>();
    let normalised = size(updates);
    let kept = Kept::of(stream, updates, options.filter);
    for update in &mut *updates {
        update.retain(|&at| kept.has(stream.triples[stream.entries[at as usize].triple()]));
    }
    let left = size(updates);
    if left == 0 {
        let (name, filter) = (stream.name.clone(), options.filter);
        let (entity, relation) = (filter.min_entity, filter.min_relation);
        return Err(CompileError::NothingLeft { name, operations: normalised, entity, relation });
    }
    let [rare_entities, rare_relations] = kept.removed();
    Ok(RemovedReport {
        cancelled: stream.len() - normalised,
        rare_operations: normalised - left,
        rare_entities,
        rare_relations,
        filter_passes: kept.passes,
        without_negative: 0,
    })
}

fn describe(stream: &OperationStream) -> StreamReport {
    StreamReport {
        name: stream.name.clone(),
        clock: stream.clock,
        operations: stream.len(),
        triples: stream.triples.len(),
        entities: stream.vocabulary.entities.len(),
        relations: stream.vocabulary.relations.len(),
        dropped: stream.dropped,
    }
}
