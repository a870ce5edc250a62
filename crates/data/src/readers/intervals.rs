//! Facts with validity intervals: `subject relation object start end`, where parts of a date may be unknown.

use quadcast_core::{IntervalDataset, IntervalFact, PartialDate, Splits, Triple};

use super::Reading;
use super::id_files::{IdFiles, Order};
use super::id_spaces::{Extent, IdSpaces, RELATION_SECOND};
use super::input::{Folder, Input};
use super::lines::{At, Lines, blank_fields, integer};
use super::notes::Notes;
use super::splits::{Naming, all_of, open_splits, parse_splits};
use crate::error::Place;
use crate::files::file_name;
use crate::{Content, DataError};

const COLUMNS: &str = "subject, relation, object, start, end";

pub(super) fn read(folder: &mut Folder, notes: &mut Notes) -> Result<Reading, DataError> {
    let inputs = open_splits(folder, Naming::Plain)?;
    let lists = IdFiles::find(folder, Order::NameFirst)?;
    let unsplit = folder.find("all facts", |name| name == "triple2id.txt" || name == "triple2id")?;
    let unsplit = unsplit.map(Input::open).transpose()?;
    let mut inputs_read = all_of(&inputs);
    inputs_read.extend(&unsplit);
    lists.describe_with(&inputs_read, 5, notes);

    let parsed = parse_splits(&inputs, |input| {
        let file = parse(input, lists.spaces())?;
        input.refuse_empty(file.facts.len())?;
        Ok(file)
    })?;
    let before = unsplit.as_ref().map(|input| parse(input, lists.spaces())).transpose()?;
    let files = || parsed.iter().map(|(_, file)| file).chain(&before);
    let rows = files().map(|file| file.facts.len()).sum();
    let paths = inputs_read.iter().map(|input| input.path.as_path());
    let extents = paths.zip(files().map(|file| &file.extent));
    let vocabulary = lists.vocabulary(extents, [None; 2], rows)?;
    describe(files(), notes);
    if let (Some(input), Some(file)) = (&unsplit, &before) {
        notes.add(format!("{} holds {} facts before the split.", file_name(&input.path), file.facts.len()));
    }
    let splits = Splits { train: parsed.train.facts, valid: parsed.valid.facts, test: parsed.test.facts };
    let unsplit = before.map(|file| file.facts);
    let dataset = IntervalDataset { name: folder.name(), vocabulary, splits, unsplit };
    Ok((Content::Intervals(dataset), None))
}

/// The facts of one file.
#[derive(Default)]
struct Parsed {
    facts: Vec<IntervalFact>,
    extent: Extent,
    /// How many dates have an impossible month or day, and where the first one stands.
    impossible: Option<(usize, Place)>,
}

fn parse(input: &Input, spaces: IdSpaces<'_>) -> Result<Parsed, DataError> {
    let mut parsed = Parsed::default();
    for (line, text) in Lines::new(input.text()) {
        let (fields, count) = blank_fields::<5>(text);
        let at = |column| At { path: &input.path, line, column };
        if count < 5 {
            return Err(at(1).missing_column(count, COLUMNS));
        }
        let [subject, relation, object] = spaces.ids(at(1), RELATION_SECOND, &fields, &mut parsed.extent)?;
        let mut date = |column: usize| -> Result<PartialDate, DataError> {
            let field = fields[column - 1];
            let (date, impossible) = partial_date(field).ok_or_else(|| {
                at(column).not_a_date(field, "YYYY-MM-DD or YYYY, with # for unknown digits")
            })?;
            if impossible {
                parsed.impossible.get_or_insert_with(|| (0, at(column).place())).0 += 1;
            }
            Ok(date)
        };
        let (start, end) = (date(4)?, date(5)?);
        parsed.facts.push(IntervalFact { triple: Triple::new(subject, relation, object), start, end });
    }
    Ok(parsed)
}

/// A date of which digits may be unknown: `1926-##-##`, `####-##-##`, `19##-##-##`, `-431-##-##`, `1946`, `####`. Also
/// whether the month or day was a number that no calendar has, and counts as unknown: the published `YAGO11k` holds one such
/// date (`307-13047-09`), whose year is still of use.
pub(super) fn partial_date(text: &[u8]) -> Option<(PartialDate, bool)> {
    let (negative, rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let mut parts = rest.split(|&b| b == b'-');
    let mut date = partial_year(parts.next()?, negative)?;
    let (month, day) = match (parts.next(), parts.next(), parts.next()) {
        (None, None, None) => (Part::Unknown, Part::Unknown),
        (Some(month), Some(day), None) => (Part::read(month, 12)?, Part::read(day, 31)?),
        _ => return None,
    };
    let impossible = month == Part::Impossible || day == Part::Impossible;
    if let Part::Number(number) = month {
        date.month = Some(number);
    }
    // A day of an impossible month says nothing.
    if let (Part::Number(number), Part::Number(_) | Part::Unknown) = (day, month) {
        date.day = Some(number);
    }
    Some((date, impossible))
}

/// A month or day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Unknown,
    Number(u8),
    Impossible,
}

