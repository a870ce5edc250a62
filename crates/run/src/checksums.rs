//! `SHA256SUMS`: the checksums of the files of a complete run, in the format of `sha256sum`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::{FileError, write_atomically};

/// File name inside a run folder.
pub(crate) const CHECKSUMS_FILE: &str = "SHA256SUMS";

/// Bytes of a checksum.
const LENGTH: usize = 32;

/// The checksum of some bytes, one part after the other.
pub(crate) fn checksum(parts: &[&[u8]]) -> [u8; LENGTH] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// The checksums of the files of a run.
pub(crate) struct Checksums(BTreeMap<String, String>);

impl Checksums {
    /// The checksums of those of these files that a folder holds.
    pub fn of_files<'a>(folder: &Path, names: impl IntoIterator<Item = &'a str>) -> Result<Self, FileError> {
        let mut sums = BTreeMap::new();
        for name in names {
            match file_checksum(&folder.join(name)) {
                Ok(sum) => drop(sums.insert(name.to_owned(), sum)),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(FileError::Read { path: folder.join(name), source }),
            }
        }
        Ok(Self(sums))
    }

    /// Adds the checksum of a file that is not written yet.
    pub fn add(&mut self, name: &str, content: &[u8]) {
        self.0.insert(name.to_owned(), hex(&checksum(&[content])));
    }

    /// Writes the checksums into a run folder.
    pub fn write(&self, folder: &Path) -> Result<(), FileError> {
        write_atomically(&folder.join(CHECKSUMS_FILE), |out| {
            self.0.iter().try_for_each(|(name, sum)| writeln!(out, "{sum}  {name}"))
        })
    }

    /// Reads the checksums of a complete run.
    pub fn read(folder: &Path) -> Result<Self, FileError> {
        let path = folder.join(CHECKSUMS_FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) if source.kind() == ErrorKind::InvalidData => {
                return Err(FileError::Damaged { path });
            }
            Err(source) if source.kind() == ErrorKind::NotFound => return Err(FileError::Missing { path }),
            Err(source) => return Err(FileError::Read { path, source }),
        };
        let sums = text.lines().map(|line| {
            let (sum, name) = line.split_once("  ")?;
            let is_sum = sum.len() == 2 * LENGTH && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_sum.then(|| (name.to_owned(), sum.to_owned()))
        });
        match sums.collect::<Option<_>>() {
            Some(sums) => Ok(Self(sums)),
            None => Err(FileError::Damaged { path }),
        }
    }

    /// Checks one file: it must be listed and unchanged.
    pub fn check(&self, folder: &Path, name: &str) -> Result<(), FileError> {
        let path = folder.join(name);
        let Some(expected) = self.0.get(name) else { return Err(FileError::Unlisted { path }) };
        match file_checksum(&path) {
            Ok(found) if found == *expected => Ok(()),
            Ok(_) => Err(FileError::Damaged { path }),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(FileError::Missing { path }),
            Err(source) => Err(FileError::Read { path, source }),
        }
    }

    /// Checks every listed file, and that none of `names` lies in the folder without being listed. Returns how many there are.
    pub fn check_all<'a>(
        &self,
        folder: &Path,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<usize, FileError> {
        self.0.keys().try_for_each(|name| self.check(folder, name))?;
        for name in names {
            if !self.0.contains_key(name) && folder.join(name).exists() {
                return Err(FileError::Unlisted { path: folder.join(name) });
            }
        }
        Ok(self.0.len())
    }

    /// Whether a file is listed.
    pub fn lists(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// The checksum of a file, read piece by piece.
fn file_checksum(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hash)?;
    Ok(hex(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_noticed() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let folder = place.path();
        fs::write(folder.join("a"), "abc").expect("a writable folder");
        let mut sums = Checksums::of_files(folder, ["a", "absent"]).expect("readable files");
        sums.add("b", b"");
        fs::write(folder.join("b"), "").expect("a writable folder");
        sums.write(folder).expect("a writable folder");
        let text = fs::read_to_string(folder.join(CHECKSUMS_FILE)).expect("checksums");
        // What sha256sum prints for these contents.
        let first = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n";
        let second = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n";
        assert_eq!(text, format!("{first}{second}"));
        let read = Checksums::read(folder).expect("what was written");
        assert_eq!(read.check_all(folder, ["a", "b", "c"]).expect("unchanged"), 2);
        fs::write(folder.join("c"), "").expect("a writable folder");
        let error = read.check_all(folder, ["c"]).expect_err("not of this run").to_string();
        assert!(error.contains('c') && error.contains("does not belong"), "{error}");
        fs::write(folder.join("a"), "abd").expect("a writable folder");
        let error = read.check(folder, "a").expect_err("one letter").to_string();
        assert!(error.contains("damaged or edited"), "{error}");
        fs::write(folder.join(CHECKSUMS_FILE), &text[1..]).expect("a writable folder");
        assert!(Checksums::read(folder).is_err());
    }
}
