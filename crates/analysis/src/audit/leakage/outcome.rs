//! What is found, as it is printed and written, and the class of every test fact.

use quadcast_core::{Detection, EntityId, Quad, Verdict};
use rustc_hash::FxHashSet;
use serde::Serialize;

use super::evidence::{Evidence, SplitKind};
use super::search::Search;
use crate::info::{Share, SharedBySplits, Unseen};
use crate::patterns::NamedMirrors;

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

/// When shares make a pattern, and how much leakage is too much.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeakageOptions {
    /// When relations count as symmetric, inverse or parallel.
    pub detection: Detection,
    /// The share of leaked test facts from which on the audit fails; without it leakage never fails.
    pub max_leakage: Option<f64>,
}

/// A fact by its names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedFact {
    /// Subject.
    pub subject: String,
    /// Relation.
    pub relation: String,
    /// Object.
    pub object: String,
    /// Time stamp or interval, if facts have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// A test fact and what gives it away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeakageExample {
    /// The test fact.
    pub test: NamedFact,
    /// The fact that gives it away.
    pub by: NamedFact,
}

/// How much of a finding is due to a relation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeakingRelation {
    /// The relation of the test facts.
    pub relation: String,
    /// Test facts found.
    pub count: usize,
    /// Test facts of the relation.
    pub of: usize,
    /// The part of them that was found.
    pub share: f64,
}

/// One kind of evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeakageCheck {
    /// Its name.
    pub id: String,
    /// The step of an evolving graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// What is found, in words, when (s, p, o, t) is a test fact.
    pub holds: String,
    /// Whether it gives the answer away, rather than help or be worth knowing.
    pub leak: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// Test facts found.
    pub count: usize,
    /// Facts looked at.
    pub of: usize,
    /// The part of them that was found.
    pub share: f64,
    /// The relations with most of them.
    pub relations: Vec<LeakingRelation>,
    /// A few of them, of different relations where possible.
    pub examples: Vec<LeakageExample>,
}

/// What the test split brings that train does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnseenInTest {
    /// Entities.
    pub entities: Unseen,
    /// Relations.
    pub relations: Unseen,
    /// Time stamps; none where they are new by construction, or where there is no time.
    pub time_stamps: Option<Unseen>,
}

/// The score of a simple predictor, for scale: how much of a benchmark needs no learning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReferenceScore {
    /// The predictor.
    pub name: String,
    /// Mean reciprocal rank, time-aware filter, as a fraction.
    pub mrr: f64,
    /// Hits at 1, as a fraction.
    #[serde(rename = "hits@1")]
    pub hits1: f64,
    /// Hits at 10, as a fraction.
    #[serde(rename = "hits@10")]
    pub hits10: f64,
}

/// What train tells about the test split.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leakage {
    /// How the dataset is divided.
    pub split_kind: SplitKind,
    /// What that means, in words.
    pub about: String,
    /// Share of the test time stamps inside the time range of train: 1 for completion, 0 for forecasting.
    pub test_time_stamps_inside_train: Option<f64>,
    /// Test facts looked at.
    pub test_facts: usize,
    /// Test facts that stand in train, or follow from a training fact of the same time by a detected pattern.
    pub leaked: Share,
    /// The largest share of leaked facts that is allowed.
    pub max_leakage: Option<f64>,
    /// The gravest verdict.
    pub verdict: Verdict,
    /// Every test fact once, by the strongest evidence.
    pub classes: Vec<ClassCount>,
    /// Kinds of evidence.
    pub checks: Vec<LeakageCheck>,
    /// What train does not have.
    pub unseen: Option<UnseenInTest>,
    /// Distinct facts that stand in two splits.
    pub identical: Option<SharedBySplits<usize>>,
    /// When shares make a pattern.
    pub detection: Detection,
    /// Patterns of train at the same time.
    pub same_time: NamedMirrors,
    /// Patterns of train at any time.
    pub any_time: NamedMirrors,
    /// Pairs of relations of train that go together at the same time.
    pub parallel: Vec<[String; 2]>,
    /// What simple predictors reach; filled in by whoever can run them.
    pub scores: Vec<ReferenceScore>,
}

/// Sorts the test facts into classes. `seen` are the entities of train.
pub(super) fn classes(search: &Search<'_>, seen: &FxHashSet<EntityId>) -> Vec<ClassCount> {
    let test = &search.facts.splits.test;
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
