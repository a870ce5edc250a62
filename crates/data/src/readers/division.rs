//! The description that a re-division leaves in its folder: which layout it wrote, and what integer times stand for.

use quadcast_core::Calendar;
use serde::Deserialize;

use super::input::{Folder, Input};
use crate::{DataError, Format};

/// The name of the file.
pub const DIVISION: &str = "division.json";

/// The part of the description that matters to readers.
#[derive(Deserialize)]
pub(super) struct Division {
    pub layout: Format,
    /// The calendar of integer times; labelled facts carry dates.
    pub calendar: Option<Calendar>,
}

impl Division {
    /// Reads the description, if there is one. A file of that name with other content belongs to somebody else.
    pub(super) fn find(folder: &mut Folder) -> Result<Option<Self>, DataError> {
        let Some(path) = folder.find("the description of the division", |name| name == DIVISION)? else {
            return Ok(None);
        };
        Ok(serde_json::from_slice(&Input::open(path)?.bytes).ok())
    }
}
