//! Files of questions.

use std::fmt::Display;
use std::path::Path;

use quadcast_data::read_lines;

use crate::{Question, RunError};

/// Columns of a file of questions.
const COLUMNS: [&str; 4] = ["subject", "relation", "object", "at"];

/// Reads questions from a CSV file with a header: subject, relation, object, at, in any order. `called` is what messages call the
/// file.
pub fn read_questions(path: &Path, called: impl Display) -> Result<Vec<Question>, RunError> {
    let text = read_lines(path)?;
    let place = |line: u64| format!("{called}:{line}");
    let refuse = |line: u64, why: String| RunError::input(format!("{}: {why}", place(line)));
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_slice());
    let header = reader.headers().map_err(|error| refuse(1, error.to_string()))?.clone();
    if let Some(unknown) = header.iter().find(|name| !COLUMNS.contains(name)) {
        let expected = COLUMNS.join(", ");
        return Err(refuse(1, format!("found the column {unknown:?}, expected a header with: {expected}")));
    }
    let mut questions = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            refuse(line, error.to_string())
        })?;
        let line = row.position().map_or(0, csv::Position::line);
        let field = |name: &str| {
            let column = header.iter().position(|known| known == name)?;
            row.get(column).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let relation = field("relation")
            .ok_or_else(|| refuse(line, "the relation is missing, expected a name".to_owned()))?;
        questions.push(Question {
            place: Some(place(line)),
            subject: field("subject"),
            relation: Some(relation),
            object: field("object"),
            at: field("at"),
        });
    }
    if questions.is_empty() {
        return Err(refuse(
            1,
            "the file holds no question; expected one per line below the header".to_owned(),
        ));
    }
    Ok(questions)
}
