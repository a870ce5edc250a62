//! The two datasets in one shape, and the ways to align their times: by date where both know theirs, else by number or by
//! distance from the first step.

use quadcast_core::{Quad, Split, Step, TimeAxis};
use quadcast_data::{Content, Loaded};
use rustc_hash::FxHashMap;

use crate::AnalysisError;
use crate::index::{SplitFacts, Times};

/// Subject, relation, object and the index of the time.
pub(super) type Fact = [u32; 4];

/// One dataset.
pub(super) struct Side<'a> {
    pub loaded: &'a Loaded,
    pub data: SplitFacts<'a>,
    /// Different facts in order, each with the first split that has it.
    pub facts: Vec<(Fact, Split)>,
    /// Rows that repeat a fact.
    pub repetitions: usize,
}

impl<'a> Side<'a> {
    pub(super) fn of(loaded: &'a Loaded) -> Result<Self, AnalysisError> {
        if let Content::Evolving(dataset) = &loaded.content {
            return Err(AnalysisError::Input(format!(
                "{} is a graph that changes by insertions and deletions; only facts with time stamps, facts with \
                 validity intervals and graphs without time can be compared",
                dataset.name
            )));
        }
        let data = SplitFacts::of(&loaded.content);
        let mut facts: Vec<(Fact, Split)> = Vec::new();
        for (split, quads) in data.splits.iter() {
            let number = |fact: &Quad| [fact.subject.0, fact.relation.0, fact.object.0, fact.step.0];
            facts.extend(quads.iter().map(|fact| (number(fact), split)));
        }
        let all = facts.len();
        facts.sort_unstable();
        facts.dedup_by_key(|(fact, _)| *fact);
        let repetitions = all - facts.len();
        Ok(Self { loaded, data, facts, repetitions })
    }

    /// A fact in words.
    pub(super) fn words(&self, [subject, relation, object, time]: Fact) -> String {
        let entity = |id| self.data.vocabulary.entities.name(id);
        let relation = self.data.vocabulary.relations.name(relation);
        let fact = format!("{} · {relation} · {}", entity(subject), entity(object));
        match self.data.times.label(Step(time)) {
            Some(time) => format!("{fact} · {time}"),
            None => fact,
        }
    }

    /// What the dataset is, for messages.
    pub(super) const fn kind(&self) -> &'static str {
        match self.data.times {
            Times::None => "a graph without time",
            Times::Axis(_) => "a set of facts with time stamps",
            Times::Intervals(_) => "a set of facts with validity intervals",
        }
    }

    /// How many different times there are.
    pub(super) fn times(&self) -> usize {
        match &self.data.times {
            Times::None => 1,
            Times::Axis(axis) => axis.len(),
            Times::Intervals(words) => words.len(),
        }
    }
}

/// A way to align time: the index of A for each index of B that has one.
pub(super) struct AlignedTimes {
    pub to_a: Vec<Option<u32>>,
    /// `calendar`, `number`, `offset` or `interval`; `None` without time.
    pub by: Option<&'static str>,
    pub note: String,
}

/// The ways in which two kinds of time can be aligned, the most natural first; none if the kinds differ.
pub(super) fn ways(a: &Times<'_>, b: &Times<'_>) -> Vec<AlignedTimes> {
    match (a, b) {
        (Times::None, Times::None) => {
            vec![AlignedTimes { to_a: vec![Some(0)], by: None, note: String::new() }]
        }
        (Times::Axis(a), Times::Axis(b)) => of_axes(a, b),
        (Times::Intervals(a), Times::Intervals(b)) => {
            let note = "Intervals are the same if both ends are written alike.".to_owned();
            vec![AlignedTimes { to_a: equal(a.iter(), b.iter()), by: Some("interval"), note }]
        }
        _ => Vec::new(),
    }
}

fn of_axes(a: &TimeAxis, b: &TimeAxis) -> Vec<AlignedTimes> {
    let dated = [a, b].map(|axis| axis.calendar().year_zero.is_some());
    if dated == [true; 2] {
        let [of_a, of_b] = [a, b].map(labels);
        let note = "Times are compared by calendar date.".to_owned();
        return vec![AlignedTimes { to_a: equal(of_a.iter(), of_b.iter()), by: Some("calendar"), note }];
    }
    let why = match dated {
        [false, false] => "Neither dataset has a calendar",
        [false, true] => "A has no calendar",
        _ => "B has no calendar",
    };
    let [of_a, of_b] = [a, b].map(distances);
    let offset = AlignedTimes {
        to_a: equal(of_a.iter(), of_b.iter()),
        by: Some("offset"),
        note: format!("{why}: times are compared by their distance from the first step of each dataset."),
    };
    if dated != [false; 2] {
        return vec![offset];
    }
    let note = format!("{why}: times are compared as the numbers that they are.");
    vec![AlignedTimes { to_a: equal(a.times().iter(), b.times().iter()), by: Some("number"), note }, offset]
}

fn labels(axis: &TimeAxis) -> Vec<String> {
    (0..axis.len() as u32).map(|step| axis.label(Step(step))).collect()
}

/// Distances from the first step, in units of the raster.
fn distances(axis: &TimeAxis) -> Vec<i64> {
    let first = axis.ordinal(Step(0));
    (0..axis.len() as u32).map(|step| axis.ordinal(Step(step)) - first).collect()
}

/// For each item of B the position of the same item in A.
fn equal<T: std::hash::Hash + Eq>(
    a: impl Iterator<Item = T>,
    b: impl Iterator<Item = T>,
) -> Vec<Option<u32>> {
    let of_a: FxHashMap<T, u32> = a.zip(0..).collect();
    b.map(|item| of_a.get(&item).copied()).collect()
}
