//! Recognising a variant: by its sizes, then by its content.

use std::fmt::Display;

use quadcast_core::{EvolvingDataset, Facts, Fingerprint, Splits};
use serde::Serialize;

use super::fingerprint::{fingerprint, of_splits, split_fingerprints};
use super::{Variant, variants};
use crate::{Content, DataError};

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

/// The variant of this name or alias; an error with the nearest name if there is none.
pub fn variant(name: &str) -> Result<&'static Variant, DataError> {
    /// Less alike names are no help.
    const ALIKE: f64 = 0.8;
    if let Some(variant) = lookup(name) {
        return Ok(variant);
    }
    let likeness =
        |variant: &Variant| strsim::jaro_winkler(&variant.name.to_lowercase(), &name.to_lowercase());
    let near = variants().iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let hint = near.filter(|variant| likeness(variant) > ALIKE).map(|variant| variant.name);
    let hint = hint.map_or_else(String::new, |name| format!(" Did you mean {name}?"));
    Err(DataError::Unusable(format!("{name:?} is not in the catalogue; see `quadcast data list`.{hint}")))
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
            Some(splits) => of_splits(id_space(content), splits),
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
    evolving: bool,
    /// Training, validation and test facts of each step, or of the whole; for evolving graphs counted in two ways: some
    /// sources count the whole training graph of a step, others only what is new in it.
    counts: Vec<Vec<[usize; 3]>>,
}

impl Sizes {
    fn of(content: &Content) -> Self {
        let once = |splits: Splits<usize>| vec![vec![[splits.train, splits.valid, splits.test]]];
        let counts = match content {
            Content::Temporal(data) => once(data.splits.map(Facts::len)),
            Content::Static(data) => once(data.splits.map(Vec::len)),
            Content::Intervals(data) => once(data.splits.map(Vec::len)),
            Content::Evolving(data) => step_counts(data),
        };
        Self { ids: id_space(content), evolving: matches!(content, Content::Evolving(_)), counts }
    }

    /// The entries of these sizes.
    fn candidates(&self) -> Vec<&'static Variant> {
        variants().iter().filter(|variant| self.fit(variant)).collect()
    }

    fn fit(&self, variant: &Variant) -> bool {
        let known: Vec<_> = match variant.snapshots {
            [] => vec![[variant.train, variant.valid, variant.test]],
            steps => steps.iter().map(|step| [step.train, step.valid, step.test].map(Some)).collect(),
        };
        let same =
            |counts: &Vec<[usize; 3]>| counts.iter().map(|step| step.map(Some)).eq(known.iter().copied());
        self.evolving != variant.snapshots.is_empty() && self.counts.iter().any(same)
    }

    fn id_space_difference(&self, variant: &Variant) -> Option<String> {
        let [entities, relations] = self.ids;
        let spaces = [("entity", entities, variant.entities), ("relation", relations, variant.relations)];
        spaces.into_iter().find_map(|(word, ours, known)| {
            let theirs = known.filter(|&count| count != ours)?;
            Some(format!("facts equal, but the {word} id space has {ours} ids instead of {theirs}"))
        })
    }
}

fn step_counts(data: &EvolvingDataset) -> Vec<Vec<[usize; 3]>> {
    let mut train = 0_usize;
    let counts = data.steps.iter().map(|step| {
        let inserts = step.training.iter().filter(|operation| operation.insert).count();
        train = (train + inserts).saturating_sub(step.training.len() - inserts);
        let full = step.evaluation_all.as_ref().unwrap_or(&step.evaluation);
        let (valid, test) = (full.valid.len(), full.test.len());
        ([train, valid, test], [inserts, valid, test])
    });
    let (whole, new) = counts.unzip();
    vec![whole, new]
}
