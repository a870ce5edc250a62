//! The way in: a path becomes a dataset with everything that is known about it.

use std::path::Path;

use crate::readers::read;
use crate::{Content, DataError, LoadOptions, Loaded, identify};

/// Reads the dataset in a folder: finds out the layout (unless `options` names it), reads the files in place, also
/// compressed ones, and compares the content with the catalogue of known benchmark variants.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Loaded, DataError> {
    let (format, notes, reading) = read(path, options)?;
    let mut content = reading.content;
    let variant = identify(&content);
    if let (Content::Temporal(dataset), Some(calendar)) = (&mut content, variant.and_then(|v| v.calendar)) {
        dataset.axis = dataset.axis.clone().with_calendar(calendar);
    }
    Ok(Loaded { path: path.to_path_buf(), format, notes, content, sources: reading.sources, variant })
}
