//! A stream of operations of any size: the scale test of the compiler, and a stream to try it on.
//!
//! Triples are inserted, most of them for the first time, some are deleted, and a few of those come back. Heads and tails are
//! drawn with a heavy tail from entities whose number grows with the stream. Times move on by up to a minute.

use quadcast_core::{Names, Triple, Vocabulary, stream};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use quadcast_data::{FaultPolicy, OperationStream, StreamBuilder, StreamClock};

/// 2012-10-29, when Wikidata went online.
const START: i64 = 1_351_468_800;

/// Share of the operations that delete, and of those that bring back what was deleted.
const DELETIONS: f64 = 0.08;
const RETURNS: f64 = 0.01;

/// Operations per entity in the end; about that of the stream behind the published benchmark.
const PER_ENTITY: usize = 22;

const RELATIONS: u32 = 400;
const FEWEST_ENTITIES: usize = 20;

/// Makes a well-formed stream of so many operations. The same size and seed give the same stream.
///
/// # Panics
/// Never: only absent triples are inserted, only present ones deleted, and time moves on.
pub fn synth_operations(operations: usize, seed: u64) -> OperationStream {
    let mut random = stream(seed, "synth operations", 0);
    let entities = (operations / PER_ENTITY).max(FEWEST_ENTITIES) as u32;
    let mut builder = StreamBuilder::new("synthetic".to_owned(), StreamClock::Utc, FaultPolicy::Error);
    let (mut present, mut gone): (Vec<Triple>, Vec<Triple>) = (Vec::new(), Vec::new());
    let mut moment = START;
    while builder.len() < operations {
        moment += random.random_range(0..60);
        let draw: f64 = random.random();
        let (triple, insert) = if draw < DELETIONS && !present.is_empty() {
            (present.swap_remove(random.random_range(0..present.len())), false)
        } else if draw < DELETIONS + RETURNS && !gone.is_empty() {
            (gone.swap_remove(random.random_range(0..gone.len())), true)
        } else {
            let progress = builder.len() as f64 / operations as f64;
            (new_triple(&builder, entities, progress, &mut random), true)
        };
        if insert && builder.is_present(&triple) {
            // It was deleted, and has come back by chance since.
            continue;
        }
        builder.push(triple, insert, moment).expect("operations alternate, and times only move on");
        if insert { present.push(triple) } else { gone.push(triple) }
    }
    let numbered = |size: u32| Names::new((0..size).map(|id| Some((id + 1).to_string())).collect(), None);
    let vocabulary = Vocabulary { entities: numbered(entities), relations: numbered(RELATIONS) };
    builder.finish(vocabulary, None)
}

/// A triple that is absent; it may have been there before.
fn new_triple(builder: &StreamBuilder, entities: u32, progress: f64, random: &mut ChaCha8Rng) -> Triple {
    // Half of the entities are known from the start.
    let known = f64::from(entities) * (0.5 + 0.5 * progress);
    loop {
        let mut heavy = |size: f64| (size * random.random::<f64>().powi(2)) as u32;
        let triple = Triple::new(heavy(known), heavy(f64::from(RELATIONS)), heavy(known));
        if triple.subject != triple.object && !builder.is_present(&triple) {
            return triple;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_their_size_and_kind() {
        let made = synth_operations(5000, 3);
        assert_eq!((made.len(), made.dropped), (5000, quadcast_data::Dropped::default()));
        assert_eq!(made, synth_operations(5000, 3));
        assert_ne!(made, synth_operations(5000, 4));
        let deletions = made.iter().filter(|timed| !timed.operation.insert).count();
        assert!((300..500).contains(&deletions), "{deletions}");
        let returns = 5000 - deletions - made.triples().len();
        assert!((10..200).contains(&returns), "{returns}");
    }
}
