//! What is learned from, and how.

use std::ops::Range;

use super::energy::Wish;
use super::loss::Loss;
use super::negatives::{End, Negatives};
use super::random::Draws;
use super::table::Layout;
use super::update::Optimiser;

/// Triples to learn from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// True triples: head, relation, tail.
    pub triples: &'a [[u32; 3]],
    /// The last so many of them are learned against these false ones, each against its own, and not against drawn ones.
    pub against: &'a [[u32; 3]],
    /// Draws false ones for the others.
    pub negatives: &'a Negatives,
}

/// One step's worth of triples.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Which triples of the source, in order; may repeat.
    pub picks: &'a [u32],
    /// Names the draws.
    pub key: u64,
}

/// How is learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The loss of a sample; that of a batch is the mean.
    pub loss: Loss,
    /// False triples per true one.
    pub negatives: usize,
    /// The optimiser.
    pub optimiser: Optimiser,
    /// Weight of the mean square of all numbers that the batch uses, as often as it uses them, averaged over the segments
    /// of heads, relations and tails.
    pub penalty: f64,
}

/// A false triple and in which of its ends it differs from the true one; without: perhaps in all.
pub(super) type Wrong = ([u32; 3], Option<End>);

/// Samples that are worked on together. What a sample needs is all over memory: drawing many and then reading the rows of
/// many lets the processor wait for several at a time.
pub(super) const TOGETHER: usize = 32;

/// Some samples: true triples, each with its false ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    pub triples: Vec<[u32; 3]>,
    pub wrong: Vec<Wrong>,
    /// Where the false ones of each begin, and where the last end.
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
    pub fn draw(&mut self, source: &Source<'_>, batch: &Batch<'_>, range: Range<usize>, count: usize) {
        self.triples.clear();
        self.wrong.clear();
        self.starts.clear();
        self.triples.extend(batch.picks[range.clone()].iter().map(|&pick| source.triples[pick as usize]));
        let drawn = source.triples.len() - source.against.len();
        for (&triple, i) in self.triples.iter().zip(range) {
            self.starts.push(self.wrong.len());
            let index = batch.picks[i] as usize;
            if index >= drawn {
                self.wrong.push((source.against[index - drawn], None));
                continue;
            }
            let mut draws = Draws::new(batch.key, i as u64);
            for _ in 0..count {
                let (triple, end) = source.negatives.draw(index, triple, &mut draws);
                self.wrong.push((triple, Some(end)));
            }
        }
        self.starts.push(self.wrong.len());
    }
}

impl Source<'_> {
    /// What a step on a batch learns from, with so many drawn false triples each: for those who check it.
    pub fn samples(&self, batch: &Batch<'_>, negatives: usize) -> Vec<([u32; 3], Vec<[u32; 3]>)> {
        let mut samples = Samples::default();
        samples.draw(self, batch, 0..batch.picks.len(), negatives);
        let wrong = |i: usize| samples.wrong[samples.wrong_of(i)].iter().map(|&(triple, _)| triple).collect();
        samples.triples.iter().enumerate().map(|(i, &triple)| (triple, wrong(i))).collect()
    }
}

/// What a row adds to the loss whenever it is used. Places are those of segments, widths are padded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Penalty {
    /// weight·‖v‖²
    Square { place: usize, width: usize, weight: f64 },
    /// weight·max(0, ‖v‖² − 1)
    Long { place: usize, width: usize, weight: f64 },
    /// weight·max(0, cos²(v, w) − tolerated)
    Along { places: [usize; 2], width: usize, weight: f64, tolerated: f64 },
}

pub(super) type Penalties = Vec<Penalty>;

/// The penalties of `uses` triples on the rows of entities and of relations.
pub(super) fn penalties(
    weight: f64,
    uses: usize,
    layouts: [&Layout; 2],
    wishes: [Vec<Wish>; 2],
) -> [Penalties; 2] {
    // Heads and tails are groups of their own.
    let groups = 2 * layouts[0].0.len() + layouts[1].0.len();
    let [entity, relation] = wishes;
    [(layouts[0], entity), (layouts[1], relation)].map(|(layout, wishes)| {
        if weight == 0.0 && wishes.is_empty() {
            return Vec::new();
        }
        let factor = |width: usize| weight / (groups * uses * width.max(1)) as f64;
        let squares = layout.places().filter(|_| weight > 0.0).map(|(place, s)| Penalty::Square {
            place,
            width: super::padded(s.width),
            weight: factor(s.width),
        });
        let places: Vec<(usize, usize)> =
            layout.places().map(|(place, s)| (place, super::padded(s.width))).collect();
        let wished = wishes.into_iter().map(|wish| match wish {
            Wish::Short { segment, weight } => {
                let (place, width) = places[segment];
                Penalty::Long { place, width, weight: weight / uses as f64 }
            }
            Wish::Across { segments, weight, tolerance } => {
                let [(first, width), (second, _)] = segments.map(|segment| places[segment]);
                let (weight, tolerated) = (weight / uses as f64, tolerance * tolerance);
                Penalty::Along { places: [first, second], width, weight, tolerated }
            }
        });
        squares.chain(wished).collect()
    })
}
