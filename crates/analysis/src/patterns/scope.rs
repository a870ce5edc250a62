//! Which facts are counted.

use quadcast_core::{Quad, TimeAxis, Vocabulary};

use crate::index::{NumberedIntervals, at_once, graphs};
use quadcast_data::Content;

/// Facts and how they are told apart in time.
pub(super) struct Scope<'a> {
    /// `temporal`, `static`, `intervals` or `evolving`.
    pub kind: &'static str,
    /// The facts in words.
    pub words: String,
    pub facts: Vec<Quad>,
    pub vocabulary: &'a Vocabulary,
    /// The time axis, where steps follow each other in time.
    pub axis: Option<&'a TimeAxis>,
}

impl<'a> Scope<'a> {
    /// The training facts, or those of all splits.
    pub fn of(content: &'a Content, all: bool) -> Self {
        let words = if all { "all splits" } else { "train" }.to_owned();
        match content {
            Content::Temporal(data) => {
                let mut facts: Vec<Quad> = data.splits.train.iter().collect();
                if all {
                    facts.extend(data.splits.valid.iter().chain(data.splits.test.iter()));
                }
                let (vocabulary, axis) = (&data.vocabulary, Some(&data.axis));
                Self { kind: "temporal", words, facts, vocabulary, axis }
            }
            Content::Static(data) => {
                let mut facts: Vec<Quad> = data.splits.train.iter().map(at_once).collect();
                if all {
                    facts.extend(data.splits.valid.iter().chain(&data.splits.test).map(at_once));
                }
                Self { kind: "static", words, facts, vocabulary: &data.vocabulary, axis: None }
            }
            Content::Intervals(data) => {
                let splits = NumberedIntervals::of(data).splits;
                let mut facts = splits.train;
                if all {
                    facts.extend(splits.valid.iter().chain(&splits.test));
                }
                Self { kind: "intervals", words, facts, vocabulary: &data.vocabulary, axis: None }
            }
            Content::Evolving(data) => {
                let mut facts = Vec::new();
                // Earlier graphs hold what was deleted since: patterns are those of the latest state.
                graphs(data, |number, graph| {
                    if number + 1 == data.steps.len() {
                        facts = graph.training().collect();
                        if all {
                            let rest = graph.evaluation();
                            facts.extend(rest.valid.iter().chain(&rest.test).map(at_once));
                        }
                    }
                });
                let label = data.steps.last().map_or("none", |step| step.label.as_str());
                let words = format!("{} of the last step, {label}", if all { "the graph" } else { "train" });
                Self { kind: "evolving", words, facts, vocabulary: &data.vocabulary, axis: None }
            }
        }
    }

    /// Number of relations: those of the vocabulary, and whatever else the facts name.
    pub fn relations(&self) -> usize {
        let named = self.facts.iter().map(|fact| fact.relation.index() + 1).max().unwrap_or(0);
        named.max(self.vocabulary.relations.len())
    }
}
