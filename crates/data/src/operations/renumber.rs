//! Ids that are the numbers of a text. Reading numbers entities and relations by first appearance, because a text may hold any
//! numbers; where they are ids already, they can be had back.

use quadcast_core::{Names, Triple, Vocabulary};

use super::error::OperationsError;
use super::stream::OperationStream;
use crate::{DataError, IdKind, wikidata};

/// Numbers below this one can always be ids.
const FREE_NUMBERS: usize = 1000;

/// A stream that was read from text, with the numbers of the text as ids; those that do not occur are their own names too.
/// Where there are many, half of them must occur: otherwise they number something else, and would reserve too much. A stream
/// with other names stays as it is.
pub fn with_numbers_as_ids(mut stream: OperationStream) -> Result<OperationStream, DataError> {
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

/// The numbers that the names are.
fn numbers(names: &Names) -> Option<Vec<u32>> {
    (0..names.len() as u32).map(|id| wikidata::plain_number(&names.name(id))).collect()
}

fn refuse_sparse(name: &str, numbers: &[u32], kind: IdKind) -> Result<(), OperationsError> {
    let largest = numbers.iter().copied().max().unwrap_or(0);
    let limit = FREE_NUMBERS.max(2 * numbers.len());
    if largest as usize >= limit {
        return Err(OperationsError::SparseNumbers { name: name.to_owned(), kind, largest, limit });
    }
    Ok(())
}

fn named(numbers: &[u32]) -> Names {
    let size = numbers.iter().max().map_or(0, |&largest| largest + 1);
    Names::new((0..size).map(|id| Some(id.to_string())).collect(), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::StreamBuilder;
    use crate::{FaultPolicy, StreamClock};

    fn stream(entities: &[&str]) -> OperationStream {
        let mut builder = StreamBuilder::new("s".to_owned(), StreamClock::Order, FaultPolicy::Error);
        builder.push(Triple::new(0, 0, 1), true, 0).expect("a new triple");
        let names =
            |names: &[&str]| Names::new(names.iter().map(|name| Some((*name).to_owned())).collect(), None);
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
