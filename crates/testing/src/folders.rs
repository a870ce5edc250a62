//! What lies in a folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Every file below a folder with its bytes, by its path from there.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(inner).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("it lies below").to_owned();
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

/// Writes files below a folder, by their paths from there.
pub fn write_files<P: AsRef<Path>, B: AsRef<[u8]>>(folder: &Path, files: impl IntoIterator<Item = (P, B)>) {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }
}
