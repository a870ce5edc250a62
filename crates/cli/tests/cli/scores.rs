//! Score files made from a model of ours, as somebody else would make them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Mutex;

use quadcast_core::{
    Capabilities, EntityId, Forecaster, History, ModelError, Protocol, Query, Run, SavedModel, ScoreError,
    ScoreRow, ScoreSink, Setting, Snapshot, Step, Validation,
};
use quadcast_data::{Content, LoadOptions, load};
use quadcast_eval::{fit, judge};
use quadcast_models::{find, set};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::common::Room;

/// Entities that a model reached, with their scores.
type Row = Vec<(u32, f64)>;

/// The scores of a model by row of the query list.
pub struct Scores {
    pub rows: Vec<Row>,
    pub entities: usize,
}

impl Scores {
    /// What the recurrency baseline says about the test queries of a dataset.
    pub fn of_recurrency(folder: &Path, setting: Setting, options: &[&str]) -> Self {
        let loaded = load(folder, &LoadOptions::default()).expect("a dataset");
        let Content::Temporal(dataset) = loaded.content else { panic!("a temporal dataset") };
        let entry = find("recurrency").expect("it is in the registry");
        let mut config = (entry.defaults)();
        for option in options {
            set(&mut config, option).expect("a known setting");
        }
        let model = entry.forecaster(&config).expect("a valid configuration");
        let protocol = Protocol { setting, ..Protocol::default() };
        let entities = dataset.entities();
        let mut model = Recorder { model, rows: Mutex::default(), entities };
        let run = Run::silent(1);
        fit(&dataset, &protocol, model.model.as_mut(), &run).expect("a fit");
        judge(&dataset, &protocol, &mut model, &run).expect("an evaluation");
        Self { rows: model.rows.into_inner().expect("no panic").into_values().collect(), entities }
    }

    /// Lines `key,entity,score`, and an empty one for a query without candidates.
    pub fn csv(&self, keys: &[u64]) -> String {
        self.lines("key,entity,score", |row| keys[row].to_string())
    }

    /// Lines under a header, starting with what `name` says about a row. Numbers have all their digits.
    pub fn lines(&self, header: &str, name: impl Fn(usize) -> String) -> String {
        let mut text = format!("{header}\n");
        for (row, cells) in self.rows.iter().enumerate() {
            for (entity, score) in cells {
                writeln!(text, "{},{entity},{score}", name(row)).expect("memory takes everything");
            }
            if cells.is_empty() {
                writeln!(text, "{},,", name(row)).expect("memory takes everything");
            }
        }
        text
    }

    /// Dense rows that rank as these do: the level of each score among those of its row, 0 for the unreached. Small
    /// whole numbers are exact in every precision.
    pub fn levels(&self) -> Vec<Vec<u16>> {
        let level_row = |cells: &Row| {
            let mut scores: Vec<f64> = cells.iter().map(|cell| cell.1).collect();
            scores.sort_unstable_by(f64::total_cmp);
            scores.dedup();
            let mut row = vec![0; self.entities];
            for (entity, score) in cells {
                let level = scores.partition_point(|other| other < score) + 1;
                row[*entity as usize] = level as u16;
            }
            row
        };
        self.rows.iter().map(level_row).collect()
    }
}

/// Lets a model play and writes down what it says.
struct Recorder {
    model: Box<dyn Forecaster>,
    rows: Mutex<BTreeMap<Query, Row>>,
    entities: usize,
}

impl Forecaster for Recorder {
    fn capabilities(&self) -> Capabilities {
        self.model.capabilities()
    }

    fn fit(&mut self, _: &History<'_>, _: &dyn Validation, _: &Run) -> Result<(), ModelError> {
        Ok(())
    }

    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        self.model.begin(step, history)
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        self.model.score(history, queries, &mut Tap { recorder: self, queries, sink })
    }

    fn observe(&mut self, snapshot: &Snapshot<'_>) -> Result<(), ModelError> {
        self.model.observe(snapshot)
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        self.model.save()
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        self.model.load(saved)
    }
}

