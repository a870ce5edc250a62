//! Rows become facts: names turn into ids, dates into moments, bad rows into counts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::FxHashMap;

use super::columns::Role;
use super::dates::{EXAMPLES, Moment, parse};
use super::error::ImportError;
use super::options::{DateOrder, ImportOptions};
use super::rows::{EventRow, Next, Problem, Rows, SkipReason, Stop};
use super::steps::Dates;
use crate::readers::excerpt;
use crate::{DataError, Place};

/// A fact whose step is not known yet.
#[derive(Clone, Copy)]
pub(super) struct Fact {
    pub subject: u32,
    pub relation: u32,
    pub object: u32,
    pub moment: Moment,
}

/// Everything that was read so far, from all files.
#[derive(Default)]
pub(super) struct Collector {
    pub facts: Vec<Fact>,
    pub entities: Interner,
    pub relations: Interner,
    pub dates: Dates,
    /// Rows that were left out, by reason, with examples.
    pub skipped: BTreeMap<SkipReason, (u64, Vec<String>)>,
    /// Rows with blanks around a field.
    pub trimmed: u64,
    order: Option<DateOrder>,
    skip_bad: bool,
}

/// Rows of one file.
pub(super) struct Counts {
    pub rows: u64,
    pub skipped: u64,
}

impl Collector {
    pub(super) fn new(options: &ImportOptions) -> Self {
        Self { order: options.date_order, skip_bad: options.skip_bad, ..Self::default() }
    }

    /// Takes every row of a file; `stopped` is the error of one that cannot be read any further.
    pub(super) fn read(
        &mut self,
        path: &Path,
        rows: &mut dyn Rows,
        stopped: &dyn Fn(Stop) -> DataError,
    ) -> Result<Counts, DataError> {
        const MOST_EXAMPLES: usize = 3;
        let mut counts = Counts { rows: 0, skipped: 0 };
        loop {
            let taken = match rows.next().map_err(stopped)? {
                Next::End => return Ok(counts),
                Next::Bad(problem) => Err(problem),
                Next::Row(row) => self.take(path, &row),
            };
            counts.rows += 1;
            if let Err(Problem { line, column, reason, message }) = taken {
                counts.skipped += 1;
                let place = Place { path: path.to_path_buf(), line, column };
                if !self.skip_bad {
                    return Err(ImportError::row(&place, &message).into());
                }
                let (count, examples) = self.skipped.entry(reason).or_default();
                *count += 1;
                if examples.len() < MOST_EXAMPLES {
                    examples.push(format!("{place}: {message}"));
                }
            }
        }
    }

    fn take(&mut self, path: &Path, row: &EventRow<'_>) -> Result<(), Problem> {
        let problem = |role: Role, reason, message| Problem {
            line: row.line,
            column: row.columns[role as usize],
            reason,
            message,
        };
        for role in [Role::Subject, Role::Relation, Role::Object] {
            if row.fields[role as usize].is_empty() {
                let message = format!("found nothing, expected the name of the {role}; complete the row");
                return Err(problem(role, SkipReason::EmptyName, message));
            }
        }
        if let Some(role) = Role::ALL.into_iter().find(|role| row.fields[*role as usize].contains(&0)) {
            let field = excerpt(row.fields[role as usize]);
            let message = format!("found {field} with a NUL character, expected text; remove the character");
            return Err(problem(role, SkipReason::Encoding, message));
        }
        let date = row.fields[Role::Date as usize];
        let wrong_date = |message| problem(Role::Date, SkipReason::Date, message);
        let parsed = parse(date, self.order).map_err(|advice| {
            wrong_date(format!("found {}, expected {EXAMPLES}; {advice}", excerpt(date)))
        })?;
        let column = row.columns[Role::Date as usize];
        let place = || Place { path: path.to_path_buf(), line: row.line, column };
        self.dates.note(&parsed, date, place).map_err(wrong_date)?;
        let encoding = |role| {
            let field = row.fields[role as usize];
            let message = format!("found {}, which is not UTF-8; convert the file to UTF-8", excerpt(field));
            problem(role, SkipReason::Encoding, message)
        };
        let [subject, relation, object, _] = row.fields;
        let fact = Fact {
            subject: self.entities.id(subject).ok_or_else(|| encoding(Role::Subject))?,
            relation: self.relations.id(relation).ok_or_else(|| encoding(Role::Relation))?,
            object: self.entities.id(object).ok_or_else(|| encoding(Role::Object))?,
            moment: parsed.moment,
        };
        self.trimmed += u64::from(row.trimmed);
        self.facts.push(fact);
        Ok(())
    }
}

/// Gives names ids in the order of their first appearance.
#[derive(Default)]
pub(super) struct Interner {
    ids: FxHashMap<Box<[u8]>, u32>,
    pub names: Vec<Box<str>>,
    /// Names in which characters had to be replaced.
    pub cleaned: u64,
}

impl Interner {
    /// The id of a field; `None` if it is not UTF-8. Only a field that was never seen before is copied.
    fn id(&mut self, field: &[u8]) -> Option<u32> {
        if let Some(&id) = self.ids.get(field) {
            return Some(id);
        }
        let text = std::str::from_utf8(field).ok()?;
        let name = cleaned(text);
        let changed = matches!(name, Cow::Owned(_));
        let known = if changed { self.ids.get(name.as_bytes()).copied() } else { None };
        let id = known.unwrap_or_else(|| {
            let id = self.names.len() as u32;
            self.names.push(name.as_ref().into());
            self.ids.insert(name.as_bytes().into(), id);
            id
        });
        if changed {
            self.cleaned += 1;
            self.ids.insert(field.into(), id);
        }
        Some(id)
    }
}

/// A name that fits the layout of the output: line ends and tabs become blanks, byte order marks at the start go.
fn cleaned(name: &str) -> Cow<'_, str> {
    let odd = |c: char| matches!(c, '\t' | '\n' | '\r');
    if !name.contains(odd) && !name.starts_with('\u{feff}') {
        return Cow::Borrowed(name);
    }
    let plain = name.replace(odd, " ");
    let plain = plain.trim_start_matches('\u{feff}');
    // A name of nothing else keeps a mark of its own.
    Cow::Owned(if plain.is_empty() { "?".to_owned() } else { plain.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleaned_names_share_an_id() {
        let mut names = Interner::default();
        assert_eq!(names.id(b"a\tb"), Some(0));
        assert_eq!(names.id(b"a b"), Some(0));
        assert_eq!(names.id(b"a\nb"), Some(0));
        assert_eq!(names.id(b"a\nb"), Some(0));
        assert_eq!(names.id("\u{feff}".as_bytes()), Some(1));
        assert_eq!(names.id(b"\xff"), None);
        assert_eq!(names.names, ["a b".into(), "?".into()]);
        assert_eq!(names.cleaned, 3);
    }
}
