//! Finding a dataset by path or by name.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::DataError;

/// Folders that are searched for dataset names, separated as in `PATH`.
const VARIABLE: &str = "QUADCAST_DATA";

/// The folder of a dataset: a path as it is, or a name that is found in a folder of `$QUADCAST_DATA` or one level
/// below it. Upper and lower case only matter if both exist.
pub fn locate(data: &str) -> Result<PathBuf, DataError> {
    let path = Path::new(data);
    if path.exists() || data.is_empty() {
        return Ok(path.to_owned());
    }
    let roots: Vec<PathBuf> =
        env::var_os(VARIABLE).map(|value| env::split_paths(&value).collect()).unwrap_or_default();
    if let Some(folder) = roots.iter().map(|root| root.join(data)).find(|folder| folder.is_dir()) {
        return Ok(folder);
    }
    let mut candidates: Vec<PathBuf> = roots.iter().flat_map(|root| subfolders(root)).collect();
    candidates.extend(candidates.clone().iter().flat_map(|folder| subfolders(folder)));
    let named = |exact: bool| {
        candidates.iter().find(|folder| {
            let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if exact { name == data } else { name.eq_ignore_ascii_case(data) }
        })
    };
    match named(true).or_else(|| named(false)) {
        Some(folder) => Ok(folder.clone()),
        None => Err(DataError::UnknownDataset { name: data.to_owned(), searched: searched(&roots) }),
    }
}

fn searched(roots: &[PathBuf]) -> String {
    if roots.is_empty() {
        return format!(
            "${VARIABLE} is not set; give the path of a folder, or set ${VARIABLE} to where datasets lie"
        );
    }
    let folders: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
    format!("none of that name in ${VARIABLE} ({})", folders.join(", "))
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
