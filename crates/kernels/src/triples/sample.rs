//! Training samples, the random draws they are made of, training settings and penalties.

use std::ops::Range;

use super::energy::SoftConstraint;
use super::loss::Loss;
use super::negatives::{End, Negatives};
use super::table::Layout;
use crate::optimisers::Optimiser;

/// Triples to learn from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// True triples: head, relation, tail.
    pub triples: &'a [[u32; 3]],
    /// False triples for the last true ones, one each; those get no sampled false triples.
    pub against: &'a [[u32; 3]],
    /// The sampler of false triples for the others.
    pub negatives: &'a Negatives,
}

/// One step's worth of triples.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Which triples of the source, in order; may repeat.
    pub picks: &'a [u32],
    /// Key of the random draws.
    pub key: u64,
    /// Number of the batch, for [`Replaced::InTurn`](super::Replaced::InTurn).
    pub turn: u64,
}

/// Settings of the training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The loss of a sample; that of a batch is the mean.
    pub loss: Loss,
    /// False triples per true one that differ in an end.
    pub negatives: usize,
    /// False triples per true one that differ in the relation.
    pub relation_negatives: usize,
    /// The optimiser.
    pub optimiser: Optimiser,
    /// Weight of the mean square of all numbers that the batch uses, as often as it uses them, averaged over the segments
    /// of heads, relations and tails.
    pub penalty: f64,
    /// Weight of the sum of |x|³ over all numbers of all rows, those that the batch does not use included.
    pub cubes: f64,
}

impl Settings {
    /// False triples per true one.
    pub(super) fn wrong(&self) -> usize {
        self.negatives + self.relation_negatives
    }
}

/// A false triple and the end in which it differs from the true one; `None`: it may differ anywhere.
pub(super) type Wrong = ([u32; 3], Option<End>);

/// Samples that are processed together. Their rows are scattered in memory: drawing several samples first lets the processor load
/// several rows at a time.
pub(super) const TOGETHER: usize = 32;

/// Some samples: true triples, each with its false ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    pub triples: Vec<[u32; 3]>,
    pub wrong: Vec<Wrong>,
    /// Where the false ones of each start, and where the last end.
    starts: Vec<usize>,
}

impl Samples {
    /// Which of the false triples belong to a sample.
    #[inline(always)]
    pub fn wrong_of(&self, sample: usize) -> Range<usize> {
        self.starts[sample]..self.starts[sample + 1]
    }

    /// The true triples, then the false ones.
    #[inline(always)]
    pub fn all(&self) -> impl Iterator<Item = [u32; 3]> {
        self.triples.iter().copied().chain(self.wrong.iter().map(|&(triple, _)| triple))
    }

    /// Draws the samples of a range of a batch.
    #[inline(always)]
    pub fn draw(&mut self, source: &Source<'_>, batch: &Batch<'_>, range: Range<usize>, settings: &Settings) {
        self.triples.clear();
        self.wrong.clear();
        self.starts.clear();
        self.triples.extend(batch.picks[range.clone()].iter().map(|&pick| source.triples[pick as usize]));
        let drawn = source.triples.len() - source.against.len();
        for (&triple, i) in self.triples.iter().zip(range) {
            self.starts.push(self.wrong.len());
            let index = batch.picks[i] as usize;
            if index >= drawn {
                let wrong = source.against[index - drawn];
                self.wrong.push((wrong, differing(triple, wrong)));
                continue;
            }
            let mut draws = Draws::new(batch.key, i as u64);
            for _ in 0..settings.negatives {
                let (triple, end) = source.negatives.draw(index, triple, batch.turn, &mut draws);
                self.wrong.push((triple, Some(end)));
            }
            for _ in 0..settings.relation_negatives {
                self.wrong.push((source.negatives.draw_relation(index, triple, &mut draws), None));
            }
        }
        self.starts.push(self.wrong.len());
    }
}

/// The end in which a false triple differs, if it does so in one only.
#[inline(always)]
fn differing(triple: [u32; 3], wrong: [u32; 3]) -> Option<End> {
    match [0, 1, 2].map(|place| triple[place] == wrong[place]) {
        [_, true, true] => Some(End::Head),
        [true, true, false] => Some(End::Tail),
        _ => None,
    }
}

