//! Files and folders: what lies in a folder, and the bytes of a file with its compression taken off.
//!
//! A file is read whole: the largest benchmark file has 45 MB, and parsing slices of one buffer is what makes the
//! readers fast.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::files::{CheckedText, Checks, Compression, failure, file_name, stream};
use crate::{DataError, Format};

/// Bytes that are reserved for a file at most before any of it was read.
const FIRST_GUESS: u64 = 1 << 26;

pub(crate) struct Input {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    /// Whether lines ended in carriage returns alone, which are line feeds now.
    pub returns: bool,
}

impl Input {
    /// Reads and decompresses a file of rows.
    pub(crate) fn open(path: PathBuf) -> Result<Self, DataError> {
        Self::open_checked(path, Checks::ROWS, u64::MAX)
    }

    /// Reads and decompresses a file whose rows may be of any length.
    pub(super) fn open_long(path: PathBuf) -> Result<Self, DataError> {
        Self::open_checked(path, Checks::LONG_ROWS, u64::MAX)
    }

    /// Reads and decompresses a file that is not made of rows.
    pub(super) fn open_json(path: PathBuf) -> Result<Self, DataError> {
        Self::open_checked(path, Checks::NONE, u64::MAX)
    }

    fn open_checked(path: PathBuf, checks: Checks, limit: u64) -> Result<Self, DataError> {
        let compression = Compression::of(&file_name(&path)).0;
        let mut text = CheckedText::new(stream(&path, compression)?, checks);
        // Text of ids shrinks to about a fifth; a wrong guess costs a reallocation, nothing else.
        let expected = fs::metadata(&path).map_or(0, |file| file.len());
        let expected = if compression.is_some() { expected.saturating_mul(5) } else { expected };
        let mut bytes = Vec::with_capacity(expected.min(limit).min(FIRST_GUESS) as usize);
        let read = text.by_ref().take(limit).read_to_end(&mut bytes);
        read.map_err(|source| failure(&path, compression, source))?;
        let returns = text.ends_in_returns();
        Ok(Self { path, bytes, returns })
    }

    /// The first complete lines of a file, without a byte order mark: enough to look at. Also whether that is all of it.
    pub(super) fn start(path: &Path) -> Result<(Self, bool), DataError> {
        const BYTES: usize = 1 << 16;
        let mut input = Self::open_checked(path.to_path_buf(), Checks::ROWS, BYTES as u64)?;
        let whole = input.bytes.len() < BYTES;
        if !whole {
            let end = memchr::memrchr(b'\n', &input.bytes).map_or(BYTES, |end| end + 1);
            input.bytes.truncate(end);
        }
        Ok((input, whole))
    }

    /// The bytes without a byte order mark.
    pub(super) fn text(&self) -> &[u8] {
        self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes)
    }

    /// The text as UTF-8, for files with names.
    pub(super) fn utf8(&self) -> Result<&str, DataError> {
        let text = self.text();
        std::str::from_utf8(text).map_err(|error| {
            let before = &text[..error.valid_up_to()];
            let line_start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
            let line = memchr::memchr_iter(b'\n', before).count() + 1;
            let byte = before.len() - line_start + 1;
            DataError::Unusable(format!(
                "{}:{line}: byte {byte} of the line is not valid UTF-8; convert the file to UTF-8",
                self.path.display()
            ))
        })
    }

    /// Refuses a split in which so many facts were found, if there is none.
    pub(super) fn refuse_empty(&self, facts: usize) -> Result<(), DataError> {
        if facts == 0 { Err(no_fact(&self.path)) } else { Ok(()) }
    }
}

/// The error of a split without a single fact.
pub(super) fn no_fact(path: &Path) -> DataError {
    let problem = "the file holds no fact, expected at least one; put the facts in or choose another dataset";
    DataError::file(path, problem)
}

