//! What is said of datasets: statistics, audit, leakage, patterns, catalogue, divisions and comparisons.

#![allow(clippy::unwrap_used)]

mod audit;
mod catalogue;
mod division;
mod info;
mod leakage;
mod patterns;

use std::path::Path;

use quadcast_data::{LoadOptions, Loaded, load};

fn read(folder: &Path) -> Loaded {
    load(folder, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}
