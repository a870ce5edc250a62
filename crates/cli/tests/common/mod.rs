//! The real binary in a fresh folder: every test gets a [`Room`] of its own.

// Each test binary uses its own part of this module.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
#[allow(unused_imports, reason = "not every test needs them")]
pub use quadcast_testing::real::{root_with as real_data, skip};
use serde_json::Value;
use tempfile::TempDir;

/// A command that takes longer hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// Columns that text for people may take.
const WIDTH: usize = 100;

/// A fresh folder in which commands run.
pub struct Room {
    folder: TempDir,
}

impl Room {
    /// An empty room.
    pub fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }

    /// A room with the example dataset in `harbour`.
    pub fn with_harbour() -> Self {
        let room = Self::new();
        room.place_harbour("harbour");
        room
    }

    /// A room with a dataset of these splits in `small`.
    pub fn with_splits(train: &str, valid: &str, test: &str) -> Self {
        let room = Self::new();
        for (split, facts) in [("train", train), ("valid", valid), ("test", test)] {
            room.write(&format!("small/{split}.txt"), facts);
        }
        room
    }

    /// A room with a dataset in `small` that keeps a model busy for a moment. Its test period has 20 steps.
    pub fn with_busy_dataset() -> Self {
        let split = |steps: Range<u32>| {
            let mut facts = String::new();
            for step in steps {
                for row in 0..400_u32 {
                    // Any mixture will do, as long as it is the same every time.
                    let mix = (step * 400 + row).wrapping_mul(2_654_435_761) >> 8;
                    let (subject, relation, object) = (mix % 500, mix / 500 % 20, row % 40 * 7);
                    writeln!(facts, "{subject} {relation} {object} {step}").expect("memory takes everything");
                }
            }
            facts
        };
        Self::with_splits(&split(0..120), &split(120..140), &split(140..160))
    }

    /// A room with a graph in `circles` that grows in three steps: sixty people who like those of their own circle of ten.
    pub fn with_circles() -> Self {
        let room = Self::new();
        for step in 0..3 {
            let mut splits = [String::new(), String::new(), String::new()];
            for (i, j) in (0..60).flat_map(|i| (0..60).map(move |j| (i, j))) {
                if i != j && i % 6 == j % 6 && (i / 6 + 2 * (j / 6)) % 3 == step {
                    let split = match (7 * (i / 6) + 3 * (j / 6) + i) % 10 {
                        0 => 2,
                        1 => 1,
                        _ => 0,
                    };
                    splits[split].push_str(&format!("person {i}\tlikes\tperson {j}\n"));
                }
            }
            for (split, facts) in ["train", "valid", "test"].iter().zip(&splits) {
                room.write(&format!("circles/{step}/{split}.txt"), facts);
            }
        }
        room
    }

    /// Copies the example dataset.
    pub fn place_harbour(&self, folder: &str) {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/harbour");
        for split in ["train.txt", "valid.txt", "test.txt"] {
            let facts = fs::read(example.join(split)).expect("the example dataset is committed");
            self.write(&format!("{folder}/{split}"), facts);
        }
    }

    /// Copies the example table of events.
    pub fn place_market(&self, folder: &str) {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/market/events.csv");
        self.write(
            &format!("{folder}/events.csv"),
            fs::read(example).expect("the example table is committed"),
        );
    }

    /// Writes a dataset of three days, each with this fact and what follows the date.
    pub fn place_days(&self, folder: &str, fact: &str, rest: &str) {
        for (split, day) in [("train", 1), ("valid", 2), ("test", 3)] {
            self.write(&format!("{folder}/{split}.txt"), format!("{fact}\t2014-01-0{day}{rest}\n"));
        }
    }

    /// The full path of something in the room.
    pub fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }

    /// Writes a file and the folders above it.
    pub fn write(&self, file: &str, content: impl AsRef<[u8]>) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    /// Reads a file.
    pub fn read(&self, file: &str) -> Vec<u8> {
        fs::read(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// Reads a file of text.
    pub fn text(&self, file: &str) -> String {
        String::from_utf8(self.read(file)).expect("text is UTF-8")
    }

    /// Reads a file that is one JSON document.
    pub fn json(&self, file: &str) -> Value {
        parsed(&self.text(file))
    }

    /// Everything in the room, also below folders.
    pub fn contents(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.insert(path);
            }
        }
        found
    }

    /// The record of a run without what depends on the machine's mood, as text.
    pub fn comparable(&self, run: &str) -> String {
        let mut record = self.json(&format!("{run}/metrics.json"));
        let fields = record.as_object_mut().expect("a record is an object");
        assert!(fields.shift_remove("seconds").is_some());
        assert!(fields.shift_remove("peak_memory_bytes").is_some());
        for stage in fields.get_mut("training").and_then(Value::as_array_mut).into_iter().flatten() {
            stage.as_object_mut().expect("a stage is an object").shift_remove("seconds");
        }
        serde_json::to_string_pretty(&record).expect("a record can be written")
    }

    /// Asserts that two runs left the same bytes.
    pub fn assert_same(&self, one: &str, other: &str) {
        assert_eq!(self.comparable(one), self.comparable(other));
        for file in ["ranks.csv.zst", "model.json", "run.toml"] {
            let [a, b] = [one, other].map(|run| self.read(&format!("{run}/{file}")));
            assert!(a == b, "{file} of {one} and {other} differ");
        }
    }

    /// The command with its arguments, separated by blanks; those within '…' do not count.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(cargo_bin!("quadcast"));
        command
            .args(words(arguments))
            .current_dir(self.folder.path())
            .env_remove("QUADCAST_DATA")
            .env("QUADCAST_CACHE", self.path("cache"))
            .env_remove("COLUMNS")
            .timeout(PATIENCE);
        command
    }

    /// Runs a command.
    pub fn quadcast(&self, arguments: &str) -> Answer {
        Answer::of(&mut self.command(arguments), arguments)
    }

    /// Runs a command with a folder of the room as `$QUADCAST_DATA`.
    pub fn quadcast_in(&self, store: &Path, arguments: &str) -> Answer {
        Answer::of(self.command(arguments).env("QUADCAST_DATA", store), arguments)
    }

    /// Asserts that the command refuses its input and leaves nothing behind.
    pub fn assert_refused(&self, arguments: &str, texts: &[&str]) {
        let before = self.contents();
        let answer = self.quadcast(arguments);
        answer.assert_error(2, texts);
        assert_eq!(answer.stdout, "", "{arguments}");
        assert_eq!(self.contents(), before, "{arguments}");
    }
}

