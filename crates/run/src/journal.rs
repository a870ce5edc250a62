//! `ranks.partial`: the ranks of a run that is not finished, step by step, so that an interruption costs one step.
//!
//! A sequence of entries, each a length (4 bytes, least significant first) and as many bytes of zstd with a checksum.
//! The first entry says whose ranks these are. Each other entry holds judged steps. A step is a line with the number of its rows, the
//! latest step that the model has read (or nothing) and the seconds spent so far, then its rows as in `ranks.csv.zst`. Short steps
//! share an entry, because an entry costs a wait for the disk. An entry that was being written when the power went is too short or
//! fails its checksum; it is dropped, with all that follows it.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quadcast_core::Step;
use quadcast_eval::{Journal, JudgedStep, RankedQuery};

use crate::FileError;
use crate::ranks::{StepTimes, parse, write_row};

/// Compression level: an entry is written while the model waits.
const LEVEL: i32 = 1;

/// Steps wait for others to share their entry for so many times as long as the last entry took to write. Writing then takes at most
/// 5 % of the time; a kill loses the steps that wait.
const PATIENCE: u32 = 20;

/// Steps with more text than this do not wait.
const FULL: usize = 1 << 20;

/// An entry has at most so many times the bytes that it takes in the file: rows compress to a fiftieth at best, a damaged or forged
/// entry may claim anything.
const MOST_EXPANSION: u64 = 1000;

/// The open journal of a run.
#[derive(Debug)]
pub struct RankJournal<'a> {
    path: PathBuf,
    file: File,
    times: StepTimes<'a>,
    judged: Vec<JudgedStep>,
    /// Where the entries end in the file and how many steps there are up to there; the first is the entry of the owner.
    ends: Vec<(u64, usize)>,
    /// Steps that are not in the file yet.
    waiting: Vec<u8>,
    /// When an entry was last written, and how long steps wait since then.
    written: (Instant, Duration),
    /// Seconds that earlier parts of the run spent on the steps.
    before: f64,
    start: Instant,
}

impl<'a> RankJournal<'a> {
    /// File name inside a run folder.
    pub const FILE: &'static str = "ranks.partial";

    /// Opens the journal of a run folder, or starts one. A journal that is damaged from the start or whose owner is not
    /// `owner` counts for nothing: it is replaced. Steps with a row that is not `possible` count as damaged.
    pub fn open(
        folder: &Path,
        owner: &str,
        times: StepTimes<'a>,
        possible: impl Fn(&RankedQuery) -> bool,
    ) -> Result<Self, FileError> {
        let path = folder.join(Self::FILE);
        let kept = Self::reopen(&path, owner, possible);
        let (file, judged, ends, before) = match kept {
            Some(kept) => kept,
            None => match Self::create(&path, owner) {
                Ok(file) => (file, Vec::new(), Vec::new(), 0.0),
                Err(source) => return Err(FileError::Write { path, source }),
            },
        };
        let now = Instant::now();
        let waiting = Vec::new();
        Ok(Self {
            path,
            file,
            times,
            judged,
            ends,
            waiting,
            written: (now, Duration::ZERO),
            before,
            start: now,
        })
    }

    fn create(path: &Path, owner: &str) -> io::Result<File> {
        let mut file = File::create(path)?;
        append(&mut file, owner.as_bytes())?;
        Ok(file)
    }

    /// The steps that are whole, and the file with whatever follows them cut off. Why a journal cannot be used does not
    /// matter: the steps are then judged again.
    fn reopen(path: &Path, owner: &str, possible: impl Fn(&RankedQuery) -> bool) -> Option<Reopened> {
        let mut file = OpenOptions::new().read(true).write(true).open(path).ok()?;
        let mut entries = Entries { file: BufReader::new(&file), end: 0 };
        if entries.next()? != owner {
            return None;
        }
        let (mut judged, mut before, mut ends) = (Vec::new(), 0.0, vec![(entries.end, 0)]);
        while let Some((steps, seconds)) = entries.next().as_deref().and_then(parse_steps) {
            if !steps.iter().flat_map(|step| &step.ranked).all(&possible) {
                break;
            }
            judged.extend(steps);
            before = seconds;
            ends.push((entries.end, judged.len()));
        }
        cut(&mut file, ends.last()?.0).ok()?;
        Some((file, judged, ends, before))
    }

