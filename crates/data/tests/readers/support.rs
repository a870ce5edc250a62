//! Folders made by hand.

use std::fs;
use std::path::Path;

use quadcast_core::{Dataset, EvolvingDataset, Quad, Split};
use quadcast_data::{Content, DataError, Format, LoadOptions, Loaded, load};
use tempfile::TempDir;

/// A folder with these files.
pub fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder inside");
        fs::write(path, bytes).expect("a file");
    }
    folder
}

/// Loads a folder with detection.
pub fn try_load(path: &Path) -> Result<Loaded, DataError> {
    load(path, &LoadOptions::default())
}

/// Loads these files, which must be right.
pub fn loaded(files: &[(&str, &[u8])]) -> Loaded {
    let folder = folder(files);
    try_load(folder.path()).unwrap_or_else(|error| panic!("{error}"))
}

/// The message about these files, which must be wrong. At most two lines.
pub fn message(files: &[(&str, &[u8])]) -> String {
    checked(try_load(folder(files).path()))
}

/// The message about these files when read in a given layout.
pub fn message_as(format: Format, files: &[(&str, &[u8])]) -> String {
    checked(load(folder(files).path(), &LoadOptions { format: Some(format), ..LoadOptions::default() }))
}

/// Asserts that the message about these files contains all of the texts.
pub fn assert_message(files: &[(&str, &[u8])], texts: &[&str]) {
    assert_texts(&message(files), texts);
}

/// Asserts that a message contains all of the texts.
pub fn assert_texts(message: &str, texts: &[&str]) {
    for text in texts {
        assert!(message.contains(text), "{text:?} is missing in: {message}");
    }
}

fn checked(result: Result<Loaded, DataError>) -> String {
    let text = result.expect_err("these files are wrong").to_string();
    assert!(text.lines().count() <= 2, "{text}");
    text
}

/// The temporal dataset that was read.
pub fn temporal(loaded: &Loaded) -> &Dataset {
    match &loaded.content {
        Content::Temporal(dataset) => dataset,
        other => panic!("expected facts with time stamps, found {}", other.name()),
    }
}

/// The evolving graph that was read.
pub fn evolving(loaded: &Loaded) -> &EvolvingDataset {
    match &loaded.content {
        Content::Evolving(dataset) => dataset,
        other => panic!("expected an evolving graph, found {}", other.name()),
    }
}

/// The facts of a split as (subject, relation, object, original time).
pub fn facts(dataset: &Dataset, split: Split) -> Vec<(u32, u32, u32, i64)> {
    let original = |q: Quad| (q.subject.0, q.relation.0, q.object.0, dataset.axis.time(q.step));
    dataset.splits.get(split).iter().map(original).collect()
}

/// Asserts that each of the texts stands in some note.
pub fn assert_notes(loaded: &Loaded, texts: &[&str]) {
    for text in texts {
        assert!(loaded.notes.iter().any(|note| note.contains(text)), "{text}: {:?}", loaded.notes);
    }
}

/// Three splits, the training one given.
pub fn with_train<'a>(train: &'a [u8], others: &'a [u8]) -> [(&'static str, &'a [u8]); 3] {
    [("train.txt", train), ("valid.txt", others), ("test.txt", others)]
}
