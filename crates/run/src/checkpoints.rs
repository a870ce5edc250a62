//! Checkpoints of a training on disk, and the trace of what happened.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use quadcast_core::{Checkpoints, ModelError};
use serde_json::Value;

use crate::{RunError, write_atomically};

/// The folder of checkpoints in a run folder.
const CHECKPOINTS: &str = "checkpoint";
/// The file that says whose checkpoints they are.
const OWNER: &str = "owner.toml";
/// One line per event.
const TRACE: &str = "trace.jsonl";

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
        if event["event"] != "trained" {
            return;
        }
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
        let mut events = Events { trace: None, trained: Vec::new() };
        let earlier = whole_lines(&folder.join(TRACE))?;
        earlier
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .for_each(|event| events.take(&event));
        Ok(Self { folder: folder.to_owned(), owner: owner.to_owned(), events: Mutex::new(events) })
    }

    /// How trainings ended.
    pub fn trained(&self) -> Vec<Value> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).trained.clone()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(CHECKPOINTS).join(name)
    }
}

/// Refuses to go on in a run folder without checkpoints, or with those of another run: they would be lost.
pub fn check_owner(folder: &Path, owner: &str) -> Result<(), RunError> {
    let path = folder.display();
    let mut entries = fs::read_dir(folder.join(CHECKPOINTS)).into_iter().flatten().flatten();
    if !entries.any(|entry| entry.file_name() != OWNER) {
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

/// Removes everything that a training has left in a run folder.
pub fn clear_all(folder: &Path) -> Result<(), RunError> {
    clear(folder)?;
    let trace = folder.join(TRACE);
    gone(&trace, fs::remove_file(&trace))
}

/// The lines of a trace. One that a kill has cut goes, so that the next begins a line.
fn whole_lines(trace: &Path) -> Result<String, RunError> {
    let mut bytes = match fs::read(trace) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        read => read.map_err(|error| trouble(trace, &error))?,
    };
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    if end < bytes.len() {
        let cut = OpenOptions::new().write(true).open(trace).and_then(|file| file.set_len(end as u64));
        cut.map_err(|error| trouble(trace, &error))?;
        bytes.truncate(end);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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
            write_atomically(&self.path(name), |out| parts.iter().try_for_each(|part| out.write_all(part)))
                .map_err(io::Error::other)
        };
        write().map_err(|error| ModelError::Checkpoint(error.to_string()))
    }

    fn load(&self, name: &str) -> Result<Option<Vec<u8>>, ModelError> {
        match fs::read(self.path(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ModelError::Checkpoint(format!("{}: {error}", self.path(name).display()))),
        }
    }

    fn contains(&self, name: &str) -> Result<bool, ModelError> {
        Ok(self.path(name).is_file())
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
        events.take(event);
        let path = self.folder.join(TRACE);
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
        let trace = folder.path().join(TRACE);
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
}
