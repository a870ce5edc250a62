//! A stream as lines of text.

use std::io::{self, Write};

use quadcast_core::{Names, Vocabulary};

use super::instants::Instants;
use super::stream::{OperationStream, StreamClock};
use crate::wikidata;
use crate::write::{push_number, write_rows};

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
        let numbers: Option<Vec<u32>> = (0..names.len() as u32).map(|id| number(&names.name(id))).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
