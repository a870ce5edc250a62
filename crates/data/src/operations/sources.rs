//! Streams made from datasets: facts with time stamps that begin and cease to hold, and graphs that change in steps.

use std::borrow::Cow;

use quadcast_core::{Dataset, EvolvingDataset, EvolvingStep, Quad, Split, Step, Triple, TripleOperation};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::build::{Fault, StreamBuilder};
use super::stream::{FaultPolicy, OperationStream, StreamClock, TripleSet, apply, head_tail_relation};
use crate::{Content, DataError};

/// How long a fact with a time stamp holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hold {
    /// So many steps from each of its time stamps; 1 means only at the steps that name it.
    Steps(u32),
    /// From its first time stamp on.
    Ever,
}

impl Default for Hold {
    fn default() -> Self {
        Self::Steps(1)
    }
}

/// The operations of a dataset. Only facts with time stamps are asked how long they `hold`.
pub fn operations_of(
    content: &Content,
    hold: Hold,
    policy: FaultPolicy,
) -> Result<OperationStream, DataError> {
    let unsuitable = |kind| {
        let name = content.name();
        Err(DataError::Unusable(format!(
            "{name} is {kind}; a stream comes from a file of operations, facts with time stamps, or an evolving graph"
        )))
    };
    match content {
        Content::Temporal(dataset) => Ok(of_facts(dataset, hold)),
        Content::Evolving(dataset) => of_steps(dataset, policy),
        Content::Static(_) => unsuitable("a graph without time"),
        Content::Intervals(_) => unsuitable("a set of facts with validity intervals"),
    }
}

/// A fact is inserted when it begins to hold and deleted at the first step at which it does not.
fn of_facts(dataset: &Dataset, hold: Hold) -> OperationStream {
    let mut facts: Vec<(Triple, Step)> = Split::ALL
        .iter()
        .flat_map(|&split| dataset.splits.get(split).iter())
        .map(|q: Quad| (q.triple(), q.step))
        .collect();
    facts.sort_unstable();
    facts.dedup();
    let steps = dataset.axis.len() as u32;
    // Deletions come first within a step: the fact that replaces another follows it.
    let mut changes: Vec<(Step, bool, Triple)> = Vec::new();
    for same in facts.chunk_by(|a, b| a.0 == b.0) {
        let mut until = None;
        for &(triple, step) in same {
            let end = match hold {
                Hold::Steps(length) => step.0.saturating_add(length.max(1)),
                Hold::Ever => u32::MAX,
            };
            match until {
                Some(open) if step.0 <= open => {}
                open => {
                    changes.extend(open.map(|open| (Step(open), false, triple)));
                    changes.push((step, true, triple));
                }
            }
            until = Some(end);
        }
        if let (Some(open), Some((triple, _))) = (until.filter(|open| *open < steps), same.first()) {
            changes.push((Step(open), false, *triple));
        }
    }
    changes.sort_unstable();
    let mut builder = StreamBuilder::new(dataset.name.clone(), StreamClock::Number, FaultPolicy::Drop);
    let mut changes = changes.into_iter().peekable();
    // A step at which nothing begins or ends is a step all the same.
    for step in (0..steps).map(Step) {
        while let Some((_, insert, triple)) = changes.next_if(|change| change.0 == step) {
            builder
                .push(triple, insert, dataset.axis.time(step))
                .expect("the changes of a triple alternate, and steps are in order of time");
        }
        builder.end_step();
    }
    builder.finish(dataset.vocabulary.clone(), None)
}

/// The operations of every step, as listed or as the difference of its graph to the one before.
fn of_steps(dataset: &EvolvingDataset, policy: FaultPolicy) -> Result<OperationStream, DataError> {
    let mut builder = StreamBuilder::new(dataset.name.clone(), StreamClock::Order, policy);
    let mut splits: FxHashMap<Triple, Split> = FxHashMap::default();
    let (mut train, mut before) = (TripleSet::default(), TripleSet::default());
    for step in &dataset.steps {
        let full = step.evaluation_all.as_ref().unwrap_or(&step.evaluation);
        let now: TripleSet = full.valid.iter().chain(&full.test).copied().collect();
        apply(&mut train, &step.training);
        let operations = match &step.operations {
            Some(listed) => Cow::Borrowed(listed),
            None => Cow::Owned(derived_operations(step, &before, &now, &train, &builder)),
        };
        for operation in operations.iter() {
            let pushed = builder.push(operation.triple, operation.insert, 0);
            pushed.map_err(|fault| contradiction(dataset, step, *operation, fault))?;
        }
        builder.end_step();
        // The first split that a triple is seen in is the one it stays in.
        for operation in &step.training {
            splits.entry(operation.triple).or_insert(Split::Train);
        }
        for (split, triples) in [(Split::Valid, &full.valid), (Split::Test, &full.test)] {
            for &triple in triples {
                splits.entry(triple).or_insert(split);
            }
        }
        before = now;
    }
    let split = |triple: &Triple| splits.get(triple).copied().unwrap_or(Split::Train);
    Ok(builder.finish(dataset.vocabulary.clone(), Some(&split)))
}

/// What comes and goes at a step that does not list all of its operations, from the evaluation triples `before` it and
/// `now` and the training triples after it: training triples in the order of their operations, then evaluation triples. A
/// triple that only changes its split does neither.
fn derived_operations(
    step: &EvolvingStep,
    before: &TripleSet,
    now: &TripleSet,
    train: &TripleSet,
    graph: &StreamBuilder,
) -> Vec<TripleOperation> {
    let full = step.evaluation_all.as_ref().unwrap_or(&step.evaluation);
    let mut gone: Vec<Triple> = before.difference(now).copied().collect();
    gone.sort_unstable();
    let training = step.training.iter().map(|operation| operation.triple);
    let touched = training.chain(full.valid.iter().copied()).chain(full.test.iter().copied()).chain(gone);
    let mut handled = TripleSet::default();
    touched
        .filter(|triple| handled.insert(*triple))
        .map(|triple| (triple, train.contains(&triple) || now.contains(&triple)))
        .filter(|(triple, wanted)| *wanted != graph.is_present(triple))
        .map(|(triple, insert)| TripleOperation { triple, insert })
        .collect()
}

fn contradiction(
    dataset: &EvolvingDataset,
    step: &EvolvingStep,
    operation: TripleOperation,
    fault: Fault,
) -> DataError {
    let problem = match fault {
        Fault::Present => "inserts again",
        Fault::Absent => "deletes, although absent,",
        Fault::Backwards(_) => "turns back time for",
    };
    let (name, step, triple) = (&dataset.name, &step.label, head_tail_relation(operation.triple));
    DataError::Unusable(format!(
        "{name}: step {step} {problem} the triple {triple}; correct the dataset (data audit says more), or leave such \
         operations out with --policy drop"
    ))
}
