//! A stream as lines of text, which holds numbers only, and those numbers as ids.

use std::io::{self, Write};

use quadcast_core::{Names, Triple, Vocabulary};

use super::instants::Instants;
use super::stream::{OperationStream, StreamClock};
use crate::error::IdKind;
use crate::write::{push_number, write_rows};
use crate::{DataError, wikidata};

/// Numbers below this one can always be ids.
const FREE_NUMBERS: usize = 1000;

/// Writes `head tail relation +|-`, and the time where the stream has times. Text has numbers only: those that the names
/// are, or those of Wikidata, as in its raw stream; where a name is neither, the ids stand for the names.
pub(super) fn write_text(out: &mut dyn Write, stream: &OperationStream) -> io::Result<()> {
    let mut instants = Instants::default();
    let [entities, relations] = NameNumbers::of(&stream.vocabulary);
    write_rows(out, stream.iter(), |row, timed| {
        let triple = timed.operation.triple;
        let numbers = [
            entities.of_id(triple.subject.0),
            entities.of_id(triple.object.0),
            relations.of_id(triple.relation.0),
        ];
        for number in numbers {
            push_number(row, number);
            row.push(b' ');
        }
        row.push(if timed.operation.insert { b'+' } else { b'-' });
        match stream.clock {
            StreamClock::Order => {}
            StreamClock::Number => row.extend_from_slice(format!(" {}", timed.moment).as_bytes()),
            StreamClock::Utc => {
                row.push(b' ');
                instants.push(row, timed.moment);
            }
        }
    })
}

/// The numbers that names are or hold, if all of them do, each its own.
pub struct NameNumbers(Option<Vec<u32>>);

impl NameNumbers {
    /// Those of entities and of relations.
    pub fn of(vocabulary: &Vocabulary) -> [Self; 2] {
        let Vocabulary { entities, relations } = vocabulary;
        if wikidata::all_numbers(vocabulary) {
            let [items, properties] = [wikidata::ITEM, wikidata::PROPERTY]
                .map(|letter| move |name: &str| wikidata::number(name, letter));
            return [Self::read(entities, items), Self::read(relations, properties)];
        }
        [entities, relations].map(|names| Self::read(names, wikidata::plain_number))
    }

    fn read(names: &Names, number: impl Fn(&str) -> Option<u32>) -> Self {
        let numbers = all_numbers(names, number);
        // Two ids with one number could not be told apart any more.
        let unique = |numbers: &Vec<u32>| {
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            sorted.windows(2).all(|pair| pair[0] < pair[1])
        };
        Self(numbers.filter(unique))
    }

    /// The number that stands for an id: the one in its name, or the id itself.
    pub fn of_id(&self, id: u32) -> u32 {
        self.0.as_ref().map_or(id, |numbers| numbers[id as usize])
    }
}

/// The numbers that `number` reads from the names, if it does from all.
fn all_numbers(names: &Names, number: impl Fn(&str) -> Option<u32>) -> Option<Vec<u32>> {
    (0..names.len() as u32).map(|id| number(&names.name(id))).collect()
}

/// A stream that was read from text, with the numbers of the text as ids; those that do not occur are their own names too.
/// Where there are many, half of them must occur: otherwise they number something else, and would reserve too much. A stream
/// with other names stays as it is.
pub fn with_numbers_as_ids(mut stream: OperationStream) -> Result<OperationStream, DataError> {
    let numbers = |names| all_numbers(names, wikidata::plain_number);
    let (Some(entities), Some(relations)) =
        (numbers(&stream.vocabulary.entities), numbers(&stream.vocabulary.relations))
    else {
        return Ok(stream);
    };
    refuse_sparse(&stream.name, &entities, IdKind::Entity)?;
    refuse_sparse(&stream.name, &relations, IdKind::Relation)?;
    for triple in &mut stream.triples {
        let Triple { subject, relation, object } = *triple;
        *triple =
            Triple::new(entities[subject.index()], relations[relation.index()], entities[object.index()]);
    }
    stream.vocabulary = Vocabulary { entities: named(&entities), relations: named(&relations) };
    Ok(stream)
}

fn refuse_sparse(name: &str, numbers: &[u32], kind: IdKind) -> Result<(), DataError> {
    let largest = numbers.iter().copied().max().unwrap_or(0);
    let limit = FREE_NUMBERS.max(2 * numbers.len());
    if (largest as usize) < limit {
        return Ok(());
    }
    Err(DataError::Unusable(format!(
        "{name}: --keep-ids cannot make an id of the {kind} number {largest}; expected numbers from 0 without large holes \
         (below {limit} here); leave --keep-ids out: ids then follow the first appearance, and the numbers are names"
    )))
}

fn named(numbers: &[u32]) -> Names {
    let size = numbers.iter().max().map_or(0, |&largest| largest + 1);
    Names::new((0..size).map(|id| Some(id.to_string())).collect(), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FaultPolicy;
    use crate::operations::StreamBuilder;

    fn names(names: &[&str]) -> Names {
        Names::new(names.iter().map(|name| Some((*name).to_owned())).collect(), None)
    }

    #[test]
    fn numbers_are_those_of_the_names_or_ids() {
        let of = |entities: &[&str], relations: &[&str]| {
            let vocabulary = Vocabulary { entities: names(entities), relations: names(relations) };
            let [entity, relation] = NameNumbers::of(&vocabulary);
            ([entity.of_id(0), entity.of_id(1)], relation.of_id(0))
        };
        assert_eq!(of(&["66", "62"], &["399"]), ([66, 62], 399));
        assert_eq!(of(&["Q66", "Q62"], &["P399"]), ([66, 62], 399));
        assert_eq!(of(&["Q66", "Q62"], &["likes"]), ([0, 1], 0));
        assert_eq!(of(&["66", "62"], &["likes"]), ([66, 62], 0));
        assert_eq!(of(&["66", "66"], &["399"]), ([0, 1], 399), "two with the same name");
    }

    fn stream(entities: &[&str]) -> OperationStream {
        let mut builder = StreamBuilder::new("s".to_owned(), StreamClock::Order, FaultPolicy::Error);
        builder.push(Triple::new(0, 0, 1), true, 0).expect("a new triple");
        builder.finish(Vocabulary { entities: names(entities), relations: names(&["1"]) }, None)
    }

    #[test]
    fn numbers_become_ids() {
        let kept = with_numbers_as_ids(stream(&["3", "0", "1"])).expect("small numbers");
        assert_eq!(kept.triples(), [Triple::new(3, 1, 0)]);
        let names: Vec<_> = (0..4).map(|id| kept.vocabulary.entities.name(id).into_owned()).collect();
        assert_eq!(names, ["0", "1", "2", "3"]);
        assert_eq!((kept.vocabulary.entities.len(), kept.vocabulary.relations.len()), (4, 2));
    }

    #[test]
    fn other_numbers_are_refused() {
        let text =
            with_numbers_as_ids(stream(&["3", "0", "6000"])).expect_err("most are missing").to_string();
        for part in ["s: --keep-ids", "entity number 6000", "below 1000 here", "leave --keep-ids out"] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
    }
}
