//! Checkpoints of a training on disk, and the trace of what happened.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use quadcast_core::{Checkpoints, ModelError};
use quadcast_models::training::VALIDATIONS_BEFORE;
use serde_json::Value;

use crate::ownership::{self, is_temporary};
use crate::{RunError, write_atomically};

/// The folder of checkpoints in a run folder.
const CHECKPOINTS: &str = "checkpoint";
/// The file that says whose checkpoints they are.
const OWNER: &str = "owner.toml";
/// One line per event.
pub(crate) const TRACE_FILE: &str = "trace.jsonl";
/// How trainings ended, for a run that is resumed. The trace says it too, for people.
const TRAINED: &str = "trained.json";

/// Bytes of the checksum at the end of a checkpoint.
const LENGTH: usize = 4;

/// The checksum of a checkpoint, against damage. A large state is saved every few seconds: SHA-256 took 6 % of the training of
/// `TransE` on WN18 on a processor without instructions for it.
fn checksum(parts: &[&[u8]]) -> [u8; LENGTH] {
    let mut hash = crc32fast::Hasher::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().to_le_bytes()
}

/// The checkpoints of a run folder.
pub struct FolderCheckpoints {
    folder: PathBuf,
    owner: String,
    events: Mutex<Events>,
}

struct Events {
    /// Opened by the first event: models that do not train leave no trace.
    trace: Option<File>,
    /// How trainings ended.
    trained: Vec<Value>,
}

impl Events {
    /// A training that went on after it had ended says so again; the last word counts, in the place of the first.
    fn take(&mut self, event: &Value) {
        let same = |earlier: &&mut Value| ["part", "training"].iter().all(|key| earlier[key] == event[key]);
        match self.trained.iter_mut().find(same) {
            Some(earlier) => *earlier = event.clone(),
            None => self.trained.push(event.clone()),
        }
    }
}

impl FolderCheckpoints {
    /// Opens the checkpoints. What another run has left is removed; a run that is `fitted` keeps its trace. One that goes on
    /// knows how its earlier trainings ended.
    pub fn open(folder: &Path, owner: &str, fitted: bool) -> Result<Self, RunError> {
        if fs::read_to_string(folder.join(CHECKPOINTS).join(OWNER)).ok().as_deref() != Some(owner) {
            if fitted { clear(folder)? } else { clear_all(folder)? }
        }
        let trained = folder.join(CHECKPOINTS).join(TRAINED);
        let earlier = read_checked(&trained).ok().flatten();
        let earlier: Option<Vec<Value>> = earlier.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if earlier.is_none() && trained.exists() && !fitted {
            // It is damaged. Trainings that are over would be skipped, and nobody would know how they ended.
            clear_all(folder)?;
        }
        cut_last_line(&folder.join(TRACE_FILE))?;
        let events = Mutex::new(Events { trace: None, trained: earlier.unwrap_or_default() });
        Ok(Self { folder: folder.to_owned(), owner: owner.to_owned(), events })
    }

    /// How trainings ended, the same for a run that was interrupted and one that was not.
    pub fn trained(&self) -> Vec<Value> {
        let mut trained = self.events.lock().unwrap_or_else(PoisonError::into_inner).trained.clone();
        for fields in trained.iter_mut().filter_map(Value::as_object_mut) {
            fields.shift_remove(VALIDATIONS_BEFORE);
        }
        trained
    }

    /// Validations before an interruption, which the evaluator of this process has not seen.
    pub fn validations_before(&self) -> u64 {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let before = events.trained.iter().filter_map(|training| training[VALIDATIONS_BEFORE].as_u64());
        before.fold(0, u64::saturating_add)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(CHECKPOINTS).join(name)
    }
}

