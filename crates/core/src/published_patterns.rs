//! Relation patterns as the published naive-rules runs had them: lists by name, written by hand in that code.
//!
//! The published code holds relation ids and no detection; the names here were found through the order of the names.
//! A list is a claim about one dataset: [`Mirrors::detect`] is the honest way, a list is for repeating results. That of
//! `icews05-15` is called `static` in the published code, where it is the default. It sends Host a visit to relation 1367
//! instead of 167, Make a visit: a typing error, corrected here and kept in [`PublishedLists::lost`].

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{Mirrors, Names, RelationId};

/// Symmetric and inverse relations of one dataset, by name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedLists {
    /// The dataset: `icews14` or `icews05-15`.
    pub name: String,
    /// Relations that mirror themselves.
    pub symmetric: Vec<String>,
    /// Pairs of relations that mirror each other, each pair once; both directions are meant.
    pub inverse: Vec<(String, String)>,
    /// Directions p → q of a pair that the published code lost: there a fact of p has no mirror.
    #[serde(default)]
    pub lost: Vec<(String, String)>,
}

impl PublishedLists {
    /// All lists.
    ///
    /// # Panics
    /// Never: a test parses the embedded file.
    pub fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<PublishedLists>> = LazyLock::new(|| {
            serde_json::from_str(include_str!("../data/published_patterns.json"))
                .expect("a test parses the embedded file")
        });
        &ALL
    }

    /// The patterns in the ids of a dataset, and the names that it does not have. Names may be written with blanks or
    /// underscores. With `as_published`, directions that the published code lost are left out.
    pub fn mirrors<'a>(&'a self, relations: &Names, as_published: bool) -> (Mirrors, Vec<&'a str>) {
        let mut missing = Vec::new();
        let mut id = |name: &'a str| {
            let found = relations.find(name).map(RelationId);
            if found.is_none() {
                missing.push(name);
            }
            found
        };
        let mut mirrors = Mirrors::default();
        mirrors.symmetric.extend(self.symmetric.iter().filter_map(|name| id(name)));
        for (p, q) in &self.inverse {
            let (Some(first), Some(second)) = (id(p), id(q)) else { continue };
            for (pair, names) in [((first, second), (p, q)), ((second, first), (q, p))] {
                let lost = || self.lost.iter().any(|lost| (&lost.0, &lost.1) == names);
                if !as_published || !lost() {
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
pub fn published_lists(name: &str) -> Option<&'static PublishedLists> {
    let name = name.to_lowercase();
    let name = name.strip_suffix("rr").unwrap_or(&name);
    PublishedLists::all().iter().find(|lists| lists.name == name)
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
