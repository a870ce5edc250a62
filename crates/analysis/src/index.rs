//! The facts of any dataset in one shape, and facts looked up by their two ends: what patterns, leakage and comparisons are
//! counted with.

use quadcast_core::{
    EntityId, EvolvingDataset, EvolvingStep, PartialDate, Quad, RelationId, SplitTriples, Splits, Step,
    TimeAxis, Triple, Vocabulary,
};
use quadcast_data::{Content, TripleSet, apply};
use rayon::slice::ParallelSliceMut;
use rustc_hash::FxHashMap;

/// The facts of a dataset by split. Without time every step is 0; with intervals it is the number of the interval. Of a graph
/// that changes, the facts are those of the last step: earlier graphs hold what was deleted since.
pub(crate) struct SplitFacts<'a> {
    pub splits: Splits<Vec<Quad>>,
    pub vocabulary: &'a Vocabulary,
    pub times: Times<'a>,
}

/// What the steps of facts stand for.
pub(crate) enum Times<'a> {
    /// There is no time.
    None,
    /// Steps that follow each other in time.
    Axis(&'a TimeAxis),
    /// Validity intervals in words, in order of first appearance.
    Intervals(Vec<String>),
}

impl Times<'_> {
    pub fn axis(&self) -> Option<&TimeAxis> {
        if let Self::Axis(axis) = self { Some(axis) } else { None }
    }

    /// The time of a step in units of the raster; its number where steps have no order.
    pub fn ordinal(&self, step: Step) -> i64 {
        self.axis().map_or(i64::from(step.0), |axis| axis.ordinal(step))
    }

    /// A step in words, if there is time.
    pub fn label(&self, step: Step) -> Option<String> {
        match self {
            Self::None => None,
            Self::Axis(axis) => Some(axis.label(step)),
            Self::Intervals(words) => Some(words[step.index()].clone()),
        }
    }
}

impl<'a> SplitFacts<'a> {
    pub fn of(content: &'a Content) -> Self {
        let timeless = |triples: &Vec<Triple>| -> Vec<Quad> { triples.iter().map(at_once).collect() };
        match content {
            Content::Temporal(data) => Self {
                splits: data.splits.map(|facts| facts.iter().collect()),
                vocabulary: &data.vocabulary,
                times: Times::Axis(&data.axis),
            },
            Content::Static(data) => {
                Self { splits: data.splits.map(timeless), vocabulary: &data.vocabulary, times: Times::None }
            }
            Content::Intervals(data) => {
                let mut numbers: FxHashMap<(PartialDate, PartialDate), u32> = FxHashMap::default();
                let mut words = Vec::new();
                let splits = data.splits.map(|facts| {
                    let numbered = facts.iter().map(|fact| {
                        let step = *numbers.entry((fact.start, fact.end)).or_insert_with(|| {
                            words.push(format!("{} to {}", fact.start, fact.end));
                            words.len() as u32 - 1
                        });
                        fact.triple.at(Step(step))
                    });
                    numbered.collect()
                });
                Self { splits, vocabulary: &data.vocabulary, times: Times::Intervals(words) }
            }
            Content::Evolving(data) => {
                let mut splits = Splits::default();
                graphs(data, |number, graph| {
                    if number + 1 == data.steps.len() {
                        let SplitTriples { valid, test } = graph.evaluation();
                        let train = graph.train.iter().map(at_once).collect();
                        splits = Splits { train, valid: timeless(valid), test: timeless(test) };
                    }
                });
                Self { splits, vocabulary: &data.vocabulary, times: Times::None }
            }
        }
    }

    /// Number of relations: those of the vocabulary, and whatever else the facts name.
    pub fn relations(&self, facts: &[Quad]) -> usize {
        let named = facts.iter().map(|fact| fact.relation.index() + 1).max().unwrap_or(0);
        named.max(self.vocabulary.relations.len())
    }
}

