//! Intervals as numbers, so that "in the same interval" is a comparison of steps.

use quadcast_core::{IntervalDataset, IntervalFact, PartialDate, Quad, Splits, Step};
use rustc_hash::FxHashMap;

/// Facts whose step is the number of their interval. The numbers follow first appearance, not time.
pub(crate) struct NumberedIntervals {
    /// The facts of each split.
    pub splits: Splits<Vec<Quad>>,
    intervals: Vec<(PartialDate, PartialDate)>,
}

impl NumberedIntervals {
    pub fn of(data: &IntervalDataset) -> Self {
        let mut numbers: FxHashMap<(PartialDate, PartialDate), u32> = FxHashMap::default();
        let mut intervals = Vec::new();
        let mut numbered = |fact: &IntervalFact| {
            let interval = (fact.start, fact.end);
            let number = *numbers.entry(interval).or_insert_with(|| {
                intervals.push(interval);
                intervals.len() as u32 - 1
            });
            let (s, r, o) = (fact.triple.subject, fact.triple.relation, fact.triple.object);
            Quad { step: Step(number), subject: s, relation: r, object: o }
        };
        let splits = data.splits.map(|facts| facts.iter().map(&mut numbered).collect());
        Self { splits, intervals }
    }

    /// An interval in words.
    pub fn label(&self, step: Step) -> String {
        let interval = self.intervals.get(step.index());
        interval.map_or_else(|| step.0.to_string(), |(start, end)| format!("{start} to {end}"))
    }
}