/// Refuses to go on in a run folder without checkpoints, or with those of another run: they would be lost.
pub fn check_owner(folder: &Path, owner: &str) -> Result<(), RunError> {
    let path = folder.display();
    let mut entries = fs::read_dir(folder.join(CHECKPOINTS)).into_iter().flatten().flatten();
    let other = |name: &OsStr| name != OWNER && name != TRAINED && !is_temporary(name);
    if !entries.any(|entry| other(&entry.file_name())) {
        return Err(RunError::input(format!(
            "{path} holds no training to resume: only time-limited trainings can be resumed"
        )));
    }
    let found = fs::read_to_string(folder.join(CHECKPOINTS).join(OWNER)).unwrap_or_default();
    if found == owner {
        return Ok(());
    }
    // The lines that one has and the other lacks; of many, the first.
    let only = |of: &str, other: &str| {
        let other: Vec<&str> = other.lines().collect();
        of.lines().find(|line| !other.contains(line)).unwrap_or("nothing of that kind").to_owned()
    };
    Err(RunError::input(format!(
        "{path} holds the training of another run, which cannot be resumed with these options: that run has `{}`, this one `{}`. \
         Give the options of that run, or choose another --out",
        only(&found, owner),
        only(owner, &found)
    )))
}

/// Removes the checkpoints of a run folder.
pub fn clear(folder: &Path) -> Result<(), RunError> {
    let checkpoints = folder.join(CHECKPOINTS);
    gone(&checkpoints, fs::remove_dir_all(&checkpoints))
}

/// Removes temporary files that killed processes have left among the checkpoints.
pub(crate) fn remove_leftovers(folder: &Path) -> io::Result<()> {
    match ownership::remove_leftovers(&folder.join(CHECKPOINTS)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Removes everything that a training has left in a run folder.
pub fn clear_all(folder: &Path) -> Result<(), RunError> {
    clear(folder)?;
    let trace = folder.join(TRACE_FILE);
    gone(&trace, fs::remove_file(&trace))
}

/// The bytes of a checkpoint: absent if there is no file, or if its checksum says that it is not what was written. Whoever asks
/// starts from an earlier checkpoint then.
fn read_checked(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read?,
    };
    let Some(end) = bytes.len().checked_sub(LENGTH) else { return Ok(None) };
    let sound = checksum(&[&bytes[..end]]) == bytes[end..];
    bytes.truncate(end);
    Ok(sound.then_some(bytes))
}

/// Removes a line of a trace that a kill has cut, so that the next begins a line.
fn cut_last_line(trace: &Path) -> Result<(), RunError> {
    let bytes = match fs::read(trace) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read.map_err(|error| trouble(trace, &error))?,
    };
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    if end < bytes.len() {
        let cut = OpenOptions::new().write(true).open(trace).and_then(|file| file.set_len(end as u64));
        cut.map_err(|error| trouble(trace, &error))?;
    }
    Ok(())
}

fn gone(path: &Path, removed: io::Result<()>) -> Result<(), RunError> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(trouble(path, &error)),
        _ => Ok(()),
    }
}

fn trouble(path: &Path, error: &io::Error) -> RunError {
    RunError::internal(format!("{}: {error}", path.display()))
}

impl Checkpoints for FolderCheckpoints {
    fn save(&self, name: &str, parts: &[&[u8]]) -> Result<(), ModelError> {
        let owner = self.path(OWNER);
        let write = || {
            if !owner.is_file() {
                fs::create_dir_all(self.folder.join(CHECKPOINTS))?;
                write_atomically(&owner, |out| out.write_all(self.owner.as_bytes()))
                    .map_err(io::Error::other)?;
            }
            write_atomically(&self.path(name), |out| {
                parts.iter().try_for_each(|part| out.write_all(part))?;
                out.write_all(&checksum(parts))
            })
            .map_err(io::Error::other)
        };
        write().map_err(|error| ModelError::Checkpoint(error.to_string()))
    }

    fn load(&self, name: &str) -> Result<Option<Vec<u8>>, ModelError> {
        let path = self.path(name);
        read_checked(&path).map_err(|error| ModelError::Checkpoint(format!("{}: {error}", path.display())))
    }

