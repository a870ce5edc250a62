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

impl Asked {
    /// The error of a question that cannot be asked.
    pub fn refuse(&self, why: &str) -> Failure {
        let place = self.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        Failure::input(format!("{place}{why}"))
    }

    /// The side that is given, and where the answer stands.
    pub fn known_side(&self) -> Result<(&str, Direction), Failure> {
        match (&self.subject, &self.object) {
            (Some(subject), None) => Ok((subject, Direction::Object)),
            (None, Some(object)) => Ok((object, Direction::Subject)),
            (Some(_), Some(_)) => {
                Err(self.refuse("both sides are given; leave the one that is asked for empty"))
            }
            (None, None) => Err(self.refuse("neither subject nor object is given")),
        }
    }
}

impl Question {
    /// Looks up names and the date.
    pub fn new(asked: &Asked, data: &Dataset) -> Result<Self, Failure> {
        let refuse = |why: String| asked.refuse(&why);
        let (known, direction) = asked.known_side()?;
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