impl Part {
    /// Reads `##` or digits; other text is none of it.
    fn read(text: &[u8], largest: u8) -> Option<Self> {
        if text == b"##" {
            return Some(Self::Unknown);
        }
        if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = integer(text).ok().and_then(|value| u8::try_from(value).ok());
        let number = number.filter(|value| text.len() == 2 && (1..=largest).contains(value));
        Some(number.map_or(Self::Impossible, Self::Number))
    }
}

/// The year part, of which leading digits may be known.
fn partial_year(text: &[u8], negative: bool) -> Option<PartialDate> {
    /// More digits than any calendar needs, and still within the range of the number.
    const LONGEST: usize = 9;
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let known = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, unknown) = text.split_at(known);
    if unknown.iter().any(|&b| b != b'#') || (digits.is_empty() && negative) {
        return None;
    }
    let mut date = PartialDate::default();
    if digits.is_empty() {
        return Some(date);
    }
    let value = i32::try_from(integer(digits).ok()?).ok()?;
    let value = if negative { -value } else { value };
    match unknown.len() {
        0 => date.year = Some(value),
        missing => date.coarse_year = Some((value, missing as u8)),
    }
    Some(date)
}

fn describe<'a>(files: impl Iterator<Item = &'a Parsed>, notes: &mut Notes) {
    let (mut years, mut starts, mut ends, mut coarse) = (None, 0, 0, 0);
    for file in files {
        for fact in &file.facts {
            starts += usize::from(fact.start.is_open());
            ends += usize::from(fact.end.is_open());
            for date in [fact.start, fact.end] {
                coarse += usize::from(date.coarse_year.is_some());
                if let Some(year) = date.year {
                    let (first, last) = years.unwrap_or((year, year));
                    years = Some((year.min(first), year.max(last)));
                }
            }
        }
        if let Some((count, place)) = &file.impossible {
            let file = file_name(&place.path);
            notes.add(format!(
                "{count} dates in {file} have an impossible month or day, taken as unknown (first at line {}, column {}).",
                place.line, place.column
            ));
        }
    }
    if let Some((first, last)) = years {
        notes
            .add(format!("Years {first} to {last}; {starts} open starts and {ends} open ends in all files."));
    }
    if coarse > 0 {
        notes.add(format!("{coarse} dates know only the leading digits of the year."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Option<PartialDate> {
        partial_date(text.as_bytes()).filter(|(_, impossible)| !impossible).map(|(date, _)| date)
    }

    fn year(year: i32) -> PartialDate {
        PartialDate { year: Some(year), ..PartialDate::default() }
    }

    #[test]
    fn parts_may_be_unknown() {
        assert_eq!(date("1926-##-##"), Some(year(1926)));
        assert_eq!(date("####-##-##"), Some(PartialDate::default()));
        assert_eq!(date("####"), Some(PartialDate::default()));
        assert_eq!(date("1946"), Some(year(1946)));
        assert_eq!(date("360-##-##"), Some(year(360)));
        assert_eq!(date("-431-##-##"), Some(year(-431)));
        let coarse =
            |digits, missing| PartialDate { coarse_year: Some((digits, missing)), ..PartialDate::default() };
        assert_eq!(date("19##-##-##"), Some(coarse(19, 2)));
        assert_eq!(date("195#-##-##"), Some(coarse(195, 1)));
        assert_eq!(date("1945-11-07"), Some(PartialDate { month: Some(11), day: Some(7), ..year(1945) }));
        assert_eq!(date("1945-11-##"), Some(PartialDate { month: Some(11), ..year(1945) }));
    }

    #[test]
    fn impossible_months_and_days_are_unknown() {
        for text in ["307-13047-09", "307-13-09", "307-00-01", "307-1-1"] {
            assert_eq!(partial_date(text.as_bytes()), Some((year(307), true)));
        }
        let november = PartialDate { month: Some(11), ..year(1945) };
        assert_eq!(partial_date(b"1945-11-32"), Some((november, true)));
    }

    #[test]
    fn other_text_is_refused() {
        let wrong =
            ["", "-", "--", "x", "1945-11", "##45-01-01", "-####-##-##", "1945-11-07-1", "1945-11-+7"];
        for text in wrong.into_iter().chain(["12345678901", "1945-#1-01", "1945--01"]) {
            assert_eq!(partial_date(text.as_bytes()), None, "{text}");
        }
    }
}
