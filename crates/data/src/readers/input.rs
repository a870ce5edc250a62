//! Files and folders: what lies in a folder, and the bytes of a file with its compression taken off.
//!
//! A file is read whole: the largest benchmark file has 45 MB, and parsing slices of one buffer is what makes the
//! readers fast. Which decoder to use is decided by the name, so that a damaged file is called damaged and not text.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::{DataError, Format};

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// `.gz`
    Gzip,
    /// `.bz2`
    Bzip2,
    /// `.xz`
    Xz,
    /// `.zst`
    Zstandard,
    /// `.zip`
    Zip,
}

impl Compression {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Gzip, ".gz"),
        (Self::Bzip2, ".bz2"),
        (Self::Xz, ".xz"),
        (Self::Zstandard, ".zst"),
        (Self::Zip, ".zip"),
    ];

    /// The compression that a file name promises, and the name without that ending.
    pub(crate) fn of(name: &str) -> (Option<Self>, &str) {
        for (compression, ending) in Self::ALL {
            if let Some(stem) = name.strip_suffix(ending) {
                return (Some(compression), stem);
            }
        }
        (None, name)
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstandard => "zstd",
            Self::Zip => "zip",
        }
    }
}

/// Read buffer of compressed streams.
const BUFFER: usize = 1 << 18;

pub(crate) struct Input {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

impl Input {
    /// Reads and decompresses a file.
    pub(crate) fn open(path: PathBuf) -> Result<Self, DataError> {
        Self::open_limited(path, None)
    }

    fn open_limited(path: PathBuf, limit: Option<usize>) -> Result<Self, DataError> {
        let raw = fs::read(&path).map_err(|source| failure(&path, None, source))?;
        let compression = Compression::of(&file_name(&path)).0;
        let mut bytes = match compression {
            None => raw,
            Some(Compression::Zip) => unzip(&path, raw)?,
            Some(known) => {
                decompress(&raw, known, limit).map_err(|error| failure(&path, compression, error))?
            }
        };
        bytes.truncate(limit.unwrap_or(usize::MAX));
        Ok(Self { path, bytes })
    }

    /// The first complete lines of a file, without a byte order mark: enough to look at.
    pub(super) fn start(path: &Path) -> Result<Vec<u8>, DataError> {
        const BYTES: usize = 1 << 16;
        let mut input = Self::open_limited(path.to_path_buf(), Some(BYTES))?;
        if input.bytes.len() == BYTES {
            let end = memchr::memrchr(b'\n', &input.bytes).map_or(BYTES, |end| end + 1);
            input.bytes.truncate(end);
        }
        Ok(input.text().to_vec())
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

/// The error of a file that cannot be read.
pub(crate) fn failure(path: &Path, compression: Option<Compression>, source: io::Error) -> DataError {
    let path = path.to_path_buf();
    match compression {
        Some(compression) => DataError::Corrupt { path, compression: compression.word(), source },
        None => DataError::Io { path, source },
    }
}

/// Opens a file as a stream, with its compression taken off.
pub(crate) fn stream(path: &Path, compression: Option<Compression>) -> Result<Box<dyn Read>, DataError> {
    let failed = |source| failure(path, None, source);
    if path.is_dir() {
        return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, expected a file")));
    }
    let open = || File::open(path).map_err(failed);
    match compression {
        None => Ok(Box::new(open()?)),
        Some(Compression::Zip) => Ok(Box::new(Cursor::new(Input::open(path.to_path_buf())?.bytes))),
        Some(compression) => decoder(BufReader::with_capacity(BUFFER, open()?), compression)
            .map_err(|source| failure(path, Some(compression), source)),
    }
}

/// Takes the compression off a stream.
fn decoder<'a>(raw: impl BufRead + 'a, compression: Compression) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match compression {
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(raw)),
        Compression::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(raw)),
        Compression::Zstandard => Box::new(zstd::stream::read::Decoder::with_buffer(raw)?),
        Compression::Zip => return Err(io::Error::other("archives are opened by their table of contents")),
    })
}

fn decompress(raw: &[u8], compression: Compression, limit: Option<usize>) -> io::Result<Vec<u8>> {
    let mut decoder = decoder(raw, compression)?;
    // Text of ids shrinks to about a fifth; a wrong guess costs a reallocation, nothing else.
    let limit = limit.unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(raw.len().saturating_mul(5).min(limit));
    decoder.by_ref().take(limit as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unzip(path: &Path, raw: Vec<u8>) -> Result<Vec<u8>, DataError> {
    let corrupt = |source: io::Error| failure(path, Some(Compression::Zip), source);
    let mut archive = zip::ZipArchive::new(Cursor::new(raw)).map_err(|e| corrupt(e.into()))?;
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|e| corrupt(e.into()))?;
        // The archiver of one operating system adds a folder of its own with metadata.
        if entry.is_file() && !entry.name().starts_with("__MACOSX/") {
            files.push(index);
        }
    }
    let [only] = files[..] else {
        let files = files.len();
        let problem =
            format!("the archive holds {files} files, expected exactly one; unpack it next to the others");
        return Err(DataError::file(path, problem));
    };
    let mut bytes = Vec::new();
    let mut entry = archive.by_index(only).map_err(|e| corrupt(e.into()))?;
    entry.read_to_end(&mut bytes).map_err(corrupt)?;
    Ok(bytes)
}

/// The last part of a path for people.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
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
                 file of operations; write what comes out of it to a file and give that",
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
