//! Examples of triple classification for data that brings none, or none that can be trusted.

use quadcast_core::{
    EntityId, EvolvingDataset, EvolvingStep, Split, SplitTriples, StaticGraph, Triple, TripleOperation,
    stream,
};

use super::lists::EverTrue;
use super::negatives::{among, honest};
use crate::index::{Graph, graphs};

/// A graph without time as one that appears in one step.
pub fn as_single_step(graph: StaticGraph) -> EvolvingDataset {
    let insert = |&triple: &Triple| TripleOperation { triple, insert: true };
    let step = EvolvingStep {
        label: "1".to_owned(),
        training: graph.splits.train.iter().map(insert).collect(),
        evaluation: SplitTriples { valid: graph.splits.valid, test: graph.splits.test },
        ..EvolvingStep::default()
    };
    EvolvingDataset { name: graph.name, vocabulary: graph.vocabulary, steps: vec![step] }
}

/// For each step, examples from the validation and from the test triples that are asked about: every positive with a negative
/// of an entity that is present, which is true at no step.
pub fn draw_examples(data: &EvolvingDataset, seed: u64) -> Vec<[Vec<(Triple, bool)>; 2]> {
    let triples = data.steps.iter().flat_map(|step| {
        let all = step.evaluation_all.as_ref().unwrap_or(&step.evaluation);
        let training = step.training.iter().map(|operation| operation.triple);
        training.chain(all.valid.iter().copied()).chain(all.test.iter().copied())
    });
    let ever = EverTrue::new(triples, data.vocabulary.entities.len());
    let mut examples = Vec::with_capacity(data.steps.len());
    graphs(data, |number, graph| {
        let (present, evaluation) = (present(graph), &graph.step.evaluation);
        let of = |split, positives: &[Triple]| {
            honest(positives, &present, &ever, (seed, split, number + 1)).labelled
        };
        examples.push([of(Split::Valid, &evaluation.valid), of(Split::Test, &evaluation.test)]);
    });
    examples
}

/// Which negatives the published code drew for a model of one space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishedNegatives {
    /// Everything but training triples of the step, so that held-out truth may be among them: the static procedure.
    Untrained,
    /// Everything, training triples and the positive itself included: the pseudo-incremental procedure.
    Any,
}

/// For each step, examples from the test triples that are asked about, with a negative each of an entity that is present, as
/// the published code drew them. Do not trust them: some negatives are true.
pub fn draw_published_examples(
    data: &EvolvingDataset,
    seed: u64,
    negatives: PublishedNegatives,
) -> Vec<Vec<(Triple, bool)>> {
    let mut examples = Vec::with_capacity(data.steps.len());
    graphs(data, |number, graph| {
        let fits = |triple: &Triple| negatives == PublishedNegatives::Any || !graph.train.contains(triple);
        let random = stream(seed, "published examples", number as u64 + 1);
        examples.push(among(&graph.step.evaluation.test, &present(graph), fits, random).labelled);
    });
    examples
}

/// The entities of a graph, ascending.
fn present(graph: &Graph<'_>) -> Vec<EntityId> {
    let held_out = graph.evaluation();
    let triples = graph.train.iter().chain(&held_out.valid).chain(&held_out.test);
    let mut entities: Vec<EntityId> = triples.flat_map(|t| [t.subject, t.object]).collect();
    entities.sort_unstable();
    entities.dedup();
    entities
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadcast_core::{Names, Splits, Vocabulary};

    fn single_step(entities: usize, splits: Splits<Vec<Triple>>) -> EvolvingDataset {
        let vocabulary = Vocabulary { entities: Names::anonymous(entities), relations: Names::anonymous(1) };
        as_single_step(StaticGraph { name: String::new(), vocabulary, splits, type_constraints: None })
    }

    #[test]
    fn negatives_are_present_and_never_true() {
        let triples: Vec<Triple> = (0..20).map(|i| Triple::new(i, 0, (i + 1) % 20)).collect();
        let [train, valid, test] = [0..10, 10..15, 15..20].map(|range| triples[range].to_vec());
        let data = single_step(30, Splits { train, valid, test });
        let examples = draw_examples(&data, 1);
        assert_eq!(examples.len(), 1);
        for part in &examples[0] {
            assert_eq!(part.len(), 10);
            for (triple, label) in part {
                assert_eq!(triples.contains(triple), *label);
                assert!(triple.subject.0 < 20 && triple.object.0 < 20 && triple.subject != triple.object);
            }
        }
        assert_eq!(examples, draw_examples(&data, 1));
        assert_ne!(examples, draw_examples(&data, 2));
    }

    #[test]
    fn published_negatives_may_be_true() {
        // Everything that differs from a test triple in one end is a training triple, but for loops and other test triples.
        let all: Vec<Triple> = (0..4)
            .flat_map(|s| (0..4).map(move |o| Triple::new(s, 0, o)))
            .filter(|t| t.subject != t.object)
            .collect();
        let (test, train): (Vec<Triple>, Vec<Triple>) =
            all.iter().partition(|t| t.subject.0 + 1 == t.object.0);
        let data = single_step(9, Splits { train: train.clone(), valid: Vec::new(), test: test.clone() });
        let negatives = |seed, kind| -> Vec<Triple> {
            let examples = draw_published_examples(&data, seed, kind).remove(0);
            assert_eq!(examples[..3].iter().map(|example| example.0).collect::<Vec<_>>(), test);
            examples.into_iter().filter(|example| !example.1).map(|example| example.0).collect()
        };
        let many = |kind| (0..50).flat_map(move |seed| negatives(seed, kind)).collect::<Vec<Triple>>();
        let untrained = many(PublishedNegatives::Untrained);
        assert!(untrained.iter().all(|triple| !train.contains(triple) && triple.subject.0 < 4));
        assert!(untrained.iter().any(|triple| test.contains(triple)), "a negative that is true");
        let any = many(PublishedNegatives::Any);
        assert!(any.iter().any(|triple| train.contains(triple)), "a negative that was trained on");
        assert_eq!((untrained.len(), any.len()), (150, 150));
    }
}
