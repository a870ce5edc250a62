//! A stream goes on with the operations of another file.

use std::path::Path;

use quadcast_core::{Names, Split, Vocabulary};
use rustc_hash::FxHashMap;

use super::build::StreamBuilder;
use super::stream::{Dropped, FaultPolicy, OperationStream};
use crate::readers::read_named;
use crate::{DataError, wikidata};

/// A stream that was extended.
#[derive(Clone, Debug)]
pub struct Extended {
    /// All operations; the new ones are its last step.
    pub stream: OperationStream,
    /// New operations.
    pub operations: usize,
    /// Those that were left out.
    pub dropped: Dropped,
    /// Entities and relations that were not there before.
    pub new: [usize; 2],
}

/// Adds the operations of a text file to a stream, as a step of their own. The file names entities and relations as the stream
/// does, those of Wikidata also by their bare numbers; names that the stream does not have are new ones. A triple that was there
/// before keeps its split, others are for training.
pub fn extend_operations(
    mut stream: OperationStream,
    path: &Path,
    policy: FaultPolicy,
) -> Result<Extended, DataError> {
    let (before, splits) = (stream.len(), stream.splits.take());
    stream.dropped = Dropped::default();
    let vocabulary = std::mem::take(&mut stream.vocabulary);
    let numbers = wikidata::all_numbers(&vocabulary);
    let mut entities = KnownNames::new(&vocabulary.entities, wikidata::ITEM, numbers);
    let mut relations = KnownNames::new(&vocabulary.relations, wikidata::PROPERTY, numbers);
    let mut builder = StreamBuilder::resume(stream, policy);
    read_named(path, &mut builder, &mut entities, &mut relations)?;
    builder.end_step();
    let new = [entities.names.len() - entities.old, relations.names.len() - relations.old];
    let [entities, relations] = [entities, relations].map(|known| Names::new(known.names, None));
    let vocabulary = Vocabulary { entities, relations };
    let mut stream = builder.finish(vocabulary, None);
    stream.splits = splits.map(|mut splits| {
        splits.resize(stream.triples.len(), Split::Train);
        splits
    });
    Ok(Extended { operations: stream.len() - before, dropped: stream.dropped, stream, new })
}

/// Names and the ids that stand for them; unknown names get the next id.
pub(crate) struct KnownNames {
    ids: FxHashMap<String, u32>,
    names: Vec<Option<String>>,
    /// How many there were at first.
    pub old: usize,
    /// Without any name, numbers are ids.
    numbers: bool,
    /// The letter of Wikidata's names of this kind.
    letter: char,
    /// Whether all names are Wikidata's, so that those of newcomers are as well.
    wikidata: bool,
}

impl KnownNames {
    fn new(names: &Names, letter: char, wikidata: bool) -> Self {
        let mut all: Vec<Option<String>> = vec![None; names.len()];
        let mut ids = FxHashMap::default();
        for (id, name) in names.iter() {
            all[id as usize] = Some(name.to_owned());
            // Of equal names the first one counts, as everywhere.
            ids.entry(name.to_owned()).or_insert(id);
        }
        Self { ids, old: all.len(), numbers: names.iter().next().is_none(), names: all, letter, wikidata }
    }

    /// The id of a name as it stands in a file. `#7` is the id 7, and never the name of something new: `None` if there is no
    /// such id.
    pub(crate) fn id(&mut self, name: &str) -> Option<u32> {
        let digits = name.strip_prefix('#').or(self.numbers.then_some(name));
        let digits = digits.filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
        let meant =
            digits.and_then(|digits| digits.parse::<u32>().ok()).filter(|&id| (id as usize) < self.old);
        if let Some(id) = meant.or_else(|| self.ids.get(name).copied()) {
            return Some(id);
        }
        if digits.is_some() {
            return None;
        }
        // Raw streams have the bare numbers of Wikidata: 66 is Q66, where nothing is called 66.
        let lettered = wikidata::plain_number(name).map(|number| format!("{}{number}", self.letter));
        if let Some(&id) = lettered.as_ref().and_then(|name| self.ids.get(name)) {
            return Some(id);
        }
        let name = lettered.filter(|_| self.wikidata).unwrap_or_else(|| name.to_owned());
        let id = self.names.len() as u32;
        self.names.push(Some(name.clone()));
        self.ids.insert(name, id);
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_after_a_hash_is_an_id_and_never_new() {
        let names = Names::new(vec![Some("a".to_owned()), None], None);
        let mut known = KnownNames::new(&names, wikidata::ITEM, false);
        assert_eq!(["a", "#0", "#1", "#01"].map(|name| known.id(name)), [Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!(["#2", "#999999", "#99999999999"].map(|name| known.id(name)), [None; 3]);
        assert_eq!(["7", "#x", "#"].map(|name| known.id(name)), [Some(2), Some(3), Some(4)]);
        assert_eq!(known.id("#2"), None, "what is new has no id to be named by yet");
        assert_eq!(known.old, 2);
    }

    #[test]
    fn numbers_are_ids_where_nothing_has_a_name() {
        let mut known = KnownNames::new(&Names::anonymous(2), wikidata::ITEM, false);
        assert_eq!(["1", "#1", "2", "b"].map(|name| known.id(name)), [Some(1), Some(1), None, Some(2)]);
    }

    #[test]
    fn a_bare_number_is_the_item_of_that_number() {
        let names = |names: &[&str]| Names::new(names.iter().map(|n| Some((*n).to_owned())).collect(), None);
        let mut items = KnownNames::new(&names(&["Q66", "Q62"]), wikidata::ITEM, true);
        assert_eq!(["62", "Q62", "66", "7", "Q7"].map(|name| items.id(name)), [1, 1, 0, 2, 2].map(Some));
        assert_eq!(items.names[2].as_deref(), Some("Q7"), "a new item has its letter too");
        // Among other names a number is an item only if the item is there, and not where it is a name itself.
        let mut mixed = KnownNames::new(&names(&["Q66", "Q62", "Alice", "62"]), wikidata::ITEM, false);
        assert_eq!(["66", "62", "7"].map(|name| mixed.id(name)), [0, 3, 4].map(Some));
        assert_eq!(mixed.names[4].as_deref(), Some("7"));
    }
}
