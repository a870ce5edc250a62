//! numpy's layouts: `.npy`, an array behind a header (versions 1 to 3) with its type, order and shape, and `.npz`, a zip
//! archive of such arrays.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use zip::{CompressionMethod, ZipArchive};

use super::dense::Dense;
use super::error::wrong_key;
use super::{QueryList, ScoreFileError};
use crate::files::open_file;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Longer headers belong to structured types, which hold no scores.
const LONGEST_HEADER: usize = 1 << 16;

/// Bytes before the header and of the longest header.
const LONGEST_START: u64 = 12 + LONGEST_HEADER as u64;

/// Bytes of the widest number that arrays have; scores of that width are refused by their type.
const WIDEST: u64 = 16;

const SCORES: &str = "scores.npy";
const KEYS: &str = "keys.npy";

/// What stands before the numbers of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Type in numpy's spelling, such as `<f4`.
    pub kind: String,
    /// Columns before rows.
    fortran: bool,
    shape: Vec<u64>,
    /// Bytes before the first number.
    pub length: u64,
}

impl Header {
    /// Reads the header; the reader then stands at the first number.
    pub(super) fn read(path: &Path, input: &mut dyn Read) -> Result<Self, ScoreFileError> {
        let damaged = |message: String| ScoreFileError::damaged(path, message);
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged("it ends within the header".to_owned()),
            _ => ScoreFileError::read(path, &error),
        };
        let mut start = [0; 8];
        input.read_exact(&mut start).map_err(failed)?;
        if !start.starts_with(MAGIC) {
            return Err(damaged("it does not start as numpy arrays do".to_owned()));
        }
        let width = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(damaged(format!("version {version} of the array layout is not known"))),
        };
        let mut length = [0; 4];
        input.read_exact(&mut length[..width]).map_err(failed)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST_HEADER {
            return Err(damaged(format!("its header claims {length} bytes")));
        }
        let mut text = vec![0; length];
        input.read_exact(&mut text).map_err(failed)?;
        let text = String::from_utf8_lossy(&text);
        let length = (start.len() + width + length) as u64;
        Self::parse(&text, length).ok_or_else(|| damaged(format!("its header is {:?}", text.trim_end())))
    }

    /// The dictionary of the header, as numpy writes it.
    fn parse(text: &str, length: u64) -> Option<Self> {
        let after = |key: &str| Some(text.split_once(key)?.1.trim_start().strip_prefix(':')?.trim_start());
        let kind = after("'descr'")?;
        let kind = match kind.strip_prefix('\'') {
            Some(rest) => rest.split_once('\'')?.0.to_owned(),
            // A structured type: a list of fields.
            None => kind.split_once(']')?.0.to_owned() + "]",
        };
        let order = after("'fortran_order'")?;
        let fortran = order.starts_with("True");
        if !fortran && !order.starts_with("False") {
            return None;
        }
        let (shape, _) = after("'shape'")?.strip_prefix('(')?.split_once(')')?;
        let sides = shape.split(',').map(str::trim).filter(|side| !side.is_empty());
        let shape = sides.map(|side| side.parse().ok()).collect::<Option<_>>()?;
        Some(Self { kind, fortran, shape, length })
    }

    /// The error of an array whose numbers have the wrong type.
    pub(super) fn wrong_type(&self, path: &Path, array: &str, expected: &str) -> ScoreFileError {
        ScoreFileError::file(path, format!("{array} has the type {}, expected {expected}", self.kind))
    }

    /// Refuses an array of another shape, or with more or fewer bytes than `width` for each number. `found` is its length
    /// with the header.
    pub(super) fn check(
        &self,
        path: &Path,
        array: &str,
        (shape, width): (&[usize], usize),
        found: u64,
    ) -> Result<(), ScoreFileError> {
        let refuse = |message: String| Err(ScoreFileError::file(path, message));
        if !self.shape.iter().copied().eq(shape.iter().map(|&side| side as u64)) {
            let found = self.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            return refuse(match shape {
                [rows, columns] => format!(
                    "{array} has the shape ({found}), expected ({rows}, {columns}): one row per query, one column per \
                     entity"
                ),
                _ => format!("{array} has the shape ({found}), expected ({},)", shape[0]),
            });
        }
        if self.fortran && shape.len() > 1 {
            return refuse(
                "the scores are stored column by column (Fortran order); save numpy.ascontiguousarray(scores)"
                    .to_owned(),
            );
        }
        let expected = self.length + (shape.iter().product::<usize>() * width) as u64;
        if found != expected {
            let why = if found < expected { "the file is truncated" } else { "something was appended" };
            return refuse(format!("{array} is {found} bytes long, its shape says {expected}; {why}"));
        }
        Ok(())
    }
}

/// Opens an archive of scores, and checks its keys if it has some. The second value says whether it has.
pub(super) fn open(path: &Path, list: &QueryList, columns: usize) -> Result<(Dense, bool), ScoreFileError> {
    let file = open_file(path).map_err(|error| ScoreFileError::read(path, &error))?;
    let mut archive =
        ZipArchive::new(BufReader::new(file)).map_err(|error| ScoreFileError::damaged(path, error))?;
    let name = scores_name(path, &archive)?;
    let keyed = archive.index_for_name(KEYS).is_some();
    if keyed {
        check_keys(path, &mut archive, list)?;
    }
    Ok((dense(path, &mut archive, &name, [list.keys.len(), columns])?, keyed))
}

