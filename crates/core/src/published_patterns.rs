//! Relation patterns as the published naive-rules runs had them: lists by name, written by hand in that code.
//!
//! The published code holds relation ids and no detection; the names here were found through the order of the names.
//! A list is a claim about one dataset: [`Mirrors::detect`] is the honest way, a list is for repeating results.

use crate::{Mirrors, Names, RelationId};

/// Symmetric and inverse relations of one dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedLists {
    /// The dataset: `icews14` or `icews05-15`.
    pub name: &'static str,
    /// Relations that mirror themselves.
    pub symmetric: &'static [&'static str],
    /// Pairs of relations that mirror each other, each pair once; both directions are meant.
    pub inverse: &'static [(&'static str, &'static str)],
    /// Directions p → q of a pair that the published code lost: there a fact of p has no mirror.
    pub lost: &'static [(&'static str, &'static str)],
}

const VISITS: (&str, &str) = ("Host a visit", "Make a visit");

const ICEWS14: PublishedLists = PublishedLists {
    name: "icews14",
    symmetric: &[
        "Consult",
        "Engage in negotiation",
        "Express intent to cooperate",
        "Sign formal agreement",
        "Engage in diplomatic cooperation",
        "Discuss by telephone",
        "Meet at a 'third' location",
        "Express intent to settle dispute",
        "Declare truce, ceasefire",
    ],
    inverse: &[VISITS, ("Use tactics of violent repression", "Protest violently, riot")],
    lost: &[],
};

/// The list called `static` in the published code, which is its default. It sends Host a visit to relation 1367 instead
/// of 167, Make a visit: a typing error, corrected here and kept in `lost`.
const ICEWS05_15: PublishedLists = PublishedLists {
    name: "icews05-15",
    symmetric: &[
        "Consult",
        "Discuss by telephone",
        "Engage in negotiation",
        "Sign formal agreement",
        "Meet at a 'third' location",
        "Declare truce, ceasefire",
        "Express intent to cooperate on judicial matters",
        "Express intent to cooperate on intelligence",
        "Express intent to cooperate militarily",
        "Engage in diplomatic cooperation",
    ],
    inverse: &[VISITS, ("Receive deployment of peacekeepers", "Provide military protection or peacekeeping")],
    lost: &[VISITS],
};

impl PublishedLists {
    /// All lists.
    pub const ALL: [Self; 2] = [ICEWS14, ICEWS05_15];

    /// The patterns in the ids of a dataset, and the names that it does not have. Names may be written with blanks or
    /// underscores. With `as_published`, directions that the published code lost are left out.
    pub fn mirrors(&self, relations: &Names, as_published: bool) -> (Mirrors, Vec<&'static str>) {
        let mut missing = Vec::new();
        let mut id = |name: &'static str| {
            let found = relations.find(name).map(RelationId);
            if found.is_none() {
                missing.push(name);
            }
            found
        };
        let mut mirrors = Mirrors::default();
        mirrors.symmetric.extend(self.symmetric.iter().filter_map(|name| id(name)));
        for &(p, q) in self.inverse {
            let (Some(first), Some(second)) = (id(p), id(q)) else { continue };
            for (pair, names) in [((first, second), (p, q)), ((second, first), (q, p))] {
                if !as_published || !self.lost.contains(&names) {
                    mirrors.inverse.push(pair);
                }
            }
        }
        mirrors.symmetric.sort_unstable();
        mirrors.inverse.sort_unstable();
        (mirrors, missing)
    }
}

/// The lists of a dataset, by name; case does not matter. Re-divided sets (`icews14rr`, `icews05-15rr`) have the lists
/// of the set that they were made from.
pub fn published_lists(name: &str) -> Option<PublishedLists> {
    let name = name.to_lowercase();
    let name = name.strip_suffix("rr").unwrap_or(&name);
    PublishedLists::ALL.into_iter().find(|lists| lists.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_ids() {
        let names = ["Make_a_visit", "Consult", "Host_a_visit", "Discuss by telephone"];
        let names = Names::new(names.map(|name| Some(name.to_owned())).to_vec(), None);
        let lists = published_lists("ICEWS05-15RR").expect("a list");
        let (mirrors, missing) = lists.mirrors(&names, false);
        let r = RelationId;
        assert_eq!(mirrors.symmetric, [r(1), r(3)]);
        assert_eq!(mirrors.inverse, [(r(0), r(2)), (r(2), r(0))]);
        assert_eq!(missing.len(), 10);
        let (lossy, _) = lists.mirrors(&names, true);
        assert_eq!(lossy.inverse, [(r(0), r(2))], "Host a visit has no partner in the published code");
        assert_eq!(published_lists("icews14").map(|lists| lists.symmetric.len()), Some(9));
        assert_eq!(published_lists("icews18"), None);
    }
}