/// What lies in a folder, sorted by name, and which files a reader has used.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub path: PathBuf,
    pub files: Vec<String>,
    pub folders: Vec<String>,
    used: Vec<String>,
}

impl Folder {
    /// Lists a folder. Hidden files are left out.
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        let failed = |source| failure(path, None, source);
        let problem = match fs::metadata(path) {
            Ok(kind) if kind.is_dir() => None,
            Ok(kind) if kind.is_file() => {
                Some("this is a file, expected the folder that holds the dataset; give its folder instead")
            }
            Ok(_) => Some(
                "this is neither a file nor a folder (a pipe or a device?), expected the folder of a dataset or a \
                 file of operations; save its output to a file first",
            ),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Some("there is no such folder; check the spelling of the path")
            }
            Err(error) => return Err(failed(error)),
        };
        if let Some(problem) = problem {
            return Err(DataError::file(path, problem));
        }
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // Names that are not Unicode cannot be any of ours; leaving them out is safe.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if name.starts_with('.') {
                continue;
            }
            if entry.path().is_dir() {
                folders.push(name);
            } else {
                files.push(name);
            }
        }
        files.sort_unstable();
        folders.sort_unstable();
        Ok(Self { path: path.to_path_buf(), files, folders, used: Vec::new() })
    }

    pub(super) fn name(&self) -> String {
        let full = fs::canonicalize(&self.path);
        file_name(full.as_deref().unwrap_or(&self.path))
    }

    pub(super) fn inside(&self, name: &str) -> Result<Self, DataError> {
        Self::open(&self.path.join(name))
    }

    pub(super) fn contents(&self) -> String {
        const SHOWN: usize = 12;
        let all: Vec<String> =
            self.folders.iter().map(|f| format!("{f}/")).chain(self.files.iter().cloned()).collect();
        match all.len() {
            0 => "nothing, the folder is empty".to_string(),
            n if n <= SHOWN => all.join(", "),
            n => format!("{} and {} more", all[..SHOWN].join(", "), n - SHOWN),
        }
    }

    /// The file whose name without compression satisfies `matches`, marked as used. Of a file that lies there both
    /// plain and compressed, the plain one is taken: `files` is sorted, so the shorter name comes first.
    pub(super) fn find(
        &mut self,
        what: &str,
        matches: impl Fn(&str) -> bool,
    ) -> Result<Option<PathBuf>, DataError> {
        let found: Vec<&String> = self.files.iter().filter(|file| matches(Compression::of(file).1)).collect();
        let Some(&first) = found.first() else {
            return Ok(None);
        };
        let stem = Compression::of(first).1;
        if found.iter().any(|file| Compression::of(file).1 != stem) {
            let names: Vec<&str> = found.iter().map(|f| f.as_str()).collect();
            return Err(DataError::file(
                &self.path,
                format!(
                    "several files could be {what}: {}; keep one of them in the folder",
                    names.join(", ")
                ),
            ));
        }
        self.used.push(first.clone());
        Ok(Some(self.path.join(first)))
    }

    /// The error of a file that a layout needs.
    pub(super) fn missing(&self, layout: Format, file: &str) -> DataError {
        let (layout, found) = (layout.name(), self.contents());
        DataError::file(
            &self.path,
            format!("the layout {layout} needs {file}, plain or compressed; found: {found}"),
        )
    }

    /// The folders inside whose names `number` turns into numbers, in order of these.
    pub(super) fn numbered(&self, number: impl Fn(&str) -> Option<u32>) -> Vec<(u32, &str)> {
        let mut numbered: Vec<(u32, &str)> =
            self.folders.iter().filter_map(|name| Some((number(name)?, name.as_str()))).collect();
        numbered.sort_unstable();
        numbered
    }

    /// The files that no reader asked for.
    pub(super) fn unused(&self) -> Vec<&str> {
        self.files.iter().filter(|file| !self.used.contains(file)).map(String::as_str).collect()
    }
}