    fn names(&self) -> Result<Vec<String>, ModelError> {
        let folder = self.folder.join(CHECKPOINTS);
        let list = || -> io::Result<Vec<String>> {
            let names = fs::read_dir(&folder)?.map(|file| Ok(file?.file_name().into_string().ok()));
            names.filter_map(Result::transpose).collect()
        };
        match list() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            listed => {
                listed.map_err(|error| ModelError::Checkpoint(format!("{}: {error}", folder.display())))
            }
        }
    }

    fn remove(&self, name: &str) -> Result<(), ModelError> {
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(ModelError::Checkpoint(format!("{}: {error}", self.path(name).display())))
            }
            _ => Ok(()),
        }
    }

    fn log(&self, event: &Value) -> Result<(), ModelError> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if event["event"] == "trained" {
            events.take(event);
            self.save(TRAINED, &[Value::from(events.trained.clone()).to_string().as_bytes()])?;
        }
        let path = self.folder.join(TRACE_FILE);
        let write = |events: &mut Events| {
            let trace = match &mut events.trace {
                Some(trace) => trace,
                none => none.insert(OpenOptions::new().create(true).append(true).open(&path)?),
            };
            trace.write_all(format!("{event}\n").as_bytes())
        };
        write(&mut events).map_err(|error| ModelError::Checkpoint(format!("{}: {error}", path.display())))
    }

    /// The run folder: it is on a disk that has room for the model, while the system's folder may be memory.
    fn scratch_folder(&self) -> PathBuf {
        self.folder.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_that_goes_on_knows_how_its_trainings_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || FolderCheckpoints::open(folder.path(), "owner", false).expect("a checkpoints");
        let trained =
            |part: &str, seconds: u32| json!({ "event": "trained", "part": part, "seconds": seconds });
        let checkpoints = open();
        checkpoints.save("state", &[b"bytes"]).expect("room");
        for event in [trained("1", 3), json!({ "event": "begun" }), trained("2", 4)] {
            checkpoints.log(&event).expect("room");
        }
        // A kill in the middle of a line, and a training that goes on after its time budget.
        let trace = folder.path().join(TRACE_FILE);
        let whole = fs::read(&trace).expect("a trace");
        fs::write(&trace, [&whole[..], br#"{"event":"trai"#].concat()).expect("room");
        let checkpoints = open();
        assert_eq!(fs::read(&trace).expect("a trace"), whole);
        checkpoints.log(&trained("1", 5)).expect("room");
        for checkpoints in [checkpoints, open()] {
            assert_eq!(checkpoints.trained(), [trained("1", 5), trained("2", 4)]);
        }
        let other = FolderCheckpoints::open(folder.path(), "somebody else", false).expect("a checkpoints");
        assert!(other.trained().is_empty() && !trace.exists());
    }

    #[test]
    fn a_damaged_checkpoint_counts_as_absent() {
        let folder = tempfile::tempdir().expect("a folder");
        let checkpoints = FolderCheckpoints::open(folder.path(), "owner", false).expect("checkpoints");
        checkpoints.save("state", &[b"some ", b"bytes"]).expect("room");
        assert_eq!(checkpoints.load("state").expect("readable").as_deref(), Some(&b"some bytes"[..]));
        let path = checkpoints.path("state");
        let whole = fs::read(&path).expect("a checkpoint");
        for bit in 0..8 * whole.len() {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, damaged).expect("room");
            assert_eq!(checkpoints.load("state").expect("readable"), None, "bit {bit}");
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).expect("room");
            assert_eq!(checkpoints.load("state").expect("readable"), None, "{length} bytes");
        }
    }

    #[test]
    fn endings_that_cannot_be_read_are_no_endings_whatever_their_checksum_says() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || FolderCheckpoints::open(folder.path(), "owner", false).expect("checkpoints");
        for text in ["", "{}", "[1e999]", "[{\"event\": \"trained\""] {
            open().save("state", &[b"bytes"]).expect("room");
            open().save(TRAINED, &[text.as_bytes()]).expect("room");
            let checkpoints = open();
            assert_eq!(checkpoints.trained(), [] as [Value; 0], "{text}");
            assert_eq!(
                checkpoints.load("state").expect("readable"),
                None,
                "the training starts over: {text}"
            );
        }
        // Sums without end are the largest number.
        let text = format!("[{0}, {0}]", json!({ VALIDATIONS_BEFORE: u64::MAX }));
        open().save(TRAINED, &[text.as_bytes()]).expect("room");
        assert_eq!(open().validations_before(), u64::MAX);
    }
}
