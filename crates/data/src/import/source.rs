//! Files and standard input as streams, with compression taken off and the first rows at hand.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use super::error::ImportError;
use crate::DataError;
use crate::files::{CheckedText, Checks, Compression, failure, file_name, stream};

/// Bytes that are looked at to find out the layout.
const SAMPLE: usize = 1 << 18;

/// What standard input is called in messages.
const STANDARD_INPUT: &str = "stdin";

/// First bytes of files that are no tables, what they are and what to do.
const OTHER_FILES: [(&[u8], &str, &str); 6] = [
    (
        b"PK\x03\x04",
        "an archive or a spreadsheet",
        "export the sheet as CSV, or give the archive the ending .zip",
    ),
    (b"\x1f\x8b", "a gzip file", "give it the ending .gz"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "give it the ending .zst"),
    (b"\xfd7zXZ", "an xz file", "give it the ending .xz"),
    (b"\xff\xfe", "text in UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "save it as UTF-8"),
];

/// The kind of text that a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Rows of fields with a delimiter; the one that the name promises, if it does.
    Table(Option<u8>),
    /// One JSON object per line.
    JsonLines,
    /// Typed columns.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Kind {
    /// The word in reports.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Table(_) => "table",
            Self::JsonLines => "json-lines",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }
}

/// An open file.
pub(super) struct Source {
    /// The file, as messages name it.
    pub path: PathBuf,
    pub kind: Kind,
    /// The first complete lines, without a byte order mark.
    pub sample: Vec<u8>,
    /// How the file is compressed.
    pub compression: Option<Compression>,
    rest: CheckedText<Box<dyn Read>>,
    /// Bytes that were read and are not in the sample.
    ahead: Vec<u8>,
}

impl Source {
    /// Opens a file; `-` is standard input.
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        let (path, compression, source) = if path == Path::new("-") {
            (PathBuf::from(STANDARD_INPUT), None, Box::new(io::stdin()) as Box<dyn Read>)
        } else {
            let compression = Compression::of(&file_name(path)).0;
            (path.to_path_buf(), compression, stream(path, compression)? as Box<dyn Read>)
        };
        // NUL is found where fields are looked at, so that such rows can be left out.
        let mut rest = CheckedText::new(source, Checks::LINES);
        let mut bytes = Vec::new();
        rest.by_ref()
            .take(SAMPLE as u64)
            .read_to_end(&mut bytes)
            .map_err(|source| failure(&path, compression, source))?;
        let whole = bytes.len() < SAMPLE;
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        let end = if whole {
            bytes.len()
        } else {
            memchr::memrchr(b'\n', &bytes).map_or(bytes.len(), |end| end + 1)
        };
        let ahead = bytes.split_off(end);
        let kind = kind(&path, &bytes)?;
        #[cfg(feature = "parquet")]
        if kind == Kind::Parquet && (compression.is_some() || !path.is_file()) {
            let advice = "save it as a plain file and give its path";
            return Err(not_a_table(&path, "a Parquet file in a stream", advice));
        }
        Ok(Self { path, kind, sample: bytes, compression, rest, ahead })
    }

    /// The whole stream.
    pub(super) fn into_reader(self) -> impl Read {
        Cursor::new(self.sample).chain(Cursor::new(self.ahead)).chain(self.rest)
    }
}

/// The kind of text by the name and the first bytes; other kinds of files are refused with advice.
fn kind(path: &Path, sample: &[u8]) -> Result<Kind, DataError> {
    let refused = |found, advice| Err(not_a_table(path, found, advice));
    if sample.starts_with(b"PAR1") {
        #[cfg(feature = "parquet")]
        return Ok(Kind::Parquet);
        #[cfg(not(feature = "parquet"))]
        return refused(
            "a Parquet file",
            "export it as CSV, or install Quadcast with its feature parquet \
             (cargo install --path crates/cli --features parquet)",
        );
    }
    if let Some((_, found, advice)) = OTHER_FILES.iter().find(|(start, ..)| sample.starts_with(start)) {
        return refused(found, advice);
    }
    if sample.starts_with(b"BZh") && sample.contains(&0) {
        return refused("a bzip2 file", "give it the ending .bz2");
    }
    let text = sample.trim_ascii_start();
    if text.is_empty() {
        return Err(ImportError::no_rows(path).into());
    }
    if text.starts_with(b"[") && memchr::memchr(b'{', text).is_some() {
        return refused("a JSON array", "write one object per line (jq -c '.[]' does it)");
    }
    if text.starts_with(b"<") {
        return refused("markup (HTML or XML)", "check what was downloaded");
    }
    let name = file_name(path).to_ascii_lowercase();
    let stem = Compression::of(&name).1;
    if text.starts_with(b"{") || [".jsonl", ".ndjson", ".json"].iter().any(|ending| stem.ends_with(ending)) {
        return Ok(Kind::JsonLines);
    }
    Ok(Kind::Table([".tsv", ".tab"].iter().any(|ending| stem.ends_with(ending)).then_some(b'\t')))
}

fn not_a_table(path: &Path, found: &str, advice: &str) -> DataError {
    ImportError::file(path, format!("found {found}, expected CSV, TSV or JSON Lines; {advice}")).into()
}
