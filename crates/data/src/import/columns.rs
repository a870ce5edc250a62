//! Which column is what: the option `--columns` and how it is applied to the columns that were found, and columns guessed
//! from usual names in a header.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::error::ImportError;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Who acts.
    Subject,
    /// What happens.
    Relation,
    /// To whom.
    Object,
    /// When.
    Date,
}

impl Role {
    /// All roles, in the order of a fact.
    pub const ALL: [Self; 4] = [Self::Subject, Self::Relation, Self::Object, Self::Date];

    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Relation => "relation",
            Self::Object => "object",
            Self::Date => "date",
        }
    }

    /// A value for every role, in the order of [`Self::ALL`], or the first error.
    pub(super) fn each<T, E>(value: impl FnMut(Self) -> Result<T, E>) -> Result<[T; 4], E> {
        let [subject, relation, object, date] = Self::ALL.map(value);
        Ok([subject?, relation?, object?, date?])
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word().eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// How a column is named: by its position or by the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// Position, counted from 1.
    Position(usize),
    /// Name in the header, without regard to case.
    Name(String),
}

/// The option `--columns`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Columns {
    /// Roles in the order of the columns; `None` for a column to ignore.
    Order(Vec<Option<Role>>),
    /// A column for each role, in the order of [`Role::ALL`].
    Named([Reference; 4]),
}

impl FromStr for Columns {
    type Err = ImportError;

    fn from_str(text: &str) -> Result<Self, ImportError> {
        let parsed = if text.contains('=') { named(text) } else { ordered(text) };
        parsed.map_err(|problem| {
            ImportError::Unusable(format!(
                "--columns {text}: {problem}; write the roles in the order of the columns \
                 (subject,relation,object,date with _ for a column to ignore) or name each column \
                 (subject=Source,relation=2,object=Target,date=Day)"
            ))
        })
    }
}

fn ordered(text: &str) -> Result<Columns, String> {
    let mut roles = Vec::new();
    for item in text.split(',').map(str::trim) {
        let role = match item {
            "_" => None,
            _ => Some(Role::of(item).ok_or_else(|| format!("{item:?} is not a role"))?),
        };
        if role.is_some() && roles.contains(&role) {
            return Err(format!("{item} stands there twice"));
        }
        roles.push(role);
    }
    match Role::ALL.into_iter().find(|role| !roles.contains(&Some(*role))) {
        Some(missing) => Err(format!("no column for the {missing}")),
        None => Ok(Columns::Order(roles)),
    }
}

fn named(text: &str) -> Result<Columns, String> {
    let mut found: [Option<Reference>; 4] = [const { None }; 4];
    for item in text.split(',') {
        let (role, column) =
            item.split_once('=').ok_or_else(|| format!("{:?} has no =, the others do", item.trim()))?;
        let role = Role::of(role.trim()).ok_or_else(|| format!("{:?} is not a role", role.trim()))?;
        let column = column.trim();
        let reference = match column.parse() {
            Ok(0) => return Err("columns are counted from 1".to_owned()),
            Ok(position) => Reference::Position(position),
            Err(_) if column.is_empty() => return Err(format!("no column is named for the {role}")),
            Err(_) => Reference::Name(column.to_owned()),
        };
        if found[role as usize].replace(reference).is_some() {
            return Err(format!("{role} stands there twice"));
        }
    }
    let found = Role::each(|role| found[role as usize].take().ok_or(format!("no column for the {role}")));
    found.map(Columns::Named)
}

impl Columns {
    /// The positions (from 0) by the names of a header, in the order of [`Role::ALL`]; `Err` names the column that
    /// the header does not have. The order form fits a header that has the four roles as names.
    pub(super) fn by_name(&self, header: &[String]) -> Result<[usize; 4], String> {
        let position = |name: &str| {
            let exact = header.iter().position(|column| column == name);
            exact.or_else(|| header.iter().position(|column| column.eq_ignore_ascii_case(name)))
        };
        Role::each(|role| match self {
            Self::Order(_) => position(role.word()).ok_or_else(|| role.word().to_owned()),
            Self::Named(references) => match &references[role as usize] {
                Reference::Name(name) => position(name).ok_or_else(|| name.clone()),
                Reference::Position(number) if *number <= header.len() => Ok(number - 1),
                Reference::Position(number) => Err(number.to_string()),
            },
        })
    }

    /// The positions (from 0), where no header is needed to know them.
    pub(super) fn by_position(&self) -> Option<[usize; 4]> {
        let position = |role: Role| match self {
            Self::Order(roles) => roles.iter().position(|found| *found == Some(role)),
            Self::Named(references) => match references[role as usize] {
                Reference::Position(position) => Some(position - 1),
                Reference::Name(_) => None,
            },
        };
        Role::each(|role| position(role).ok_or(())).ok()
    }

