//! Finding a dataset by path or by name.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{DataError, cache_folder, lookup};

/// Folders that are searched for dataset names, separated as in `PATH`.
const VARIABLE: &str = "QUADCAST_DATA";

/// The folder of a dataset: a path as it is, or a name that is found in a folder of `$QUADCAST_DATA` or one level
/// below it, or else in the cache of fetched datasets. Upper and lower case only matter if both exist.
pub fn locate(data: &str) -> Result<PathBuf, DataError> {
    let path = Path::new(data);
    if path.exists() || data.is_empty() {
        return Ok(path.to_owned());
    }
    let folders: Vec<PathBuf> =
        env::var_os(VARIABLE).map(|value| env::split_paths(&value).collect()).unwrap_or_default();
    let cache = cache_folder();
    find(data, &folders).or_else(|| find(data, cache.as_slice())).ok_or_else(|| {
        let searched = searched(data, &folders, cache.as_deref());
        DataError::Unusable(format!("there is no dataset {data:?}: no such folder here, and {searched}"))
    })
}

fn find(data: &str, roots: &[PathBuf]) -> Option<PathBuf> {
    if let Some(folder) = roots.iter().map(|root| root.join(data)).find(|folder| folder.is_dir()) {
        return Some(folder);
    }
    let mut candidates: Vec<PathBuf> = roots.iter().flat_map(|root| subfolders(root)).collect();
    candidates.extend(candidates.clone().iter().flat_map(|folder| subfolders(folder)));
    let named = |exact: bool| {
        candidates.iter().find(|folder| {
            let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if exact { name == data } else { name.eq_ignore_ascii_case(data) }
        })
    };
    named(true).or_else(|| named(false)).cloned()
}

fn searched(data: &str, roots: &[PathBuf], cache: Option<&Path>) -> String {
    let folders: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
    let mut text = if roots.is_empty() {
        format!("${VARIABLE} is not set; give the path of a folder, or set ${VARIABLE} to where datasets lie")
    } else {
        format!("none of that name in ${VARIABLE} ({})", folders.join(", "))
    };
    if let Some(cache) = cache {
        text.push_str(&format!("\nfetched datasets would lie in {}", cache.display()));
    }
    if let Some(variant) = lookup(data).filter(|variant| !variant.files.is_empty()) {
        text.push_str(&format!("; `quadcast data fetch {}` downloads this one", variant.name));
    }
    text
}

/// Folders inside a folder, in order of name; none if it cannot be read.
fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}
