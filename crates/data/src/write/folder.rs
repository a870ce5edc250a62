//! Folders that are whole or absent: filled beside their place, then put there. Files are compressed as their names
//! promise, so that the readers find what they expect.
//!
//! A process that is killed leaves behind what it was filling, and for a moment the only copy of what it replaces. Whoever looks
//! whether a place is free calls [`sweep`] first, which puts that in order.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::DataError;
use crate::files::Compression;

/// Beyond this level a file of Zstandard shrinks little and takes much longer.
const ZSTANDARD_LEVEL: i32 = 3;

/// The usual level of xz.
const XZ_LEVEL: u32 = 6;

/// What a process has beside a folder or file that it writes: the new one until it is complete.
pub(crate) const NEW: &str = "tmp";

/// And the old folder until the new one is in its place.
const OLD: &str = "old";

/// Fills a temporary folder beside `folder`, then puts it in its place. What lies there is replaced: the caller has
/// made sure that it may be, after a [`sweep`].
pub fn fill_folder<T, E: From<DataError>>(
    folder: &Path,
    fill: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<T, E> {
    let temporary = beside(folder, NEW);
    if tidied(folder).map_err(|source| failed(folder, source))? {
        // The caller believed that nothing lay there.
        let advice = "an earlier process was killed while it replaced this folder, which is back now; repeat the command if it \
                      is to be replaced";
        return Err(DataError::Occupied { path: folder.to_owned(), advice }.into());
    }
    let attempt = || {
        make_folder(&temporary)?;
        let filled = fill(&temporary)?;
        exchange(folder, &temporary).map_err(|source| failed(folder, source))?;
        Ok(filled)
    };
    attempt().inspect_err(|_| {
        // The rest of a failed attempt is of no use to anyone; that it may not be removable changes nothing.
        fs::remove_dir_all(&temporary).ok();
    })
}

fn exchange(folder: &Path, new: &Path) -> io::Result<()> {
    match fs::remove_dir(folder) {
        Ok(()) => fs::rename(new, folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(new, folder),
        // Not empty: the caller has seen that it may be replaced.
        Err(_) => {
            let old = beside(folder, OLD);
            fs::rename(folder, &old)?;
            if let Err(error) = fs::rename(new, folder) {
                fs::rename(&old, folder)?;
                return Err(error);
            }
            // Under its old name it would come back, and be incomplete, if it were removed by half.
            fs::rename(&old, new)?;
            fs::remove_dir_all(new)
        }
    }
}

/// A file or folder of this process next to another.
pub(crate) fn beside(folder: &Path, word: &str) -> PathBuf {
    beside_of(folder, word, std::process::id())
}

/// A file or folder of a process next to another.
fn beside_of(folder: &Path, word: &str, process: u32) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(format!(".{word}-{process}"));
    folder.with_file_name(name)
}

/// Puts in order what killed processes left beside a folder or file that is to be written: removes what they had not completed, and
/// puts back a folder that they were about to replace. Returns whether a folder is back.
///
/// Call it before you look whether the place is free. What belongs to a running process stays. Processes can be looked up on Linux
/// only; elsewhere, everything stays. Processes of other machines that share the disk are not seen.
pub fn sweep(target: &Path) -> io::Result<bool> {
    let (gone, running): (Vec<u32>, Vec<u32>) =
        processes_beside(target).into_iter().partition(|process| is_gone(*process));
    for process in &gone {
        discard(&beside_of(target, NEW, *process));
    }
    if !running.is_empty() {
        // It may have moved the folder aside itself, for a moment.
        return Ok(false);
    }
    gone.into_iter().try_fold(false, |back, process| Ok(put_back(target, process)? || back))
}

/// The same, and what has the number of this process, which has begun nothing here yet: where processes have few numbers, as in
/// containers, it is of an earlier one.
fn tidied(target: &Path) -> io::Result<bool> {
    let back = sweep(target)?;
    discard(&beside(target, NEW));
    Ok(put_back(target, std::process::id())? || back)
}

/// The numbers of the processes that have something beside a folder or file.
fn processes_beside(target: &Path) -> BTreeSet<u32> {
    let (Some(name), Some(folder)) = (target.file_name(), target.parent()) else { return BTreeSet::new() };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let process = |entry: fs::DirEntry| {
        let found = entry.file_name();
        let rest = found.as_encoded_bytes().strip_prefix(b".")?.strip_prefix(name.as_encoded_bytes())?;
        let (word, process) = std::str::from_utf8(rest.strip_prefix(b".")?).ok()?.split_once('-')?;
        process.parse::<u32>().ok().filter(|_| word == NEW || word == OLD)
    };
    // Whoever may not list a folder may still write into it.
    fs::read_dir(folder).into_iter().flatten().flatten().filter_map(process).collect()
}

/// Whether no process has this number. Where the first process is not seen, those of others are hidden.
fn is_gone(process: u32) -> bool {
    let is_seen = |process: u32| Path::new("/proc").join(process.to_string()).exists();
    cfg!(target_os = "linux") && is_seen(1) && !is_seen(process)
}

/// Puts back the folder that a process has moved aside, or removes it if another has taken its place. Returns whether it is back.
fn put_back(target: &Path, process: u32) -> io::Result<bool> {
    let old = beside_of(target, OLD, process);
    if fs::symlink_metadata(&old).is_err() {
        return Ok(false);
    }
    let taken = fs::read_dir(target)
        .map_or_else(|error| error.kind() != io::ErrorKind::NotFound, |mut entries| entries.next().is_some());
    if taken {
        discard(&old);
        return Ok(false);
    }
    // An empty folder gives way.
    fs::rename(&old, target)?;
    Ok(true)
}

/// Removes a file or folder that is of no use to anyone; that it may not be removable changes nothing.
fn discard(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path).ok(),
        Ok(_) => fs::remove_file(path).ok(),
        Err(_) => None,
    };
}

