//! The static graph: entities and the words of their names.
//!
//! `Police (India)` consists of `Police` and `India`; a name without parentheses is one word. Entities that share a word
//! start out alike.

use std::collections::BTreeMap;

use quadcast_core::Names;
use serde::{Deserialize, Serialize};

/// What a word is in a name: the part before the parentheses, the part inside, or all of it.
pub(super) const KINDS: usize = 3;

/// Words of entity names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Words {
    /// Number of distinct words.
    pub words: usize,
    /// By entity: its words and what each is in the name.
    pub of_entity: Vec<Vec<(u32, u8)>>,
}

impl Words {
    /// The words of all names; an entity without a name is a word of its own.
    pub fn of(names: &Names) -> Self {
        let mut ids: BTreeMap<String, u32> = BTreeMap::new();
        let mut word = |text: &str| {
            let next = ids.len() as u32;
            *ids.entry(text.trim().to_owned()).or_insert(next)
        };
        let of_entity = (0..names.len() as u32)
            .map(|id| {
                let name = names.name(id);
                match split(&name) {
                    Some((before, inside)) => vec![(word(before), 0), (word(inside), 1)],
                    None => vec![(word(&name), 2)],
                }
            })
            .collect();
        Self { words: ids.len(), of_entity }
    }
}

impl Words {
    /// By word: the entities that it occurs in, and what it is there.
    pub fn entities(&self) -> Vec<Vec<(u32, u8)>> {
        let mut entities = vec![Vec::new(); self.words];
        for (entity, words) in (0..).zip(&self.of_entity) {
            for &(word, kind) in words {
                entities[word as usize].push((entity, kind));
            }
        }
        entities
    }
}

/// The part before the first parenthesis and the part inside.
fn split(name: &str) -> Option<(&str, &str)> {
    let (before, rest) = name.split_once('(')?;
    let inside = rest.split_once(')').map_or(rest, |(inside, _)| inside);
    Some((before.trim_end_matches(['_', ' ']), inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_share_words() {
        let names = ["Police_(India)", "Citizen (India)", "India", "Police (Fiji)"];
        let names = Names::new(names.iter().map(|name| Some((*name).to_owned())).collect(), None);
        let words = Words::of(&names);
        assert_eq!(words.words, 4, "Police, India, Citizen, Fiji");
        assert_eq!(
            words.of_entity,
            [vec![(0, 0), (1, 1)], vec![(2, 0), (1, 1)], vec![(1, 2)], vec![(0, 0), (3, 1)]]
        );
    }
}
