//! Who may write into a folder: only this program, only where it made the folder, and one process at a time.
//!
//! A run folder has a marker, a file with a fixed first line. A folder with other files and without the marker belongs to somebody
//! else and is never written into. The marker is also what a writing process locks. The system releases the lock when the process
//! ends, however it ends, so that a stale lock cannot exist; the second line of the marker says who holds it and since when. The
//! marker is never removed while the folder exists: a lock on a removed file would protect nothing.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::{RunError, checkpoints};

/// File name of the marker inside a run folder.
pub(crate) const MARKER: &str = ".quadcast-run";

/// The first line of every marker.
const LINE: &str = "A run folder of quadcast. Its files are written, replaced and removed by quadcast.\n";

/// A folder that this process alone writes into, until the value is dropped.
#[derive(Debug)]
pub(crate) struct Ownership {
    marker: File,
}

impl Ownership {
    /// Creates a folder, or takes one that this program made, and locks it.
    pub fn take(folder: &Path) -> Result<Self, RunError> {
        expect_own(folder)?;
        let failed = |error: io::Error| cannot_create(folder, &error);
        fs::create_dir_all(folder).map_err(failed)?;
        let mut options = File::options();
        let options = options.create(true).read(true).write(true).truncate(false);
        let mut marker = options.open(folder.join(MARKER)).map_err(failed)?;
        match marker.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(locked(folder, &mut marker)),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // Somebody may have put files there in the meantime.
        expect_own(folder)?;
        mark(&mut marker).map_err(failed)?;
        remove_leftovers(folder).map_err(failed)?;
        checkpoints::remove_leftovers(folder).map_err(failed)?;
        Ok(Self { marker })
    }
}

impl Drop for Ownership {
    fn drop(&mut self) {
        // Who held the lock is of no interest any more. Both may fail without harm.
        self.marker.set_len(LINE.len() as u64).ok();
        self.marker.unlock().ok();
    }
}

/// An error if a folder holds files that this program did not put there.
pub(crate) fn expect_own(folder: &Path) -> Result<(), RunError> {
    let mut names = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(cannot_create(folder, &error)),
        Ok(entries) => entries.flatten().map(|entry| entry.file_name()).collect::<Vec<_>>(),
    };
    names.sort();
    let text = fs::read(folder.join(MARKER)).unwrap_or_default();
    // A process that was killed before it wrote the first line has left nothing else.
    let just_made = names.iter().all(|name| name == MARKER) && LINE.as_bytes().starts_with(&text);
    if names.is_empty() || just_made || text.starts_with(LINE.as_bytes()) {
        return Ok(());
    }
    let shown: Vec<String> = names.iter().take(3).map(|name| format!("{}", name.display())).collect();
    let more = if names.len() > shown.len() { ", …" } else { "" };
    Err(RunError::input(format!(
        "{} holds files that quadcast run did not make ({}{more}), so nothing was written; choose another --out, or remove \
         the folder yourself",
        folder.display(),
        shown.join(", ")
    )))
}

fn cannot_create(folder: &Path, error: &io::Error) -> RunError {
    RunError::internal(format!(
        "cannot create the output folder {}: {error}. Choose another one with --out",
        folder.display()
    ))
}

/// Writes the first line if it is missing, and who holds the lock.
fn mark(marker: &mut File) -> io::Result<()> {
    marker.seek(SeekFrom::Start(0))?;
    marker.write_all(LINE.as_bytes())?;
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let owner = format!("{} {since}\n", std::process::id());
    marker.write_all(owner.as_bytes())?;
    marker.set_len((LINE.len() + owner.len()) as u64)
}

/// Who holds the lock, and for how long; both only help the reader.
fn locked(folder: &Path, marker: &mut File) -> RunError {
    let mut text = String::new();
    marker.read_to_string(&mut text).ok();
    let mut words = text.strip_prefix(LINE).unwrap_or_default().split_whitespace();
    let owner = words.next().and_then(|word| word.parse().ok());
    let since = words.next().and_then(|word| word.parse().ok()).map(Duration::from_secs);
    let began = since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
    let age = began.and_then(|began| SystemTime::now().duration_since(began).ok());
    RunError::Locked { folder: folder.to_owned(), owner, age }
}

