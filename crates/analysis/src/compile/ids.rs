//! Global ids: what is left after the filter, numbered in order of first appearance or as the source does.

use quadcast_core::{Names, Triple, Vocabulary};

use super::lists::EverTrue;
use super::normalise::Update;
use super::options::IdRule;
use quadcast_data::OperationStream;

/// An element that no update has.
const ABSENT: u32 = u32::MAX;

/// A triple of which an element is in no update.
const OUTSIDE: Triple = Triple::new(ABSENT, ABSENT, ABSENT);

/// New ids of one kind.
struct Renumbering {
    ids: Vec<u32>,
    /// Old ids in the new order.
    order: Vec<u32>,
}

impl Renumbering {
    fn new(size: usize, rule: IdRule) -> Self {
        match rule {
            IdRule::Appearance => Self { ids: vec![ABSENT; size], order: Vec::new() },
            IdRule::Source => {
                let all: Vec<u32> = (0..size as u32).collect();
                Self { ids: all.clone(), order: all }
            }
        }
    }

    fn see(&mut self, id: u32) {
        let new = &mut self.ids[id as usize];
        if *new == ABSENT {
            *new = self.order.len() as u32;
            self.order.push(id);
        }
    }

    fn names(&self, names: &Names) -> Names {
        Names::new(self.order.iter().map(|&id| Some(names.name(id).into_owned())).collect(), None)
    }
}

/// Every triple of the stream in global ids, and the names behind them.
pub(super) struct Numbered {
    pub vocabulary: Vocabulary,
    /// By the number of the triple in the stream.
    pub triples: Vec<Triple>,
}

impl Numbered {
    pub(super) fn of(stream: &OperationStream, updates: &[Update], rule: IdRule) -> Self {
        let mut entities = Renumbering::new(stream.vocabulary.entities.len(), rule);
        let mut relations = Renumbering::new(stream.vocabulary.relations.len(), rule);
        for &at in updates.iter().flatten() {
            let triple = stream.triples()[stream.entries()[at as usize].triple()];
            entities.see(triple.subject.0);
            entities.see(triple.object.0);
            relations.see(triple.relation.0);
        }
        let global = |triple: &Triple| {
            let subject = entities.ids[triple.subject.index()];
            let object = entities.ids[triple.object.index()];
            let relation = relations.ids[triple.relation.index()];
            if [subject, object, relation].contains(&ABSENT) {
                OUTSIDE
            } else {
                Triple::new(subject, relation, object)
            }
        };
        Self {
            triples: stream.triples().iter().map(global).collect(),
            vocabulary: Vocabulary {
                entities: entities.names(&stream.vocabulary.entities),
                relations: relations.names(&stream.vocabulary.relations),
            },
        }
    }

    /// Every triple that is true at any time of the stream and can be said in global ids. Those that come and go within
    /// one interval are in no update, but they were true.
    pub(super) fn ever(&self) -> EverTrue {
        let triples = self.triples.iter().filter(|&&triple| triple != OUTSIDE).copied();
        EverTrue::new(triples, self.vocabulary.entities.len())
    }
}
