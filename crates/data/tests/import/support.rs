//! A folder with tables to import.

use std::fs;
use std::path::PathBuf;

use quadcast_core::{Dataset, EntityId};
use quadcast_data::{Content, DataError, ImportOptions, ImportReport, LoadOptions, import, load};
use tempfile::TempDir;

/// Three days, so that every split gets one.
pub const DAYS: &str = "subject,relation,object,date\nA,r,B,2031-01-01\nB,r,C,2031-01-02\nA,s,C,2031-01-03\n";

/// A folder with files in it.
pub struct Desk {
    folder: TempDir,
}

impl Desk {
    pub fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and gives the options to import it into `out`.
    pub fn with(&self, name: &str, content: impl AsRef<[u8]>) -> ImportOptions {
        fs::write(self.path(name), content).expect("a file");
        ImportOptions::new(vec![self.path(name)], self.path("out"))
    }

    /// What was imported, as the readers see it.
    pub fn load(&self) -> Dataset {
        match load(&self.path("out"), &LoadOptions::default()).expect("a dataset").content {
            Content::Temporal(dataset) => dataset,
            other => panic!("{}", other.name()),
        }
    }
}

/// Imports one file with the options changed.
pub fn imported(
    name: &str,
    content: impl AsRef<[u8]>,
    change: impl FnOnce(&mut ImportOptions),
) -> (Result<ImportReport, DataError>, Desk) {
    let desk = Desk::new();
    let mut options = desk.with(name, content);
    change(&mut options);
    (import(&options), desk)
}

/// The error of an import of one file with the options changed.
pub fn refusal(name: &str, content: impl AsRef<[u8]>, change: impl FnOnce(&mut ImportOptions)) -> String {
    imported(name, content, change).0.expect_err(name).to_string()
}

/// Subject, relation, object and date of every fact, in the order of time.
pub fn facts(dataset: &Dataset) -> Vec<[String; 4]> {
    let mut facts = Vec::new();
    for (_, split) in dataset.splits.iter() {
        for quad in split.iter() {
            let entity = |id: EntityId| dataset.vocabulary.entities.name(id.0).into_owned();
            let relation = dataset.vocabulary.relations.name(quad.relation.0).into_owned();
            facts.push([entity(quad.subject), relation, entity(quad.object), dataset.axis.label(quad.step)]);
        }
    }
    facts
}
