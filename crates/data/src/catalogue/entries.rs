//! What the catalogue knows about each variant: one TOML file per task, embedded and parsed once.

use std::sync::LazyLock;

use quadcast_core::{Calendar, Splits};
use serde::{Deserialize, Serialize};

/// The kind of task that a variant was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Predict facts of the future; the splits follow each other in time.
    Forecasting,
    /// Predict missing facts of the past; the splits interleave in time.
    Completion,
    /// Facts with a start and an end.
    Intervals,
    /// Graphs that change in steps.
    Evolving,
    /// Graphs without time.
    Static,
}

impl Family {
    /// The word used in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Forecasting => "forecasting",
            Self::Completion => "completion",
            Self::Intervals => "intervals",
            Self::Evolving => "evolving",
            Self::Static => "static",
        }
    }
}

/// Sizes of an evolving graph at one of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SnapshotCounts {
    /// Entities present (or seen so far, where the source counts so).
    pub entities: usize,
    /// Relations present, inverses not counted.
    pub relations: usize,
    /// Training triples: of the whole snapshot, or the new ones where each step lists only those.
    pub train: usize,
    /// Validation triples, all of them.
    pub valid: usize,
    /// Test triples, all of them.
    pub test: usize,
}

/// A file that can be downloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Download {
    /// Path in the folder of the dataset.
    pub path: &'static str,
    /// Addresses, in the order in which they are tried.
    pub urls: &'static [&'static str],
    /// Size.
    pub bytes: u64,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: &'static str,
}

/// A benchmark variant. Numbers are `None` where no source states them and no file was at hand to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Variant {
    /// Name, unique without regard to case.
    pub name: &'static str,
    /// The task.
    pub family: Family,
    /// Other names in circulation. One alias may belong to several variants: that is the trouble with them.
    pub aliases: &'static [&'static str],
    /// Size of the entity id space.
    pub entities: Option<usize>,
    /// Number of relations.
    pub relations: Option<usize>,
    /// Training facts.
    pub train: Option<usize>,
    /// Validation facts.
    pub valid: Option<usize>,
    /// Test facts.
    pub test: Option<usize>,
    /// Sizes per step, for evolving graphs.
    pub snapshots: &'static [SnapshotCounts],
    /// Steps and their unit, in words.
    pub time: &'static str,
    /// What an original time stamp means; `None` where the files carry dates or nothing is known.
    pub calendar: Option<Calendar>,
    /// Content hash of each split.
    pub fingerprints: Splits<Option<&'static str>>,
    /// Content hash of the whole.
    pub fingerprint: Option<&'static str>,
    /// Where it comes from.
    pub source: &'static str,
    /// What is known about its licence.
    pub licence: &'static str,
    /// Peculiarities that change results.
    pub quirks: &'static [&'static str],
    /// The published files, where their addresses and checksums are known: what `data fetch` downloads.
    pub files: &'static [Download],
    /// Whether the project holds the files and counted and hashed them itself.
    pub stored: bool,
}

/// In the order of the listing.
const FILES: [(Family, &str); 5] = [
    (Family::Forecasting, include_str!("../../catalogue/forecasting.toml")),
    (Family::Completion, include_str!("../../catalogue/completion.toml")),
    (Family::Intervals, include_str!("../../catalogue/intervals.toml")),
    (Family::Evolving, include_str!("../../catalogue/evolving.toml")),
    (Family::Static, include_str!("../../catalogue/static.toml")),
];

/// Every variant that the project's specifications name, also those whose files could not be had.
///
/// # Panics
/// Never: a test parses the embedded files.
pub fn variants() -> &'static [Variant] {
    static VARIANTS: LazyLock<Vec<Variant>> = LazyLock::new(|| {
        FILES
            .iter()
            .flat_map(|(family, text)| parse(*family, text).expect("a test parses the embedded files"))
            .collect()
    });
    &VARIANTS
}

fn parse(family: Family, text: &str) -> Result<Vec<Variant>, toml::de::Error> {
    let file: File = toml::from_str(text)?;
    let mut variants = Vec::new();
    for mut group in file.group {
        let entries = std::mem::take(&mut group.variant);
        variants.extend(entries.into_iter().map(|entry| entry.variant(family, &group)));
    }
    Ok(variants)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    group: Vec<Group>,
}

/// Variants that share a source, and what holds for all of them that do not say otherwise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    variant: Vec<Entry>,
    time: Option<String>,
    source: Option<String>,
    licence: Option<String>,
    quirks: Option<Vec<String>>,
}

