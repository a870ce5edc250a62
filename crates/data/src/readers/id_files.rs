//! Files that list names and ids: `name⇥id`, `name⇥id⇥date⇥date` or `id name`, with or without a count line.
//!
//! Which column holds the ids is decided by the file itself: the column that is whole numbers throughout, and of two
//! such columns the one that numbers the rows from 0. Names are kept exactly as written; only line ends are cut.
//!
//! The vocabulary of a folder follows from its two id files and from the facts.

use std::path::{Path, PathBuf};

use quadcast_core::{Names, Vocabulary};
use rustc_hash::FxHashMap;

use super::id_spaces::{Extent, IdSpaces, joint_sizes, refuse_sparse, unnamed};
use super::input::{Folder, Input};
use super::lines::{At, Lines, blank_fields, integer, is_blank, tab_fields};
use super::notes::{Appearance, Notes};
use crate::DataError;
use crate::error::IdKind;
use crate::files::file_name;

const COLUMNS: &str = "name and id (or id and name)";

/// The order of the two columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    NameFirst,
    IdFirst,
}

pub(super) struct IdFile {
    pub path: PathBuf,
    pub order: Order,
    /// Line, id and name of every row, in the order of the file.
    pub rows: Vec<(u64, u32, String)>,
    /// What the count line says.
    count: Option<u64>,
    /// Size of the id space: the largest id and one more.
    pub size: usize,
    crlf: bool,
}

