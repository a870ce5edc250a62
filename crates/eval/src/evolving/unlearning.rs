//! Whether a model forgets what is no longer true.

use quadcast_core::{EntityId, EvolvingModel, SelectionFilter, Triple};
use serde::{Deserialize, Serialize};

use super::StepGraph;
use super::links::ask;
use super::outcome::mean;
use crate::candidates::{CandidateList, ListKind};
use crate::{EvalError, Rank};

/// Deleted triples that are asked about at a step; more would cost more than the test triples.
const MOST: usize = 1000;

/// How plausible deleted triples are: the share of entities seen before the step that would make a worse end of the triple, other
/// true answers left out. 1 is the best answer of all, ½ is chance level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unlearning {
    /// Triples that were asked about: all that went, or a thousand of them.
    pub asked: usize,
    /// Mean share before the model heard that they went.
    pub before: f64,
    /// Mean share afterwards.
    pub after: f64,
}

/// Deleted triples to be asked about, evenly spaced over all.
pub(super) fn sample(deleted: &[Triple]) -> Vec<Triple> {
    let count = deleted.len().min(MOST);
    (0..count).map(|i| deleted[i * deleted.len() / count]).collect()
}

/// The mean share of worse answers for the deleted triples of a step, among entities that the model knew before it.
pub(super) fn plausibility(
    model: &mut dyn EvolvingModel,
    graph: &StepGraph,
    known: &[EntityId],
) -> Result<f64, EvalError> {
    let candidates = CandidateList::new(known.to_vec(), ListKind::Whole, graph.sizes);
    let ranked = ask(model, graph, (&graph.forgotten, SelectionFilter::AllSplits), &candidates)?;
    let shares = ranked.iter().filter_map(|ranked| {
        let true_answers =
            graph.now.of(&ranked.query).iter().copied().filter(|&answer| answer != ranked.gold);
        let left_out = true_answers.filter(|&answer| candidates.place(answer).is_some()).count();
        let others = candidates.ids().len() - 1 - left_out;
        let Rank { greater, tied, .. } = ranked.ranks.time;
        let worse = others as f64 - f64::from(greater) - f64::from(tied - 1) / 2.0;
        (others > 0).then(|| worse / others as f64)
    });
    // Without anybody to compare with there is nothing to tell.
    Ok(mean(&shares.collect::<Vec<f64>>()).unwrap_or(0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread_over_all() {
        let triples: Vec<Triple> = (0..2500).map(|i| Triple::new(i, 0, 0)).collect();
        assert_eq!(sample(&triples[..3]), triples[..3]);
        let drawn = sample(&triples);
        assert_eq!((drawn.len(), drawn[0], drawn[999]), (1000, triples[0], triples[2497]));
        assert!(sample(&[]).is_empty());
    }
}
