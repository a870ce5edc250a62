//! The one place where files are opened for reading: regular files only, with their compression taken off, within limits that
//! keep memory in proportion to the size of the file.

mod open;
mod text;

pub use open::Compression;
pub(crate) use open::{ReadFault, Source, decoded, failure, file_name, open_file, stream};
pub(crate) use text::{CheckedText, Checks};
pub use text::{LONGEST_LINE, read_lines};
