//! The compiler from end to end.

use std::ops::Range;

use quadcast_core::{EvolvingDataset, EvolvingStep};

use super::assign::play;
use super::frequency::Frequent;
use super::ids::Numbered;
use super::intervals::intervals;
use super::lists::EverTrue;
use super::negatives::Published;
use super::normalise::{TotalOrder, Update, normalise};
use super::options::{CompileOptions, FrequencyFilter, SplitRule};
use super::report::{CompileReport, RemovedReport, SCHEMA, StreamReport, spread};
use super::state::State;
use super::steps::Negatives;
use crate::error::{AnalysisError, refuse};
use quadcast_data::{Dropped, OperationStream};

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
    let compilation = Compilation::new(stream, options, true)?;
    let mut steps = Vec::with_capacity(compilation.updates.len());
    let report = compilation.perform(|step, _, _| {
        steps.push(step);
        Ok(())
    })?;
    let vocabulary = compilation.numbered.vocabulary;
    Ok(Compiled { dataset: EvolvingDataset { name: stream.name.clone(), vocabulary, steps }, report })
}

/// What is decided before the first step is made: where the stream is cut, what is left of it, and the ids.
pub(super) struct Compilation<'a> {
    pub stream: &'a OperationStream,
    pub options: &'a CompileOptions,
    /// Whether increments, samples, examples, categories and lists of what is present are made as well, or only operations
    /// and the full evaluation sets: what a layout has no room for need not be worked out.
    pub everything: bool,
    pub ranges: Vec<Range<usize>>,
    pub updates: Vec<Update>,
    pub order: TotalOrder,
    removed: RemovedReport,
    pub numbered: Numbered,
}

impl<'a> Compilation<'a> {
    pub(super) fn new(
        stream: &'a OperationStream,
        options: &'a CompileOptions,
        everything: bool,
    ) -> Result<Self, AnalysisError> {
        let name = &stream.name;
        if stream.is_empty() {
            let Dropped { void_inserts, void_deletes, reflexive } = stream.dropped;
            let void = void_inserts.saturating_add(void_deletes);
            return refuse(format!(
                "{name}: no operation is left: {reflexive} of its rows lead from an entity to itself and {void} contradict the graph, \
                 and such rows are left out; expected at least one insertion of a triple between two entities"
            ));
        }
        if options.split == SplitRule::Given && stream.splits().is_none() {
            return refuse(format!(
                "{name} does not say which split a triple belongs to; give shares instead, such as --split 90/5/5"
            ));
        }
        let ranges = intervals(stream, &options.intervals)?;
        let order = TotalOrder::of(stream, options.order);
        let mut updates = normalise(stream, &ranges, options, &order);
        let removed = filter(stream, &mut updates, options.filter)?;
        let numbered = Numbered::of(stream, &updates, options.ids);
        Ok(Self { stream, options, everything, ranges, updates, order, removed, numbered })
    }

    /// Makes one step after the other and gives each away, with its operations as places in the stream and the graph after
    /// it: a stream of many steps does not fit into memory as a list of graphs.
    pub(super) fn perform(
        &self,
        mut take: impl FnMut(EvolvingStep, &Update, &State<'_>) -> Result<(), AnalysisError>,
    ) -> Result<CompileReport, AnalysisError> {
        let (stream, options, numbered) = (self.stream, self.options, &self.numbered);
        let sizes = [numbered.vocabulary.entities.len(), numbered.vocabulary.relations.len()];
        let mut negatives = match (options.compat, self.everything) {
            (true, _) => Negatives::Published(Published::new(options.seed, sizes[0])),
            (false, true) => Negatives::Honest(numbered.ever()),
            (false, false) => Negatives::Honest(EverTrue::default()),
        };
        let (mut removed, mut rows) = (self.removed, Vec::with_capacity(self.updates.len()));
        let mut state = State::new(&numbered.triples, sizes);
        for (index, update) in self.updates.iter().enumerate() {
            play(stream, update, index, options, &mut state);
            let (step, row, without_negative) = self.step(index, &state, &mut negatives);
            removed.without_negative += without_negative;
            rows.push(row);
            take(step, update, &state)?;
        }
        Ok(CompileReport {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            options: CompileOptions { sample: options.sample.filter(|_| self.everything), ..options.clone() },
            names: None,
            stream: StreamReport {
                name: stream.name.clone(),
                clock: stream.clock,
                operations: stream.len(),
                triples: stream.triples().len(),
                entities: stream.vocabulary.entities.len(),
                relations: stream.vocabulary.relations.len(),
                dropped: stream.dropped,
            },
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
    filter: FrequencyFilter,
) -> Result<RemovedReport, AnalysisError> {
    let size = |updates: &[Update]| updates.iter().map(Vec::len).sum::<usize>();
    let normalised = size(updates);
    let frequent = Frequent::of(stream, updates, filter);
    for update in &mut *updates {
        update.retain(|&at| frequent.has(stream.triples()[stream.entries()[at as usize].triple()]));
    }
    let left = size(updates);
    if left == 0 {
        let FrequencyFilter { min_entity, min_relation, .. } = filter;
        return refuse(format!(
            "{}: the frequency filter leaves no operation of {normalised}; lower --min-entity {min_entity} or \
             --min-relation {min_relation}, or use --filter off",
            stream.name
        ));
    }
    let [rare_entities, rare_relations] = frequent.removed();
    Ok(RemovedReport {
        cancelled: stream.len() - normalised,
        rare_operations: normalised - left,
        rare_entities,
        rare_relations,
        filter_passes: frequent.passes,
        without_negative: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IntervalRule, synth_operations};

    fn attempt(
        everything: bool,
        take: impl FnMut(EvolvingStep, &Update, &State<'_>) -> Result<(), AnalysisError>,
    ) -> Result<(), AnalysisError> {
        let stream = synth_operations(500, 1);
        let (intervals, filter) = (IntervalRule::Operations(50), FrequencyFilter::OFF);
        let options = CompileOptions { intervals, filter, ..CompileOptions::default() };
        Compilation::new(&stream, &options, everything)?.perform(take).map(|_| ())
    }

    #[test]
    fn steps_are_handed_over_as_they_are_made() {
        let mut taken = 0;
        let stopped = attempt(true, |step, _, state| {
            taken += 1;
            assert_eq!(step.label, taken.to_string());
            // The graph is that of this step: none was made ahead.
            let present = state.graph.triples;
            assert!((taken..=10 * taken).contains(&present), "{present} after {taken} steps");
            if taken < 7 { Ok(()) } else { Err(AnalysisError::Input("enough".to_owned())) }
        });
        assert!(stopped.is_err() && taken == 7);
    }

    #[test]
    fn only_what_a_layout_holds_is_made() {
        let made = attempt(false, |step, _, _| {
            let EvolvingStep { evaluation, categories, classification, entities, increment, .. } = &step;
            assert!(evaluation.test.is_empty() && categories.is_empty() && classification.is_empty());
            assert!(entities.is_none() && increment.is_none() && step.evaluation_all.is_some());
            Ok(())
        });
        made.expect("a benchmark");
    }
}
