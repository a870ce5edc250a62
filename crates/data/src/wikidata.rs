//! Names that are numbers of Wikidata: items such as `Q220`, properties such as `P17`. The published files hold the bare
//! numbers, and so do ours; what tells them from the numbers of anything else is said here once.

use quadcast_core::{Names, Vocabulary};

/// The letter of an item.
pub(crate) const ITEM: char = 'Q';

/// The letter of a property.
pub(crate) const PROPERTY: char = 'P';

/// What `compile.json` says of a folder whose bare numbers are those of Wikidata.
pub const NUMBERS: &str = "wikidata-numbers";

/// The number in a name, if the letter and the number make the same name again.
pub(crate) fn number(name: &str, letter: char) -> Option<u32> {
    plain_number(name.strip_prefix(letter)?)
}

/// The number that a name is. A number with leading zeros would come back as another name.
pub(crate) fn plain_number(name: &str) -> Option<u32> {
    // The largest number is kept free so that the size of an id space fits too.
    name.parse().ok().filter(|number: &u32| *number < u32::MAX && number.to_string() == name)
}

/// Whether all entities are items and all relations properties.
pub fn all_numbers(vocabulary: &Vocabulary) -> bool {
    let all =
        |names: &Names, letter| (0..names.len() as u32).all(|id| number(&names.name(id), letter).is_some());
    !vocabulary.entities.is_empty() && all(&vocabulary.entities, ITEM) && all(&vocabulary.relations, PROPERTY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Names {
        Names::new(names.iter().map(|name| Some((*name).to_owned())).collect(), None)
    }

    #[test]
    fn numbers_come_back_as_the_same_name() {
        assert_eq!((number("Q220", ITEM), number("Q0", ITEM)), (Some(220), Some(0)));
        for other in ["P220", "220", "Q", "Q007", "Q+7", "Q4294967295", "Q2 "] {
            assert_eq!(number(other, ITEM), None, "{other}");
        }
    }

    #[test]
    fn one_other_name_is_enough() {
        let of = |entities: &[&str], relations: &[&str]| {
            all_numbers(&Vocabulary { entities: names(entities), relations: names(relations) })
        };
        assert!(of(&["Q5", "Q42"], &["P31"]));
        assert!(!of(&["Q5", "Alice"], &["P31"]) && !of(&["Q5"], &["Q31"]) && !of(&[], &[]));
        assert!(!all_numbers(&Vocabulary { entities: Names::anonymous(2), relations: names(&["P1"]) }));
    }
}