/// The graph of one step of a graph that changes.
pub(crate) struct Graph<'a> {
    pub step: &'a EvolvingStep,
    /// The training triples after its operations.
    pub train: &'a TripleSet,
}

impl Graph<'_> {
    /// All evaluation triples of the step, not only the ranked ones.
    pub fn evaluation(&self) -> &SplitTriples {
        self.step.evaluation_all.as_ref().unwrap_or(&self.step.evaluation)
    }
}

/// A triple as a fact of the only step there is.
pub(crate) fn at_once(triple: &Triple) -> Quad {
    triple.at(Step(0))
}

/// Walks through the steps and shows the graph after each.
pub(crate) fn graphs(data: &EvolvingDataset, mut see: impl FnMut(usize, &Graph<'_>)) {
    let mut train = TripleSet::default();
    for (number, step) in data.steps.iter().enumerate() {
        apply(&mut train, &step.training);
        see(number, &Graph { step, train: &train });
    }
}

/// Facts by subject and object, each once. Sorted vectors: built quickly, small, and every question is a range.
pub(crate) struct FactIndex {
    /// Subject, object, relation, step.
    by_relation: Vec<[u32; 4]>,
    /// Subject, object, step, relation.
    by_step: Vec<[u32; 4]>,
}

impl FactIndex {
    /// Sorts facts, given in any order.
    pub fn of(facts: impl IntoIterator<Item = Quad>) -> Self {
        let row = |fact: Quad| [fact.subject.0, fact.object.0, fact.relation.0, fact.step.0];
        let mut by_relation: Vec<[u32; 4]> = facts.into_iter().map(row).collect();
        by_relation.par_sort_unstable();
        by_relation.dedup();
        let mut by_step: Vec<[u32; 4]> = by_relation.iter().map(|&[s, o, r, t]| [s, o, t, r]).collect();
        by_step.par_sort_unstable();
        Self { by_relation, by_step }
    }

    /// The facts, in order of subject, object, relation, step.
    pub fn facts(&self) -> impl Iterator<Item = Quad> + '_ {
        self.by_relation.iter().map(|&[s, o, r, t]| Quad::new(s, r, o, t))
    }

    /// Whether a fact is there.
    pub fn contains(&self, fact: Quad) -> bool {
        let row = [fact.subject.0, fact.object.0, fact.relation.0, fact.step.0];
        self.by_relation.binary_search(&row).is_ok()
    }

    /// When a triple holds.
    pub fn occurrences(&self, triple: Triple) -> Occurrences<'_> {
        Occurrences(range(&self.by_relation, &[triple.subject.0, triple.object.0, triple.relation.0]))
    }

    /// The relations from one entity to another at a step, ascending.
    pub fn relations_at(
        &self,
        subject: EntityId,
        object: EntityId,
        step: Step,
    ) -> impl Iterator<Item = RelationId> + '_ {
        range(&self.by_step, &[subject.0, object.0, step.0]).iter().map(|row| RelationId(row[3]))
    }

    /// The first fact from one entity to another, by any relation.
    pub fn first_between(&self, subject: EntityId, object: EntityId) -> Option<Quad> {
        let &[s, o, t, r] = range(&self.by_step, &[subject.0, object.0]).first()?;
        Some(Quad::new(s, r, o, t))
    }
}

/// The rows that begin with some ids.
fn range<'a>(rows: &'a [[u32; 4]], ids: &[u32]) -> &'a [[u32; 4]] {
    let start = rows.partition_point(|row| row[..ids.len()] < *ids);
    let rest = &rows[start..];
    &rest[..rest.partition_point(|row| row[..ids.len()] == *ids)]
}

/// The steps at which a triple holds, ascending.
#[derive(Clone, Copy)]
pub(crate) struct Occurrences<'a>(&'a [[u32; 4]]);

