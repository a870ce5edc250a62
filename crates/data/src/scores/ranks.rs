//! Ranks of an external model that kept no scores. They cannot be counted again, only checked: every correct answer of the split
//! once, no place behind the last candidate, no filter that makes a rank worse.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quadcast_core::{Dataset, EntityId, Filter, Names};

use super::csv::Field;
use super::lines::LineReader;
use super::{QueryList, ScoreFileError};

/// Columns that our own files have and that say nothing new here.
const IGNORED: &str = "step time direction known known_id relation relation_id seen reached not_a_number";

/// How a correct answer stands among the candidates under one filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankCounts {
    /// Candidates before it: the optimistic rank less one.
    pub greater: u32,
    /// Candidates that tie, the correct answer included.
    pub tied: u32,
    /// Those of them with a smaller id.
    pub tied_before: u32,
}

/// A correct answer that must be in the file.
#[derive(Clone, Copy, Debug)]
pub struct GoldAnswer {
    /// Row of its query in the list.
    pub row: usize,
    /// The correct answer.
    pub gold: EntityId,
    /// How many candidates each filter leaves, in the order of [`Filter::ALL`].
    pub candidates: [u32; 3],
}

/// What a line says.
#[derive(Clone, Copy, Debug)]
struct RankLine {
    row: usize,
    gold: EntityId,
    line: u64,
    /// In the order of [`Filter::ALL`].
    counts: [RankCounts; 3],
}

impl RankLine {
    const fn place(&self) -> (usize, EntityId) {
        (self.row, self.gold)
    }
}

/// Which column is which.
struct Columns {
    row: Option<usize>,
    key: Option<usize>,
    gold: usize,
    ranks: [usize; 3],
    tied: Option<[usize; 3]>,
    tied_before: Option<[usize; 3]>,
    count: usize,
}

/// The ranks of all correct answers, by row of a query list.
pub struct RankFile {
    path: PathBuf,
    names: Names,
    /// Sorted by row and correct answer.
    entries: Vec<RankLine>,
    /// Whether keys prove that every line is about its query.
    pub verified: bool,
    /// Size of the file.
    pub bytes: u64,
    /// Whether the file says how many candidates tie with a correct answer.
    pub ties_known: bool,
    /// Whether the order of tied candidates by id is known, or nothing ties.
    pub order_known: bool,
}

impl RankFile {
    /// Reads a CSV file whose header speaks of ranks and not of scores; `None` if it is of another layout.
    pub fn open(
        path: &Path,
        dataset: &Dataset,
        list: &Arc<QueryList>,
        unchecked_order: bool,
    ) -> Result<Option<Self>, ScoreFileError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if ![".csv", ".csv.gz", ".csv.zst"].iter().any(|ending| name.ends_with(ending)) {
            return Ok(None);
        }
        let names = &dataset.vocabulary.entities;
        let mut reader = LineReader::unread(path, list, names)?;
        let Some((_, header)) = reader.next_line()? else { return Ok(None) };
        let fields = reader.fields(&header)?;
        if !speaks_of_ranks(&fields) {
            return Ok(None);
        }
        let columns = columns(&fields).map_err(|message| reader.error(message))?;
        if columns.key.is_none() && !unchecked_order {
            return Err(ScoreFileError::unverified(path, "a column \"key\""));
        }
        if columns.row.is_none() {
            reader.find_by_key();
        }
        let mut entries = Vec::new();
        // Every fact of the split is asked about in two directions.
        let most = 2 * dataset.splits.iter().map(|(_, facts)| facts.len()).max().unwrap_or_default();
        while let Some((line, text)) = reader.next_line()? {
            if entries.len() == most {
                let message =
                    format!("more ranks than the dataset has correct answers ({most}); rank every fact once");
                return Err(reader.error(message));
            }
            entries.push(entry(&mut reader, &columns, line, &text)?);
        }
        entries.sort_by_key(RankLine::place);
        let bytes = std::fs::metadata(path).map_err(|error| ScoreFileError::read(path, &error))?.len();
        let untied = entries.iter().flat_map(|entry| entry.counts).all(|counts| counts.tied == 1);
        let file = Self {
            path: path.to_owned(),
            names: names.clone(),
            entries,
            verified: columns.key.is_some(),
            bytes,
            ties_known: columns.tied.is_some(),
            order_known: columns.tied_before.is_some() || untied,
        };
        file.refuse_repetitions()?;
        Ok(Some(file))
    }

    /// The ranks of what was asked, which must be sorted by row and correct answer; an error if the file and the questions
    /// do not agree, or if no scores can give such ranks.
    pub fn answer(&self, asked: &[GoldAnswer]) -> Result<Vec<[RankCounts; 3]>, ScoreFileError> {
        let is_asked = |entry: &&RankLine| {
            asked.binary_search_by_key(&entry.place(), |question| (question.row, question.gold)).is_ok()
        };
        if let Some(entry) = self.entries.iter().filter(|e| !is_asked(e)).min_by_key(|e| e.line) {
            let message = format!(
                "{} is no answer to row {} in the test split; every fact of the split is ranked, and nothing else",
                self.named(entry.gold),
                entry.row
            );
            return Err(self.error(entry, message));
        }
        let find = |question: &GoldAnswer| {
            let place = (question.row, question.gold);
            self.entries.binary_search_by_key(&place, RankLine::place).ok().map(|i| &self.entries[i])
        };
        let found: Vec<Option<&RankLine>> = asked.iter().map(find).collect();
        if let Some(first) = found.iter().position(Option::is_none) {
            let message = format!(
                "{} of {} correct answers of the test split are not ranked, the first is {} for row {}",
                found.iter().filter(|entry| entry.is_none()).count(),
                asked.len(),
                self.named(asked[first].gold),
                asked[first].row
            );
            return Err(ScoreFileError::file(&self.path, message));
        }
        let pairs = found.into_iter().flatten().zip(asked);
        let bad = pairs.clone().filter_map(|(entry, asked)| Some((entry, contradiction(entry, asked)?)));
        match bad.min_by_key(|(entry, _)| entry.line) {
            Some((entry, message)) => Err(self.error(entry, message)),
            None => Ok(pairs.map(|(entry, _)| entry.counts).collect()),
        }
    }

    fn refuse_repetitions(&self) -> Result<(), ScoreFileError> {
        let repeated = self.entries.windows(2).filter(|pair| pair[0].place() == pair[1].place());
        match repeated.min_by_key(|pair| pair[1].line) {
            None => Ok(()),
            Some(pair) => {
                let (gold, row, line) = (self.named(pair[0].gold), pair[0].row, pair[0].line);
                Err(self.error(&pair[1], format!("{gold} was ranked for row {row} on line {line} already")))
            }
        }
    }

    fn named(&self, entity: EntityId) -> String {
        format!("entity {} ({})", entity.0, self.names.name(entity.0))
    }

    fn error(&self, entry: &RankLine, message: String) -> ScoreFileError {
        ScoreFileError::line(&self.path, entry.line, message)
    }
}