/// Arguments as a shell sees them.
fn words(arguments: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    // Within quotes are the parts with odd numbers.
    for (part, text) in arguments.split('\'').enumerate() {
        if part % 2 == 1 {
            words.push(text.to_owned());
        } else {
            words.extend(text.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Starts a run on `small`, which goes on while the test does.
pub fn start(room: &Room, out: &str) -> Child {
    start_command(room, &format!("run --data small --out {out}"))
}

/// Starts a command, which goes on while the test does.
pub fn start_command(room: &Room, arguments: &str) -> Child {
    std::process::Command::new(cargo_bin!("quadcast"))
        .args(arguments.split_whitespace())
        .current_dir(room.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts")
}

/// Ends a run without asking it.
pub fn kill(mut run: Child) {
    run.kill().expect("a child can be killed");
    run.wait().expect("a killed child ends");
}

/// What a command said.
pub struct Answer {
    arguments: String,
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    /// Runs a command and takes down what it says.
    pub fn of(command: &mut Command, arguments: &str) -> Self {
        let output = command.output().expect("the binary starts");
        let text = |bytes| String::from_utf8(bytes).expect("the binary speaks UTF-8");
        Self {
            arguments: arguments.to_owned(),
            code: output.status.code().expect("an exit code, no signal"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Asserts success without a word on standard error.
    pub fn success(self) -> Self {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{}", self.arguments);
        self
    }

    /// Asserts an exit code and an error message with all of these texts.
    pub fn assert_error(&self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, code, "{}: {}", self.arguments, self.stderr);
        assert!(self.stderr.starts_with("error: "), "{}: {}", self.arguments, self.stderr);
        assert_texts(&self.stderr, texts);
    }

    /// Asserts that standard output has all of these texts.
    pub fn assert_says(&self, texts: &[&str]) {
        assert_texts(&self.stdout, texts);
    }

    /// Asserts that no line of standard output is wider than a page.
    pub fn assert_fits(&self) {
        for line in self.stdout.lines() {
            let width = line.chars().count();
            assert!(width <= WIDTH, "{}: {width} columns: {line}", self.arguments);
        }
    }

    /// Standard output as one JSON document.
    pub fn json(&self) -> Value {
        parsed(&self.stdout)
    }

    /// The words of the line on standard output that starts with a word.
    pub fn row(&self, first: &str) -> Vec<&str> {
        let rows = self.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        { rows }.find(|row| row.first() == Some(&first)).unwrap_or_else(|| panic!("no row {first}"))
    }
}

/// Asserts that all texts stand in a text.
pub fn assert_texts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("broken JSON, {error}: {text}"))
}
