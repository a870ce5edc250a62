//! Real datasets for tests: from `$QUADCAST_DATA`, or from `shared/data` beside the project.

// Each test binary uses its own part of this module.
#![allow(dead_code)]

#[path = "../../../core/tests/say/mod.rs"]
mod say;

use std::path::{Path, PathBuf};

use quadcast_core::Dataset;
use quadcast_data::{Content, LoadOptions, load};
use say::say;

/// A dataset of the forecasting benchmarks, or `None` with a word about it.
pub fn forecasting(name: &str) -> Option<Dataset> {
    dataset("forecasting", name)
}

/// A dataset of the completion benchmarks, or `None` with a word about it.
pub fn completion(name: &str) -> Option<Dataset> {
    dataset("completion", name)
}

fn dataset(family: &str, name: &str) -> Option<Dataset> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("QUADCAST_DATA").map_or(beside, PathBuf::from);
    let folder = root.join(family).join(name);
    if !folder.is_dir() {
        say(&format!(
            "skipped: no dataset {name}; set QUADCAST_DATA to the folder that holds {family}/{name}"
        ));
        return None;
    }
    match load(&folder, &LoadOptions::default()).expect("a readable dataset").content {
        Content::Temporal(dataset) => Some(dataset),
        _ => panic!("{name} is a temporal dataset"),
    }
}
