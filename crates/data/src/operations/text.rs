//! A stream as lines of text.

use std::io::{self, Write};

use quadcast_core::Names;

use super::instants::Instants;
use super::stream::{OperationStream, StreamClock};
use crate::write::{push_number, write_rows};

/// Writes `head tail relation +|-`, and the time where the stream has times. Text has numbers only: where a name is no
/// number, the ids stand for the names.
pub(super) fn write_text(out: &mut dyn Write, stream: &OperationStream) -> io::Result<()> {
    let mut instants = Instants::default();
    let entities = Numbers::of(&stream.vocabulary.entities);
    let relations = Numbers::of(&stream.vocabulary.relations);
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

/// The numbers that names are, if all of them are numbers.
pub(crate) struct Numbers(Option<Vec<u32>>);

impl Numbers {
    pub(crate) fn of(names: &Names) -> Self {
        let number = |id| {
            let name = names.name(id);
            // A number with leading zeros would come back as another name.
            name.parse::<u32>().ok().filter(|number| *number < u32::MAX && number.to_string() == *name)
        };
        Self((0..names.len() as u32).map(number).collect())
    }

    pub(crate) fn of_id(&self, id: u32) -> u32 {
        self.0.as_ref().map_or(id, |numbers| numbers[id as usize])
    }
}
