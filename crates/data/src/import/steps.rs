//! What all dates together say: their form, the order of day and month, and how fine they are.

use super::collect::Fact;
use super::dates::{Form, Parsed};
use super::error::ImportError;
use super::options::{DateOrder, Granularity};
use crate::Place;
use crate::readers::excerpt;

/// A date and where it stands.
#[derive(Clone)]
struct Seen {
    place: Place,
    text: String,
}

/// Facts about the dates of all rows.
#[derive(Default)]
pub(super) struct Dates {
    form: Option<Form>,
    /// The coarsest date; ties keep the first.
    coarsest: Option<(Granularity, Seen)>,
    /// First date whose first number can only be a day.
    day_first: Option<Seen>,
    /// First date whose second number can only be a day.
    month_first: Option<Seen>,
    /// First date that could be either.
    either: Option<Seen>,
    /// Dates with a time of day that name a zone, and those that do not.
    zoned: u64,
    unzoned: u64,
}

/// A fact with its step.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct StepFact {
    pub step: i64,
    pub subject: u32,
    pub relation: u32,
    pub object: u32,
}

/// What was decided about the dates.
pub(super) struct Decision {
    pub order: Option<DateOrder>,
    pub granularity: Granularity,
    pub notes: Vec<String>,
}

impl Dates {
    /// Sets the form that most of the first rows have, unless an earlier file has set it.
    pub(super) fn expect(&mut self, form: Option<Form>) {
        self.form = self.form.or(form);
    }

    /// Takes a date into account; another form than that of the rows before is a problem.
    pub(super) fn note(
        &mut self,
        date: &Parsed,
        text: &[u8],
        place: impl Fn() -> Place,
    ) -> Result<(), String> {
        let seen = || Seen { place: place(), text: excerpt(text) };
        match &self.form {
            None => self.form = Some(date.form),
            Some(form) if *form != date.form => {
                return Err(format!(
                    "found {}, a date in another form ({}), expected {} as in the first rows; write all dates alike",
                    excerpt(text),
                    date.form.words(),
                    form.words(),
                ));
            }
            Some(_) => {}
        }
        if self.coarsest.as_ref().is_none_or(|(coarsest, _)| date.precision > *coarsest) {
            self.coarsest = Some((date.precision, seen()));
        }
        if date.precision == Granularity::Hour {
            *(if date.zoned { &mut self.zoned } else { &mut self.unzoned }) += 1;
        }
        if date.open {
            const MONTHS: u8 = 12;
            let slot = match (date.moment.first > MONTHS, date.moment.second > MONTHS) {
                (true, _) => &mut self.day_first,
                (_, true) => &mut self.month_first,
                _ => &mut self.either,
            };
            slot.get_or_insert_with(seen);
        }
        Ok(())
    }

    pub(super) fn decide(
        &self,
        order: Option<DateOrder>,
        wanted: Option<Granularity>,
    ) -> Result<Decision, ImportError> {
        let mut notes = Vec::new();
        if let Some(form) = self.form {
            notes.push(format!("Dates are read as {}.", form.words()));
        }
        let decided = self.order(order)?;
        let shown = match decided {
            Some(DateOrder::Dmy) => self.day_first.as_ref().zip(Some("day comes before the month")),
            Some(DateOrder::Mdy) => self.month_first.as_ref().zip(Some("month comes before the day")),
            None => None,
        };
        if let Some((Seen { place, text }, order)) = shown {
            notes.push(format!("The {order}: {text} at {place} shows it."));
        }
        if self.zoned > 0 && self.unzoned > 0 {
            notes.push(format!(
                "{} dates name a zone and are counted in UTC; {} do not and are taken as UTC.",
                self.zoned, self.unzoned
            ));
        } else if self.zoned > 0 {
            notes.push("Times are counted in UTC.".to_owned());
        }
        let granularity = self.granularity(wanted, &mut notes)?;
        Ok(Decision { order: decided, granularity, notes })
    }

    /// The order of day and month that open dates need; `None` if there are none.
    fn order(&self, given: Option<DateOrder>) -> Result<Option<DateOrder>, ImportError> {
        // With a given order no date was left open.
        match (given, &self.day_first, &self.month_first, &self.either) {
            (Some(_), ..) | (None, None, None, None) => Ok(None),
            (None, Some(day), Some(month), _) => {
                let message = format!(
                    "found {}, expected the order of {} at {}: one has the day first, the other the month; say which is \
                     right with --date-format dmy or --date-format mdy (and --skip-bad to leave the others out)",
                    month.text, day.text, day.place
                );
                Err(ImportError::at(&month.place, message))
            }
            (None, Some(_), None, _) => Ok(Some(DateOrder::Dmy)),
            (None, None, Some(_), _) => Ok(Some(DateOrder::Mdy)),
            (None, None, None, Some(Seen { place, text })) => {
                let message = format!(
                    "found {text}, which could be day/month or month/day, and no date in the data decides it; say which \
                     with --date-format dmy or --date-format mdy"
                );
                Err(ImportError::at(place, message))
            }
        }
    }

    fn granularity(
        &self,
        wanted: Option<Granularity>,
        notes: &mut Vec<String>,
    ) -> Result<Granularity, ImportError> {
        let Some((coarsest, Seen { place, text })) = &self.coarsest else {
            return Ok(wanted.unwrap_or(Granularity::Day));
        };
        match wanted {
            Some(wanted) if wanted < *coarsest => Err(ImportError::at(
                place,
                format!(
                    "found {text}, which does not say the {wanted}; use --granularity {coarsest} or coarser"
                ),
            )),
            Some(wanted) => Ok(wanted),
            None => {
                let granularity = Granularity::Day.max(*coarsest);
                let why = match coarsest {
                    Granularity::Hour => {
                        "the default, though the dates have times; --granularity hour keeps them"
                    }
                    Granularity::Day => "the default",
                    _ => "the dates are no finer",
                };
                notes.push(format!("One step is one {granularity} ({why})."));
                Ok(granularity)
            }
        }
    }
}

pub(super) fn on_steps(facts: Vec<Fact>, decision: &Decision) -> Vec<StepFact> {
    // Rows of one date often follow each other.
    let mut known = None;
    let placed = facts.into_iter().filter_map(|fact| {
        let step = match known {
            Some((moment, step)) if moment == fact.moment => step,
            _ => {
                let moment = decision.order.map_or(fact.moment, |order| fact.moment.decided(order));
                // Every moment was a date in the order that is decided now, so none is lost here.
                moment.step(decision.granularity)?
            }
        };
        known = Some((fact.moment, step));
        let Fact { subject, relation, object, .. } = fact;
        Some(StepFact { step, subject, relation, object })
    });
    placed.collect()
}
