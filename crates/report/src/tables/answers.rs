//! Answers as CSV: one row per answer, exact numbers.

use quadcast_run::Forecast;

use super::csv::{line, optional};

/// Answers to questions, which are numbered from 1. Names are exact, or for a spreadsheet marked where it would compute them.
pub fn answers_csv(forecasts: &[Forecast], spreadsheet: bool) -> String {
    // Only models of evolving graphs can tell what is true already.
    let known = forecasts.iter().flat_map(|forecast| &forecast.answers).any(|answer| answer.known.is_some());
    let header = ["question", "subject", "relation", "object", "at", "rank", "answer", "score", "share"];
    let header: Vec<String> = header.into_iter().chain(known.then_some("known")).map(str::to_owned).collect();
    let mut text = line(&header, false);
    for (number, forecast) in (1_usize..).zip(forecasts) {
        for answer in &forecast.answers {
            let mut row = vec![
                number.to_string(),
                optional(forecast.subject.as_ref()),
                forecast.relation.clone(),
                optional(forecast.object.as_ref()),
                forecast.at.clone(),
                answer.rank.to_string(),
                answer.entity.clone(),
                answer.score.to_string(),
                optional(answer.share),
            ];
            row.extend(known.then(|| optional(answer.known)));
            text.push_str(&line(&row, spreadsheet));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::explained;

    #[test]
    fn questions_are_numbered_and_names_quoted_where_needed() {
        let mut forecasts: Vec<Forecast> = explained().into_iter().map(|sample| sample.forecast).collect();
        for forecast in &mut forecasts {
            forecast.subject = Some("=Ann, of \"Ærø\"".to_owned());
        }
        let head = "question,subject,relation,object,at,rank,answer,score,share";
        let row = |number| format!("{number},\"=Ann, of \"\"Ærø\"\"\",meets,,2030-01-03,1,<Bob>,1,");
        let exact = answers_csv(&forecasts, false);
        assert_eq!(exact, format!("{head}\n{}\n{}\n", row(1), row(2)));
        assert_eq!(answers_csv(&forecasts, true), exact.replace("=Ann", "'=Ann"));

        forecasts[1].answers[0].known = Some(true);
        let known = answers_csv(&forecasts, false);
        assert_eq!(known, format!("{head},known\n{},\n{},true\n", row(1), row(2)));
    }
}