    /// Removes the journal of a run folder, if there is one.
    pub fn remove(folder: &Path) -> Result<(), FileError> {
        let path = folder.join(Self::FILE);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != ErrorKind::NotFound => Err(FileError::Write { path, source }),
            _ => Ok(()),
        }
    }

    /// Number of steps that were judged earlier.
    pub fn steps(&self) -> usize {
        self.judged.len()
    }

    /// Seconds since the journal was opened, and those of earlier parts.
    pub fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }

    fn step_text(&self, step: &JudgedStep) -> io::Result<Vec<u8>> {
        let latest = step.latest_read.map(|step| step.0.to_string()).unwrap_or_default();
        let mut text = format!("{},{latest},{}\n", step.ranked.len(), self.seconds()).into_bytes();
        for row in &step.ranked {
            write_row(&mut text, row, self.times)?;
        }
        Ok(text)
    }

    /// Writes the steps that wait. They are on the disk when this returns.
    fn flush(&mut self) -> Result<(), FileError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let begun = Instant::now();
        let written = append(&mut self.file, &self.waiting);
        self.waiting.clear();
        self.written = (Instant::now(), PATIENCE * begun.elapsed());
        written.map_err(|source| FileError::Write { path: self.path.clone(), source })
    }
}

impl Drop for RankJournal<'_> {
    fn drop(&mut self) {
        // A run that ends early leaves all its steps; if it cannot, they are judged again.
        self.flush().ok();
    }
}

/// A journal as it was left: the file, its steps, where its entries end, and the seconds spent.
type Reopened = (File, Vec<JudgedStep>, Vec<(u64, usize)>, f64);

impl Journal for RankJournal<'_> {
    fn judged(&mut self) -> Vec<JudgedStep> {
        std::mem::take(&mut self.judged)
    }

    /// Steps of an entry that is not kept as a whole are noted again: the caller still has them.
    fn keep_first(&mut self, steps: &[JudgedStep]) -> Result<(), Box<dyn Error + Send + Sync>> {
        let whole = self.ends.iter().rposition(|&(_, last)| last <= steps.len());
        let Some(&(end, first)) = whole.and_then(|at| self.ends.get(at)) else { return Ok(()) };
        self.ends.truncate(whole.map_or(0, |at| at + 1));
        cut(&mut self.file, end).map_err(|source| FileError::Write { path: self.path.clone(), source })?;
        steps[first..].iter().try_for_each(|step| self.note(step))
    }

    fn note(&mut self, step: &JudgedStep) -> Result<(), Box<dyn Error + Send + Sync>> {
        let text = self.step_text(step);
        self.waiting.extend(text.map_err(|source| FileError::Write { path: self.path.clone(), source })?);
        let (written, wait) = self.written;
        if self.waiting.len() >= FULL || written.elapsed() >= wait {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(RankJournal::flush(self)?)
    }
}

/// Cuts a file off, so that the next entry begins there.
fn cut(file: &mut File, end: u64) -> io::Result<()> {
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end)).map(drop)
}

/// Appends an entry. It is on the disk when this returns.
fn append(file: &mut File, content: &[u8]) -> io::Result<()> {
    let mut encoder = zstd::Encoder::new(vec![0; 4], LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.write_all(content)?;
    let mut entry = encoder.finish()?;
    let length = u32::try_from(entry.len() - 4).map_err(|_| io::Error::from(ErrorKind::FileTooLarge))?;
    entry[..4].copy_from_slice(&length.to_le_bytes());
    file.write_all(&entry)?;
    file.sync_data()
}

/// Whole entries from the start of a journal.
struct Entries<R> {
    file: R,
    /// Where the last entry ends.
    end: u64,
}

impl<R: Read> Iterator for Entries<R> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut length = [0; 4];
        self.file.read_exact(&mut length).ok()?;
        let length = u64::from(u32::from_le_bytes(length));
        // Not reserved in advance: a damaged length may be anything.
        let mut packed = Vec::new();
        self.file.by_ref().take(length).read_to_end(&mut packed).ok()?;
        if packed.len() as u64 != length {
            return None;
        }
        let mut text = String::new();
        let most = MOST_EXPANSION * length.max(1);
        let read = zstd::Decoder::new(packed.as_slice()).ok()?.take(most).read_to_string(&mut text).ok()?;
        if read as u64 == most {
            return None;
        }
        self.end += 4 + length;
        Some(text)
    }
}

