//! Files of operations: which form one has, and writing one in a place that is whole or absent.

use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;

use super::binary::{MAGIC, write_binary};
use super::error::OperationsError;
use super::stream::{FaultPolicy, OperationStream, StreamFormat};
use super::text::write_text;
use super::unpack::read_binary;
use crate::DataError;
use crate::readers::{Compression, failure, file_name, read_text, stream};
use crate::write::{compressed, failed, write_file};

/// Reads a file of operations, text or binary, also compressed. The policy is for text: a binary file is checked as a
/// whole.
pub fn read_operations(path: &Path, policy: FaultPolicy) -> Result<OperationStream, DataError> {
    let compression = Compression::of(&file_name(path)).0;
    let mut source = stream(path, compression)?;
    let mut start = Vec::new();
    source
        .by_ref()
        .take(MAGIC.len() as u64)
        .read_to_end(&mut start)
        .map_err(|source| failure(path, compression, source))?;
    let binary = start == MAGIC;
    let whole = Cursor::new(start).chain(source);
    if binary { read_binary(path, whole) } else { read_text(path, whole, policy) }
}

/// Whether a file of operations is in the binary form, looking into it.
pub fn stream_format(path: &Path) -> Result<StreamFormat, DataError> {
    let compression = Compression::of(&file_name(path)).0;
    let mut start = Vec::new();
    stream(path, compression)?
        .take(MAGIC.len() as u64)
        .read_to_end(&mut start)
        .map_err(|source| failure(path, compression, source))?;
    Ok(if start == MAGIC { StreamFormat::Binary } else { StreamFormat::Text })
}

/// The form that the name of a new file asks for. A name that promises something which cannot be written is refused.
pub fn operations_target(path: &Path) -> Result<StreamFormat, DataError> {
    match Compression::of(&file_name(path)).0 {
        Some(Compression::Zip) => Err(OperationsError::Archive { path: path.to_path_buf() }.into()),
        _ => Ok(StreamFormat::of(path)),
    }
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
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".tmp-{}", std::process::id()));
    let temporary = path.with_file_name(name);
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
