//! The entries of the catalogue: one TOML file per task, embedded and parsed once.

use std::sync::LazyLock;

use quadcast_core::{Calendar, Splits};
use serde::Deserialize;

use super::variant::{Download, Family, SnapshotCounts, Variant};

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
    let entries = file.group.into_iter().flat_map(|group| {
        let Group { defaults, variant } = group;
        variant.into_iter().map(move |entry| entry.variant(family, &defaults))
    });
    Ok(entries.collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    group: Vec<Group>,
}

/// Variants that share a source.
#[derive(Deserialize)]
struct Group {
    #[serde(flatten)]
    defaults: Defaults,
    variant: Vec<Entry>,
}

/// What holds for all variants of a group that do not say otherwise.
#[derive(Deserialize)]
struct Defaults {
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
    fn variant(self, family: Family, defaults: &Defaults) -> Variant {
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
