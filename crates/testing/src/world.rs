//! Small random worlds for tests: facts that repeat, with a test period in which new ones appear.

use quadcast_core::{Calendar, Dataset, Facts, Names, Quad, Splits, TimeAxis, Vocabulary, stream};
use rand::Rng;

/// Sizes of a world.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Number of entities.
    pub entities: u32,
    /// Number of relations.
    pub relations: u32,
    /// Number of steps.
    pub steps: u32,
    /// Facts per step.
    pub facts_per_step: usize,
}

/// A dozen entities over twenty steps.
pub const SMALL: Shape = Shape { entities: 12, relations: 3, steps: 20, facts_per_step: 8 };

/// The facts of a world: two in three repeat an earlier one.
pub fn quads(seed: u64, shape: Shape) -> Vec<Quad> {
    let mut random = stream(seed, "test world", 0);
    let mut quads: Vec<Quad> = Vec::new();
    for step in 0..shape.steps {
        for _ in 0..shape.facts_per_step {
            let old = (!quads.is_empty() && random.random_range(0..3) > 0)
                .then(|| quads[random.random_range(0..quads.len())]);
            let fresh = Quad::new(
                random.random_range(0..shape.entities),
                random.random_range(0..shape.relations),
                random.random_range(0..shape.entities),
                step,
            );
            quads.push(old.map_or(fresh, |q| Quad { step: fresh.step, ..q }));
        }
    }
    quads
}

/// A dataset of the facts: the last fifth of the steps is test, the fifth before it validation.
pub fn dataset(quads: &[Quad], shape: Shape) -> Dataset {
    let (valid, test) = (shape.steps * 3 / 5, shape.steps * 4 / 5);
    let part = |from: u32, to: u32| {
        let part = quads.iter().copied().filter(|q| (from..to).contains(&q.step.0)).collect();
        Facts::new(part, shape.steps as usize)
    };
    Dataset {
        beyond: Facts::default(),
        name: "world".to_owned(),
        vocabulary: Vocabulary {
            entities: Names::anonymous(shape.entities as usize),
            relations: Names::anonymous(shape.relations as usize),
        },
        axis: TimeAxis::new((0..i64::from(shape.steps)).collect(), Calendar::UNKNOWN),
        splits: Splits { train: part(0, valid), valid: part(valid, test), test: part(test, shape.steps) },
    }
}
