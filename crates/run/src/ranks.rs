//! `ranks.csv.zst`: one row per query, from which every table can be made again.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use quadcast_core::{Direction, EntityId, Filter, Query, RelationId, Step, TimeAxis};
use quadcast_eval::{Rank, RankedQuery, Ranks};

use crate::{FileError, Record, write_atomically};

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

/// Reads the ranks of a complete run. The record says how many there are and how large a rank can be: nothing else is read into
/// memory, whatever the file holds.
pub fn read_ranks(folder: &Path, record: &Record) -> Result<Vec<RankedQuery>, FileError> {
    let path = folder.join(RANKS_FILE);
    let failed = |source| FileError::Read { path: path.clone(), source };
    let wrong = |line: u64, message: &str| FileError::Contradiction {
        path: path.clone(),
        message: format!("line {line}: {message}. The file was damaged or edited: make the run again"),
    };
    let file = File::open(&path).map_err(failed)?;
    let mut lines = ShortLines(BufReader::new(zstd::Decoder::new(file).map_err(failed)?));
    let first = lines.next().transpose().map_err(failed)?.unwrap_or_default();
    if first != header() {
        return Err(wrong(1, "the columns are not those of this version"));
    }
    let queries = record.metrics.as_ref().map_or(0, |metrics| metrics.time.queries);
    let mut ranked = Vec::new();
    for (number, line) in (2..).zip(lines) {
        let row = parse(&line.map_err(failed)?).ok_or_else(|| wrong(number, "the row cannot be read"))?;
        check(&row, record).map_err(|message| wrong(number, &message))?;
        if ranked.len() as u64 == queries {
            return Err(wrong(number, &format!("the record has {queries} queries, the file more rows")));
        }
        ranked.push(row);
    }
    if ranked.len() as u64 != queries {
        let (rows, last) = (ranked.len(), ranked.len() as u64 + 1);
        return Err(wrong(
            last,
            &format!("the file ends after {rows} rows, the record has {queries} queries"),
        ));
    }
    Ok(ranked)
}

/// What cannot be true of a row.
pub(crate) fn check(row: &RankedQuery, record: &Record) -> Result<(), String> {
    let (entities, candidates) = (record.dataset.entities, record.candidates());
    for (what, id, limit) in [
        ("known entity", row.query.known.0, entities),
        ("correct answer", row.gold.0, entities),
        ("relation", row.query.relation.0, record.dataset.relations),
    ] {
        if id as usize >= limit {
            return Err(format!("{what} {id}, ids run up to {}", limit.saturating_sub(1)));
        }
    }
    let mut most = candidates as u64;
    // A filter only removes candidates: the static one at least those that the time-aware one removes.
    for filter in [Filter::Raw, Filter::Time, Filter::Static] {
        let (rank, word) = (row.rank(filter), filter.word());
        if rank.tied == 0 || rank.tied_before >= rank.tied {
            return Err(format!(
                "{word}_tied is {} and {word}_tied_before {}; the correct answer is tied with itself, so that the first is at \
                 least 1 and the second smaller",
                rank.tied, rank.tied_before
            ));
        }
        let last = u64::from(rank.greater) + u64::from(rank.tied);
        if last > most {
            return Err(format!(
                "{word}_rank {} with {} tied lies beyond the {most} candidates that are left",
                u64::from(rank.greater) + 1,
                rank.tied
            ));
        }
        most = last;
    }
    Ok(())
}

/// Lines of a text of ours, none of which is long: a longer one is an error before it is in memory.
struct ShortLines<R>(R);

/// More bytes than a row of numbers has.
const LONGEST: u64 = 1024;

impl<R: BufRead> Iterator for ShortLines<R> {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<io::Result<String>> {
        let mut line = String::new();
        match self.0.by_ref().take(LONGEST).read_line(&mut line) {
            Ok(0) => None,
            Ok(_) if line.ends_with('\n') => {
                line.pop();
                Some(Ok(line))
            }
            Ok(_) if line.len() as u64 == LONGEST => {
                Some(Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long for a row of ranks")))
            }
            Ok(_) => Some(Ok(line)),
            Err(error) => Some(Err(error)),
        }
    }
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
    let mut flag = || match number()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    };
    let (seen, reached, not_a_number) = (flag()?, flag()?, flag()?);
    let mut rank =
        || Some(Rank { greater: number()?.checked_sub(1)?, tied: number()?, tied_before: number()? });
    let (time, fixed, raw) = (rank()?, rank()?, rank()?);
    if fields.next().is_some() {
        return None;
    }
    let query = Query { step: Step(step), known: EntityId(known), relation: RelationId(relation), direction };
    let ranks = Ranks { time, fixed, raw, reached, not_a_number };
    Some(RankedQuery { query, gold: EntityId(gold), ranks, seen })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> RankedQuery {
        let rank = |n| Rank { greater: n, tied: n + 1, tied_before: n };
        let query = Query {
            step: Step(1),
            known: EntityId(3),
            relation: RelationId(1),
            direction: Direction::Subject,
        };
        let ranks = Ranks { time: rank(1), fixed: rank(0), raw: rank(2), reached: true, not_a_number: false };
        RankedQuery { query, gold: EntityId(4), ranks, seen: true }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut text = Vec::new();
        write_row(&mut text, &row(), StepTimes::Numbers).expect("room");
        let text = String::from_utf8(text).expect("text");
        assert_eq!(text, "1,2,subject,3,1,4,1,1,0,2,2,1,1,1,0,3,3,2\n");
        assert_eq!(parse(text.trim_end()), Some(row()));
        for wrong in [
            "",
            "1,2",
            "1,2,subject,3,1,4,1,1,7,2,2,1,1,1,0,3,3,2",
            "1,2,subject,3,1,4,1,1,0,0,2,1,1,1,0,3,3,2",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_eq!(parse(&format!("{},5", text.trim_end())), None, "a column too many");
    }

    #[test]
    fn lines_are_short() {
        let lines = |text: &str| ShortLines(text.as_bytes()).collect::<io::Result<Vec<String>>>();
        assert_eq!(lines("a\nb\n").expect("two lines"), ["a", "b"]);
        assert_eq!(lines("a\nb").expect("two lines"), ["a", "b"]);
        assert!(lines(&"x".repeat(5000)).is_err());
    }
}
