//! The compiler from end to end.

use std::ops::Range;

use quadcast_core::{EvolvingDataset, EvolvingStep};

use super::assign::play;
use super::error::CompileError;
use super::ever::Ever;
use super::frequency::Kept;
use super::ids::Numbered;
use super::intervals::intervals;
use super::negatives::Published;
use super::normalise::{TotalOrder, Update, normalise};
use super::options::{CompileOptions, SplitRule};
use super::report::{CompileReport, RemovedReport, SCHEMA, StreamReport, spread};
use super::state::State;
use super::steps::{Detail, Workshop};
use crate::AnalysisError;
use quadcast_data::OperationStream;

/// A benchmark in memory.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The benchmark.
    pub dataset: EvolvingDataset,
    /// What was done.
    pub report: CompileReport,
}

/// Compiles a benchmark in memory. The same stream, options and seed give the same benchmark, for any number of threads.
pub fn compile(stream: &OperationStream, options: &CompileOptions) -> Result<Compiled, AnalysisError> {
    let plan = Plan::new(stream, options, Detail::Everything)?;
    let mut steps = Vec::with_capacity(plan.updates.len());
    let report = plan.perform(|made| {
        steps.push(made.step);
        Ok(())
    })?;
    let dataset = EvolvingDataset { name: stream.name.clone(), vocabulary: plan.numbered.vocabulary, steps };
    Ok(Compiled { dataset, report })
}

/// A step, handed over as soon as it is made.
pub(super) struct Finished<'a> {
    pub step: EvolvingStep,
    /// The operations of the step, as places in the stream.
    pub update: &'a Update,
    /// The graph after the step.
    pub state: &'a State<'a>,
}

/// What is decided before the first step is made: where the stream is cut, what is left of it, and the ids.
pub(super) struct Plan<'a> {
    stream: &'a OperationStream,
    options: &'a CompileOptions,
    detail: Detail,
    ranges: Vec<Range<usize>>,
    updates: Vec<Update>,
    order: TotalOrder,
    removed: RemovedReport,
    pub numbered: Numbered,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        stream: &'a OperationStream,
        options: &'a CompileOptions,
        detail: Detail,
    ) -> Result<Self, AnalysisError> {
        if stream.is_empty() {
            let (name, dropped) = (stream.name.clone(), stream.dropped);
            let void = dropped.void_inserts.saturating_add(dropped.void_deletes);
            return Err(CompileError::NoOperations { name, reflexive: dropped.reflexive, void }.into());
        }
        if options.split == SplitRule::Given && stream.splits().is_none() {
            return Err(CompileError::NoSplits { name: stream.name.clone() }.into());
        }
        let ranges = intervals(stream, &options.intervals)?;
        let order = TotalOrder::of(stream, options.order);
        let mut updates = normalise(stream, &ranges, options, &order);
        let removed = filter(stream, &mut updates, options)?;
        let numbered = Numbered::of(stream, &updates, options.ids);
        Ok(Self { stream, options, detail, ranges, updates, order, removed, numbered })
    }

    /// Makes one step after the other and gives each away: a stream of many steps does not fit into memory as a list of
    /// graphs.
    pub(super) fn perform(
        &self,
        mut take: impl FnMut(Finished<'_>) -> Result<(), AnalysisError>,
    ) -> Result<CompileReport, AnalysisError> {
        let (stream, options, numbered) = (self.stream, self.options, &self.numbered);
        let sizes = [numbered.vocabulary.entities.len(), numbered.vocabulary.relations.len()];
        let everything = self.detail == Detail::Everything;
        let mut workshop = Workshop {
            stream,
            options,
            detail: self.detail,
            order: &self.order,
            ever: if everything && !options.compat { numbered.ever() } else { Ever::default() },
            published: options.compat.then(|| Published::new(options.seed, sizes[0])),
        };
        let (mut removed, mut rows) = (self.removed, Vec::with_capacity(self.updates.len()));
        let mut state = State::new(&numbered.triples, sizes);
        for (index, (update, range)) in self.updates.iter().zip(&self.ranges).enumerate() {
            play(stream, update, index, options, &mut state);
            let made = workshop.make(index, range.len(), update, &state);
            removed.without_negative += made.without_negative;
            rows.push(made.row);
            take(Finished { step: made.step, update, state: &state })?;
        }
        Ok(CompileReport {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            options: CompileOptions { sample: options.sample.filter(|_| everything), ..options.clone() },
            names: None,
            stream: describe(stream),
            removed,
            entities: sizes[0],
            relations: sizes[1],
            spread: spread(&rows),
            steps: rows,
        })
    }
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
        update.retain(|&at| kept.has(stream.triples()[stream.entries()[at as usize].triple()]));
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
        triples: stream.triples().len(),
        entities: stream.vocabulary.entities.len(),
        relations: stream.vocabulary.relations.len(),
        dropped: stream.dropped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrequencyFilter;
    use crate::FrequencyRule;
    use crate::IntervalRule;
    use crate::synth_operations;

    fn attempt(
        detail: Detail,
        take: impl FnMut(Finished<'_>) -> Result<(), AnalysisError>,
    ) -> Result<(), AnalysisError> {
        let stream = synth_operations(500, 1);
        let filter = FrequencyFilter { rule: FrequencyRule::Off, ..FrequencyFilter::default() };
        let options =
            CompileOptions { intervals: IntervalRule::Operations(50), filter, ..CompileOptions::default() };
        Plan::new(&stream, &options, detail)?.perform(take).map(|_| ())
    }

    #[test]
    fn steps_are_handed_over_as_they_are_made() {
        let mut taken = 0;
        let stopped = attempt(Detail::Everything, |made| {
            taken += 1;
            assert_eq!(made.step.label, taken.to_string());
            // The graph is that of this step: none was made ahead.
            let present = made.state.triples_present;
            assert!((taken..=10 * taken).contains(&present), "{present} after {taken} steps");
            if taken < 7 { Ok(()) } else { Err(CompileError::Size.into()) }
        });
        assert!(stopped.is_err() && taken == 7);
    }

    #[test]
    fn only_what_a_layout_holds_is_made() {
        let made = attempt(Detail::Graphs, |made| {
            let EvolvingStep { evaluation, categories, classification, entities, increment, .. } = &made.step;
            assert!(evaluation.test.is_empty() && categories.is_empty() && classification.is_empty());
            assert!(entities.is_none() && increment.is_none() && made.step.evaluation_all.is_some());
            Ok(())
        });
        made.expect("a benchmark");
    }
}
