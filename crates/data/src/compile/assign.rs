//! Permanently disjoint splits (algorithm 2 of the thesis): a triple gets its split when it appears first and keeps it, also
//! when it is deleted and comes back.

use quadcast_core::{Split, stream};
use rand::seq::SliceRandom;

use super::normalise::Update;
use super::options::{CompileOptions, SplitRule};
use super::state::State;
use crate::{HeldOut, OperationStream};

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
        let entry = operations.entries[at as usize];
        if state.life(entry.triple()).split().is_some() {
            state.turn(entry.triple(), entry.insert());
        } else {
            newcomers.push(entry.triple() as u32);
        }
    }
    match (options.split, &operations.splits) {
        (SplitRule::Given, Some(splits)) => {
            for number in newcomers {
                state.begin(number as usize, splits[number as usize]);
            }
        }
        // The caller has made sure that there are splits where they are asked for.
        (SplitRule::Given, None) => {}
        (SplitRule::Drawn(held_out), _) => draw(newcomers, held_out, index, options, state),
    }
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
        let moved = options.cover_train && !state.covered(number as usize);
        state.begin(number as usize, if moved { Split::Train } else { split });
    }
}
