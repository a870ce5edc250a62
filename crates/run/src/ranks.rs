//! `ranks.csv.zst`: one row per query, from which every table can be made again.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use quadcast_core::{Direction, EntityId, Filter, Query, RelationId, Step, TimeAxis};
use quadcast_eval::{Rank, RankedQuery, Ranks};

use crate::{FileError, write_atomically};

/// File name inside a run folder.
pub const RANKS_FILE: &str = "ranks.csv.zst";

/// Compression level: ranks are written once and read seldom.
const LEVEL: i32 = 6;

/// Columns before the ranks.
const FIXED: [&str; 9] =
    ["step", "time", "direction", "known", "relation", "gold", "seen", "reached", "not_a_number"];

fn header() -> String {
    let ranks = Filter::ALL.map(|filter| format!("{0}_rank,{0}_tied,{0}_tied_before", filter.word()));
    format!("{},{}", FIXED.join(","), ranks.join(","))
}

/// The times of steps as a file of ranks says them.
#[derive(Clone, Copy, Debug)]
pub enum StepTimes<'a> {
    /// Original times of a time axis.
    Axis(&'a TimeAxis),
    /// Steps of an evolving graph, counted from 1.
    Numbers,
}

impl StepTimes<'_> {
    fn of(self, step: Step) -> i64 {
        match self {
            Self::Axis(axis) => axis.time(step),
            Self::Numbers => i64::from(step.0) + 1,
        }
    }
}

/// Writes the ranks, with the same columns for all tasks. Per filter: the optimistic rank, how many candidates tie with the gold
/// answer (itself included), and how many of these have a smaller id.
pub fn write_ranks(folder: &Path, ranked: &[RankedQuery], times: StepTimes<'_>) -> Result<(), FileError> {
    write_atomically(&folder.join(RANKS_FILE), |out| {
        let mut out = zstd::Encoder::new(out, LEVEL)?;
        writeln!(out, "{}", header())?;
        for row in ranked {
            write_row(&mut out, row, times)?;
        }
        out.finish().map(drop)
    })
}

/// Writes one row, which [`parse`] reads.
pub(crate) fn write_row(out: &mut impl Write, row: &RankedQuery, times: StepTimes<'_>) -> io::Result<()> {
    let query = row.query;
    let (time, direction) = (times.of(query.step), query.direction.word());
    write!(out, "{},{time},{direction},{},{}", query.step.0, query.known.0, query.relation.0)?;
    let flags = [row.seen, row.ranks.reached, row.ranks.not_a_number].map(u8::from);
    write!(out, ",{},{},{},{}", row.gold.0, flags[0], flags[1], flags[2])?;
    for filter in Filter::ALL {
        let rank = row.rank(filter);
        write!(out, ",{},{},{}", rank.greater + 1, rank.tied, rank.tied_before)?;
    }
    writeln!(out)
}

/// Reads the ranks of a run folder.
pub fn read_ranks(folder: &Path) -> Result<Vec<RankedQuery>, FileError> {
    let path = folder.join(RANKS_FILE);
    let failed = |source| FileError::Read { path: path.clone(), source };
    let file = File::open(&path).map_err(failed)?;
    let mut lines = BufReader::new(zstd::Decoder::new(file).map_err(failed)?).lines();
    let first = lines.next().transpose().map_err(failed)?.unwrap_or_default();
    if first != header() {
        return Err(content(&path, 1, "the columns are not those of this version"));
    }
    let mut ranked = Vec::new();
    for (number, line) in (2..).zip(lines) {
        let line = line.map_err(failed)?;
        ranked.push(parse(&line).ok_or_else(|| content(&path, number, "the row is damaged"))?);
    }
    Ok(ranked)
}

fn content(path: &Path, line: u64, message: &str) -> FileError {
    FileError::Content { path: PathBuf::from(path), message: format!("line {line}: {message}") }
}

/// Reads one row.
pub(crate) fn parse(line: &str) -> Option<RankedQuery> {
    let mut fields = line.split(',');
    let step = fields.next()?.parse().ok()?;
    fields.next()?;
    let direction = match fields.next()? {
        "object" => Direction::Object,
        "subject" => Direction::Subject,
        _ => return None,
    };
    let mut number = || fields.next()?.parse::<u32>().ok();
    let (known, relation, gold) = (number()?, number()?, number()?);
    let (seen, reached, not_a_number) = (number()? == 1, number()? == 1, number()? == 1);
    let mut rank =
        || Some(Rank { greater: number()?.checked_sub(1)?, tied: number()?, tied_before: number()? });
    let (time, fixed, raw) = (rank()?, rank()?, rank()?);
    let query = Query { step: Step(step), known: EntityId(known), relation: RelationId(relation), direction };
    let ranks = Ranks { time, fixed, raw, reached, not_a_number };
    Some(RankedQuery { query, gold: EntityId(gold), ranks, seen })
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadcast_core::Calendar;

    #[test]
    fn what_is_written_is_read() {
        let rank = |n| Rank { greater: n, tied: n + 1, tied_before: n };
        let row = |step, direction, gold| RankedQuery {
            query: Query { step: Step(step), known: EntityId(3), relation: RelationId(1), direction },
            gold: EntityId(gold),
            ranks: Ranks {
                time: rank(0),
                fixed: rank(1),
                raw: rank(2),
                reached: true,
                not_a_number: gold > 5,
            },
            seen: step > 0,
        };
        let ranked = [row(0, Direction::Object, 4), row(1, Direction::Subject, 9)];
        let folder = tempfile::tempdir().expect("a temporary folder");
        let axis = TimeAxis::new(vec![-24, 48], Calendar::UNKNOWN);
        write_ranks(folder.path(), &ranked, StepTimes::Axis(&axis)).expect("a writable folder");
        assert_eq!(read_ranks(folder.path()).expect("what was written"), ranked);
        let error = read_ranks(&folder.path().join("absent")).expect_err("no such folder");
        assert!(error.to_string().contains(RANKS_FILE), "{error}");
    }
}
