//! `ranks.csv.zst`: one row per query, from which every table can be made again.

use std::path::Path;

use quadcast_core::{Filter, TimeAxis};
use quadcast_eval::RankedQuery;

use crate::{FileError, write_atomically};

/// Compression level: ranks are written once and read seldom.
const LEVEL: i32 = 6;

/// Writes the ranks. Per filter: the optimistic rank, how many candidates tie with the gold answer (itself included),
/// and how many of these have a smaller id.
pub fn write_ranks(path: &Path, ranked: &[RankedQuery], axis: &TimeAxis) -> Result<(), FileError> {
    write_atomically(path, |out| {
        use std::io::Write;
        let mut out = zstd::Encoder::new(out, LEVEL)?;
        write!(out, "step,time,direction,known,relation,gold,seen,reached,not_a_number")?;
        for filter in Filter::ALL {
            write!(out, ",{0}_rank,{0}_tied,{0}_tied_before", filter.word())?;
        }
        writeln!(out)?;
        for row in ranked {
            let query = row.query;
            write!(
                out,
                "{},{},{},{},{},{},{},{},{}",
                query.step.0,
                axis.time(query.step),
                query.direction.word(),
                query.known.0,
                query.relation.0,
                row.gold.0,
                u8::from(row.seen),
                u8::from(row.ranks.reached),
                u8::from(row.ranks.not_a_number)
            )?;
            for filter in Filter::ALL {
                let rank = row.rank(filter);
                write!(out, ",{},{},{}", rank.greater + 1, rank.tied, rank.tied_before)?;
            }
            writeln!(out)?;
        }
        out.finish().map(drop)
    })
}