/// One variant as it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(default)]
    aliases: Vec<String>,
    time: Option<String>,
    source: Option<String>,
    licence: Option<String>,
    quirks: Option<Vec<String>>,
    calendar: Option<Calendar>,
    entities: Option<usize>,
    relations: Option<usize>,
    train: Option<usize>,
    test: Option<usize>,
    /// Train, valid, test.
    facts: Option<[usize; 3]>,
    /// Entities, relations, train, valid, test of each step.
    #[serde(default)]
    snapshots: Vec<[usize; 5]>,
    fingerprint: Option<String>,
    /// Of train, valid, test.
    fingerprints: Option<[String; 3]>,
    download: Option<Repository>,
}

/// Published files: a folder of a repository at a commit. Only where they were compared with it byte by byte.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "a key of the file")]
struct Repository {
    repository: String,
    commit: String,
    folder: String,
    /// Path, size and SHA-256 of every file.
    files: Vec<(String, u64, String)>,
}

/// Keeps a text for the life of the process, as the catalogue is.
fn kept(text: String) -> &'static str {
    text.leak()
}

fn all_kept(texts: Vec<String>) -> &'static [&'static str] {
    texts.into_iter().map(kept).collect::<Vec<_>>().leak()
}

impl Entry {
    fn variant(self, family: Family, defaults: &Group) -> Variant {
        let text = |own: Option<String>, shared: &Option<String>| own.or_else(|| shared.clone()).map(kept);
        let [train, valid, test] = self.facts.map_or([self.train, None, self.test], |facts| facts.map(Some));
        let hashes = self.fingerprints.map(|hashes| hashes.map(kept));
        let [of_train, of_valid, of_test] = hashes.map_or([None; 3], |hashes| hashes.map(Some));
        let counts = |&[entities, relations, train, valid, test]: &[usize; 5]| SnapshotCounts {
            entities,
            relations,
            train,
            valid,
            test,
        };
        Variant {
            name: kept(self.name),
            family,
            aliases: all_kept(self.aliases),
            entities: self.entities,
            relations: self.relations,
            train,
            valid,
            test,
            snapshots: self.snapshots.iter().map(counts).collect::<Vec<_>>().leak(),
            time: text(self.time, &defaults.time).unwrap_or_default(),
            calendar: self.calendar,
            fingerprints: Splits { train: of_train, valid: of_valid, test: of_test },
            // Only files at hand are hashed.
            stored: self.fingerprint.is_some(),
            fingerprint: self.fingerprint.map(kept),
            source: text(self.source, &defaults.source).unwrap_or_default(),
            licence: text(self.licence, &defaults.licence).unwrap_or("not stated"),
            quirks: all_kept(self.quirks.or_else(|| defaults.quirks.clone()).unwrap_or_default()),
            files: self.download.map_or(&[], Repository::downloads),
        }
    }
}

impl Repository {
    /// Every file with two addresses that lead to the same bytes.
    fn downloads(self) -> &'static [Download] {
        let Self { repository, commit, folder, files } = self;
        let download = |(path, bytes, sha256): (String, u64, String)| Download {
            urls: all_kept(vec![
                format!("https://raw.githubusercontent.com/{repository}/{commit}/{folder}/{path}"),
                format!("https://github.com/{repository}/raw/{commit}/{folder}/{path}"),
            ]),
            path: kept(path),
            bytes,
            sha256: kept(sha256),
        };
        files.into_iter().map(download).collect::<Vec<_>>().leak()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_parses() {
        for (family, text) in FILES {
            let found = parse(family, text).unwrap_or_else(|error| panic!("{}: {error}", family.word()));
            assert!(!found.is_empty() && found.iter().all(|variant| variant.family == family));
        }
        assert_eq!(variants().len(), 46);
    }

    #[test]
    fn groups_share_what_their_variants_leave_out() {
        let find = |name: &str| variants().iter().find(|variant| variant.name == name).expect("an entry");
        assert_eq!(find("ENTITY").time, "5 snapshots");
        assert_eq!(find("YAGO-3SP").source, "github.com/lienwc/DKGE @ ea98b91dfceb, dataset/");
        assert_eq!((find("GDELT").stored, find("ICEWS14").stored), (false, true));
        let file = &find("WN18").files[0];
        assert_eq!(file.path, "entity2id.txt");
        assert_eq!(
            file.urls[1],
            "https://github.com/thunlp/OpenKE/raw/64c4ec8157ab/benchmarks/WN18/entity2id.txt"
        );
    }
}
