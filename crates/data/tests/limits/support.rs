//! Folders made by hand, every reader of one file, and readers that must not block.

use std::fmt::Debug;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use quadcast_core::{Dataset, Direction, Names, Query, ScoreRow, Split};
use quadcast_data::scores::{GoldAnswer, OpenOptions, QueryList, RankFile, ScoreFile};
use quadcast_data::write::compressed;
use quadcast_data::{
    Compression, DataError, FaultPolicy, ImportOptions, LoadOptions, Loaded, import, load, read_lines,
    read_operations, read_rules,
};
use quadcast_testing::small;
use tempfile::TempDir;

/// Longer than any reader needs, also on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A good row of facts.
pub const FACTS: &[u8] = b"0 0 1 0\n1 0 2 1\n";

/// A folder with files in it.
pub struct Desk {
    folder: TempDir,
}

impl Desk {
    pub fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }

    /// A folder with three splits.
    pub fn with_splits() -> Self {
        let desk = Self::new();
        for name in ["train.txt", "valid.txt", "test.txt"] {
            desk.write(name, FACTS);
        }
        desk
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
        fs::write(&path, content).expect("a file");
        path
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).expect("a file");
    }

    pub fn load(&self) -> Result<Loaded, DataError> {
        load(self.folder.path(), &LoadOptions::default())
    }

    /// The message about the folder, which must be wrong.
    pub fn refusal(&self) -> String {
        self.load().expect_err("a wrong folder").to_string()
    }
}

/// The readers of one file, by name, with the name of a file that they read.
pub const READERS: [(&str, &str); 7] = [
    ("lines", "l.csv"),
    ("operations", "o.txt"),
    ("extension", "e.txt"),
    ("rules", "rules.jsonl"),
    ("import", "t.csv"),
    ("scores", "s.csv"),
    ("ranks", "r.csv"),
];

/// Reads a file with a reader: what it holds, in words that are the same for the same content, or the message.
pub fn read(reader: &str, path: &Path) -> Result<String, String> {
    match reader {
        "lines" => {
            let lines = |text: Vec<u8>| -> Vec<String> {
                String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
            };
            shown(read_lines(path).map(lines))
        }
        "operations" => shown(read_operations(path, FaultPolicy::Error).map(|stream| {
            let rows: Vec<_> = stream.iter().collect();
            (rows, stream.vocabulary)
        })),
        "extension" => {
            let start = read_operations(&start_of_stream(path), FaultPolicy::Error).expect("a stream");
            shown(quadcast_data::extend_operations(start, path, FaultPolicy::Error).map(|e| e.operations))
        }
        "rules" => shown(read_rules(path, &names(&["r", "q"])).map(|read| read.rules)),
        "import" => {
            let out = TempDir::new().expect("a temporary folder");
            let options = ImportOptions::new(vec![path.to_owned()], out.path().join("out"));
            shown(import(&options).map(|report| (report.rows, report.facts, report.entities)))
        }
        "scores" => read_scores(path),
        "ranks" => {
            let (dataset, list) = questions();
            let asked = gold_answers(&dataset, &list);
            let answers = |file: RankFile| file.answer(&asked).map_err(|error| error.to_string());
            shown(RankFile::open(path, &dataset, &list, true).map(|file| file.map(answers)))
        }
        other => panic!("no reader {other}"),
    }
}

fn read_scores(path: &Path) -> Result<String, String> {
    let (dataset, list) = questions();
    let options = OpenOptions { unchecked_order: true, hold_all: true };
    let file = ScoreFile::open(path, &dataset, &list, options).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    let read = file.rows::<quadcast_data::scores::ScoreFileError>(&list.queries, |_, row| {
        rows.push(match row {
            ScoreRow::Dense(scores) => format!("{scores:?}"),
            ScoreRow::Sparse { ids, scores, .. } => format!("{ids:?} {scores:?}"),
        });
        Ok(())
    });
    shown(read.and_then(|()| file.check()).map(|()| rows))
}

fn shown<T: Debug, E: ToString>(result: Result<T, E>) -> Result<String, String> {
    result.map(|value| format!("{value:?}")).map_err(|error| error.to_string())
}

fn start_of_stream(path: &Path) -> PathBuf {
    let start = path.with_file_name("start.txt");
    fs::write(&start, "0 1 0 +\n").expect("a file");
    start
}

pub fn names(names: &[&str]) -> Names {
    Names::new(names.iter().map(|name| Some((*name).to_owned())).collect(), None)
}

