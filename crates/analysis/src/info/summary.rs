//! The general part of the statistics, and which special part goes with it.

use std::path::PathBuf;

use quadcast_core::{Fingerprint, Splits};
use serde::Serialize;

use super::counting::IdSpace;
use super::evolving::EvolvingInfo;
use super::graph::StaticInfo;
use super::intervals::IntervalsInfo;
use super::temporal::TemporalInfo;
use quadcast_data::{CatalogueMatch, Content, Family, Format, Hashes, Loaded, compare_with, lookup};

/// Everything that is known about a dataset. The names of the fields are the JSON names and are kept stable.
#[derive(Clone, Debug, Serialize)]
pub struct Info {
    /// Name for people.
    pub name: String,
    /// The folder.
    pub path: PathBuf,
    /// `temporal`, `static`, `intervals` or `evolving`.
    pub kind: &'static str,
    /// The layout that was read.
    pub format: Format,
    /// What was detected and assumed while reading.
    pub notes: Vec<String>,
    /// Entity ids.
    pub entities: IdSpace,
    /// Relation ids.
    pub relations: IdSpace,
    /// Content hash.
    pub fingerprint: Fingerprint,
    /// Content hash of each split, where there are splits.
    pub split_fingerprints: Option<Splits<Fingerprint>>,
    /// The catalogue entry of the same content, or one of the same sizes only.
    pub catalogue: Option<CatalogueMatch>,
    /// The task that the catalogue entry was made for.
    pub family: Option<Family>,
    /// Known peculiarities of the catalogue entry.
    pub quirks: &'static [&'static str],
    /// The part that depends on the kind, under its name.
    #[serde(flatten)]
    pub details: Details,
}

/// Statistics of one kind of content.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Details {
    /// Facts with time stamps.
    Temporal(Box<TemporalInfo>),
    /// Facts without time.
    Static(Box<StaticInfo>),
    /// Facts with validity intervals.
    Intervals(Box<IntervalsInfo>),
    /// A graph that changes in steps.
    Evolving(Box<EvolvingInfo>),
}

/// The word for a kind of content.
pub(crate) const fn kind(content: &Content) -> &'static str {
    match content {
        Content::Temporal(_) => "temporal",
        Content::Static(_) => "static",
        Content::Intervals(_) => "intervals",
        Content::Evolving(_) => "evolving",
    }
}

/// Computes the statistics of a dataset.
pub fn info(loaded: &Loaded) -> Info {
    // Hashing and counting do not depend on each other and take about as long.
    let details = || match &loaded.content {
        Content::Temporal(data) => TemporalInfo::of(data),
        Content::Static(data) => StaticInfo::of(data),
        Content::Intervals(data) => IntervalsInfo::of(data),
        Content::Evolving(data) => EvolvingInfo::of(data),
    };
    let (hashes, (details, [entities, relations])) = rayon::join(|| Hashes::of(&loaded.content), details);
    let catalogue = compare_with(&loaded.content, &hashes);
    let variant = match &catalogue {
        Some(CatalogueMatch::Exact { name }) => lookup(name),
        _ => None,
    };
    Info {
        name: loaded.content.name().to_owned(),
        path: loaded.path.clone(),
        kind: kind(&loaded.content),
        format: loaded.format,
        notes: loaded.notes.clone(),
        entities,
        relations,
        fingerprint: hashes.whole,
        split_fingerprints: hashes.splits,
        catalogue,
        family: variant.map(|variant| variant.family),
        quirks: variant.map_or(&[], |variant| variant.quirks),
        details,
    }
}
