//! The two datasets in one shape: facts as numbers, and what the numbers of times stand for.

use quadcast_core::{IntervalDataset, Split, Step, TimeAxis, Triple, Vocabulary};
use rustc_hash::FxHashMap;

use super::error::DiffError;
use quadcast_data::{Content, Loaded};

/// Subject, relation, object and the index of the time.
pub(super) type Fact = [u32; 4];

/// One dataset.
pub(super) struct Side<'a> {
    pub loaded: &'a Loaded,
    pub vocabulary: &'a Vocabulary,
    pub times: Times<'a>,
    /// Different facts in order, each with the first split that has it.
    pub facts: Vec<(Fact, Split)>,
    /// Rows that repeat a fact.
    pub repetitions: usize,
}

/// What indices of times stand for.
pub(super) enum Times<'a> {
    /// There is no time: all indices are 0.
    None,
    /// Steps.
    Axis(&'a TimeAxis),
    /// Validity intervals in words.
    Intervals(Vec<String>),
}

impl Times<'_> {
    /// What the dataset is, for messages.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::None => "a graph without time",
            Self::Axis(_) => "a set of facts with time stamps",
            Self::Intervals(_) => "a set of facts with validity intervals",
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::None => 1,
            Self::Axis(axis) => axis.len(),
            Self::Intervals(words) => words.len(),
        }
    }
}

impl<'a> Side<'a> {
    pub(super) fn of(loaded: &'a Loaded) -> Result<Self, DiffError> {
        let number = |triple: Triple, time| [triple.subject.0, triple.relation.0, triple.object.0, time];
        let mut rows: Vec<(Fact, Split)> = Vec::new();
        let (vocabulary, times) = match &loaded.content {
            Content::Temporal(dataset) => {
                for (split, facts) in dataset.splits.iter() {
                    rows.extend(facts.iter().map(|fact| (number(fact.triple(), fact.step.0), split)));
                }
                (&dataset.vocabulary, Times::Axis(&dataset.axis))
            }
            Content::Static(graph) => {
                for (split, triples) in graph.splits.iter() {
                    rows.extend(triples.iter().map(|&triple| (number(triple, 0), split)));
                }
                (&graph.vocabulary, Times::None)
            }
            Content::Intervals(dataset) => {
                let words =
                    intervals(dataset, |triple, time, split| rows.push((number(triple, time), split)));
                (&dataset.vocabulary, Times::Intervals(words))
            }
            Content::Evolving(dataset) => {
                return Err(DiffError::Unsupported { name: dataset.name.clone() });
            }
        };
        let all = rows.len();
        rows.sort_unstable();
        rows.dedup_by_key(|(fact, _)| *fact);
        let repetitions = all - rows.len();
        Ok(Self { loaded, vocabulary, times, facts: rows, repetitions })
    }

    /// A fact in words.
    pub(super) fn words(&self, [subject, relation, object, time]: Fact) -> String {
        let entity = |id| self.vocabulary.entities.name(id);
        let relation = self.vocabulary.relations.name(relation);
        let fact = format!("{} · {relation} · {}", entity(subject), entity(object));
        match &self.times {
            Times::None => fact,
            Times::Axis(axis) => format!("{fact} · {}", axis.label(Step(time))),
            Times::Intervals(words) => format!("{fact} · {}", words[time as usize]),
        }
    }
}

/// Hands out every fact with the index of its interval, and returns the intervals.
fn intervals(dataset: &IntervalDataset, mut take: impl FnMut(Triple, u32, Split)) -> Vec<String> {
    let mut known: FxHashMap<String, u32> = FxHashMap::default();
    let mut words = Vec::new();
    for (split, facts) in dataset.splits.iter() {
        for fact in facts {
            let text = format!("{} to {}", fact.start, fact.end);
            let index = *known.entry(text).or_insert_with_key(|text| {
                words.push(text.clone());
                words.len() as u32 - 1
            });
            take(fact.triple, index, split);
        }
    }
    words
}