/// A row read in both orders: `ids[0]` and `names[0]` if the id comes first, `ids[1]` and `names[1]` if the name does.
struct OpenRow<'a> {
    line: u64,
    ids: [&'a [u8]; 2],
    names: [&'a [u8]; 2],
}

impl IdFile {
    /// Finds and reads the id file of one kind: `entity2id.txt`, `entity2id_.txt` and the like.
    pub(super) fn find(folder: &mut Folder, kind: IdKind, usual: Order) -> Result<Option<Self>, DataError> {
        let start = format!("{kind}2id");
        let matches = |name: &str| {
            let Some(rest) = name.strip_prefix(&start) else {
                return false;
            };
            let rest = rest.strip_suffix(".txt").or_else(|| rest.strip_suffix(".tsv")).unwrap_or(rest);
            rest.is_empty() || rest == "_"
        };
        let path = folder.find(&format!("the list of {kind} ids"), matches)?;
        path.map(|path| Self::read(&Input::open(path)?, kind, usual)).transpose()
    }

    /// Reads an id file. `usual` decides where the content leaves the order of the columns open.
    pub(super) fn read(input: &Input, kind: IdKind, usual: Order) -> Result<Self, DataError> {
        let path = input.path.as_path();
        let mut lines = Lines::new(input.utf8()?.as_bytes()).peekable();
        let mut count = None;
        if let Some(&(line, text)) = lines.peek()
            && let Some(value) = count_line(text)
        {
            count = Some((line, value));
            lines.next();
        }
        let rows = lines.map(|(line, text)| split_row(path, line, text)).collect::<Result<Vec<_>, _>>()?;
        if let Some((line, declared)) = count
            && declared != rows.len() as u64
        {
            return Err(At { path, line, column: 1 }.wrong_count(declared, rows.len() as u64));
        }
        let order = decide_order(&rows, usual);
        let (rows, size) = number_rows(path, &rows, kind, order)?;
        Ok(Self {
            path: input.path.clone(),
            order,
            rows,
            count: count.map(|(_, value)| value),
            size,
            crlf: Appearance::of(&input.bytes).crlf,
        })
    }

    /// The place of the name in a line.
    pub(super) fn name_at(&self, line: u64) -> At<'_> {
        At { path: &self.path, line, column: if self.order == Order::NameFirst { 1 } else { 2 } }
    }

    /// Refuses a list that leaves out ids, for layouts that translate every id.
    pub(super) fn without_holes(&self, kind: IdKind) -> Result<(), DataError> {
        if self.rows.len() == self.size {
            return Ok(());
        }
        let mut present = vec![false; self.size];
        for (_, id, _) in &self.rows {
            present[*id as usize] = true;
        }
        let missing = present.iter().position(|&present| !present).unwrap_or(self.size);
        let largest = self.size - 1;
        Err(DataError::file(
            &self.path,
            format!(
                "no line for {kind} id {missing}, expected every id from 0 to {largest}; add the line, ids are \
                 translated through this file"
            ),
        ))
    }

    /// The names by id. `declared` is the count that another file prints; the count line stands in for it.
    pub(super) fn names(&self, declared: Option<usize>) -> Names {
        let declared = declared.or(self.count.map(|count| count as usize));
        names_by_id(self.size, self.rows.iter().map(|(_, id, name)| (name.clone(), *id)), declared)
    }

    pub(super) fn describe(&self, kind: IdKind, notes: &mut Notes) {
        let file = file_name(&self.path);
        let plural = if kind == IdKind::Entity { "entities" } else { "relations" };
        let order = if self.order == Order::NameFirst { "name, then id" } else { "id, then name" };
        notes.add(format!("{} {plural} in {file} ({order}).", self.rows.len()));
        if self.size > self.rows.len() {
            let missing = self.size - self.rows.len();
            notes.add(format!("{file} leaves out {missing} ids below its largest; they have no name."));
        }
        if self.crlf {
            notes.add(format!("{file} ends its lines in CRLF."));
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let repeated = self.rows.iter().filter(|(_, _, name)| !seen.insert(name.as_str())).count();
        if repeated > 0 {
            notes.add(format!("{file} gives {repeated} ids a name that another id has too."));
        }
    }
}

/// `entity2id` and `relation2id`, where they are there.
#[derive(Default)]
pub(super) struct IdFiles {
    pub entities: Option<IdFile>,
    pub relations: Option<IdFile>,
}

impl IdFiles {
    pub(super) fn find(folder: &mut Folder, usual: Order) -> Result<Self, DataError> {
        Ok(Self {
            entities: IdFile::find(folder, IdKind::Entity, usual)?,
            relations: IdFile::find(folder, IdKind::Relation, usual)?,
        })
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        [&self.entities, &self.relations].into_iter().flatten().map(|list| list.path.as_path())
    }

    /// What the ids of facts are checked against.
    pub(super) fn spaces(&self) -> IdSpaces<'_> {
        let known = [&self.entities, &self.relations]
            .map(|list| list.as_ref().map(|list| (list.size, list.path.as_path())));
        IdSpaces { known }
    }

    /// Names and sizes. The ids of the facts must be plausible for their number; `declared` are the sizes that a stat file
    /// prints.
    pub(super) fn vocabulary<'a>(
        &self,
        files: impl IntoIterator<Item = (&'a Path, &'a Extent)>,
        declared: [Option<usize>; 2],
        facts: usize,
    ) -> Result<Vocabulary, DataError> {
        let listed = [self.entities.is_some(), self.relations.is_some()];
        let used = joint_sizes(files, facts, listed)?;
        let names = |list: &Option<IdFile>, which: usize| match list {
            Some(list) => list.names(declared[which]),
            None => unnamed(used[which], declared[which], facts),
        };
        Ok(Vocabulary { entities: names(&self.entities, 0), relations: names(&self.relations, 1) })
    }

    /// Says what the files of the facts look like, of which `columns` are read, and what the id files hold.
    pub(super) fn describe_with(&self, facts: &[&Input], columns: usize, notes: &mut Notes) {
        notes.compression(facts.iter().map(|input| input.path.as_path()).chain(self.paths()));
        notes.returns(facts.iter().copied());
        let looks: Vec<Appearance> = facts.iter().map(|input| Appearance::of(&input.bytes)).collect();
        Appearance::describe(&looks, columns, notes);
        self.describe(notes);
    }

    pub(super) fn describe(&self, notes: &mut Notes) {
        for (kind, list) in [(IdKind::Entity, &self.entities), (IdKind::Relation, &self.relations)] {
            match list {
                Some(list) => list.describe(kind, notes),
                None => notes.add(format!(
                    "No {kind}2id file: {kind} ids have no names, the largest sets their number."
                )),
            }
        }
    }
}

