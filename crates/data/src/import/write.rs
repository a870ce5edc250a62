//! The folder of an import: whole or not there at all.

use std::fs;
use std::io;
use std::path::Path;

use quadcast_core::Splits;

use super::error::ImportError;
use super::options::Granularity;
use super::report::ImportReport;
use super::steps::StepFact;
use crate::DataError;
use crate::readers::date_of_day;
use crate::write::{fill_folder, sweep, write_file};

/// What an import writes; nothing else is ever removed.
const FILES: [&str; 4] = ["train.txt", "valid.txt", "test.txt", REPORT];

/// The description of the import.
const REPORT: &str = "import.json";

/// Refuses a folder that holds something, unless it is the result of an earlier import and may be replaced.
pub(super) fn check(out: &Path, overwrite: bool) -> Result<(), ImportError> {
    let failed = |source| ImportError::Write { path: out.to_path_buf(), source };
    sweep(out).map_err(failed)?;
    let entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(failed)?.file_name());
    }
    let ours = names.iter().all(|name| FILES.iter().any(|file| name == file));
    let imported = ours && names.iter().any(|name| name == REPORT);
    if names.is_empty() || (imported && overwrite) {
        return Ok(());
    }
    let advice = match (imported, overwrite) {
        (true, _) => ", or replace the earlier import with --overwrite",
        (false, true) => " (--overwrite only replaces a folder that holds nothing but an earlier import)",
        (false, false) => "",
    };
    let message =
        format!("{}: the folder is not empty; choose another one with --out{advice}", out.display());
    Err(ImportError::Unusable(message))
}

/// Names as they stand in the files. A name with quotation marks is quoted as in CSV, so that the reader, which takes
/// quotes off only if every field with quotes has them, gives it back as it was.
pub(super) fn written_names(names: &[Box<str>]) -> Vec<Box<str>> {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\"")).into_boxed_str();
    names.iter().map(|name| if name.contains('"') { quoted(name) } else { name.clone() }).collect()
}

/// A step as it stands in the files: a date, with the hour where steps are hours.
pub(super) fn label(step: i64, granularity: Granularity) -> String {
    const HOURS: i64 = 24;
    let (day, hour) = match granularity {
        Granularity::Hour => (step.div_euclid(HOURS), Some(step.rem_euclid(HOURS))),
        _ => (step, None),
    };
    // Every step came from a date, so the way back never fails; the number would be the honest answer if it did.
    let date = date_of_day(day).map_or(day.to_string(), |date| date.to_string());
    match hour {
        Some(hour) => format!("{date}T{hour:02}:00"),
        None => date,
    }
}

/// Writes the splits and the report into a new folder beside `out` and then puts it in its place.
pub(super) fn write(
    out: &Path,
    splits: &Splits<&[StepFact]>,
    [entities, relations]: [&[Box<str>]; 2],
    report: &ImportReport,
) -> Result<(), DataError> {
    if out.file_name().is_none() {
        let source = io::Error::other("the folder has no name");
        return Err(ImportError::Write { path: out.to_path_buf(), source }.into());
    }
    let written = fill_folder(out, |folder| {
        for (split, facts) in splits.iter() {
            write_file(&folder.join(format!("{split}.txt")), |file| {
                for step in facts.chunk_by(|a, b| a.step == b.step) {
                    let date = label(step[0].step, report.granularity);
                    for fact in step {
                        let [subject, object] = [fact.subject, fact.object].map(|id| &entities[id as usize]);
                        let relation = &relations[fact.relation as usize];
                        writeln!(file, "{subject}\t{relation}\t{object}\t{date}")?;
                    }
                }
                Ok(())
            })?;
        }
        write_file(&folder.join(REPORT), |file| {
            serde_json::to_writer_pretty(&mut *file, report)?;
            writeln!(file)
        })
    });
    written.map_err(|error| match error {
        DataError::Write { path, source } => {
            // A folder beside `out` stands for it.
            let path = if path.parent() == out.parent() { out.to_path_buf() } else { path };
            ImportError::Write { path, source }.into()
        }
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_dates() {
        assert_eq!(label(22399, Granularity::Day), "2031-04-30");
        assert_eq!(label(22399 * 24 + 5, Granularity::Hour), "2031-04-30T05:00");
        assert_eq!(label(-1, Granularity::Hour), "1969-12-31T23:00");
    }

    #[test]
    fn only_an_earlier_import_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path();
        assert!(check(out, false).is_ok(), "an empty folder");
        fs::write(out.join(REPORT), "{}").expect("a file");
        assert!(check(out, false).is_err());
        assert!(check(out, true).is_ok());
        fs::write(out.join("thesis.doc"), "").expect("a file");
        let error = check(out, true).expect_err("somebody else's file").to_string();
        assert!(error.contains("nothing but an earlier import"), "{error}");
        assert!(check(&out.join("new"), false).is_ok());
        assert!(check(&out.join("thesis.doc"), true).is_err(), "a file is no folder");
    }
}
