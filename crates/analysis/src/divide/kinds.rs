//! The kinds of datasets that can be divided, seen as facts at steps; without time, all facts are at step 0.

use quadcast_core::{Dataset, Facts, Quad, Splits, StaticGraph, Vocabulary};

use super::error::DivideError;
use crate::index::at_once;
use quadcast_data::write::fits_labelled;
use quadcast_data::{Content, Format};

/// A dataset that can be divided.
#[derive(Clone, Copy)]
pub(super) enum Divisible<'a> {
    Temporal(&'a Dataset),
    Static(&'a StaticGraph),
}

impl<'a> Divisible<'a> {
    pub(super) fn of(content: &'a Content) -> Result<Self, DivideError> {
        let kind = match content {
            Content::Temporal(dataset) => return Ok(Self::Temporal(dataset)),
            Content::Static(graph) => return Ok(Self::Static(graph)),
            Content::Intervals(_) => "a set of facts with validity intervals",
            Content::Evolving(_) => "a graph that changes by insertions and deletions",
        };
        Err(DivideError::Unsupported { name: content.name().to_owned(), kind })
    }

    pub(super) const fn vocabulary(self) -> &'a Vocabulary {
        match self {
            Self::Temporal(dataset) => &dataset.vocabulary,
            Self::Static(graph) => &graph.vocabulary,
        }
    }

    /// The facts as they are divided now.
    pub(super) fn splits(self) -> Splits<Vec<Quad>> {
        match self {
            Self::Temporal(dataset) => dataset.splits.map(|facts| facts.iter().collect()),
            Self::Static(graph) => graph.splits.map(|triples| triples.iter().map(at_once).collect()),
        }
    }

    /// The same with other splits.
    pub(super) fn with_splits(self, splits: Splits<Vec<Quad>>) -> Content {
        let Splits { train, valid, test } = splits;
        match self {
            Self::Temporal(dataset) => {
                let steps = dataset.axis.len();
                let [train, valid, test] = [train, valid, test].map(|facts| Facts::new(facts, steps));
                Content::Temporal(Dataset {
                    beyond: Facts::default(),
                    splits: Splits { train, valid, test },
                    name: dataset.name.clone(),
                    vocabulary: dataset.vocabulary.clone(),
                    axis: dataset.axis.clone(),
                })
            }
            Self::Static(graph) => {
                let [train, valid, test] =
                    [train, valid, test].map(|facts| facts.into_iter().map(Quad::triple).collect());
                Content::Static(StaticGraph {
                    splits: Splits { train, valid, test },
                    name: graph.name.clone(),
                    vocabulary: graph.vocabulary.clone(),
                    type_constraints: graph.type_constraints.clone(),
                })
            }
        }
    }

    /// First and last time of each split of sorted facts.
    pub(super) fn periods(self, splits: &Splits<Vec<Quad>>) -> Option<Splits<[String; 2]>> {
        let Self::Temporal(dataset) = self else { return None };
        let label = |fact: Option<&Quad>| fact.map_or_else(String::new, |fact| dataset.axis.label(fact.step));
        Some(splits.map(|facts| [label(facts.first()), label(facts.last())]))
    }

    /// The layout in which the dataset is written.
    pub(super) fn layout(self) -> Format {
        match self {
            Self::Temporal(dataset) if fits_labelled(dataset) => Format::Labelled,
            Self::Temporal(_) => Format::Quads,
            Self::Static(_) => Format::Openke,
        }
    }
}
