//! Every test fact once, by the strongest evidence for it.

use quadcast_core::{EntityId, Quad};
use rustc_hash::FxHashSet;
use serde::Serialize;

use super::evidence::Evidence;
use super::search::Search;
use crate::info::Share;

/// The classes, the strongest evidence first. `mirror` is by the relation itself or by a detected inverse.
const CLASSES: [&str; 7] = [
    "duplicate",
    "mirror-same-time",
    "mirror-other-time",
    "triple-seen-other-time",
    "pair-seen",
    "both-entities-seen",
    "unseen-entity",
];

/// How many test facts belong to a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassCount {
    /// The class.
    pub class: &'static str,
    /// Test facts.
    pub count: usize,
    /// The part of all test facts.
    pub share: f64,
}

/// Sorts the test facts into classes. `seen` are the entities of train, or of all that is known.
pub(super) fn classes(search: &Search<'_>, test: &[Quad], seen: &FxHashSet<EntityId>) -> Vec<ClassCount> {
    let mut counts = [0_usize; CLASSES.len()];
    for &fact in test {
        counts[class(search, fact, seen)] += 1;
    }
    let count = |(class, count)| ClassCount { class, count, share: Share::of(count, test.len()).share };
    CLASSES.into_iter().zip(counts).map(count).collect()
}

fn class(search: &Search<'_>, fact: Quad, seen: &FxHashSet<EntityId>) -> usize {
    let has = |evidence: &[Evidence]| evidence.iter().any(|&kind| search.witness(kind, fact).is_some());
    let by_evidence: [&[Evidence]; 5] = [
        &[Evidence::Exact],
        &[Evidence::Mirror, Evidence::Inverse],
        &[Evidence::MirrorAnyTime, Evidence::InverseAnyTime],
        &[Evidence::Earlier, Evidence::Seen],
        &[Evidence::PairSeen],
    ];
    by_evidence.iter().position(|evidence| has(evidence)).unwrap_or_else(|| {
        let known = [fact.subject, fact.object].iter().all(|entity| seen.contains(entity));
        if known { 5 } else { 6 }
    })
}
