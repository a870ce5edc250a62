//! Which column is what: the option `--columns` and how it is applied to the columns that were found.

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
        parsed.map_err(|problem| ImportError::Columns { found: text.to_owned(), problem })
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
    for role in Role::ALL {
        if found[role as usize].is_none() {
            return Err(format!("no column for the {role}"));
        }
    }
    let references = found.map(|reference| reference.unwrap_or(Reference::Position(1)));
    Ok(Columns::Named(references))
}

impl Columns {
    /// The positions (from 0) by the names of a header, in the order of [`Role::ALL`]; `Err` names the column that
    /// the header does not have. The order form fits a header that has the four roles as names.
    pub(super) fn by_name(&self, header: &[String]) -> Result<[usize; 4], String> {
        let position = |name: &str| {
            let exact = header.iter().position(|column| column == name);
            exact.or_else(|| header.iter().position(|column| column.eq_ignore_ascii_case(name)))
        };
        let mut positions = [0; 4];
        for role in Role::ALL {
            let found = match self {
                Self::Order(_) => position(role.word()).ok_or_else(|| role.word().to_owned()),
                Self::Named(references) => match &references[role as usize] {
                    Reference::Name(name) => position(name).ok_or_else(|| name.clone()),
                    Reference::Position(number) if *number <= header.len() => Ok(number - 1),
                    Reference::Position(number) => Err(number.to_string()),
                },
            };
            positions[role as usize] = found?;
        }
        Ok(positions)
    }

    /// The positions (from 0), where no header is needed to know them.
    pub(super) fn by_position(&self) -> Option<[usize; 4]> {
        let mut positions = [0; 4];
        for role in Role::ALL {
            positions[role as usize] = match self {
                Self::Order(roles) => roles.iter().position(|found| *found == Some(role))?,
                Self::Named(references) => match references[role as usize] {
                    Reference::Position(position) => position - 1,
                    Reference::Name(_) => return None,
                },
            };
        }
        Some(positions)
    }

    /// Whether the columns are named by the header, so that there must be one.
    pub(super) fn needs_header(&self) -> bool {
        match self {
            Self::Order(_) => false,
            Self::Named(references) => references.iter().any(|r| matches!(r, Reference::Name(_))),
        }
    }

    /// The least number of columns that a file must have.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Order(roles) => roles.len(),
            Self::Named(references) => {
                let positions = references.iter().filter_map(|reference| match reference {
                    Reference::Position(position) => Some(*position),
                    Reference::Name(_) => None,
                });
                positions.max().unwrap_or(1)
            }
        }
    }
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
}
