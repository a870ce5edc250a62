//! Examples of triple classification for data that brings none, or none that can be trusted.

use quadcast_core::{
    EntityId, EvolvingDataset, EvolvingStep, Split, SplitTriples, StaticGraph, Triple, TripleOperation,
};

use super::ever::Ever;
use super::negatives::honest;
use crate::index::graphs;

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
    let ever = Ever::new(triples, data.vocabulary.entities.len());
    let mut examples = Vec::with_capacity(data.steps.len());
    graphs(data, |number, graph| {
        let held_out = graph.evaluation();
        let triples = graph.train.iter().chain(&held_out.valid).chain(&held_out.test);
        let present: Vec<EntityId> = ascending(triples.flat_map(|t| [t.subject, t.object]));
        let evaluation = &graph.step.evaluation;
        let of = |split, positives: &[Triple]| {
            honest(positives, &present, &ever, (seed, split, number + 1)).labelled
        };
        examples.push([of(Split::Valid, &evaluation.valid), of(Split::Test, &evaluation.test)]);
    });
    examples
}

fn ascending<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadcast_core::{Names, Splits, Vocabulary};

    #[test]
    fn negatives_are_present_and_never_true() {
        let triples: Vec<Triple> = (0..20).map(|i| Triple::new(i, 0, (i + 1) % 20)).collect();
        let graph = StaticGraph {
            name: "ring".to_owned(),
            vocabulary: Vocabulary { entities: Names::anonymous(30), relations: Names::anonymous(1) },
            splits: Splits {
                train: triples[..10].to_vec(),
                valid: triples[10..15].to_vec(),
                test: triples[15..].to_vec(),
            },
            type_constraints: None,
        };
        let data = as_single_step(graph);
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
}
