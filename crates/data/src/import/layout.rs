//! Which columns a file has and what they hold: header, positions of the roles, and why.

use serde_json::{Map, Value};

use super::columns::{Columns, Role, clear_roles, guess};
use super::dates::{Form, parse};
use super::error::ImportError;
use super::options::ImportOptions;
use super::source::Source;
use super::table::{Dialect, SampleRow, detect, sample_rows, tabs_with_quotes};
use crate::Place;
use crate::readers::excerpt;

/// What was found out about a file.
pub(super) struct Layout {
    /// How a table is cut into fields; `None` for JSON Lines and Parquet.
    pub dialect: Option<Dialect>,
    /// Names of the columns, where there is a header; keys in JSON Lines.
    pub names: Option<Vec<String>>,
    /// Number of columns.
    pub width: usize,
    /// Positions of the roles, from 0.
    pub positions: [usize; 4],
    /// The form that most dates of the first rows have.
    pub form: Option<Form>,
    /// Whether the roles were guessed from the names.
    pub guessed: bool,
    /// What was decided and why.
    pub notes: Vec<String>,
}

/// Columns and rows as messages show them.
struct Shown<'a> {
    source: &'a Source,
    line: u64,
    names: &'a [String],
    sample: Option<&'a [String]>,
}

/// The layout of a table. `promised` is the delimiter that the file's name promises.
pub(super) fn of_table(
    source: &Source,
    promised: Option<u8>,
    options: &ImportOptions,
) -> Result<Layout, ImportError> {
    let columns = options.columns.as_ref();
    let (dialect, why) = dialect(source, promised, options)?;
    let rows = sample_rows(&source.sample, dialect);
    let Some(first) = rows.first() else {
        // Everything is one field in quotes.
        return Err(ImportError::open_quote(&source.path, 1));
    };
    let second = rows.get(1).map(|row| row.fields.as_slice());
    let shown = Shown { source, line: first.line, names: &first.fields, sample: second };
    let mut notes = vec![format!("Fields are separated by {}{why}.", dialect.delimiter_words())];
    if !dialect.quoting && source.sample.contains(&b'"') {
        notes.push("Quotation marks belong to the names: not every field with one is quoted.".to_owned());
    }
    let (positions, header) = match columns {
        None => (
            guess(&first.fields).map_err(|problem| shown.unclear(&problem))?,
            Some("its names are usual ones"),
        ),
        Some(columns) => given(columns, first, second, &shown)?,
    };
    notes.push(match header {
        Some(why) => format!("The first line is a header: {why}."),
        None => "There is no header: the first line is a row.".to_owned(),
    });
    let width = first.fields.len();
    let names = header.map(|_| first.fields.clone());
    let date = positions[Role::Date as usize];
    let form =
        usual_form(rows.iter().skip(usize::from(header.is_some())).filter_map(|row| row.fields.get(date)));
    Ok(Layout { dialect: Some(dialect), names, width, positions, form, guessed: columns.is_none(), notes })
}

fn dialect(
    source: &Source,
    promised: Option<u8>,
    options: &ImportOptions,
) -> Result<(Dialect, &'static str), ImportError> {
    let known = options.delimiter.map(|delimiter| (delimiter, ""));
    if let Some((delimiter, why)) = known.or(promised.map(|delimiter| (delimiter, ", as the name says"))) {
        let quoting = delimiter != b'\t' || tabs_with_quotes(&source.sample);
        return Ok((Dialect { delimiter, quoting }, why));
    }
    match detect(&source.sample, options.columns.as_ref()) {
        Ok(dialect) => Ok((dialect, " (detected)")),
        Err(columns) => {
            let end = memchr::memchr(b'\n', &source.sample).unwrap_or(source.sample.len());
            let line = excerpt(source.sample[..end].trim_ascii());
            let message = format!(
                "found {columns} column(s) with the delimiters comma, tab and semicolon, expected at least 4 \
                 (subject, relation, object, date); name the right one with --delimiter\nfirst line: {line}"
            );
            Err(ImportError::file(&source.path, message))
        }
    }
}

/// Positions and header, where `--columns` says which column is what.
fn given(
    columns: &Columns,
    first: &SampleRow,
    second: Option<&[String]>,
    shown: &Shown<'_>,
) -> Result<([usize; 4], Option<&'static str>), ImportError> {
    let positions = match (columns.by_name(&first.fields), columns.by_position()) {
        (Ok(positions), _) if matches!(columns, Columns::Order(_)) => {
            return Ok((positions, Some("it has the names of --columns")));
        }
        (Ok(positions), None) => return Ok((positions, Some("--columns names columns"))),
        (Err(missing), None) => return Err(shown.unclear(&format!("there is no column {missing:?}"))),
        (_, Some(positions)) => positions,
    };
    let width = first.fields.len();
    if let Some(beyond) = positions.iter().find(|position| **position >= width) {
        return Err(shown.unclear(&format!("there is no column {}", beyond + 1)));
    }
    let is_date = |row: &[String]| {
        row.get(positions[Role::Date as usize]).is_some_and(|text| parse(text.as_bytes(), None).is_ok())
    };
    let header = match second {
        Some(second) if !is_date(&first.fields) && is_date(second) => {
            Some("its date column holds no date, that of the second line does")
        }
        _ => None,
    };
    Ok((positions, header))
}