/// Names by id, of which some may have none.
pub(super) fn names_by_id(
    size: usize,
    named: impl IntoIterator<Item = (String, u32)>,
    declared: Option<usize>,
) -> Names {
    let mut names = vec![None; size];
    for (name, id) in named {
        names[id as usize] = Some(name);
    }
    Names::new(names, declared)
}

/// The number on a line that holds nothing else.
pub(super) fn count_line(line: &[u8]) -> Option<u64> {
    match blank_fields::<1>(line) {
        ([field], 1) => integer(field).ok().and_then(|value| u64::try_from(value).ok()),
        _ => None,
    }
}

fn split_row<'a>(path: &Path, line: u64, text: &'a [u8]) -> Result<OpenRow<'a>, DataError> {
    if memchr::memchr(b'\t', text).is_some() {
        let ([first, second], _) = tab_fields::<2>(text);
        return Ok(OpenRow { line, ids: [first.trim_ascii(), second.trim_ascii()], names: [second, first] });
    }
    // Without tabs, a name may hold blanks itself: it is everything but the first or the last word.
    let text = text.trim_ascii();
    let first_end = text.iter().position(|&b| is_blank(b));
    let last_start = text.iter().rposition(|&b| is_blank(b));
    let (Some(end), Some(start)) = (first_end, last_start) else {
        return Err(At { path, line, column: 1 }.missing_column(1, COLUMNS));
    };
    let ids = [&text[..end], &text[start + 1..]];
    Ok(OpenRow { line, ids, names: [text[end..].trim_ascii_start(), text[..start].trim_ascii_end()] })
}

fn decide_order(rows: &[OpenRow<'_>], usual: Order) -> Order {
    let numbers = [0, 1].map(|c| rows.iter().filter(|row| integer(row.ids[c]).is_ok()).count());
    match numbers[0].cmp(&numbers[1]) {
        std::cmp::Ordering::Greater => Order::IdFirst,
        std::cmp::Ordering::Less => Order::NameFirst,
        std::cmp::Ordering::Equal => match [0, 1].map(|c| numbers_rows(rows, c)) {
            [true, false] => Order::IdFirst,
            [false, true] => Order::NameFirst,
            _ => usual,
        },
    }
}

/// Whether a column is a permutation of `0..n`.
fn numbers_rows(rows: &[OpenRow<'_>], column: usize) -> bool {
    let mut seen = vec![false; rows.len()];
    rows.iter().all(|row| {
        let id = integer(row.ids[column]).ok().and_then(|id| usize::try_from(id).ok());
        id.and_then(|id| seen.get_mut(id)).is_some_and(|seen| !std::mem::replace(seen, true))
    })
}

type Numbered = (Vec<(u64, u32, String)>, usize);

fn number_rows(path: &Path, rows: &[OpenRow<'_>], kind: IdKind, order: Order) -> Result<Numbered, DataError> {
    let which = usize::from(order == Order::NameFirst);
    let mut lines: FxHashMap<u32, u64> = FxHashMap::default();
    let mut named = Vec::with_capacity(rows.len());
    let mut size = 0;
    for row in rows {
        let at = At { path, line: row.line, column: which + 1 };
        let value = at.id(kind, row.ids[which])?;
        refuse_sparse(at, kind, value, rows.len())?;
        if let Some(first) = lines.insert(value, row.line) {
            return Err(at.repeated_id(value, first));
        }
        size = size.max(value as usize + 1);
        // The whole file was checked, and fields are cut at ASCII bytes.
        let text = String::from_utf8_lossy(row.names[which]).into_owned();
        named.push((row.line, value, text));
    }
    Ok((named, size))
}
