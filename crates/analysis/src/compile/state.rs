//! What has become of every triple, and what the graph of a step is made of.

use quadcast_core::{CategoryKind, CategoryTriples, EntityId, RelationId, Split, Triple};

/// The life of one triple in a byte: whether it is present, how often it was inserted (0, 1, or 2 and more), its split.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Life(u8);

const PRESENT: u8 = 1;
const AGAIN: u8 = 1 << 1;
/// Two bits: 0 before the triple has a split.
const SPLIT: u32 = 2;

impl Life {
    pub(super) const fn present(self) -> bool {
        self.0 & PRESENT != 0
    }

    pub(super) const fn split(self) -> Option<Split> {
        match self.0 >> SPLIT {
            1 => Some(Split::Train),
            2 => Some(Split::Valid),
            3 => Some(Split::Test),
            _ => None,
        }
    }

    const fn begun(split: Split) -> Self {
        let number = match split {
            Split::Train => 1,
            Split::Valid => 2,
            Split::Test => 3,
        };
        Self(number << SPLIT | PRESENT)
    }

    const fn returned(self) -> Self {
        Self(self.0 | PRESENT | AGAIN)
    }

    const fn ended(self) -> Self {
        Self(self.0 & !PRESENT)
    }

    /// The category of negative triple classification, if it is one of the three that are used.
    pub(super) const fn category(self) -> Option<CategoryKind> {
        match (self.split().is_some(), self.present(), self.0 & AGAIN != 0) {
            (true, false, false) => Some(CategoryKind::Deleted),
            (true, true, true) => Some(CategoryKind::Returned),
            (true, false, true) => Some(CategoryKind::DeletedAgain),
            (true, true, false) | (false, ..) => None,
        }
    }
}

/// How often every entity and relation occurs.
pub(super) struct Occurrences {
    entities: Counts,
    relations: Counts,
}

impl Occurrences {
    fn new([entities, relations]: [usize; 2]) -> Self {
        Self { entities: Counts::new(entities), relations: Counts::new(relations) }
    }

    fn count(&mut self, triple: Triple, insert: bool) {
        self.entities.count(triple.subject.index(), insert);
        self.entities.count(triple.object.index(), insert);
        self.relations.count(triple.relation.index(), insert);
    }

    /// Whether every element of a triple occurs.
    fn cover(&self, triple: Triple) -> bool {
        self.entities.counts[triple.subject.index()] > 0
            && self.entities.counts[triple.object.index()] > 0
            && self.relations.counts[triple.relation.index()] > 0
    }

    /// The entities that occur, in order.
    pub(super) fn entities(&self) -> Vec<EntityId> {
        self.entities.occurring().map(EntityId).collect()
    }

    /// The relations that occur, in order.
    pub(super) fn relations(&self) -> Vec<RelationId> {
        self.relations.occurring().map(RelationId).collect()
    }

    /// How many entities and relations occur.
    pub(super) const fn sizes(&self) -> [usize; 2] {
        [self.entities.present, self.relations.present]
    }
}

/// How often every element of one kind occurs, and how many do.
struct Counts {
    counts: Vec<u32>,
    present: usize,
}

impl Counts {
    fn new(size: usize) -> Self {
        Self { counts: vec![0; size], present: 0 }
    }

    fn count(&mut self, id: usize, insert: bool) {
        let count = &mut self.counts[id];
        if insert {
            self.present += usize::from(*count == 0);
            *count += 1;
        } else {
            *count -= 1;
            self.present -= usize::from(*count == 0);
        }
    }

    fn occurring(&self) -> impl Iterator<Item = u32> {
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(id, _)| id as u32)
    }
}

/// The graph after a step.
pub(super) struct State<'a> {
    /// Triples by number, in global ids.
    triples: &'a [Triple],
    lives: Vec<Life>,
    pub graph: Occurrences,
    pub train: Occurrences,
    pub triples_present: usize,
    pub training_present: usize,
}

impl<'a> State<'a> {
    pub(super) fn new(triples: &'a [Triple], sizes: [usize; 2]) -> Self {
        Self {
            triples,
            lives: vec![Life::default(); triples.len()],
            graph: Occurrences::new(sizes),
            train: Occurrences::new(sizes),
            triples_present: 0,
            training_present: 0,
        }
    }

    pub(super) fn life(&self, number: usize) -> Life {
        self.lives[number]
    }

    pub(super) const fn triple(&self, number: usize) -> Triple {
        self.triples[number]
    }

    /// Whether training has every element of a triple.
    pub(super) fn covered(&self, number: usize) -> bool {
        self.train.cover(self.triples[number])
    }

    /// A triple appears for the first time.
    pub(super) fn begin(&mut self, number: usize, split: Split) {
        self.change(number, Life::begun(split));
    }

    /// A triple that has a split comes back or goes.
    pub(super) fn turn(&mut self, number: usize, insert: bool) {
        let life = self.lives[number];
        self.change(number, if insert { life.returned() } else { life.ended() });
    }

    fn change(&mut self, number: usize, life: Life) {
        let triple = self.triples[number];
        self.lives[number] = life;
        let add = |count: &mut usize| *count = if life.present() { *count + 1 } else { *count - 1 };
        self.graph.count(triple, life.present());
        add(&mut self.triples_present);
        if life.split() == Some(Split::Train) {
            self.train.count(triple, life.present());
            add(&mut self.training_present);
        }
    }

    /// The triples of every split and category, in order of their numbers. They are sorted out in one pass: a stream may
    /// have many steps, and each of them asks.
    pub(super) fn sorted_out(&self, with_categories: bool) -> SortedOut {
        let mut sorted = SortedOut::default();
        for (life, &triple) in self.lives.iter().zip(self.triples) {
            match life.split() {
                Some(Split::Valid) if life.present() => sorted.valid.push(triple),
                Some(Split::Test) if life.present() => sorted.test.push(triple),
                _ => {}
            }
            if with_categories && let (Some(kind), Some(split)) = (life.category(), life.split()) {
                sorted.categories[kind as usize][split as usize].push(triple);
            }
        }
        sorted
    }
}

/// Triples by what has become of them.
#[derive(Default)]
pub(super) struct SortedOut {
    /// Present validation triples.
    pub valid: Vec<Triple>,
    /// Present test triples.
    pub test: Vec<Triple>,
    /// By category and split.
    categories: [[Vec<Triple>; Split::ALL.len()]; CategoryKind::ALL.len()],
}

impl SortedOut {
    /// The categories that are not empty.
    pub(super) fn into_categories(mut self) -> Vec<CategoryTriples> {
        let mut found = Vec::new();
        for kind in CategoryKind::ALL {
            for split in Split::ALL {
                let triples = std::mem::take(&mut self.categories[kind as usize][split as usize]);
                if !triples.is_empty() {
                    found.push(CategoryTriples { kind, split, triples });
                }
            }
        }
        found
    }
}