fn speaks_of_ranks(fields: &[Field<'_>]) -> bool {
    let names = || fields.iter().map(|field| field.text.to_lowercase());
    names().any(|name| name == "rank" || name.ends_with("_rank")) && names().all(|name| name != "score")
}

fn columns(fields: &[Field<'_>]) -> Result<Columns, String> {
    let names: Vec<String> = fields.iter().map(|field| field.text.to_lowercase()).collect();
    let position = |name: &str| names.iter().position(|found| found == name);
    let of_filters = |what: &str| {
        let found = Filter::ALL.map(|filter| position(&format!("{}_{what}", filter.word())));
        let [Some(time), Some(fixed), Some(raw)] = found else {
            return if found == [None; 3] { Ok(None) } else { Err(all_filters(what)) };
        };
        Ok(Some([time, fixed, raw]))
    };
    let ranks = of_filters("rank")?.ok_or_else(|| all_filters("rank"))?;
    let (tied, tied_before) = (of_filters("tied")?, of_filters("tied_before")?);
    let (row, key) = (position("row"), position("key"));
    let (Some(gold), true) = (position("gold"), row.is_some() || key.is_some()) else {
        return Err("the header needs the columns gold, and key or row (or both)".to_owned());
    };
    if tied.is_none() && tied_before.is_some() {
        return Err(
            "the header has columns *_tied_before, which need time_tied, static_tied, raw_tied".to_owned()
        );
    }
    let mut used = vec![Some(gold), row, key];
    used.extend([Some(ranks), tied, tied_before].into_iter().flatten().flatten().map(Some));
    let unknown =
        |i: usize| !used.contains(&Some(i)) && !IGNORED.split(' ').any(|ignored| ignored == names[i]);
    if let Some(i) = (0..names.len()).find(|&i| unknown(i)) {
        return Err(format!("the header has a column {:?}, which is unknown or there twice", names[i]));
    }
    Ok(Columns { row, key, gold, ranks, tied, tied_before, count: names.len() })
}

fn all_filters(what: &str) -> String {
    let names = Filter::ALL.map(|filter| format!("{}_{what}", filter.word())).join(", ");
    let advice = if what == "rank" {
        ": a result stands under all three filters, and one cannot be told from another. If you have only one of \
         them, submit scores (key,entity,score)"
    } else {
        ", or none of them"
    };
    format!("the header needs the columns {names}{advice}")
}

fn entry(
    reader: &mut LineReader,
    columns: &Columns,
    line: u64,
    text: &str,
) -> Result<RankLine, ScoreFileError> {
    let fields = reader.fields(text)?;
    if fields.len() != columns.count {
        let (found, expected) = (fields.len(), columns.count);
        return Err(
            reader.error(format!("{found} fields, expected {expected}: one per column of the header"))
        );
    }
    let row = reader.row((columns.row, columns.key), &fields)?;
    let gold = reader.entity(&fields[columns.gold])?;
    let mut counts = [RankCounts { greater: 0, tied: 1, tied_before: 0 }; 3];
    for (i, filter) in Filter::ALL.into_iter().enumerate() {
        let number = |what: &str, column: usize, least: u32| {
            let text = &fields[column].text;
            text.parse::<u32>().ok().filter(|&number| number >= least).ok_or_else(|| {
                let name = filter.word();
                let halved = what == "rank" && text.parse::<f64>().is_ok_and(|rank| rank > 1.0);
                let hint = if halved { "; give the optimistic rank, and ties as a number tied" } else { "" };
                reader.error(format!("{name}_{what} {text:?} is not a whole number ≥ {least}{hint}"))
            })
        };
        counts[i].greater = number("rank", columns.ranks[i], 1)? - 1;
        if let Some(tied) = columns.tied {
            counts[i].tied = number("tied", tied[i], 1)?;
        }
        if let Some(before) = columns.tied_before {
            counts[i].tied_before = number("tied_before", before[i], 0)?;
        }
    }
    Ok(RankLine { row, gold, line, counts })
}

/// Why no scores can give these ranks, if so.
fn contradiction(entry: &RankLine, asked: &GoldAnswer) -> Option<String> {
    for (i, filter) in Filter::ALL.into_iter().enumerate() {
        let (counts, name, candidates) = (entry.counts[i], filter.word(), asked.candidates[i]);
        let last = u64::from(counts.greater) + u64::from(counts.tied);
        if last > u64::from(candidates) {
            let rank = u64::from(counts.greater) + 1;
            let ties =
                if counts.tied > 1 { format!(" with {name}_tied {}", counts.tied) } else { String::new() };
            return Some(format!(
                "{name}_rank {rank}{ties} is beyond the last place, {candidates}: that many candidates are left"
            ));
        }
        if counts.tied_before >= counts.tied {
            let (before, tied) = (counts.tied_before, counts.tied);
            return Some(format!("{name}_tied_before {before} is not below {name}_tied {tied}"));
        }
    }
    let [time, fixed, raw] = [0, 1, 2].map(|i| (Filter::ALL[i].word(), entry.counts[i], asked.candidates[i]));
    larger_filter(raw, time).or_else(|| larger_filter(time, fixed))
}

/// What is wrong between a filter and one that takes more true answers away.
fn larger_filter(
    (less, before, all): (&str, RankCounts, u32),
    (more, after, left): (&str, RankCounts, u32),
) -> Option<String> {
    let pairs = [
        ("rank", before.greater + 1, after.greater + 1),
        ("tied", before.tied, after.tied),
        ("tied_before", before.tied_before, after.tied_before),
    ];
    for (what, before, after) in pairs {
        if after > before {
            return Some(format!(
                "{more}_{what} {after} is above {less}_{what} {before}: a filter that removes more candidates never \
                 makes a rank worse"
            ));
        }
    }
    let gained = (before.greater + before.tied) - (after.greater + after.tied);
    let removed = all - left;
    (gained > removed).then(|| {
        format!(
            "from {less} to {more}, rank and ties shrink by {gained}, but the filter removes only {removed} candidates"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 10 candidates, the time-aware filter takes 2 away and the static filter 3 more.
    fn problem(ranks: [(u32, u32); 3]) -> Option<String> {
        let counts = ranks.map(|(rank, tied)| RankCounts { greater: rank - 1, tied, tied_before: 0 });
        let entry = RankLine { row: 0, gold: EntityId(0), line: 2, counts };
        contradiction(&entry, &GoldAnswer { row: 0, gold: EntityId(0), candidates: [8, 5, 10] })
    }

    #[test]
    fn ranks_that_scores_can_give() {
        for ranks in
            [[(1, 1); 3], [(8, 1), (5, 1), (10, 1)], [(1, 8), (1, 5), (1, 10)], [(3, 2), (2, 1), (4, 3)]]
        {
            assert_eq!(problem(ranks), None, "{ranks:?}");
        }
    }

    #[test]
    fn ranks_that_no_scores_can_give() {
        let cases = [
            ([(9, 1), (5, 1), (10, 1)], "time_rank 9 is beyond the last place, 8"),
            ([(2, 1), (2, 5), (2, 1)], "static_rank 2 with static_tied 5 is beyond the last place, 5"),
            ([(3, 1), (1, 1), (2, 1)], "time_rank 3 is above raw_rank 2"),
            ([(2, 1), (3, 1), (3, 1)], "static_rank 3 is above time_rank 2"),
            ([(2, 2), (2, 1), (2, 1)], "time_tied 2 is above raw_tied 1"),
            ([(1, 1), (1, 1), (4, 1)], "shrink by 3, but the filter removes only 2"),
            ([(5, 2), (1, 2), (5, 2)], "shrink by 4, but the filter removes only 3"),
        ];
        for (ranks, message) in cases {
            let problem = problem(ranks).expect("a contradiction");
            assert!(problem.contains(message), "{ranks:?}: {problem}");
        }
    }
}
