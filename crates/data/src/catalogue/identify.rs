//! Recognising a variant: by its sizes, then by its content.

use std::fmt::Display;

use quadcast_core::{EvolvingDataset, Fingerprint, Splits};
use serde::Serialize;

use super::fingerprint::{fingerprint, split_fingerprints};
use super::{Variant, variants};
use crate::Content;

/// How a dataset relates to a catalogue entry of the same sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CatalogueMatch {
    /// The content is the variant's.
    Exact {
        /// Name of the variant.
        name: &'static str,
    },
    /// The sizes are the variant's, the content is not, or could not be compared.
    Near {
        /// Name of the variant.
        name: &'static str,
        /// What differs.
        reason: String,
    },
}

/// The variant whose content this is. Equal sizes are not enough.
pub fn identify(content: &Content) -> Option<&'static Variant> {
    match compare(content)? {
        CatalogueMatch::Exact { name } => lookup(name),
        CatalogueMatch::Near { .. } => None,
    }
}

/// The variant of this name, or of this alias where only one variant has it. Case does not matter.
pub fn lookup(name: &str) -> Option<&'static Variant> {
    let by_name = variants().iter().find(|variant| variant.name.eq_ignore_ascii_case(name));
    by_name.or_else(|| {
        let mut hits = variants()
            .iter()
            .filter(|variant| variant.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name)));
        match (hits.next(), hits.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    })
}

/// The best catalogue entry for this content: the same content, else the first entry of the same sizes.
pub fn compare(content: &Content) -> Option<CatalogueMatch> {
    let sizes = Sizes::of(content);
    // Hashing takes longer than reading: only where an entry could match.
    let candidates = sizes.candidates();
    if candidates.is_empty() { None } else { best(&candidates, &sizes, &Hashes::of(content)) }
}

/// As [`compare`], for a caller that has hashed the content already.
pub fn compare_with(content: &Content, hashes: &Hashes) -> Option<CatalogueMatch> {
    let sizes = Sizes::of(content);
    best(&sizes.candidates(), &sizes, hashes)
}

fn best(candidates: &[&'static Variant], sizes: &Sizes, hashes: &Hashes) -> Option<CatalogueMatch> {
    let mut near = None;
    for variant in candidates {
        let name = variant.name;
        match hashes.difference(variant, sizes) {
            None => return Some(CatalogueMatch::Exact { name }),
            Some(reason) => near = near.or(Some(CatalogueMatch::Near { name, reason })),
        }
    }
    near
}

/// Content hashes of a dataset.
pub struct Hashes {
    /// Of the whole.
    pub whole: Fingerprint,
    /// Of each split, where there are splits.
    pub splits: Option<Splits<Fingerprint>>,
}

impl Hashes {
    /// Hashes the content once.
    pub fn of(content: &Content) -> Self {
        let splits = split_fingerprints(content);
        let whole = match &splits {
            Some(splits) => {
                let ids = id_space(content);
                super::fingerprint::of_splits(ids[0], ids[1], splits)
            }
            None => fingerprint(content),
        };
        Self { whole, splits }
    }

    /// What keeps this content from being the variant; `None` when nothing does.
    fn difference(&self, variant: &Variant, sizes: &Sizes) -> Option<String> {
        if let (Some(ours), true) = (&self.splits, variant.fingerprints.train.is_some()) {
            let differing: Vec<&str> = ours
                .iter()
                .filter(|(split, hash)| !same(*variant.fingerprints.get(*split), hash))
                .map(|(split, _)| split.word())
                .collect();
            if !differing.is_empty() {
                return Some(format!("counts equal, content of {} differs", differing.join(", ")));
            }
            return sizes.id_space_difference(variant);
        }
        match variant.fingerprint {
            None => Some("counts equal, no fingerprint on record to compare the content with".to_owned()),
            Some(_) if same(variant.fingerprint, &self.whole) => None,
            Some(_) => Some("counts equal, content differs".to_owned()),
        }
    }
}

fn same(known: Option<&str>, hash: &impl Display) -> bool {
    known == Some(hash.to_string().as_str())
}

/// Entities and relations of the id space.
fn id_space(content: &Content) -> [usize; 2] {
    let vocabulary = match content {
        Content::Temporal(data) => &data.vocabulary,
        Content::Static(data) => &data.vocabulary,
        Content::Intervals(data) => &data.vocabulary,
        Content::Evolving(data) => &data.vocabulary,
    };
    [vocabulary.entities.len(), vocabulary.relations.len()]
}

/// What is compared before anything is hashed.
struct Sizes {
    ids: [usize; 2],
    facts: Facts,
}

enum Facts {
    Splits([usize; 3]),
    Steps(Vec<StepSizes>),
}

/// Training, validation and test triples of one step, the training triples counted in two ways.
struct StepSizes {
    whole: [usize; 3],
    new: [usize; 3],
}

impl Sizes {
    fn of(content: &Content) -> Self {
        let facts = match content {
            Content::Temporal(data) => in_order(&data.splits, quadcast_core::Facts::len),
            Content::Static(data) => in_order(&data.splits, Vec::len),
            Content::Intervals(data) => in_order(&data.splits, Vec::len),
            Content::Evolving(data) => Facts::Steps(step_sizes(data)),
        };
        Self { ids: id_space(content), facts }
    }

    /// The entries of these sizes.
    fn candidates(&self) -> Vec<&'static Variant> {
        variants().iter().filter(|variant| self.fit(variant)).collect()
    }

    fn fit(&self, variant: &Variant) -> bool {
        match &self.facts {
            Facts::Splits(counts) => {
                variant.snapshots.is_empty()
                    && [variant.train, variant.valid, variant.test] == counts.map(Some)
            }
            Facts::Steps(steps) => {
                let known = || variant.snapshots.iter().map(|step| [step.train, step.valid, step.test]);
                // Some sources count the whole training graph of a step, others only what is new in it.
                let (whole, new) = (steps.iter().map(|step| step.whole), steps.iter().map(|step| step.new));
                !steps.is_empty() && (known().eq(whole) || known().eq(new))
            }
        }
    }

    fn id_space_difference(&self, variant: &Variant) -> Option<String> {
        let words = ["entity", "relation"];
        let known = [variant.entities, variant.relations];
        let differing = (0..2).find(|&i| known[i].is_some_and(|count| count != self.ids[i]))?;
        let (word, ours) = (words[differing], self.ids[differing]);
        let theirs = known[differing]?;
        Some(format!("facts equal, but the {word} id space has {ours} ids instead of {theirs}"))
    }
}

fn in_order<T>(splits: &Splits<T>, len: impl Fn(&T) -> usize) -> Facts {
    Facts::Splits([len(&splits.train), len(&splits.valid), len(&splits.test)])
}

fn step_sizes(data: &EvolvingDataset) -> Vec<StepSizes> {
    let mut train = 0_usize;
    let sizes = data.steps.iter().map(|step| {
        let inserts = step.training.iter().filter(|operation| operation.insert).count();
        train = (train + inserts).saturating_sub(step.training.len() - inserts);
        let full = step.evaluation_all.as_ref().unwrap_or(&step.evaluation);
        let (valid, test) = (full.valid.len(), full.test.len());
        StepSizes { whole: [train, valid, test], new: [inserts, valid, test] }
    });
    sizes.collect()
}
