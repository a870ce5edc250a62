//! Rules into a file.

use std::io::{self, Write};

use quadcast_core::{DirectedRelation, Direction, Names, Rule};

use super::line::{Line, NamedRelation};

/// Names of directed relations that lead back to the same relation.
#[derive(Clone, Debug)]
pub struct RelationNames(Vec<String>);

impl RelationNames {
    /// The names of a dataset. A name that does not lead back to its relation, because another one has it too, gives
    /// way to `#id`.
    pub fn new(relations: &Names) -> Self {
        let ids = 0..relations.len() as u32;
        Self(
            ids.map(|id| match relations.name(id).into_owned() {
                name if relations.find(&name) == Some(id) => name,
                _ => format!("#{id}"),
            })
            .collect(),
        )
    }

    /// A relation by name.
    pub fn of(&self, relation: DirectedRelation) -> NamedRelation {
        let (relation, direction) = relation.split(self.0.len());
        let name = self.0.get(relation.index()).cloned();
        NamedRelation {
            relation: name.unwrap_or_else(|| format!("#{}", relation.0)),
            inverse: direction == Direction::Subject,
        }
    }
}

/// Writes one rule a line, with the names of the relations.
pub fn write_rules(out: &mut dyn Write, rules: &[Rule], relations: &Names) -> io::Result<()> {
    let names = RelationNames::new(relations);
    for rule in rules {
        let line = Line {
            head: names.of(rule.head),
            body: rule.body.iter().map(|relation| names.of(*relation)).collect(),
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
