//! Many questions from a file, many answers into one.

use std::path::Path;

use quadcast_run::{Forecast, Question, write_atomically};

use crate::failure::Failure;
use crate::output::Output;

/// Columns of a file of questions.
const COLUMNS: [&str; 4] = ["subject", "relation", "object", "at"];

/// Reads questions from a CSV file with a header.
pub fn read(path: &Path) -> Result<Vec<Question>, Failure> {
    let refuse = |line: u64, why: String| Failure::input(format!("{}:{line}: {why}", path.display()));
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_path(path).map_err(|error| {
            Failure::input(format!("cannot read the questions {}: {error}", path.display()))
        })?;
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
            place: Some(format!("{}:{line}", path.display())),
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

/// Writes the answers: JSON if the file is called so or `--json` asks for it, CSV otherwise.
pub fn write(forecasts: &[Forecast], path: Option<&Path>, output: &Output) -> Result<(), Failure> {
    let Some(path) = path else { return output.result(&forecasts, || as_csv(forecasts)) };
    let as_json = path.extension().is_some_and(|ending| ending == "json");
    write_atomically(path, |out| {
        if as_json {
            serde_json::to_writer_pretty(&mut *out, forecasts)?;
            return writeln!(out);
        }
        out.write_all(as_csv(forecasts).as_bytes())
    })?;
    let answers: usize = forecasts.iter().map(|forecast| forecast.answers.len()).sum();
    let done = serde_json::json!({ "file": path, "questions": forecasts.len(), "answers": answers });
    output
        .result(&done, || format!("{answers} answers to {} questions: {}\n", forecasts.len(), path.display()))
}

/// One row per answer.
fn as_csv(forecasts: &[Forecast]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Only models of evolving graphs can tell what is true already.
    let known = forecasts.iter().flat_map(|forecast| &forecast.answers).any(|answer| answer.known.is_some());
    let header = ["question", "subject", "relation", "object", "at", "rank", "answer", "score", "share"];
    writer.write_record(header.into_iter().chain(known.then_some("known"))).expect("writing to memory");
    for (number, forecast) in (1..).zip(forecasts) {
        for answer in &forecast.answers {
            let number: u64 = number;
            let row = [
                number.to_string(),
                forecast.subject.clone().unwrap_or_default(),
                forecast.relation.clone(),
                forecast.object.clone().unwrap_or_default(),
                forecast.at.clone(),
                answer.rank.to_string(),
                answer.entity.clone(),
                answer.score.to_string(),
                answer.share.map(|share| share.to_string()).unwrap_or_default(),
            ];
            let known = known.then(|| answer.known.map(|known| known.to_string()).unwrap_or_default());
            writer.write_record(row.into_iter().chain(known)).expect("writing to memory");
        }
    }
    String::from_utf8(writer.into_inner().expect("writing to memory")).expect("names are text")
}