/// The layout of JSON Lines, by the first object.
pub(super) fn of_json(source: &Source, columns: Option<&Columns>) -> Result<Layout, ImportError> {
    let mut lines = source.sample.split(|&byte| byte == b'\n').zip(1_u64..);
    let first = lines.find_map(|(text, line)| {
        serde_json::from_slice::<Map<String, Value>>(text).ok().map(|object| (line, object))
    });
    let Some((line, object)) = first else {
        let place = Place { path: source.path.clone(), line: 1, column: 1 };
        let message = "no line is a JSON object, expected one object per line; check the file";
        return Err(ImportError::row(&place, message));
    };
    let names: Vec<String> = object.keys().cloned().collect();
    let values: Vec<String> = object.values().map(ToString::to_string).collect();
    let note = "JSON Lines: one object per line.".to_owned();
    let positions = match columns {
        None => guess(&names),
        Some(columns) => columns.by_name(&names).map_err(|missing| format!("there is no key {missing:?}")),
    };
    of_names(source, (line, &names, &values), positions, columns.is_none(), note)
}

/// The layout of a file whose columns have names. `first` is the line of the first row, the names and the values;
/// `positions` are those of the roles, or what is not clear about them.
pub(super) fn of_names(
    source: &Source,
    first: (u64, &[String], &[String]),
    positions: Result<[usize; 4], String>,
    guessed: bool,
    note: String,
) -> Result<Layout, ImportError> {
    let (line, names, values) = first;
    let shown = Shown { source, line, names, sample: Some(values) };
    let positions = positions.map_err(|problem| shown.unclear(&problem))?;
    Ok(Layout {
        dialect: None,
        names: Some(names.to_vec()),
        width: names.len(),
        positions,
        form: None,
        guessed,
        notes: vec![note],
    })
}

/// The form that most of the dates have; of two equally frequent ones the first.
fn usual_form<'a>(dates: impl Iterator<Item = &'a String>) -> Option<Form> {
    let mut counts: Vec<(Form, usize)> = Vec::new();
    for form in dates.filter_map(|text| parse(text.as_bytes(), None).ok()).map(|date| date.form) {
        match counts.iter_mut().find(|(known, _)| *known == form) {
            Some((_, count)) => *count += 1,
            None => counts.push((form, 1)),
        }
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(form, _)| form)
}

impl Shown<'_> {
    /// The error that shows what was found and a command to copy.
    fn unclear(&self, problem: &str) -> ImportError {
        const SHOWN: usize = 24;
        let mut table = String::from("columns found:");
        for (number, name) in self.names.iter().enumerate().take(SHOWN) {
            table.push_str(&format!("\n  {:>2}  {}", number + 1, excerpt(name.as_bytes())));
            if let Some(value) = self.sample.and_then(|row| row.get(number)) {
                table.push_str(&format!("  for example {}", excerpt(value.as_bytes())));
            }
        }
        if self.names.len() > SHOWN {
            table.push_str(&format!("\n  and {} more", self.names.len() - SHOWN));
        }
        let place = Place { path: self.source.path.clone(), line: self.line, column: 1 };
        let message = format!(
            "{problem}; say which column is what\n{table}\nfor example: quadcast data import {} --columns {} --out DIR",
            place.path.display(),
            self.suggestion()
        );
        ImportError::at(&place, message)
    }

    /// What `--columns` could be: clear roles by name, the date by its looks, the rest in order.
    fn suggestion(&self) -> String {
        let mut roles = clear_roles(self.names);
        let row = self.sample.unwrap_or(self.names);
        let is_date = |text: &String| parse(text.trim_matches('"').as_bytes(), None).is_ok();
        let date = &mut roles[Role::Date as usize];
        *date = date.or_else(|| row.iter().position(is_date));
        for role in Role::ALL {
            if roles[role as usize].is_none() {
                roles[role as usize] =
                    (0..self.names.len()).find(|position| !roles.contains(&Some(*position)));
            }
        }
        let part = |role: Role| format!("{role}={}", roles[role as usize].map_or(1, |position| position + 1));
        Role::ALL.map(part).join(",")
    }
}
