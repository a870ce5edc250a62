//! One line of a file of rules, and rules into a file.

use std::io::{self, Write};

use quadcast_core::{DirectedRelation, Direction, Names, Rule};
use serde::{Deserialize, Serialize};

/// A relation by name, and which way it is read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamedRelation {
    pub relation: String,
    /// Whether it is read from the object to the subject.
    #[serde(default)]
    pub inverse: bool,
}

/// A rule with names, in the order in which people read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    pub head: NamedRelation,
    pub body: Vec<NamedRelation>,
    #[serde(default)]
    pub constraints: Vec<Vec<u8>>,
    pub confidence: f64,
    pub rule_support: u32,
    pub body_support: u32,
}

/// Writes one rule a line, with the names of the relations.
pub fn write_rules(out: &mut dyn Write, rules: &[Rule], relations: &Names) -> io::Result<()> {
    let names = names_that_lead_back(relations);
    let named = |relation: DirectedRelation| {
        let (relation, direction) = relation.split(names.len());
        let name = names.get(relation.index()).cloned();
        NamedRelation {
            relation: name.unwrap_or_else(|| format!("#{}", relation.0)),
            inverse: direction == Direction::Subject,
        }
    };
    for rule in rules {
        let line = Line {
            head: named(rule.head),
            body: rule.body.iter().copied().map(named).collect(),
            constraints: rule.constraints.clone(),
            confidence: rule.confidence,
            rule_support: rule.rule_support,
            body_support: rule.body_support,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The names of the relations. A name that does not lead back to its relation, because another one has it too, gives way
/// to `#id`.
fn names_that_lead_back(relations: &Names) -> Vec<String> {
    let name = |id| match relations.name(id).into_owned() {
        name if relations.find(&name) == Some(id) => name,
        _ => format!("#{id}"),
    };
    (0..relations.len() as u32).map(name).collect()
}