/// A small dataset and the queries of its test split.
pub fn questions() -> (Dataset, Arc<QueryList>) {
    let dataset = small::forecasting();
    let facts = dataset.splits.test.iter();
    let mut queries: Vec<Query> =
        facts.flat_map(|fact| Direction::BOTH.map(|side| Query::hide(fact, side).0)).collect();
    queries.sort_unstable();
    queries.dedup();
    let list = Arc::new(QueryList::new(&dataset, Split::Test, queries));
    (dataset, list)
}

/// The answers to these queries, each among all entities.
pub fn gold_answers(dataset: &Dataset, list: &QueryList) -> Vec<GoldAnswer> {
    let candidates = [dataset.entities() as u32; 3];
    let sides =
        dataset.splits.test.iter().flat_map(|fact| Direction::BOTH.map(|side| Query::hide(fact, side)));
    let mut answers: Vec<GoldAnswer> = sides
        .map(|(query, gold)| GoldAnswer { row: list.row(&query).expect("a listed query"), gold, candidates })
        .collect();
    answers.sort_unstable_by_key(|answer| (answer.row, answer.gold));
    answers.dedup_by_key(|answer| (answer.row, answer.gold));
    answers
}

/// A good file for a reader, of several lines.
pub fn good(reader: &str) -> String {
    let (dataset, list) = questions();
    let rows = 0..list.queries.len();
    match reader {
        "lines" => "a,b\n1,2\n3,4\n".to_owned(),
        "operations" => "0 1 0 +\n1 2 0 +\n0 1 0 -\n".to_owned(),
        "extension" => "5 6 0 +\n6 7 0 +\n5 6 0 -\n".to_owned(),
        "rules" => ["r", "q"].map(rule).concat(),
        "import" => {
            let day = |day| format!("A{day},r,B,2031-01-0{day}\n");
            format!("subject,relation,object,date\n{}", (1..=8).map(day).collect::<String>())
        }
        "scores" => {
            let line = |row| format!("{row},1,0.5\n");
            format!("row,entity,score\n{}", rows.map(line).collect::<String>())
        }
        "ranks" => {
            let line = |answer: GoldAnswer| format!("{},{},1,1,1\n", answer.row, answer.gold.0);
            let lines: String = gold_answers(&dataset, &list).into_iter().map(line).collect();
            format!("row,gold,time_rank,static_rank,raw_rank\n{lines}")
        }
        other => panic!("no reader {other}"),
    }
}

fn rule(relation: &str) -> String {
    format!(
        "{{\"head\":{{\"relation\":\"{relation}\",\"inverse\":false}},\"body\":[{{\"relation\":\"r\",\"inverse\":false}}],\
         \"constraints\":[],\"confidence\":0.5,\"rule_support\":1,\"body_support\":2}}\n"
    )
}

/// What a task returns, which must not block.
pub fn in_time<T: Send + 'static>(what: &str, task: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(task()).ok());
    receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{what} blocks or panics"))
}

/// Asserts that a message contains all of the texts.
pub fn assert_texts(message: &str, texts: &[&str]) {
    for text in texts {
        assert!(message.contains(text), "{text:?} is missing in: {message}");
    }
    assert!(message.len() < 1000, "{message}");
}

/// The compressions with their endings.
pub const COMPRESSIONS: [(Compression, &str); 5] = [
    (Compression::Zstandard, "zst"),
    (Compression::Gzip, "gz"),
    (Compression::Xz, "xz"),
    (Compression::Bzip2, "bz2"),
    (Compression::Zip, "zip"),
];

/// A start and then so many times a text, compressed.
pub fn packed(compression: Compression, start: &str, text: &[u8], times: usize) -> Vec<u8> {
    let fill = |out: &mut dyn Write| -> io::Result<()> {
        out.write_all(start.as_bytes())?;
        (0..times).try_for_each(|_| out.write_all(text))
    };
    let mut bytes = Vec::new();
    if compression == Compression::Zip {
        let mut archive = zip::ZipWriter::new(io::Cursor::new(&mut bytes));
        archive.start_file("t.txt", zip::write::SimpleFileOptions::default()).expect("a file");
        fill(&mut archive).expect("memory takes everything");
        archive.finish().expect("an archive");
    } else {
        compressed(&mut bytes, Some(compression), fill).expect("memory takes everything");
    }
    bytes
}