/// The steps of an entry, and the seconds after the last.
fn parse_steps(text: &str) -> Option<(Vec<JudgedStep>, f64)> {
    let (mut steps, mut seconds, mut lines) = (Vec::new(), 0.0, text.lines());
    while let Some(line) = lines.next() {
        let mut fields = line.split(',');
        let rows: usize = fields.next()?.parse().ok()?;
        let latest = fields.next()?;
        // JSON, which the record is, has no other numbers.
        seconds = fields.next()?.parse().ok().filter(|seconds| (0.0..=f64::MAX).contains(seconds))?;
        let latest_read = if latest.is_empty() { None } else { Some(Step(latest.parse().ok()?)) };
        let ranked: Vec<RankedQuery> = lines.by_ref().take(rows).map(parse).collect::<Option<_>>()?;
        // No model reads facts of the step that it is asked about.
        let foreseen = |row: &RankedQuery| latest_read.is_some_and(|read| read >= row.query.step);
        if ranked.len() != rows || ranked.iter().any(foreseen) {
            return None;
        }
        steps.push(JudgedStep { ranked, latest_read });
    }
    (!steps.is_empty()).then_some((steps, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadcast_core::{Calendar, Direction, EntityId, Query, RelationId, TimeAxis};
    use quadcast_eval::{Rank, RankedQuery, Ranks};

    const OWNER: &str = "seed = 1";

    fn axis() -> TimeAxis {
        TimeAxis::new((0..9).collect(), Calendar::UNKNOWN)
    }

    fn step(number: u32) -> JudgedStep {
        let rank = Rank { greater: number, tied: 2, tied_before: 1 };
        let row = |direction| RankedQuery {
            query: Query { step: Step(number), known: EntityId(3), relation: RelationId(1), direction },
            gold: EntityId(number),
            ranks: Ranks { time: rank, fixed: rank, raw: rank, reached: true, not_a_number: false },
            seen: number > 1,
        };
        let latest_read = number.checked_sub(1).map(Step);
        JudgedStep { ranked: Direction::BOTH.map(row).to_vec(), latest_read }
    }

    /// The steps that a folder's journal holds.
    fn held(folder: &Path, owner: &str) -> Vec<JudgedStep> {
        RankJournal::open(folder, owner, StepTimes::Axis(&axis()), |_| true).expect("a journal").judged()
    }

    fn note(folder: &Path, steps: impl IntoIterator<Item = u32>) {
        let axis = axis();
        let mut journal =
            RankJournal::open(folder, OWNER, StepTimes::Axis(&axis), |_| true).expect("a journal");
        for number in steps {
            journal.note(&step(number)).expect("a writable folder");
        }
    }

    #[test]
    fn what_is_noted_is_held() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        note(folder.path(), 0..2);
        note(folder.path(), 2..3);
        assert_eq!(held(folder.path(), OWNER), [0, 1, 2].map(step));
        RankJournal::remove(folder.path()).expect("a writable folder");
        RankJournal::remove(folder.path()).expect("nothing to do");
        assert_eq!(held(folder.path(), OWNER), []);
    }

    #[test]
    fn many_short_steps_share_few_entries() {
        const STEPS: u32 = 100_000;
        let folder = tempfile::tempdir().expect("a temporary folder");
        note(folder.path(), (0..STEPS).map(|number| number % 9));
        let axis = axis();
        let journal =
            RankJournal::open(folder.path(), OWNER, StepTimes::Axis(&axis), |_| true).expect("a journal");
        assert_eq!(journal.steps(), STEPS as usize);
        // One of them is that of the owner. Each is a wait for the disk.
        assert!(journal.ends.len() < STEPS as usize / 20, "{} entries", journal.ends.len());
    }

    #[test]
    fn steps_that_are_judged_again_are_dropped() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        note(folder.path(), 0..3);
        let axis = axis();
        let mut journal =
            RankJournal::open(folder.path(), OWNER, StepTimes::Axis(&axis), |_| true).expect("a journal");
        assert_eq!(journal.judged().len(), 3);
        journal.keep_first(&[step(0)]).expect("a writable folder");
        journal.note(&step(7)).expect("a writable folder");
        assert_eq!(held(folder.path(), OWNER), [0, 7].map(step));
    }

    #[test]
    fn seconds_add_up() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let axis = axis();
        let mut journal =
            RankJournal::open(folder.path(), OWNER, StepTimes::Axis(&axis), |_| true).expect("a journal");
        journal.before = 100.0;
        journal.note(&step(0)).expect("a writable folder");
        let journal =
            RankJournal::open(folder.path(), OWNER, StepTimes::Axis(&axis), |_| true).expect("a journal");
        assert!(journal.seconds() >= 100.0);
        assert_eq!(journal.steps(), 1);
    }

    #[test]
    fn a_journal_of_someone_else_is_replaced() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        note(folder.path(), 0..2);
        assert_eq!(held(folder.path(), "seed = 2"), []);
        assert_eq!(held(folder.path(), OWNER), []);
    }

    #[test]
    fn a_torn_tail_costs_one_step_wherever_it_is_torn() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(RankJournal::FILE);
        note(folder.path(), 0..2);
        let two = fs::read(&path).expect("a journal");
        note(folder.path(), 2..3);
        let three = fs::read(&path).expect("a journal");
        for length in two.len()..three.len() {
            fs::write(&path, &three[..length]).expect("a writable folder");
            assert_eq!(held(folder.path(), OWNER), [0, 1].map(step), "{length} bytes");
            assert_eq!(fs::read(&path).expect("a journal").len(), two.len(), "the rest is cut off");
        }
        note(folder.path(), 2..4);
        assert_eq!(held(folder.path(), OWNER), [0, 1, 2, 3].map(step));
    }

    #[test]
    fn a_wrong_bit_never_becomes_a_wrong_rank() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(RankJournal::FILE);
        note(folder.path(), 0..2);
        let whole = fs::read(&path).expect("a journal");
        for bit in 0..8 * whole.len() {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &damaged).expect("a writable folder");
            // A few bits mean nothing to zstd; all others cost the step and what follows it.
            assert!([0, 1].map(step).starts_with(&held(folder.path(), OWNER)), "bit {bit}");
        }
    }

    /// The entries of a journal whose second one has this text.
    fn forged(text: &str) -> Vec<JudgedStep> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut file = RankJournal::create(&folder.path().join(RankJournal::FILE), OWNER).expect("a journal");
        append(&mut file, text.as_bytes()).expect("a writable folder");
        held(folder.path(), OWNER)
    }

    #[test]
    fn entries_that_contradict_themselves_are_dropped() {
        let rows = "3,3,object,3,1,3,1,1,0,2,2,1,2,2,1,2,2,1\n";
        assert_eq!(forged(&format!("1,2,0.5\n{rows}")).len(), 1);
        // The record is JSON, which has no such seconds.
        for seconds in ["NaN", "inf", "1e999", "-1", ""] {
            assert_eq!(forged(&format!("1,2,{seconds}\n{rows}")), [], "{seconds}");
        }
        // Facts of the step itself, or of a later one, cannot have been read before.
        for read in [3, 4, u32::MAX] {
            assert_eq!(forged(&format!("1,{read},0.5\n{rows}")), [], "{read}");
        }
        for rows_that_follow in ["0", "2", "18446744073709551615"] {
            assert!(forged(&format!("{rows_that_follow},2,0.5\n{rows}")).is_empty(), "{rows_that_follow}");
        }
    }
}
