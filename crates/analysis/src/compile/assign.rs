//! Permanently disjoint splits (algorithm 2 of the thesis): a triple gets its split when it appears first and keeps it, also
//! when it is deleted and comes back.

use quadcast_core::{Split, Triple, Vocabulary, stream};
use rand::seq::SliceRandom;
use sha2::{Digest, Sha256};

use super::normalise::Update;
use super::options::{CompileOptions, SplitRule};
use super::state::State;
use crate::HeldOut;
use quadcast_data::OperationStream;

/// Plays an update: triples with a split come back or go, and those that appear for the first time get one.
pub(super) fn play(
    operations: &OperationStream,
    update: &Update,
    index: usize,
    options: &CompileOptions,
    state: &mut State<'_>,
) {
    let mut newcomers: Vec<u32> = Vec::new();
    for &at in update {
        let entry = operations.entries()[at as usize];
        if state.lives[entry.triple()].split().is_some() {
            state.turn(entry.triple(), entry.insert());
        } else {
            newcomers.push(entry.triple() as u32);
        }
    }
    match (options.split, operations.splits()) {
        (SplitRule::Given, Some(splits)) => {
            for number in newcomers {
                state.begin(number as usize, splits[number as usize]);
            }
        }
        // The caller has made sure that there are splits where they are asked for.
        (SplitRule::Given, None) => {}
        (SplitRule::Drawn(held_out), _) => draw(newcomers, held_out, index, options, state),
        (SplitRule::Hashed(held_out), _) => {
            let split = |number: u32| {
                let triple = &operations.triples()[number as usize];
                held_out.split_at(place(triple, &operations.vocabulary, options.seed))
            };
            let (train, held): (Vec<_>, Vec<_>) = newcomers
                .into_iter()
                .map(|number| (number, split(number)))
                .partition(|(_, split)| *split == Split::Train);
            // Training first: it decides what is covered.
            train.into_iter().chain(held).for_each(|(number, split)| begin(number, split, options, state));
        }
    }
}

/// Where a triple lies between 0 and 1, by its names alone.
fn place(triple: &Triple, vocabulary: &Vocabulary, seed: u64) -> f64 {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    let ends = [triple.subject, triple.object].map(|end| vocabulary.entities.name(end.0));
    for name in [&ends[0], &ends[1], &vocabulary.relations.name(triple.relation.0)] {
        // Lengths keep names apart.
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
    }
    let bits = hash.finalize().first_chunk().copied().map_or(0, u64::from_le_bytes);
    (bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// Gives a triple its split; training, if it is to have what training lacks.
fn begin(number: u32, split: Split, options: &CompileOptions, state: &mut State<'_>) {
    let moved =
        split != Split::Train && options.cover_train && !state.train.cover(state.triples[number as usize]);
    state.begin(number as usize, if moved { Split::Train } else { split });
}

/// Draws the splits of newcomers. They are sorted first, so that the draw does not depend on the order in the update.
fn draw(
    mut newcomers: Vec<u32>,
    held_out: HeldOut,
    index: usize,
    options: &CompileOptions,
    state: &mut State<'_>,
) {
    newcomers.sort_unstable();
    let [valid, test] = held_out.counts(newcomers.len());
    let mut random = stream(options.seed, "evolve split", index as u64);
    let (drawn, train) = newcomers.partial_shuffle(&mut random, valid + test);
    for &number in &*train {
        state.begin(number as usize, Split::Train);
    }
    for (place, &number) in drawn.iter().enumerate() {
        let split = if place < test { Split::Test } else { Split::Valid };
        begin(number, split, options, state);
    }
}
