//! Real datasets for tests: from `$QUADCAST_DATA`, or from `shared/data` beside the repository.
//!
//! A test that lacks something calls [`skip`] and returns. Every skip is printed and counted; `./check` prints the sums.

use std::fs::OpenOptions;
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};

use quadcast_core::{Dataset, StaticGraph};
use quadcast_data::{Content, LoadOptions, load};

/// The reason of a skip for want of data.
const NO_DATA: &str = "no real datasets (set QUADCAST_DATA)";

/// The folder of all real datasets if it holds this one, such as `forecasting/ICEWS14`, or `None` after a counted skip.
pub fn root_with(dataset: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("QUADCAST_DATA").map_or_else(beside, PathBuf::from);
    if root.join(dataset).is_dir() {
        return Some(root);
    }
    skip_with(NO_DATA, &format!("no {dataset} in {}; set QUADCAST_DATA", root.display()));
    None
}

/// The folder of all real datasets, or `None` after a counted skip.
pub fn any() -> Option<PathBuf> {
    root_with("forecasting")
}

/// The folder of a dataset, or `None` after a counted skip.
pub fn folder(dataset: &str) -> Option<PathBuf> {
    root_with(dataset).map(|root| root.join(dataset))
}

fn content(dataset: &str) -> Option<Content> {
    let loaded = load(&folder(dataset)?, &LoadOptions::default());
    Some(loaded.unwrap_or_else(|error| panic!("{dataset}: {error}")).content)
}

/// A dataset of facts with time stamps, or `None` after a counted skip.
pub fn temporal(dataset: &str) -> Option<Dataset> {
    match content(dataset)? {
        Content::Temporal(data) => Some(data),
        other => panic!("{dataset} holds {}", other.name()),
    }
}

/// A static graph, or `None` after a counted skip.
pub fn timeless(dataset: &str) -> Option<StaticGraph> {
    match content(dataset)? {
        Content::Static(data) => Some(data),
        other => panic!("{dataset} holds {}", other.name()),
    }
}

/// Prints and counts that the current test is skipped.
pub fn skip(reason: &str) {
    skip_with(reason, reason);
}

/// Prints the details, and adds a line with the reason and the test to the file `$QUADCAST_SKIPPED`, which `./check` sums.
///
/// The test runner captures what the print macros write, but not this: a skip is seen even though the test passes.
fn skip_with(reason: &str, details: &str) {
    writeln!(stderr(), "skipped: {details}").expect("standard error is open");
    let Some(list) = std::env::var_os("QUADCAST_SKIPPED") else { return };
    let program = std::env::current_exe().unwrap_or_default();
    let (program, thread) = (program.file_stem().unwrap_or_default(), std::thread::current());
    let line = format!("{reason}\t{}::{}\n", program.display(), thread.name().unwrap_or_default());
    // One write per line, so that processes do not mix theirs.
    let file = OpenOptions::new().create(true).append(true).open(&list);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("{}: {error}", list.display()));
}