struct Tap<'a> {
    recorder: &'a Recorder,
    queries: &'a [Query],
    sink: &'a mut dyn ScoreSink,
}

impl ScoreSink for Tap<'_> {
    fn accept(&mut self, index: usize, row: ScoreRow<'_>) -> Result<(), ScoreError> {
        let cells: Row = match row {
            ScoreRow::Dense(scores) => (0..).zip(scores.iter().map(|&score| f64::from(score))).collect(),
            ScoreRow::Sparse { ids, scores, background } => {
                let listed: BTreeMap<_, _> = ids.iter().zip(scores).collect();
                let everyone = (0..self.recorder.entities as u32).map(EntityId);
                let score = |id: EntityId| match listed.get(&id) {
                    Some(score) => Some((id.0, **score)),
                    None => background.reaches(id).then(|| (id.0, background.score(id))),
                };
                everyone.filter_map(score).collect()
            }
        };
        self.recorder.rows.lock().expect("no panic").insert(self.queries[index], cells);
        self.sink.accept(index, row)
    }
}

/// An array in numpy's layout.
pub fn npy(kind: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
    npy_ordered(kind, shape, "False", numbers)
}

/// An array whose header names an order.
pub fn npy_ordered(kind: &str, shape: &str, fortran: &str, numbers: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let padded = format!("{header:<width$}\n", width = (header.len() + 11).div_ceil(64) * 64 - 11);
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((padded.len() as u16).to_le_bytes());
    bytes.extend(padded.bytes());
    bytes.extend(numbers);
    bytes
}

/// Numbers in single precision.
pub fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Levels in single precision.
pub fn single(levels: &[Vec<u16>]) -> Vec<u8> {
    let numbers: Vec<f32> = levels.iter().flatten().copied().map(f32::from).collect();
    npy("<f4", &shape(levels), &floats(&numbers))
}

/// Levels in half precision; exact up to 2048.
pub fn half(levels: &[Vec<u16>]) -> Vec<u8> {
    let encode = |level: u16| {
        let bits = f32::from(level).to_bits();
        if level == 0 { 0 } else { (((bits >> 23) - 127 + 15) << 10 | (bits >> 13 & 1023)) as u16 }
    };
    let bytes = levels.iter().flatten().flat_map(|&level| encode(level).to_le_bytes()).collect::<Vec<u8>>();
    npy("<f2", &shape(levels), &bytes)
}

fn shape(levels: &[Vec<u16>]) -> String {
    format!("({}, {})", levels.len(), levels[0].len())
}

/// The keys of a query list: its last column.
pub fn keys_of(list: &str) -> Vec<u64> {
    let key = |line: &str| line.rsplit(',').next().and_then(|key| key.parse().ok()).expect("a key");
    list.lines().skip(1).map(key).collect()
}

/// Four queries with their keys, three entities; a static filter leaves two candidates for the first and the last query.
pub fn with_small() -> (Room, Vec<u64>) {
    let room = Room::with_splits("0 0 1 0\n", "0 0 2 1\n", "0 0 1 2\n1 0 2 2\n");
    let keys = keys_of(&room.quadcast("data export small --queries test --out -").success().stdout);
    assert_eq!(keys.len(), 4);
    (room, keys)
}

/// Keys as an array.
pub fn keys_array(keys: &[u64]) -> Vec<u8> {
    let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
    npy("<i8", &format!("({},)", keys.len()), &bytes)
}

/// An archive of arrays.
pub fn npz(arrays: &[(&str, &[u8])], compressed: bool) -> Vec<u8> {
    let method = if compressed { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let options = SimpleFileOptions::default().compression_method(method);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        archive.start_file(format!("{name}.npy"), options).expect("memory takes everything");
        archive.write_all(bytes).expect("memory takes everything");
    }
    archive.finish().expect("memory takes everything").into_inner()
}