impl Source<'_> {
    /// The samples of a step on a batch, for tests.
    pub fn samples(&self, batch: &Batch<'_>, settings: &Settings) -> Vec<([u32; 3], Vec<[u32; 3]>)> {
        let mut samples = Samples::default();
        samples.draw(self, batch, 0..batch.picks.len(), settings);
        let wrong = |i: usize| samples.wrong[samples.wrong_of(i)].iter().map(|&(triple, _)| triple).collect();
        samples.triples.iter().enumerate().map(|(i, &triple)| (triple, wrong(i))).collect()
    }
}

/// A penalty on a row, counted for every use of the row unless stated otherwise. Places are those of segments, widths are padded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Penalty {
    /// weight·Σ|x|³, whether the row is used or not
    Cube { weight: f64 },
    /// weight·‖v‖²
    Square { place: usize, width: usize, weight: f64 },
    /// weight·max(0, ‖v‖² − 1)
    Long { place: usize, width: usize, weight: f64 },
    /// weight·max(0, cos²(v, w) − tolerated)
    Along { places: [usize; 2], width: usize, weight: f64, tolerated: f64 },
}

pub(super) type Penalties = Vec<Penalty>;

/// The penalties of a batch on the rows of entities and of relations.
pub(super) fn penalties(
    settings: &Settings,
    samples: usize,
    layouts: [&Layout; 2],
    constraints: [Vec<SoftConstraint>; 2],
) -> [Penalties; 2] {
    let (weight, uses) = (settings.penalty, samples * (1 + settings.wrong()));
    let cube = (settings.cubes > 0.0).then_some(Penalty::Cube { weight: settings.cubes });
    // Heads and tails are separate groups.
    let groups = 2 * layouts[0].0.len() + layouts[1].0.len();
    let [entity, relation] = constraints;
    [(layouts[0], entity), (layouts[1], relation)].map(|(layout, constraints)| {
        let factor = |width: usize| weight / (groups * uses * width.max(1)) as f64;
        let squares = layout.places().filter(|_| weight > 0.0).map(|(place, s)| Penalty::Square {
            place,
            width: super::padded(s.width),
            weight: factor(s.width),
        });
        let places: Vec<(usize, usize)> =
            layout.places().map(|(place, s)| (place, super::padded(s.width))).collect();
        let constrained = constraints.into_iter().map(|constraint| match constraint {
            SoftConstraint::UnitBall { segment, weight } => {
                let (place, width) = places[segment];
                Penalty::Long { place, width, weight: weight / uses as f64 }
            }
            SoftConstraint::Orthogonal { segments, weight, tolerance } => {
                let [(first, width), (second, _)] = segments.map(|segment| places[segment]);
                let (weight, tolerated) = (weight / uses as f64, tolerance * tolerance);
                Penalty::Along { places: [first, second], width, weight, tolerated }
            }
        });
        cube.into_iter().chain(squares).chain(constrained).collect()
    })
}

/// Draws of one sample.
///
/// A batch needs tens of thousands of draws on several threads. The named streams of the project are cryptographic and too slow for
/// this: they give the key of a batch, and `SplitMix64`, a hash of key and counter that passes the usual statistical tests, gives
/// the draws. Every sample has its own start, so draws do not depend on threads.
#[derive(Clone, Debug)]
pub struct Draws(u64);

/// The odd number nearest to 2⁶⁴ divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Draws {
    /// The draws of a sample under the key of its batch.
    #[inline(always)]
    pub fn new(key: u64, sample: u64) -> Self {
        // Mixed, so that the counters of neighbouring samples do not overlap.
        Self(mix(key ^ mix(sample.wrapping_add(GOLDEN))))
    }

    /// 64 random bits.
    #[inline(always)]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number below `bound`, which must not be 0. The error against a uniform distribution is below `bound` / 2⁶⁴.
    #[inline(always)]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// A number ≥ 0 and < 1.
    #[inline(always)]
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

#[inline(always)]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::Draws;

    #[test]
    fn draws_are_even_and_named() {
        let mut counts = [0_u32; 10];
        for sample in 0..20_000 {
            let mut draws = Draws::new(7, sample);
            counts[draws.below(10)] += 1;
            counts[draws.below(10)] += 1;
            assert!((0.0..1.0).contains(&draws.share()));
        }
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 4000.0).powi(2) / 4000.0).sum();
        assert!(chi < 27.9, "{chi}: 1 in 1000 for 9 degrees of freedom");
        assert_eq!(Draws::new(7, 3).bits(), Draws::new(7, 3).bits());
        assert_ne!(Draws::new(7, 3).bits(), Draws::new(8, 3).bits());
        assert_ne!(Draws::new(7, 3).bits(), Draws::new(7, 4).bits());
    }
}
