//! Counts that every kind of dataset shares: used ids, ids that the test split meets first, shares.

use quadcast_core::{Names, Splits, Triple, Vocabulary};
use serde::Serialize;

/// How many names are listed as examples.
const EXAMPLES: usize = 5;

/// A count and its share of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// How many.
    pub count: usize,
    /// Fraction of the whole; 0 for an empty whole.
    pub share: f64,
}

impl Share {
    /// `count` out of `whole`.
    pub fn of(count: usize, whole: usize) -> Self {
        Self { count, share: if whole == 0 { 0.0 } else { count as f64 / whole as f64 } }
    }
}

/// Sizes of an id space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct IdSpace {
    /// The count that the dataset's own files print.
    pub declared: Option<usize>,
    /// Number of ids.
    pub size: usize,
    /// Ids that occur in a fact.
    pub used: usize,
    /// Ids that occur in no fact.
    pub never_used: usize,
    /// How often a fact uses an id outside the id space.
    pub out_of_range: usize,
}

/// Ids that the test split uses and an earlier part does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unseen {
    /// Number of ids.
    pub ids: usize,
    /// Test facts that contain at least one of them.
    pub test_facts: usize,
    /// The names of a few, by id.
    pub examples: Vec<String>,
}

/// What the test split brings that was not there before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Novelty {
    /// Ids that occur in the training split.
    pub in_train: usize,
    /// Test ids that the training split lacks.
    pub unseen_in_train: Unseen,
    /// Test ids that the training and validation splits lack.
    pub unseen_in_train_and_valid: Unseen,
}

/// What the test split brings, by kind of id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Novelties {
    /// Entities.
    #[serde(rename = "entity_novelty")]
    pub entities: Novelty,
    /// Relations.
    #[serde(rename = "relation_novelty")]
    pub relations: Novelty,
}

/// Values that occur in two splits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SharedBySplits<T> {
    /// In train and valid.
    pub train_valid: T,
    /// In train and test.
    pub train_test: T,
    /// In valid and test.
    pub valid_test: T,
}

impl<T> SharedBySplits<T> {
    /// What every two splits have in common.
    pub(super) fn of<S>(splits: &Splits<S>, common: impl Fn(&S, &S) -> T) -> Self {
        let Splits { train, valid, test } = splits;
        Self {
            train_valid: common(train, valid),
            train_test: common(train, test),
            valid_test: common(valid, test),
        }
    }

    /// The values with the names of the splits, in order.
    pub const fn pairs(&self) -> [(&'static str, &T); 3] {
        [
            ("train and valid", &self.train_valid),
            ("train and test", &self.train_test),
            ("valid and test", &self.valid_test),
        ]
    }
}

/// A set of ids. Ids outside the id space are not kept but counted: readers refuse them, hand-made data may have them.
#[derive(Clone, Default)]
pub(super) struct Marks {
    marks: Vec<bool>,
    out_of_range: usize,
}

impl Marks {
    pub fn new(size: usize) -> Self {
        Self { marks: vec![false; size], out_of_range: 0 }
    }

    pub fn set(&mut self, id: u32) {
        match self.marks.get_mut(id as usize) {
            Some(mark) => *mark = true,
            None => self.out_of_range += 1,
        }
    }

    pub fn has(&self, id: u32) -> bool {
        self.marks.get(id as usize).copied().unwrap_or(false)
    }

    pub fn count(&self) -> usize {
        self.marks.iter().filter(|&&mark| mark).count()
    }

    /// Ids of this set that the other lacks, in order.
    pub fn without<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u32> + 'a {
        (0..self.marks.len() as u32).filter(|&id| self.has(id) && !other.has(id))
    }

    /// Adds the ids of another set.
    pub fn join(&mut self, other: &Self) {
        for (mark, &added) in self.marks.iter_mut().zip(&other.marks) {
            *mark |= added;
        }
    }
}

/// Which ids occur in a list of triples.
pub(super) struct Used {
    pub entities: Marks,
    pub relations: Marks,
}

impl Used {
    pub fn new(vocabulary: &Vocabulary) -> Self {
        Self {
            entities: Marks::new(vocabulary.entities.len()),
            relations: Marks::new(vocabulary.relations.len()),
        }
    }

    pub fn mark(&mut self, triples: impl Iterator<Item = Triple>) {
        for triple in triples {
            self.entities.set(triple.subject.0);
            self.entities.set(triple.object.0);
            self.relations.set(triple.relation.0);
        }
    }

    /// The id spaces of entities and relations.
    pub fn spaces(&self, vocabulary: &Vocabulary) -> [IdSpace; 2] {
        let sets = [(&vocabulary.entities, &self.entities), (&vocabulary.relations, &self.relations)];
        sets.map(|(names, marks)| IdSpace {
            declared: names.declared(),
            size: names.len(),
            used: marks.count(),
            never_used: names.len() - marks.count(),
            out_of_range: marks.out_of_range,
        })
    }
}

/// The id spaces of entities and relations, and what the test split brings.
pub(super) fn count_ids(vocabulary: &Vocabulary, splits: &Splits<Vec<Triple>>) -> ([IdSpace; 2], Novelties) {
    let mut seen = Used::new(vocabulary);
    seen.mark(splits.train.iter().copied());
    let (entities, relations) = (seen.entities.count(), seen.relations.count());
    let [new_entities, new_relations] = unseen(vocabulary, &seen, &splits.test);
    seen.mark(splits.valid.iter().copied());
    let [later_entities, later_relations] = unseen(vocabulary, &seen, &splits.test);
    seen.mark(splits.test.iter().copied());
    let novelty = |in_train, unseen_in_train, unseen_in_train_and_valid| Novelty {
        in_train,
        unseen_in_train,
        unseen_in_train_and_valid,
    };
    let novelties = Novelties {
        entities: novelty(entities, new_entities, later_entities),
        relations: novelty(relations, new_relations, later_relations),
    };
    (seen.spaces(vocabulary), novelties)
}

/// Entities and relations of `facts` that are not in `seen`.
fn unseen(vocabulary: &Vocabulary, seen: &Used, facts: &[Triple]) -> [Unseen; 2] {
    let mut new = Used::new(vocabulary);
    new.mark(facts.iter().copied());
    let (mut entity_facts, mut relation_facts) = (0, 0);
    for fact in facts {
        let known = seen.entities.has(fact.subject.0) && seen.entities.has(fact.object.0);
        entity_facts += usize::from(!known);
        relation_facts += usize::from(!seen.relations.has(fact.relation.0));
    }
    [
        describe(&vocabulary.entities, &seen.entities, &new.entities, entity_facts),
        describe(&vocabulary.relations, &seen.relations, &new.relations, relation_facts),
    ]
}

fn describe(names: &Names, seen: &Marks, new: &Marks, test_facts: usize) -> Unseen {
    let ids: Vec<u32> = new.without(seen).collect();
    let examples = ids.iter().take(EXAMPLES).map(|&id| names.name(id).into_owned()).collect();
    Unseen { ids: ids.len(), test_facts, examples }
}

/// Rows that repeat an earlier row, of sorted rows.
pub(super) fn repeated<T: PartialEq>(sorted: &[T]) -> usize {
    sorted.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// Self loops: facts whose subject is their object.
pub(super) fn self_loops(triples: &[Triple]) -> usize {
    triples.iter().filter(|triple| triple.subject == triple.object).count()
}
