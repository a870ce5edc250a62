//! What has become of every triple, and what the graph of a step is made of.

use quadcast_core::{CategoryKind, CategoryTriples, Split, SplitTriples, Triple};

use super::lists::elements;

/// The life of one triple in a byte: whether it is present, how often it was inserted (0, 1, or 2 and more), its split.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Life(u8);

const PRESENT: u8 = 1;
const AGAIN: u8 = 1 << 1;
/// Two bits: 0 before the triple has a split.
const SPLIT: u32 = 2;

impl Life {
    const fn present(self) -> bool {
        self.0 & PRESENT != 0
    }

    pub(super) const fn split(self) -> Option<Split> {
        match self.0 >> SPLIT {
            0 => None,
            number => Some(Split::ALL[number as usize - 1]),
        }
    }
}

/// How often every entity and relation occurs in a graph.
pub(super) struct Occurrences {
    /// By kind and id.
    counts: [Vec<u32>; 2],
    /// How many entities and relations occur.
    pub present: [usize; 2],
    /// Triples of the graph.
    pub triples: usize,
}

impl Occurrences {
    fn new(sizes: [usize; 2]) -> Self {
        Self { counts: sizes.map(|size| vec![0; size]), present: [0; 2], triples: 0 }
    }

    fn count(&mut self, triple: Triple, insert: bool) {
        for (kind, id) in elements(triple) {
            let count = &mut self.counts[kind][id];
            if insert {
                self.present[kind] += usize::from(*count == 0);
                *count += 1;
            } else {
                *count -= 1;
                self.present[kind] -= usize::from(*count == 0);
            }
        }
        self.triples = if insert { self.triples + 1 } else { self.triples - 1 };
    }

    /// Whether every element of a triple occurs.
    pub(super) fn cover(&self, triple: Triple) -> bool {
        elements(triple).iter().all(|&(kind, id)| self.counts[kind][id] > 0)
    }

    /// The elements of a kind that occur, in order.
    pub(super) fn occurring<Id>(&self, kind: usize, id: fn(u32) -> Id) -> Vec<Id> {
        let counts = self.counts[kind].iter().zip(0_u32..);
        counts.filter(|(count, _)| **count > 0).map(|(_, number)| id(number)).collect()
    }
}

/// The graph after a step.
pub(super) struct State<'a> {
    /// Triples by number, in global ids.
    pub triples: &'a [Triple],
    /// By the number of the triple.
    pub lives: Vec<Life>,
    pub graph: Occurrences,
    pub train: Occurrences,
}

impl<'a> State<'a> {
    pub(super) fn new(triples: &'a [Triple], sizes: [usize; 2]) -> Self {
        let lives = vec![Life::default(); triples.len()];
        Self { triples, lives, graph: Occurrences::new(sizes), train: Occurrences::new(sizes) }
    }

    /// A triple appears for the first time.
    pub(super) fn begin(&mut self, number: usize, split: Split) {
        self.change(number, Life((split as u8 + 1) << SPLIT | PRESENT));
    }

    /// A triple that has a split comes back or goes.
    pub(super) fn turn(&mut self, number: usize, insert: bool) {
        let Life(bits) = self.lives[number];
        self.change(number, Life(if insert { bits | PRESENT | AGAIN } else { bits & !PRESENT }));
    }

    fn change(&mut self, number: usize, life: Life) {
        self.lives[number] = life;
        self.graph.count(self.triples[number], life.present());
        if life.split() == Some(Split::Train) {
            self.train.count(self.triples[number], life.present());
        }
    }

    /// The held-out triples that are present, and the categories where they are wanted.
    pub(super) fn sorted_out(&self, with_categories: bool) -> (SplitTriples, Vec<CategoryTriples>) {
        let lives =
            self.lives.iter().zip(self.triples).filter_map(|(life, &triple)| {
                Some((triple, life.split()?, life.present(), life.0 & AGAIN != 0))
            });
        sorted_out(lives, with_categories)
    }
}

/// The held-out triples that are present and, where they are wanted, the categories of negative triple classification that
/// are not empty. Triples come with their split, whether they are present, and whether they were inserted more than once;
/// they are sorted out in one pass, because a stream may have many steps, and each of them asks.
pub(crate) fn sorted_out(
    lives: impl Iterator<Item = (Triple, Split, bool, bool)>,
    with_categories: bool,
) -> (SplitTriples, Vec<CategoryTriples>) {
    let mut held_out = SplitTriples::default();
    let mut by_kind: [[Vec<Triple>; Split::ALL.len()]; CategoryKind::ALL.len()] = Default::default();
    for (triple, split, present, again) in lives {
        match split {
            Split::Valid if present => held_out.valid.push(triple),
            Split::Test if present => held_out.test.push(triple),
            _ => {}
        }
        let kind = match (present, again) {
            (true, false) => continue,
            (false, false) => CategoryKind::Deleted,
            (true, true) => CategoryKind::Returned,
            (false, true) => CategoryKind::DeletedAgain,
        };
        if with_categories {
            by_kind[kind as usize][split as usize].push(triple);
        }
    }
    let mut categories = Vec::new();
    for (kind, by_split) in CategoryKind::ALL.into_iter().zip(by_kind) {
        let found = Split::ALL.into_iter().zip(by_split).filter(|(_, triples)| !triples.is_empty());
        categories.extend(found.map(|(split, triples)| CategoryTriples { kind, split, triples }));
    }
    (held_out, categories)
}
