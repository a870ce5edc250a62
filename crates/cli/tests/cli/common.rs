//! The real binary in a fresh folder: every test gets a [`Room`] of its own.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
pub use quadcast_testing::real::{root_with as real_data, skip};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// What marks a folder as one that a run made.
pub const MARKER: &str =
    "A run folder of quadcast. Its files are written, replaced and removed by quadcast.\n";

/// A command that takes longer hangs.
const PATIENCE: Duration = Duration::from_mins(10);

/// Columns that text for people may take.
const WIDTH: usize = 100;

/// The files of a room with their paths inside it, to begin other rooms with.
pub type Files = Vec<(PathBuf, Vec<u8>)>;

/// The example dataset with runs of three variants and of two settings.
static RUNS: LazyLock<Files> = LazyLock::new(|| {
    let room = Room::with_harbour();
    for variant in ["combined", "strict", "relaxed"] {
        room.quadcast(&format!(
            "run --model recurrency --data harbour --set variant={variant} --out {variant}"
        ))
        .success();
    }
    room.quadcast("run --model recurrency --data harbour --setting multi-step --out multi").success();
    room.files()
});

/// A synthetic stream of operations, and a synthetic graph that changes.
static OPERATIONS: LazyLock<Files> = LazyLock::new(|| {
    let room = Room::new();
    room.quadcast("data synth --operations 4000 --seed 2 --out ops.txt").success();
    room.quadcast("data synth --world evolving --out world").success();
    room.files()
});

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

    /// A room with these files.
    pub fn with_files(files: &Files) -> Self {
        let room = Self::new();
        for (path, content) in files {
            room.write(path, content);
        }
        room
    }

    /// A room with the example dataset in `harbour`, runs of its variants in `combined` (the default), `strict` and
    /// `relaxed`, and a run of the multi-step setting in `multi`.
    pub fn with_runs() -> Self {
        Self::with_files(&RUNS)
    }

    /// A room with a stream of 4000 operations in `ops.txt` and a graph that changes in ten steps in `world`.
    pub fn with_operations() -> Self {
        Self::with_files(&OPERATIONS)
    }

    /// A room with a dataset of these splits in `small`.
    pub fn with_splits(train: &str, valid: &str, test: &str) -> Self {
        let room = Self::new();
        room.place_splits("small", [train, valid, test]);
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
            room.place_splits(&format!("circles/{step}"), splits);
        }
        room
    }

    /// Writes a dataset.
    pub fn place_splits(&self, folder: &str, splits: [impl AsRef<[u8]>; 3]) {
        for (split, facts) in ["train", "valid", "test"].iter().zip(splits) {
            self.write(format!("{folder}/{split}.txt"), facts);
        }
    }

    /// Copies the example dataset.
    pub fn place_harbour(&self, folder: &str) {
        self.place_splits(
            folder,
            ["train", "valid", "test"].map(|split| example(&format!("harbour/{split}.txt"))),
        );
    }

    /// Writes a dataset of three days, each with this fact and what follows the date.
    pub fn place_days(&self, folder: &str, fact: &str, rest: &str) {
        self.place_splits(folder, [1, 2, 3].map(|day| format!("{fact}\t2014-01-0{day}{rest}\n")));
    }

    /// Writes a graph without time, of one triple in every split.
    pub fn place_graph(&self, folder: &str) {
        for split in ["train", "valid", "test"] {
            self.write(format!("{folder}/{split}2id.txt"), "1\n0 1 0\n");
        }
    }

    /// The full path of something in the room.
    pub fn path(&self, inside: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(inside)
    }

    /// Writes a file and the folders above it.
    pub fn write(&self, file: impl AsRef<Path>, content: impl AsRef<[u8]>) {
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

    /// Reads a file of text that is packed with zstd.
    pub fn unpacked(&self, file: &str) -> String {
        let text = zstd::decode_all(self.read(file).as_slice()).expect("whole frames");
        String::from_utf8(text).expect("text is UTF-8")
    }

    /// The lines of a file, each of which is a JSON document.
    pub fn json_lines(&self, file: &str) -> Vec<Value> {
        self.text(file).lines().map(parsed).collect()
    }

    /// The record of a run.
    pub fn record(&self, run: &str) -> Value {
        self.json(&format!("{run}/metrics.json"))
    }

    /// Makes a pipe, if the system can; otherwise the test is skipped.
    #[cfg(unix)]
    pub fn pipe(&self, name: &str) -> bool {
        let made = std::process::Command::new("mkfifo").arg(self.path(name)).status();
        let made = made.is_ok_and(|status| status.success());
        if !made {
            skip("no mkfifo");
        }
        made
    }

    /// Removes a folder.
    pub fn remove(&self, folder: &str) {
        fs::remove_dir_all(self.path(folder)).expect("a folder");
    }

    /// Everything that a room like this one begins with.
    pub fn files(&self) -> Files {
        let files = self.contents().into_iter().filter(|path| path.is_file());
        let relative = |path: &Path| path.strip_prefix(self.folder.path()).expect("a path inside").to_owned();
        files.map(|path| (relative(&path), fs::read(path).expect("a file"))).collect()
    }

    /// Reads a file that is one JSON document.
    pub fn json(&self, file: &str) -> Value {
        parsed(&self.text(file))
    }

    /// Changes the record of a run as a careful forger would: with a checksum that fits.
    pub fn edit_record(&self, run: &str, edit: impl FnOnce(&mut Value)) {
        let mut record = self.record(run);
        record.as_object_mut().expect("a record is an object").shift_remove("checksum");
        edit(&mut record);
        record["checksum"] = hex(&Sha256::digest(record.to_string())[..8]).into();
        self.write(format!("{run}/metrics.json"), record.to_string());
    }

    /// Writes the checksums of a run anew, as a careful forger would.
    pub fn forge_checksums(&self, run: &str) {
        let sums = self.text(&format!("{run}/SHA256SUMS"));
        let names = sums.lines().map(|line| line.split_once("  ").expect("a checksum and a name").1);
        let line = |name| format!("{}  {name}\n", hex(&Sha256::digest(self.read(&format!("{run}/{name}")))));
        self.write(format!("{run}/SHA256SUMS"), names.map(line).collect::<String>());
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
        let mut record = self.record(run);
        let fields = record.as_object_mut().expect("a record is an object");
        assert!(["seconds", "peak_memory_bytes"].iter().all(|cost| fields.contains_key(*cost)));
        assert!(fields.shift_remove("checksum").is_some(), "it covers these two");
        remove_costs(&mut record);
        serde_json::to_string_pretty(&record).expect("a record can be written")
    }

    /// Asserts that two records say the same but for what the runs cost.
    fn assert_same_record(&self, one: &str, other: &str) {
        let [one, other] = [one, other].map(|run| self.comparable(run));
        let different = one.lines().zip(other.lines()).find(|(one, other)| one != other);
        assert!(one == other, "records differ, first in {different:?}");
    }

    /// Asserts that two runs left the same bytes.
    pub fn assert_same(&self, one: &str, other: &str) {
        self.assert_same_record(one, other);
        self.assert_same_files(one, other, &["ranks.csv.zst", "model.json", "run.toml"]);
    }

    /// Asserts that two complete runs are whole, and the same in every file but for what they cost.
    pub fn assert_same_run(&self, one: &str, other: &str) {
        self.assert_same_record(one, other);
        let names = self.assert_whole(one);
        assert_eq!(names, self.assert_whole(other));
        // Both tell how long it took, and the trace also how often it was interrupted.
        let costly = ["metrics.json", "trace.jsonl"];
        let names: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| !costly.contains(name)).collect();
        self.assert_same_files(one, other, &names);
    }

    /// Asserts that the files of a complete run have their checksums. Returns their names.
    fn assert_whole(&self, run: &str) -> BTreeSet<String> {
        let sums = self.text(&format!("{run}/SHA256SUMS"));
        let check = |line: &str| {
            let (sum, name) = line.split_once("  ").expect("a checksum and a name");
            assert_eq!(hex(&Sha256::digest(self.read(&format!("{run}/{name}")))), sum, "{run}/{name}");
            name.to_owned()
        };
        sums.lines().map(check).collect()
    }

    /// Asserts that files of two folders have the same bytes.
    pub fn assert_same_files(&self, one: &str, other: &str, files: &[&str]) {
        for file in files {
            let [a, b] = [one, other].map(|folder| self.read(&format!("{folder}/{file}")));
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

    /// What a command prints as JSON.
    pub fn document(&self, arguments: &str) -> Value {
        self.quadcast(&format!("{arguments} --json")).success().json()
    }

    /// What a command prints for people, which must fit a page, and as JSON.
    pub fn both_ways(&self, arguments: &str) -> (Answer, Value) {
        let text = self.quadcast(arguments).success();
        text.assert_fits();
        (text, self.document(arguments))
    }

    /// Runs into `kept` as far as the last test step: the ranks cannot be written, because their place is taken.
    pub fn interrupt(&self, run: &str) {
        // The folder must be one that a run made, and the ranks must be impossible to write.
        self.write("kept/.quadcast-run", MARKER);
        self.write("kept/ranks.csv.zst/in-the-way", "");
        self.quadcast(run).assert_error(1, &["cannot write kept/ranks.csv.zst"]);
        self.remove("kept/ranks.csv.zst");
    }

    /// Starts a command, which goes on while the test does.
    pub fn start(&self, arguments: &str) -> Child {
        std::process::Command::new(cargo_bin!("quadcast"))
            .args(words(arguments))
            .current_dir(self.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts")
    }

    /// Starts a command and ends it without asking when something holds, or when it has ended by itself: its exit code then.
    pub fn kill_when(&self, arguments: &str, holds: impl Fn() -> bool) -> Option<i32> {
        let mut run = self.start(arguments);
        wait_until(|| holds() || run.try_wait().expect("a child has a state").is_some());
        run.kill().expect("a child can be killed");
        run.wait().expect("a killed child ends").code()
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

/// Bytes in hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// Removes times and memory from a record, at any depth.
fn remove_costs(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| {
                !["seconds", "validation_seconds", "peak_memory_bytes"].contains(&name.as_str())
            });
            fields.values_mut().for_each(remove_costs);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_costs),
        _ => {}
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

/// A file of the examples of the repository.
pub fn example(file: &str) -> Vec<u8> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    fs::read(examples.join(file)).expect("the examples are committed")
}

/// Waits until something holds; after [`PATIENCE`] the test goes on all the same.
pub fn wait_until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() && begun.elapsed() < PATIENCE {
        sleep(Duration::from_millis(1));
    }
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
        self.assert_remarks("");
        self
    }

    /// Asserts success with this on standard error.
    pub fn assert_remarks(&self, text: &str) {
        assert_eq!((self.code, self.stderr.as_str()), (0, text), "{}", self.arguments);
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
