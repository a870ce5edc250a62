//! Files of operations: which form one has, and writing one in a place that is whole or absent.

use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;

use super::binary::{MAGIC, read_binary, write_binary};
use super::stream::{FaultPolicy, OperationStream, StreamFormat};
use super::text::write_text;
use crate::DataError;
use crate::files::{Compression, Source, failure, file_name, stream};
use crate::readers::read_text;
use crate::write::{NEW, beside, compressed, failed, sweep, write_file};

/// Reads a file of operations, text or binary, also compressed. The policy is for text: a binary file is checked as a
/// whole.
pub fn read_operations(path: &Path, policy: FaultPolicy) -> Result<OperationStream, DataError> {
    let (start, rest) = start_of(path)?;
    let binary = start == MAGIC;
    let whole = Cursor::new(start).chain(rest);
    if binary { read_binary(path, whole) } else { read_text(path, whole, policy) }
}

/// Whether a file of operations is in the binary form, looking into it.
pub fn stream_format(path: &Path) -> Result<StreamFormat, DataError> {
    Ok(if start_of(path)?.0 == MAGIC { StreamFormat::Binary } else { StreamFormat::Text })
}

/// The first bytes of a file, as many as tell its form, and the rest of it.
fn start_of(path: &Path) -> Result<(Vec<u8>, Source), DataError> {
    let compression = Compression::of(&file_name(path)).0;
    let mut source = stream(path, compression)?;
    let mut start = Vec::new();
    let taken = source.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start);
    taken.map_err(|source| failure(path, compression, source))?;
    Ok((start, source))
}

/// The form that the name of a new file asks for. A name that promises something which cannot be written is refused.
pub fn operations_target(path: &Path) -> Result<StreamFormat, DataError> {
    if Compression::of(&file_name(path)).0 == Some(Compression::Zip) {
        let problem = "a stream cannot be written as an archive; expected a name without .zip, or with .gz, .bz2, .xz or .zst";
        return Err(DataError::file(path, problem));
    }
    Ok(StreamFormat::of(path))
}

/// Writes a file of operations, compressed if its name ends like that. A file that is there is replaced when the new one is
/// complete.
pub fn write_operations(
    path: &Path,
    stream: &OperationStream,
    format: StreamFormat,
) -> Result<(), DataError> {
    operations_target(path)?;
    let compression = Compression::of(&file_name(path)).0;
    sweep(path).map_err(|source| failed(path, source))?;
    let temporary = beside(path, NEW);
    let written = write_file(&temporary, |out| {
        compressed(out, compression, |out| match format {
            StreamFormat::Text => write_text(out, stream),
            StreamFormat::Binary => write_binary(out, stream),
        })
    });
    let placed = written.and_then(|()| fs::rename(&temporary, path).map_err(|source| failed(path, source)));
    placed.inspect_err(|_| {
        // The rest of a failed attempt is of no use to anyone; that it may not be removable changes nothing.
        fs::remove_file(&temporary).ok();
    })
}
