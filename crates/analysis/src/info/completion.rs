//! What a completion benchmark gives away: how much of the test split train nearly contains.

use quadcast_core::{Dataset, Quad, Step};
use rustc_hash::FxHashSet;
use serde::Serialize;

use super::counting::Share;

/// Shares of test facts `(s, r, o, t)` for which train holds a telling fact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CompletionInfo {
    /// `(s, r, o)` at any time.
    pub in_train_at_any_time: Share,
    /// `(s, r, o)` at an earlier time.
    pub in_train_earlier: Share,
    /// `(s, r, o)` one raster unit before.
    pub in_train_one_before: Share,
    /// `(s, r, o)` one raster unit before or after.
    pub in_train_one_before_or_after: Share,
    /// `(o, r, s)` at the same time.
    pub mirrored_in_train: Share,
    /// `(o, any relation, s)` at the same time.
    pub reversed_pair_in_train: Share,
    /// Share of the test time stamps inside the time range of train: 1 for completion, 0 for forecasting.
    pub test_time_stamps_inside_train: f64,
}

/// Train as sets: quads, and pairs at a time.
struct TrainSets {
    quads: FxHashSet<Quad>,
    pairs: FxHashSet<[u32; 3]>,
    /// Sorted by triple, then step.
    by_triple: Vec<(quadcast_core::Triple, Step)>,
}

impl TrainSets {
    fn of(data: &Dataset) -> Self {
        let train = &data.splits.train;
        let mut by_triple: Vec<_> = train.iter().map(|quad| (quad.triple(), quad.step)).collect();
        by_triple.sort_unstable();
        Self {
            quads: train.iter().collect(),
            pairs: train.iter().map(|quad| [quad.subject.0, quad.object.0, quad.step.0]).collect(),
            by_triple,
        }
    }

    /// First step at which train holds the triple.
    fn first(&self, triple: quadcast_core::Triple) -> Option<Step> {
        let start = self.by_triple.partition_point(|row| row.0 < triple);
        self.by_triple.get(start).filter(|row| row.0 == triple).map(|row| row.1)
    }
}

impl CompletionInfo {
    pub(super) fn of(data: &Dataset) -> Self {
        let train = TrainSets::of(data);
        let mut counts = [0_usize; 6];
        for quad in data.splits.test.iter() {
            let first = train.first(quad.triple());
            let at =
                |step: Option<Step>| step.is_some_and(|step| train.quads.contains(&Quad { step, ..quad }));
            let before = at(neighbour(data, quad.step, -1));
            let after = at(neighbour(data, quad.step, 1));
            let mirrored = Quad { subject: quad.object, object: quad.subject, ..quad };
            let hits = [
                first.is_some(),
                first.is_some_and(|first| first < quad.step),
                before,
                before || after,
                train.quads.contains(&mirrored),
                train.pairs.contains(&[quad.object.0, quad.subject.0, quad.step.0]),
            ];
            for (count, hit) in counts.iter_mut().zip(hits) {
                *count += usize::from(hit);
            }
        }
        let [any, earlier, one_before, around, mirrored, reversed] =
            counts.map(|count| Share::of(count, data.splits.test.len()));
        Self {
            in_train_at_any_time: any,
            in_train_earlier: earlier,
            in_train_one_before: one_before,
            in_train_one_before_or_after: around,
            mirrored_in_train: mirrored,
            reversed_pair_in_train: reversed,
            test_time_stamps_inside_train: inside_train(data),
        }
    }
}

/// The step exactly `units` raster units away, if it occurs: in a gap there is no neighbour.
fn neighbour(data: &Dataset, step: Step, units: i64) -> Option<Step> {
    data.axis.step(data.axis.time(step) + units * data.axis.granularity())
}

/// Share of the test time stamps inside the time range of train.
pub(crate) fn inside_train(data: &Dataset) -> f64 {
    let Some((first, last)) = data.splits.train.first_step().zip(data.splits.train.last_step()) else {
        return 0.0;
    };
    let steps: Vec<Step> = data.splits.test.occupied().collect();
    Share::of(steps.iter().filter(|&&step| first <= step && step <= last).count(), steps.len()).share
}
