//! Names for people to read, made of syllables. They mean nobody and no place.

use quadcast_core::stream;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashSet;

const STARTS: [&str; 24] = [
    "Bra", "Quel", "Dor", "Ves", "Thi", "Mor", "Zan", "Lur", "Fen", "Gri", "Hal", "Is", "Jor", "Kel", "Nim",
    "Ost", "Pel", "Rus", "Sil", "Tam", "Ul", "Wex", "Yar", "Ced",
];
const MIDDLES: [&str; 16] =
    ["a", "e", "i", "o", "u", "ara", "eli", "ino", "ova", "umi", "ani", "ero", "ilo", "ath", "end", "or"];
const GIVEN_ENDS: [&str; 12] = ["n", "la", "ric", "wen", "das", "mir", "vi", "tho", "ra", "lis", "bek", "ne"];
const FAMILY_ENDS: [&str; 12] =
    ["quist", "bar", "drun", "fell", "gast", "hest", "kind", "loom", "marr", "pole", "rook", "vane"];
const PLACE_ENDS: [&str; 12] =
    ["holm", "mere", "fold", "gate", "reach", "stead", "barrow", "haven", "moor", "wick", "crest", "dale"];
const BODIES: [&str; 16] = [
    "Council", "Guild", "Watch", "Chapel", "Mill", "Press", "League", "Court", "Union", "Bank", "School",
    "Ferry", "Choir", "Market", "Archive", "Guard",
];
const VERBS: [&str; 24] = [
    "meet", "praise", "warn", "visit", "aid", "accuse", "consult", "invite", "release", "host", "reject",
    "support", "question", "pay", "blame", "protect", "supply", "escort", "thank", "threaten", "return",
    "appeal", "yield", "inspect",
];
const MANNERS: [&str; 12] = [
    "openly",
    "by letter",
    "in secret",
    "at dawn",
    "with gifts",
    "through envoys",
    "in public",
    "by decree",
    "on credit",
    "under escort",
    "by proxy",
    "again",
];

/// Makes names that differ from all it made before.
pub(super) struct Namer {
    random: ChaCha8Rng,
    used: FxHashSet<String>,
}

impl Namer {
    pub fn new(seed: u64) -> Self {
        Self { random: stream(seed, "synth names", 0), used: FxHashSet::default() }
    }

    fn pick(&mut self, parts: &[&'static str]) -> &'static str {
        parts[self.random.random_range(0..parts.len())]
    }

    fn word(&mut self, ends: &[&'static str]) -> String {
        format!("{}{}{}", self.pick(&STARTS), self.pick(&MIDDLES), self.pick(ends))
    }

    fn unused(&mut self, make: impl Fn(&mut Self) -> String) -> String {
        loop {
            let name = make(self);
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }

    /// A person: given name and family name (21 million of them).
    pub fn person(&mut self) -> String {
        self.unused(|namer| format!("{} {}", namer.word(&GIVEN_ENDS), namer.word(&FAMILY_ENDS)))
    }

    /// A place (4608 of them).
    pub fn place(&mut self) -> String {
        self.unused(|namer| namer.word(&PLACE_ENDS))
    }

    /// An organisation: a place and what it is there (73 728 of them).
    pub fn body(&mut self) -> String {
        self.unused(|namer| format!("{} {}", namer.word(&PLACE_ENDS), namer.pick(&BODIES)))
    }

    /// Relations: `count` verbs, first bare, then with a manner (312 of them).
    pub fn relations(count: usize) -> Vec<String> {
        let bare = VERBS.iter().map(ToString::to_string);
        let with = MANNERS.iter().flat_map(|manner| VERBS.iter().map(move |verb| format!("{verb} {manner}")));
        bare.chain(with).take(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_follow_the_seed() {
        let names = |seed| {
            let mut namer = Namer::new(seed);
            (0..500)
                .map(|i| [Namer::person, Namer::place, Namer::body][i % 3](&mut namer))
                .collect::<Vec<_>>()
        };
        assert_eq!(names(1).iter().collect::<FxHashSet<_>>().len(), 500);
        assert_eq!(names(1), names(1));
        assert_ne!(names(1), names(2));
        assert_eq!(Namer::relations(240).iter().collect::<FxHashSet<_>>().len(), 240);
    }
}
