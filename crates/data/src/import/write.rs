//! The folder of an import: whole or not there at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use quadcast_core::Splits;

use super::error::ImportError;
use super::options::Granularity;
use super::report::ImportReport;
use super::steps::StepFact;
use crate::readers::date_of_day;

/// What an import writes; nothing else is ever removed.
const FILES: [&str; 4] = ["train.txt", "valid.txt", "test.txt", REPORT];

/// The description of the import.
const REPORT: &str = "import.json";

/// Refuses a folder that holds something, unless it is the result of an earlier import and may be replaced.
pub(super) fn check(out: &Path, overwrite: bool) -> Result<(), ImportError> {
    let failed = |source| ImportError::Write { path: out.to_path_buf(), source };
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
    Err(ImportError::NotEmpty { path: out.to_path_buf(), advice })
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
) -> Result<(), ImportError> {
    let failed = |path: &Path, source| ImportError::Write { path: path.to_path_buf(), source };
    let beside = Beside::new(out).map_err(|source| failed(out, source))?;
    for (split, facts) in splits.iter() {
        let path = beside.folder.join(format!("{split}.txt"));
        let written = create(&path, |file| {
            let mut known: Option<(i64, String)> = None;
            for fact in *facts {
                if known.as_ref().is_none_or(|(step, _)| *step != fact.step) {
                    known = Some((fact.step, label(fact.step, report.granularity)));
                }
                let date = known.as_ref().map_or("", |(_, label)| label);
                let names = [&entities[fact.subject as usize], &relations[fact.relation as usize]];
                let object = &entities[fact.object as usize];
                writeln!(file, "{}\t{}\t{object}\t{date}", names[0], names[1])?;
            }
            Ok(())
        });
        written.map_err(|source| failed(&path, source))?;
    }
    let path = beside.folder.join(REPORT);
    create(&path, |file| {
        serde_json::to_writer_pretty(&mut *file, report)?;
        writeln!(file)
    })
    .map_err(|source| failed(&path, source))?;
    beside.put(out).map_err(|source| failed(out, source))
}

fn create(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 18, File::create(path)?);
    write(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// A folder in the making, removed if it is not put in place.
struct Beside {
    folder: PathBuf,
}

impl Beside {
    fn new(out: &Path) -> io::Result<Self> {
        let parent = match out.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(parent)?;
        let name = out.file_name().ok_or_else(|| io::Error::other("the folder has no name"))?;
        let name = format!(".{}.import-{}", name.to_string_lossy(), std::process::id());
        let folder = parent.join(name);
        // What an interrupted import with the same number left behind.
        fs::remove_dir_all(&folder).ok();
        fs::create_dir(&folder)?;
        Ok(Self { folder })
    }

    fn put(&self, out: &Path) -> io::Result<()> {
        let mut old = self.folder.clone().into_os_string();
        old.push("-old");
        let old = PathBuf::from(old);
        let replaced = match fs::rename(out, &old) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        let put = fs::rename(&self.folder, out);
        if replaced {
            if put.is_err() {
                fs::rename(&old, out)?;
            } else {
                fs::remove_dir_all(&old)?;
            }
        }
        put
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // After a success there is nothing to remove; after a failure the first error is the one that counts.
        fs::remove_dir_all(&self.folder).ok();
    }
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