/// The error of a file or folder that cannot be written.
pub(crate) fn failed(path: &Path, source: io::Error) -> DataError {
    DataError::Write { path: path.to_owned(), source }
}

/// Makes a folder inside one that is being filled.
pub(super) fn make_folder(path: &Path) -> Result<(), DataError> {
    fs::create_dir_all(path).map_err(|source| failed(path, source))
}

/// Writes one file through to the disk.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    let attempt = || {
        let mut out = BufWriter::with_capacity(1 << 18, File::create(path)?);
        write(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    };
    attempt().map_err(|source| failed(path, source))
}

/// Checks that a new dataset may be written to a folder: it is absent or empty, after a [`sweep`].
pub fn free_folder(folder: &Path) -> Result<(), DataError> {
    sweep(folder).map_err(|source| failed(folder, source))?;
    let occupied = |advice| Err(DataError::Occupied { path: folder.to_owned(), advice });
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            occupied("this is a file; choose another folder with --out")
        }
        Err(source) => Err(DataError::Io { path: folder.to_owned(), source }),
        Ok(entries) => match entries.count() {
            0 => Ok(()),
            _ => occupied("the folder is not empty; choose another one with --out, or empty it yourself"),
        },
    }
}

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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use tempfile::TempDir;

    use super::*;
    use crate::{FaultPolicy, StreamFormat, read_operations, write_operations};

    /// The number of a process that has ended.
    fn ended() -> u32 {
        let mut child = Command::new("true").spawn().expect("a process");
        child.wait().expect("it ends");
        child.id()
    }

    /// A room with folders of these names, each with a file that repeats the name.
    fn room(names: &[String]) -> TempDir {
        let room = TempDir::new().expect("a temporary folder");
        for name in names {
            let folder = room.path().join(name);
            fs::create_dir(&folder).expect("a folder");
            fs::write(folder.join("file"), name).expect("a file");
        }
        room
    }

    fn names(room: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(room.path()).expect("a folder");
        let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name().into_string();
        let mut names: Vec<String> = entries.map(|entry| name(entry).expect("a name")).collect();
        names.sort();
        names
    }

    fn text(room: &TempDir, file: &str) -> String {
        fs::read_to_string(room.path().join(file)).expect("a file")
    }

    fn written(folder: &Path) -> Result<(), DataError> {
        fill_folder(folder, |folder| write_file(&folder.join("new"), |out| out.write_all(b"new")))
    }

    #[test]
    fn what_a_killed_process_was_filling_goes() {
        let process = ended();
        let room = room(&[format!(".a.tmp-{process}"), format!(".ab.tmp-{process}"), ".a.tmp-x".to_owned()]);
        assert!(!sweep(&room.path().join("a")).expect("a sweep"));
        assert_eq!(names(&room), [".a.tmp-x".to_owned(), format!(".ab.tmp-{process}")]);
        free_folder(&room.path().join("ab")).expect("a free place");
        assert_eq!(names(&room), [".a.tmp-x"]);
    }

    #[test]
    fn a_folder_that_was_moved_aside_comes_back() {
        let process = ended();
        let (old, new) = (format!(".a.old-{process}"), format!(".a.tmp-{process}"));
        let room = room(&[old.clone(), new]);
        let folder = room.path().join("a");
        assert!(matches!(free_folder(&folder), Err(DataError::Occupied { .. })));
        assert_eq!((names(&room), text(&room, "a/file")), (vec!["a".to_owned()], old));
    }

    #[test]
    fn a_folder_with_a_successor_does_not_come_back() {
        let process = ended();
        let old = format!(".a.old-{process}");
        let room = room(&[old.clone(), "a".to_owned()]);
        let folder = room.path().join("a");
        assert!(!sweep(&folder).expect("a sweep"));
        assert_eq!((names(&room), text(&room, "a/file")), (vec!["a".to_owned()], "a".to_owned()));
        // An empty folder is none.
        fs::rename(&folder, room.path().join(&old)).expect("a folder");
        fs::create_dir(&folder).expect("a folder");
        assert!(sweep(&folder).expect("a sweep"));
        assert_eq!(text(&room, "a/file"), "a");
    }

    #[test]
    fn what_a_running_process_has_stays() {
        let (own, process) = (std::process::id(), ended());
        let all = [format!(".a.old-{own}"), format!(".a.old-{process}"), format!(".a.tmp-{own}")];
        let room = room(&all);
        assert!(!sweep(&room.path().join("a")).expect("a sweep"));
        let mut all = all.to_vec();
        all.sort();
        assert_eq!(names(&room), all);
    }

    #[test]
    fn what_is_filled_begins_empty_and_replaces_nothing_that_came_back() {
        let own = std::process::id();
        let room = room(&[format!(".a.tmp-{own}"), format!(".b.old-{own}"), "c".to_owned()]);
        written(&room.path().join("a")).expect("a folder");
        assert_eq!(fs::read_dir(room.path().join("a")).expect("a folder").count(), 1);
        let error = written(&room.path().join("b")).expect_err("a folder that came back").to_string();
        assert!(error.contains("repeat the command"), "{error}");
        assert_eq!(text(&room, "b/file"), format!(".b.old-{own}"));
        for folder in ["b", "c"] {
            written(&room.path().join(folder)).expect("a folder");
            assert_eq!(fs::read_dir(room.path().join(folder)).expect("a folder").count(), 1);
        }
        assert_eq!(names(&room), ["a", "b", "c"]);
    }

    #[test]
    fn files_of_operations_are_swept_too() {
        let room = room(&[]);
        let source = room.path().join("a.txt");
        fs::write(&source, "0 1 0 +\n").expect("a file");
        let stream = read_operations(&source, FaultPolicy::Error).expect("a stream");
        fs::write(room.path().join(format!(".a.qops.tmp-{}", ended())), "half").expect("a file");
        write_operations(&room.path().join("a.qops"), &stream, StreamFormat::Binary).expect("a file");
        assert_eq!(names(&room), ["a.qops", "a.txt"]);
    }
}