impl Occurrences<'_> {
    /// The first of all.
    pub fn first(&self) -> Option<Step> {
        self.0.first().map(|row| Step(row[3]))
    }

    /// Whether the triple holds at a step.
    pub fn has(&self, step: Step) -> bool {
        self.0.binary_search_by_key(&step.0, |row| row[3]).is_ok()
    }

    /// The last one before a step.
    pub fn last_before(&self, step: Step) -> Option<Step> {
        let before = self.0.partition_point(|row| row[3] < step.0);
        self.0[..before].last().map(|row| Step(row[3]))
    }

    /// The nearest one that is not the step itself, and how far away it is; the earlier of two that are equally near.
    pub fn nearest_other(&self, step: Step, time: impl Fn(Step) -> i64) -> Option<(Step, u64)> {
        let after = self.0.partition_point(|row| row[3] <= step.0);
        let later = self.0.get(after).map(|row| Step(row[3]));
        let distance = |other: Step| (other, time(step).abs_diff(time(other)));
        let near = [self.last_before(step), later].into_iter().flatten().map(distance);
        near.min_by_key(|(_, distance)| *distance)
    }

    /// The nearest one, and how far away it is: the step itself if the triple holds then.
    pub fn nearest(&self, step: Step, time: impl Fn(Step) -> i64) -> Option<(Step, u64)> {
        if self.has(step) { Some((step, 0)) } else { self.nearest_other(step, time) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn questions_on_paper() {
        let facts = [(0, 0, 1, 9), (0, 0, 1, 2), (0, 0, 1, 2), (0, 3, 1, 2), (1, 0, 0, 5)];
        let index = FactIndex::of(facts.map(|(s, r, o, t)| Quad::new(s, r, o, t)));
        assert_eq!(index.facts().count(), 4);
        assert!(index.contains(Quad::new(1, 0, 0, 5)) && !index.contains(Quad::new(1, 0, 0, 4)));
        let at: Vec<u32> = index.relations_at(EntityId(0), EntityId(1), Step(2)).map(|r| r.0).collect();
        assert_eq!(at, [0, 3]);
        assert_eq!(index.first_between(EntityId(1), EntityId(0)), Some(Quad::new(1, 0, 0, 5)));
        assert_eq!(index.first_between(EntityId(1), EntityId(1)), None);
        let occurrences = index.occurrences(Triple::new(0, 0, 1));
        assert_eq!((occurrences.first(), occurrences.last_before(Step(9))), (Some(Step(2)), Some(Step(2))));
        assert_eq!(occurrences.last_before(Step(2)), None);
        // Times are not steps: step 9 is a long way from step 6.
        let time = |step: Step| i64::from(step.0) * i64::from(step.0);
        assert_eq!(occurrences.nearest_other(Step(6), time), Some((Step(2), 32)));
        assert_eq!(occurrences.nearest_other(Step(9), time), Some((Step(2), 77)));
        assert_eq!(occurrences.nearest(Step(9), time), Some((Step(9), 0)));
        assert_eq!(index.occurrences(Triple::new(2, 0, 1)).nearest(Step(1), time), None);
    }

    proptest! {
        #[test]
        fn the_nearest_is_the_nearest_of_all(
            steps in prop::collection::vec(0_u32..40, 0..12), at in 0_u32..40
        ) {
            let index = FactIndex::of(steps.iter().map(|&t| Quad::new(0, 0, 1, t)));
            let time = |step: Step| i64::from(step.0);
            let distance = |t: u32| u64::from(t.abs_diff(at));
            let occurrences = index.occurrences(Triple::new(0, 0, 1));
            let nearest = occurrences.nearest(Step(at), time).map(|(_, distance)| distance);
            prop_assert_eq!(nearest, steps.iter().map(|&t| distance(t)).min());
            let other = occurrences.nearest_other(Step(at), time).map(|(_, distance)| distance);
            prop_assert_eq!(other, steps.iter().filter(|&&t| t != at).map(|&t| distance(t)).min());
        }
    }
}