/// Whether a file of a run folder was being written when its process was killed: under the name that `write_atomically` or the writer
/// of operations gives it.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.ends_with(".tmp") || (name.starts_with('.') && name.contains(".tmp-"))
}

/// Removes temporary files that killed processes have left.
pub(crate) fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if is_temporary(&entry.file_name()) && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder")
    }

    #[test]
    fn a_folder_has_one_writer_at_a_time() {
        let place = folder();
        let run = place.path().join("deep/run");
        let first = Ownership::take(&run).expect("a free folder");
        let error = Ownership::take(&run).expect_err("it is in use");
        let RunError::Locked { owner, age, .. } = &error else { panic!("{error}") };
        assert_eq!(*owner, Some(std::process::id()));
        assert!(age.is_some_and(|age| age < Duration::from_mins(1)), "{age:?}");
        assert_eq!(error.exit_code(), 2);
        drop(first);
        Ownership::take(&run).expect("free again");
    }

    #[test]
    fn folders_of_others_are_not_touched() {
        for files in [&["model.safetensors"][..], &["metrics.json", "notes.txt"], &["run.toml"]] {
            let place = folder();
            for name in files {
                fs::write(place.path().join(name), "mine").expect("a writable folder");
            }
            let error = Ownership::take(place.path()).expect_err("not ours").to_string();
            assert!(error.contains(files[0]) && error.contains("choose another --out"), "{error}");
            assert!(!place.path().join(MARKER).exists());
        }
        let place = folder();
        fs::write(place.path().join(MARKER), "not what we write").expect("a writable folder");
        assert!(Ownership::take(place.path()).is_err(), "a marker needs its content");
        let file = place.path().join("file");
        fs::write(&file, "mine").expect("a writable folder");
        assert!(Ownership::take(&file).is_err(), "a file is no folder");
    }

    #[test]
    fn a_kill_while_marking_leaves_a_folder_that_can_be_taken() {
        let place = folder();
        for length in [0, 1, LINE.len() - 1, LINE.len()] {
            fs::write(place.path().join(MARKER), &LINE[..length]).expect("a writable folder");
            drop(Ownership::take(place.path()).expect("nothing else is there"));
            let text = fs::read_to_string(place.path().join(MARKER)).expect("a marker");
            assert_eq!(text, LINE);
        }
    }

    #[test]
    fn a_time_beyond_all_clocks_has_no_age() {
        let place = folder();
        let held = Ownership::take(place.path()).expect("a free folder");
        let text = format!("{LINE}7 {}\n", u64::MAX);
        fs::write(place.path().join(MARKER), text).expect("a writable folder");
        let error = Ownership::take(place.path()).expect_err("it is in use");
        assert!(matches!(error, RunError::Locked { owner: Some(7), age: None, .. }), "{error}");
        drop(held);
    }

    #[test]
    fn leftovers_of_killed_processes_go() {
        let place = folder();
        drop(Ownership::take(place.path()).expect("a free folder"));
        let checkpoints = place.path().join("checkpoint");
        fs::create_dir(&checkpoints).expect("a writable folder");
        let left = [".metrics.json.tmp", ".graph.qops.tmp-7", "checkpoint/.owner.toml.tmp"];
        for name in left.iter().chain(&["run.toml", "checkpoint/owner.toml"]) {
            fs::write(place.path().join(name), "half").expect("a writable folder");
        }
        drop(Ownership::take(place.path()).expect("ours"));
        assert!(left.iter().all(|name| !place.path().join(name).exists()));
        assert!(place.path().join("run.toml").exists() && checkpoints.join("owner.toml").exists());
    }
}
