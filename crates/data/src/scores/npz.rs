//! numpy's `.npz` layout: a zip archive of arrays.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use zip::{CompressionMethod, ZipArchive};

use crate::scores::array::Header;
use crate::scores::dense::Dense;
use crate::scores::{QueryList, ScoreFileError};

const SCORES: &str = "scores.npy";
const KEYS: &str = "keys.npy";

/// Opens an archive of scores, and checks its keys if it has some. The second value says whether it has.
pub(crate) fn open(path: &Path, list: &QueryList, columns: usize) -> Result<(Dense, bool), ScoreFileError> {
    let file = File::open(path).map_err(|source| ScoreFileError::Read { path: path.to_owned(), source })?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(path, &error))?;
    let name = scores_name(path, &archive)?;
    let keyed = archive.index_for_name(KEYS).is_some();
    if keyed {
        check_keys(path, &mut archive, list)?;
    }
    Ok((dense(path, &mut archive, &name, (list.len(), columns))?, keyed))
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
            Err(ScoreFileError::Arrays { path: path.to_owned(), found })
        }
    }
}

fn dense(
    path: &Path,
    archive: &mut Archive,
    name: &str,
    shape: (usize, usize),
) -> Result<Dense, ScoreFileError> {
    let read = |source| ScoreFileError::Read { path: path.to_owned(), source };
    let mut array = archive.by_name(name).map_err(|error| damaged(path, &error))?;
    let length = array.size();
    if array.compression() == CompressionMethod::Stored {
        let header = header(path, &mut array)?;
        let start = array
            .data_start()
            .ok_or_else(|| damaged(path, &"the archive does not say where its array starts"))?;
        drop(array);
        // A handle of its own: the archive's is behind a buffer. Rows are read where they lie, so the checksum of the
        // archive, which is over all of them, is not looked at.
        return Dense::new(path, File::open(path).map_err(read)?, &header, (start, length), shape);
    }
    // Compressed bytes can only be read from front to back, rows are asked for in any order.
    let mut unpacked =
        tempfile::tempfile().map_err(|source| ScoreFileError::Unpack { path: path.to_owned(), source })?;
    let length = io::copy(&mut array, &mut unpacked).map_err(|source| match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ScoreFileError::Unpack { path: path.to_owned(), source }
        }
        _ => damaged(path, &source),
    })?;
    unpacked.seek(SeekFrom::Start(0)).map_err(read)?;
    let header = header(path, &mut unpacked)?;
    Dense::new(path, unpacked, &header, (0, length), shape)
}

/// The keys of all rows are those of the list.
fn check_keys(path: &Path, archive: &mut Archive, list: &QueryList) -> Result<(), ScoreFileError> {
    let mut array = archive.by_name(KEYS).map_err(|error| damaged(path, &error))?;
    let length = array.size();
    let header = header(path, &mut array)?;
    if !["<u8", "<i8"].contains(&header.kind.as_str()) {
        return Err(ScoreFileError::Type {
            path: path.to_owned(),
            array: "keys",
            found: header.kind,
            expected: "<i8 or <u8 (64-bit integers, little-endian)",
        });
    }
    if header.shape != [list.len() as u64] {
        let (found, expected) = (header.shape_text(), format!("{},", list.len()));
        return Err(ScoreFileError::Shape { path: path.to_owned(), array: "keys", found, expected });
    }
    let expected = header.length + 8 * list.len() as u64;
    if length != expected {
        return Err(ScoreFileError::Length { path: path.to_owned(), array: "keys", found: length, expected });
    }
    let mut bytes = Vec::with_capacity(8 * list.len());
    array.read_to_end(&mut bytes).map_err(|error| damaged(path, &error))?;
    let (keys, _) = bytes.as_chunks::<8>();
    for (row, (&found, &expected)) in keys.iter().zip(list.keys()).enumerate() {
        let found = u64::from_le_bytes(found);
        if found != expected {
            return Err(ScoreFileError::Key { path: path.to_owned(), line: None, row, found, expected });
        }
    }
    Ok(())
}

/// Reads the header of an array.
pub(crate) fn header(path: &Path, input: &mut dyn Read) -> Result<Header, ScoreFileError> {
    Header::read(input)
        .map_err(|source| ScoreFileError::Read { path: path.to_owned(), source })?
        .map_err(|message| ScoreFileError::Damaged { path: path.to_owned(), message })
}

fn damaged(path: &Path, error: &dyn Display) -> ScoreFileError {
    ScoreFileError::Damaged { path: path.to_owned(), message: error.to_string() }
}
