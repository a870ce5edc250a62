//! From names and dates to a query.

use quadcast_core::{Dataset, Direction, EntityId, Query, RelationId, Step};

use crate::failure::Failure;
use crate::lookup::lookup;

/// A question as a person writes it.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Where it stands, for messages: `file:line`.
    pub place: Option<String>,
    pub subject: Option<String>,
    pub relation: String,
    pub object: Option<String>,
    pub at: Option<String>,
}

/// A question with ids.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    pub query: Query,
}

impl Question {
    /// Looks up names and the date.
    pub fn new(asked: &Asked, data: &Dataset) -> Result<Self, Failure> {
        let place = asked.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        let refuse = |why: String| Failure::input(format!("{place}{why}"));
        let (known, direction) = match (&asked.subject, &asked.object) {
            (Some(subject), None) => (subject, Direction::Object),
            (None, Some(object)) => (object, Direction::Subject),
            (Some(_), Some(_)) => {
                return Err(refuse("both sides are given; leave the one that is asked for empty".to_owned()));
            }
            (None, None) => return Err(refuse("neither subject nor object is given".to_owned())),
        };
        let known = lookup(&data.vocabulary.entities, known, "entity").map_err(refuse)?;
        let relation = lookup(&data.vocabulary.relations, &asked.relation, "relation").map_err(refuse)?;
        let step = match &asked.at {
            None => Step(data.axis.len() as u32),
            Some(text) => step(text, data).map_err(refuse)?,
        };
        Ok(Self { query: Query { step, known: EntityId(known), relation: RelationId(relation), direction } })
    }
}

/// The step of a date or time as a person writes it.
pub fn step(text: &str, data: &Dataset) -> Result<Step, String> {
    let time = data.axis.calendar().parse(text).ok_or_else(|| {
        let last = data.axis.label(Step(data.axis.len().saturating_sub(1) as u32));
        format!("{text:?} is not a time of this dataset; write it like {last:?}")
    })?;
    Ok(data.axis.step_at_or_after(time))
}