type Archive = ZipArchive<BufReader<File>>;

/// The array of that name, or the only one beside the keys.
fn scores_name(path: &Path, archive: &Archive) -> Result<String, ScoreFileError> {
    let names: Vec<&str> = archive.file_names().filter(|name| *name != KEYS).collect();
    match names.as_slice() {
        names if names.contains(&SCORES) => Ok(SCORES.to_owned()),
        [only] => Ok((*only).to_owned()),
        names => {
            let quoted: Vec<_> =
                names.iter().map(|name| format!("{:?}", name.trim_end_matches(".npy"))).collect();
            let found = match quoted.len() {
                0 => "no array of scores".to_owned(),
                _ => format!("the arrays {}", quoted.join(", ")),
            };
            let path = path.display();
            let message = format!("{path} holds {found}; expected an array \"scores\" and an array \"keys\"");
            Err(ScoreFileError::Unusable(message))
        }
    }
}

fn dense(path: &Path, archive: &mut Archive, name: &str, shape: [usize; 2]) -> Result<Dense, ScoreFileError> {
    let read = |error: io::Error| ScoreFileError::read(path, &error);
    let mut array = archive.by_name(name).map_err(|error| ScoreFileError::damaged(path, error))?;
    let length = array.size();
    if array.compression() == CompressionMethod::Stored {
        let header = Header::read(path, &mut array)?;
        let start = array.data_start().ok_or_else(|| {
            ScoreFileError::damaged(path, "the archive does not say where its array starts")
        })?;
        drop(array);
        // A handle of its own: the archive's is behind a buffer. Rows are read where they lie, so the checksum of the
        // archive, which is over all of them, is not looked at.
        return Dense::new(path, open_file(path).map_err(read)?, &header, (start, length), shape);
    }
    // Compressed bytes can only be read from front to back, rows are asked for in any order.
    let no_room = |source| ScoreFileError::Unpack { path: path.to_owned(), source };
    let mut unpacked = tempfile::tempfile().map_err(no_room)?;
    // A byte more than an array of this shape can have tells that something was appended; the rest is not unpacked.
    let most = LONGEST_START + (shape[0] as u64).saturating_mul(shape[1] as u64).saturating_mul(WIDEST) + 1;
    let length = io::copy(&mut array.take(most), &mut unpacked).map_err(|error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => no_room(error),
        _ => ScoreFileError::damaged(path, error),
    })?;
    unpacked.seek(SeekFrom::Start(0)).map_err(read)?;
    let header = Header::read(path, &mut unpacked)?;
    Dense::new(path, unpacked, &header, (0, length), shape)
}

/// The keys of all rows are those of the list.
fn check_keys(path: &Path, archive: &mut Archive, list: &QueryList) -> Result<(), ScoreFileError> {
    let mut array = archive.by_name(KEYS).map_err(|error| ScoreFileError::damaged(path, error))?;
    let length = array.size();
    let header = Header::read(path, &mut array)?;
    if !["<u8", "<i8"].contains(&header.kind.as_str()) {
        return Err(header.wrong_type(path, "keys", "<i8 or <u8 (64-bit integers, little-endian)"));
    }
    header.check(path, "keys", (&[list.keys.len()], 8), length)?;
    let mut bytes = Vec::with_capacity(8 * list.keys.len());
    array
        .take(8 * list.keys.len() as u64)
        .read_to_end(&mut bytes)
        .map_err(|error| ScoreFileError::damaged(path, error))?;
    let (keys, _) = bytes.as_chunks::<8>();
    for (row, (&found, &expected)) in keys.iter().zip(&list.keys).enumerate() {
        let found = u64::from_le_bytes(found);
        if found != expected {
            return Err(ScoreFileError::file(path, wrong_key(row, found, expected)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> String {
        Header::read(Path::new("a.npy"), &mut &*bytes).expect_err("no header").to_string()
    }

    #[test]
    fn both_versions_are_read() {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }          \n";
        let short = (text.len() as u16).to_le_bytes();
        let long = (text.len() as u32).to_le_bytes();
        for (version, size) in [(1, &short[..]), (2, &long[..])] {
            let bytes = [MAGIC, &[version, 0], size, text.as_bytes()].concat();
            let header = Header::read(Path::new("a.npy"), &mut &*bytes).expect("a header");
            let length = bytes.len() as u64;
            assert_eq!(header, Header { kind: "<f4".into(), fortran: false, shape: vec![3, 4], length });
            assert!(refused(&bytes[..20]).contains("ends within"));
        }
    }

    #[test]
    fn other_headers() {
        let parse = |text| Header::parse(text, 0);
        let one = parse("{'descr': '>i8', 'fortran_order': True, 'shape': (7,), }").unwrap();
        assert_eq!((one.kind.as_str(), one.fortran, one.shape), (">i8", true, vec![7]));
        let fields = parse("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (), }").unwrap();
        assert_eq!((fields.kind.as_str(), fields.shape), ("[('a', '<f4')]", vec![]));
        assert_eq!(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (3, -4), }"), None);
        assert_eq!(parse("{}"), None);
        assert!(refused(b"PK\x03\x04aaaaaaaaa").contains("does not start"));
        assert!(refused(b"\x93NUMPY\x09\x00aaaaaaa").contains("version 9"));
    }
}
