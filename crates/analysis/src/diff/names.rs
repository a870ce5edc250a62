//! Aligning names that are spelt in different ways.
//!
//! Names that are equal belong together. What is left is compared without differences that files of the same facts are
//! known to have: blanks or underscores, no-break spaces kept or dropped, quotes as in CSV or none. A spelling that two
//! names of one dataset share is left alone: it is not clear which one is meant.

use std::borrow::Cow;

use quadcast_core::Names;
use rustc_hash::FxHashMap;

use super::report::{NameMatch, Spelling, Unmatched};
use quadcast_data::unquoted;

/// How many names without a counterpart are shown.
const EXAMPLES: usize = 5;

/// The id of A for each id of B that has one, and how it was found.
pub(super) struct AlignedNames {
    pub to_a: Vec<Option<u32>>,
    pub report: NameMatch,
}

/// Aligns names. Of each dataset, only ids marked as used are worth a word if they have no counterpart.
pub(super) fn align(a: &Names, b: &Names, used: [&[bool]; 2]) -> AlignedNames {
    let by_name = [a, b].iter().all(|names| names.iter().next().is_some());
    let mut found = Found { to_a: vec![None; b.len()], to_b: vec![None; a.len()] };
    let mut report = NameMatch { by_name, ..NameMatch::default() };
    if by_name {
        report.exact = found.pair(a, b, Cow::Borrowed, |_, _| ());
        report.respelt = found.pair(a, b, |name| Cow::Owned(plain(name)), |x, y| report.spelling.add(x, y));
    } else {
        for id in 0..a.len().min(b.len()) {
            (found.to_a[id], found.to_b[id]) = (Some(id as u32), Some(id as u32));
            report.exact += 1;
        }
    }
    report.only_a = unmatched(a, &found.to_b, used[0]);
    report.only_b = unmatched(b, &found.to_a, used[1]);
    AlignedNames { to_a: found.to_a, report }
}

/// Pairs of ids so far.
struct Found {
    to_a: Vec<Option<u32>>,
    to_b: Vec<Option<u32>>,
}

impl Found {
    /// Pairs what is left and has the same key, where the key is unique on both sides. Returns how many.
    fn pair<'n>(
        &mut self,
        a: &'n Names,
        b: &'n Names,
        key: impl Fn(&'n str) -> Cow<'n, str>,
        mut note: impl FnMut(&str, &str),
    ) -> usize {
        let of_b = by_key(b, &self.to_a, &key);
        let mut count = 0;
        for (key, in_a) in by_key(a, &self.to_b, &key) {
            let (Some((x, name)), Some(Some((y, other)))) = (in_a, of_b.get(&key)) else { continue };
            note(name, other);
            self.to_a[*y as usize] = Some(x);
            self.to_b[x as usize] = Some(*y);
            count += 1;
        }
        count
    }
}

/// Names without a counterpart by key; `None` for a key that several have.
fn by_key<'n>(
    names: &'n Names,
    paired: &[Option<u32>],
    key: impl Fn(&'n str) -> Cow<'n, str>,
) -> FxHashMap<Cow<'n, str>, Option<(u32, &'n str)>> {
    let mut keys = FxHashMap::default();
    for (id, name) in names.iter().filter(|(id, _)| paired[*id as usize].is_none()) {
        keys.entry(key(name)).and_modify(|found| *found = None).or_insert(Some((id, name)));
    }
    keys
}

/// A name without what spellings differ in.
fn plain(name: &str) -> String {
    unquoted(name).replace('\u{a0}', "").replace(' ', "_")
}

impl Spelling {
    fn add(&mut self, name: &str, other: &str) {
        let [x, y] = [name, other].map(unquoted);
        self.quotes += usize::from(x != name || y != other);
        let dropped = [&x, &y].map(|text| text.replace('\u{a0}', ""));
        self.no_break_spaces += usize::from(dropped[0] != x || dropped[1] != y);
        self.blanks += usize::from(dropped[0] != dropped[1]);
    }
}

fn unmatched(names: &Names, paired: &[Option<u32>], used: &[bool]) -> Unmatched {
    let left: Vec<u32> =
        (0..names.len() as u32).filter(|&id| used[id as usize] && paired[id as usize].is_none()).collect();
    Unmatched {
        count: left.len(),
        examples: left.iter().take(EXAMPLES).map(|&id| names.name(id).into_owned()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Names {
        Names::new(list.iter().map(|name| Some((*name).to_owned())).collect(), None)
    }

    #[test]
    fn spellings_on_paper() {
        let a =
            names(&["same", "Head of State", "Găgăuzia\u{a0}", "Nick \"N\" X", "only here", "A B", "A_B"]);
        let b = names(&["Head_of_State", "\"Nick \"\"N\"\" X\"", "Găgăuzia", "same", "A\u{a0}_B", "there"]);
        let aligned = align(&a, &b, [&[true; 7], &[true, true, true, true, true, false]]);
        assert_eq!(aligned.to_a, [Some(1), Some(3), Some(2), Some(0), None, None]);
        let report = aligned.report;
        assert_eq!((report.by_name, report.exact, report.respelt), (true, 1, 3));
        assert_eq!(report.spelling, Spelling { blanks: 1, no_break_spaces: 1, quotes: 1 });
        assert_eq!(report.only_a.examples, ["only here", "A B", "A_B"], "two of A could be the one of B");
        assert_eq!(report.only_b, Unmatched { count: 1, examples: vec!["A\u{a0}_B".to_owned()] });
    }

    #[test]
    fn without_names_ids_decide() {
        let aligned = align(&names(&["x", "y"]), &Names::anonymous(3), [&[true; 2], &[true; 3]]);
        assert_eq!(aligned.to_a, [Some(0), Some(1), None]);
        assert!(!aligned.report.by_name);
        assert_eq!(aligned.report.only_b.examples, ["#2"]);
    }
}
