//! One line of a file of rules.

use serde::{Deserialize, Serialize};

/// A relation by name, and which way it is read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedRelation {
    /// The name.
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