    /// The least number of columns that a file must have.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Order(roles) => roles.len(),
            Self::Named(references) => {
                let widths = references.each_ref().map(|reference| match reference {
                    Reference::Position(position) => *position,
                    Reference::Name(_) => 1,
                });
                widths.into_iter().fold(1, usize::max)
            }
        }
    }
}

/// Usual names of a role, separated by blanks, the clearest first. Compared without case, blanks and punctuation.
const fn usual(role: Role) -> &'static str {
    match role {
        Role::Subject => {
            "subject source head actor1 sender sourcename actor1name subjectname from initiator actor subj"
        }
        Role::Relation => {
            "relation predicate event type eventtype action relationtype eventtext verb interaction relationname \
             eventcode cameocode rel"
        }
        Role::Object => {
            "object target tail actor2 receiver targetname actor2name objectname to recipient obj"
        }
        Role::Date => {
            "date time timestamp day year datetime eventdate when month hour week sqldate createdat"
        }
    }
}

/// The positions of the roles, or what is not clear.
pub(super) fn guess(header: &[String]) -> Result<[usize; 4], String> {
    Role::each(|role| guess_role(role, header))
}

/// The position of each role that is clear.
pub(super) fn clear_roles(header: &[String]) -> [Option<usize>; 4] {
    Role::ALL.map(|role| guess_role(role, header).ok())
}

fn guess_role(role: Role, header: &[String]) -> Result<usize, String> {
    let names = &header.iter().map(|name| plain_name(name)).collect::<Vec<_>>();
    let places = |wanted: &'static str| (0..names.len()).filter(move |&position| names[position] == wanted);
    let mut found = usual(role).split(' ').flat_map(places);
    let Some(first) = found.next() else {
        return Err(format!("no column has a usual name for the {role}"));
    };
    match found.next() {
        // The role's own name leaves no doubt, unless it stands there twice.
        Some(other) if names[first] != role.word() || names[other] == role.word() => {
            Err(format!("the columns {:?} and {:?} could both be the {role}", header[first], header[other]))
        }
        _ => Ok(first),
    }
}

/// A name without case, blanks and punctuation.
fn plain_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn roles_in_order() {
        let columns: Columns = "date,_,subject,Relation,object".parse().expect("all roles");
        assert_eq!(columns.by_position(), Some([2, 3, 4, 0]));
        assert_eq!(columns.width(), 5);
        let reordered = header(&["object", "Subject", "date", "relation"]);
        assert_eq!(columns.by_name(&reordered), Ok([1, 3, 0, 2]));
    }

    #[test]
    fn columns_by_name_and_position() {
        let columns: Columns = "subject=Who, relation=2, object=whom, date=Day".parse().expect("all roles");
        assert_eq!(columns.by_position(), None);
        assert_eq!(columns.by_name(&header(&["who", "does", "WHOM", "day"])), Ok([0, 1, 2, 3]));
        assert_eq!(columns.by_name(&header(&["who", "does", "whom"])), Err("Day".to_owned()));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, problem) in [
            ("subject,relation,object", "no column for the date"),
            ("subject,subject,object,date", "subject stands there twice"),
            ("subject,verb,object,date", "\"verb\" is not a role"),
            ("subject=1,relation=2,object=3,date=0", "counted from 1"),
            ("subject=1,relation=2,object=3", "no column for the date"),
            ("subject=1,relation,object=3,date=4", "has no ="),
            ("subject=1,subject=2,object=3,date=4", "twice"),
            ("subject=,relation=2,object=3,date=4", "no column is named"),
        ] {
            let error = text.parse::<Columns>().expect_err(text).to_string();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }

    fn guessed(names: &str) -> Result<[usize; 4], String> {
        guess(&names.split(',').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn usual_names_are_known() {
        assert_eq!(guessed("subject,relation,object,date"), Ok([0, 1, 2, 3]));
        assert_eq!(guessed("Event ID,Event Date,Source Name,Event Text,Target Name"), Ok([2, 3, 4, 1]));
        assert_eq!(guessed("timestamp,head,tail,type"), Ok([1, 3, 2, 0]));
        assert_eq!(
            guessed("date,year,subject,relation,object"),
            Ok([2, 3, 4, 0]),
            "the role's own name wins"
        );
    }

    #[test]
    fn doubt_is_said() {
        assert_eq!(
            guessed("who,does,whom,date"),
            Err("no column has a usual name for the subject".to_owned())
        );
        assert_eq!(
            guessed("source,event,type,target,day"),
            Err("the columns \"event\" and \"type\" could both be the relation".to_owned())
        );
        assert!(guessed("subject,relation,object,date,Date").is_err());
        assert!(guessed("").is_err());
    }
}
