//! Opening files and taking off their compression.

use std::error::Error;
use std::fmt;
use std::fs::{self, File, FileType};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use crate::DataError;
use crate::error::Place;

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

/// How many times its size a file may unpack to. Tables of facts, scores and ranks shrink to a fifth or a twentieth; what
/// shrinks a hundred times more was made to fill the memory of its reader.
const EXPANSION: u64 = 200;

/// What every file may unpack to, however small it is.
const FREE_EXPANSION: u64 = 1 << 26;

/// Memory that a file may make its xz decoder use: four times that of the strongest usual level.
const XZ_MEMORY: u64 = 1 << 28;

/// What makes a file unusable that the operating system would read. It travels as an [`io::Error`].
#[derive(Debug)]
pub(crate) enum ReadFault {
    /// Of the file as a whole: what was found and expected, and what to do.
    File(String),
    /// At a line and field, both counted from 1.
    Row { line: u64, column: usize, problem: String },
}

impl fmt::Display for ReadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(problem) => f.write_str(problem),
            Self::Row { line, column, problem } => write!(f, "line {line}, column {column}: {problem}"),
        }
    }
}

impl Error for ReadFault {}

impl ReadFault {
    /// The message about a file.
    pub(crate) fn message(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::File(problem) => format!("{path}: {problem}"),
            Self::Row { line, column, problem } => format!("{path}:{line}:{column}: {problem}"),
        }
    }

    /// The fault that an error carries, if it does.
    pub(crate) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<ReadFault> for io::Error {
    fn from(fault: ReadFault) -> Self {
        Self::new(io::ErrorKind::InvalidData, fault)
    }
}

/// The error of a file that cannot be read.
pub(crate) fn failure(path: &Path, compression: Option<Compression>, source: io::Error) -> DataError {
    let path = path.to_path_buf();
    match (ReadFault::of(&source), compression) {
        (Some(ReadFault::File(problem)), _) => DataError::File { path, problem: problem.clone() },
        (Some(ReadFault::Row { line, column, problem }), _) => {
            let place = Place { path, line: *line, column: *column };
            DataError::Row { place, problem: problem.clone() }
        }
        (None, Some(compression)) => DataError::Corrupt { path, compression: compression.word(), source },
        (None, None) => DataError::Io { path, source },
    }
}

/// Opens a regular file, or a link to one. Anything else could block forever or never end.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() {
        return File::open(path);
    }
    let advice = if kind.is_dir() { "give a file in it" } else { "save its output to a file first" };
    let problem = format!("this is a {}, expected a regular file; {advice}", kind_word(kind));
    Err(ReadFault::File(problem).into())
}

fn kind_word(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "pipe";
        }
        if kind.is_socket() {
            return "socket";
        }
    }
    if kind.is_dir() { "folder" } else { "device" }
}

/// The content of a file.
pub(crate) type Source = Box<dyn Read + Send + Sync>;

/// Opens a file as a stream, with its compression taken off.
pub(crate) fn stream(path: &Path, compression: Option<Compression>) -> Result<Source, DataError> {
    let file = open_file(path).map_err(|source| failure(path, None, source))?;
    decoded(file, compression).map_err(|source| failure(path, compression, source))
}

/// Takes the compression off a file.
pub(crate) fn decoded(file: File, compression: Option<Compression>) -> io::Result<Source> {
    let Some(compression) = compression else { return Ok(Box::new(file)) };
    let limit = file.metadata()?.len().saturating_mul(EXPANSION).max(FREE_EXPANSION);
    let raw = BufReader::with_capacity(BUFFER, file);
    Ok(match compression {
        Compression::Zip => Box::new(Cursor::new(unzip(raw, limit)?)),
        other => Box::new(Expansion { source: decoder(raw, other)?, limit, left: limit }),
    })
}

fn decoder(raw: impl BufRead + Send + Sync + 'static, compression: Compression) -> io::Result<Source> {
    Ok(match compression {
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(raw)),
        Compression::Xz => {
            let stream =
                liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED);
            Box::new(liblzma::bufread::XzDecoder::new_stream(raw, stream.map_err(io::Error::from)?))
        }
        Compression::Zstandard => Box::new(zstd::stream::read::Decoder::with_buffer(raw)?),
        Compression::Zip => return Err(io::Error::other("archives are opened by their table of contents")),
    })
}

/// A decoder that may give only so many bytes.
struct Expansion<R> {
    source: R,
    limit: u64,
    left: u64,
}

impl<R: Read> Read for Expansion<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            let mebibytes = self.limit >> 20;
            ReadFault::File(format!(
                "the file unpacks to more than {mebibytes} MiB, over {EXPANSION} times its size, expected a table; if this \
                 is intended, decompress it first"
            ))
        })?;
        Ok(read)
    }
}

/// The only file of an archive.
fn unzip(raw: BufReader<File>, limit: u64) -> io::Result<Vec<u8>> {
    let mut archive = zip::ZipArchive::new(raw)?;
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index(index)?;
        // The archiver of one operating system adds a folder of its own with metadata.
        if entry.is_file() && !entry.name().starts_with("__MACOSX/") {
            files.push(index);
        }
    }
    let [only] = files[..] else {
        let files = files.len();
        let problem =
            format!("the archive holds {files} files, expected exactly one; unpack it next to the others");
        return Err(ReadFault::File(problem).into());
    };
    let mut bytes = Vec::new();
    Expansion { source: archive.by_index(only)?, limit, left: limit }.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The last part of a path for people.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
