//! Files compressed as their names promise, so that the readers find what they expect.

use std::io::{self, BufWriter, Write};

use crate::readers::Compression;

/// Beyond this level a file of Zstandard shrinks little and takes much longer.
const ZSTANDARD_LEVEL: i32 = 3;

/// The usual level of xz.
const XZ_LEVEL: u32 = 6;

/// Writes through a compression. Archives are refused before it comes to this.
pub fn compressed(
    out: &mut dyn Write,
    compression: Option<Compression>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match compression {
        None => write(out),
        Some(Compression::Gzip) => {
            let encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            through(encoder, write)?.finish().map(|_| ())
        }
        Some(Compression::Bzip2) => {
            let encoder = bzip2::write::BzEncoder::new(out, bzip2::Compression::default());
            through(encoder, write)?.finish().map(|_| ())
        }
        Some(Compression::Xz) => {
            through(liblzma::write::XzEncoder::new(out, XZ_LEVEL), write)?.finish().map(|_| ())
        }
        Some(Compression::Zstandard) => {
            through(zstd::Encoder::new(out, ZSTANDARD_LEVEL)?, write)?.finish().map(|_| ())
        }
        Some(Compression::Zip) => Err(io::Error::other("archives are not written")),
    }
}

/// Writes into an encoder, a block at a time.
fn through<E: Write>(encoder: E, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<E> {
    let mut out = BufWriter::new(encoder);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)
}
