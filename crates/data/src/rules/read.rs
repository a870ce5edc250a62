//! Rules from a file, line by line.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use quadcast_core::{DirectedRelation, Direction, Names, RelationId, Rule};
use rustc_hash::FxHashMap;

use super::RuleFileError;
use super::check::check;
use super::line::{Line, NamedRelation};

/// The rules of a file as far as they fit a dataset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RulesRead {
    /// Rules that fit, in the order of the file.
    pub rules: Vec<Rule>,
    /// Relations that rules name and the dataset does not have, each once, in order of the alphabet.
    pub unknown_relations: Vec<String>,
    /// How many rules name such a relation.
    pub dropped: usize,
}

/// Reads rules and translates the names of their relations into the ids of a dataset. A file without rules is fine;
/// one with rules of which none fits is an error.
pub fn read_rules(path: &Path, relations: &Names) -> Result<RulesRead, RuleFileError> {
    let failed = |source| RuleFileError::Read { path: path.to_owned(), source };
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let mut file = Reading::new(path, relations);
    let (mut rules, mut dropped) = (Vec::new(), 0);
    let mut text = Vec::new();
    loop {
        text.clear();
        if reader.read_until(b'\n', &mut text).map_err(failed)? == 0 {
            break;
        }
        file.line += 1;
        // Editors on some systems put a byte order mark before the first line.
        let mark: &[u8] = if file.line == 1 { b"\xef\xbb\xbf" } else { b"" };
        let bare = text.strip_prefix(mark).unwrap_or(&text).trim_ascii_end();
        if bare.is_empty() {
            continue;
        }
        match file.rule(bare)? {
            Some(rule) => {
                file.once(&rule)?;
                rules.push(rule);
            }
            None => dropped += 1,
        }
    }
    let unknown: BTreeSet<String> =
        file.ids.into_iter().filter(|(_, id)| id.is_none()).map(|(name, _)| name).collect();
    let unknown_relations: Vec<String> = unknown.into_iter().collect();
    if rules.is_empty() && dropped > 0 {
        return Err(RuleFileError::NoMatch {
            path: path.to_owned(),
            rules: dropped,
            unknown: unknown_relations,
            known: (0..relations.len() as u32).map(|id| relations.name(id).into_owned()).collect(),
        });
    }
    Ok(RulesRead { rules, unknown_relations, dropped })
}

/// What tells a rule from others.
type Form = (DirectedRelation, Vec<DirectedRelation>, Vec<Vec<u8>>);

/// A file that is being read.
struct Reading<'a> {
    path: PathBuf,
    relations: &'a Names,
    /// Relations by name as far as they were asked for; `None` for those that the dataset does not have.
    ids: FxHashMap<String, Option<u32>>,
    /// The line of every rule.
    lines: FxHashMap<Form, u64>,
    line: u64,
}

impl<'a> Reading<'a> {
    fn new(path: &Path, relations: &'a Names) -> Self {
        let (ids, lines) = (FxHashMap::default(), FxHashMap::default());
        Self { path: path.to_owned(), relations, ids, lines, line: 0 }
    }

    fn fault(&self, column: usize, message: String) -> RuleFileError {
        RuleFileError::Line { path: self.path.clone(), line: self.line, column, message }
    }

    /// The rule of a line; `None` if it names a relation that the dataset does not have.
    fn rule(&mut self, text: &[u8]) -> Result<Option<Rule>, RuleFileError> {
        let mut line: Line = serde_json::from_slice(text).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            self.fault(
                error.column().max(1),
                format!(
                    "the line is not a rule ({message}), expected one JSON object per line with head, body, \
                     constraints, confidence, rule_support and body_support; correct or remove the line"
                ),
            )
        })?;
        check(&line).map_err(|(key, message)| self.fault(column(text, key), message))?;
        // All names are looked up, also after one that is unknown: the reader of the message wants to see them all.
        let head = self.directed(&line.head);
        let body: Vec<Option<DirectedRelation>> =
            line.body.iter().map(|relation| self.directed(relation)).collect();
        let (Some(head), Some(body)) = (head, body.into_iter().collect()) else { return Ok(None) };
        // One rule has one form, so that models can compare them.
        line.constraints.sort_unstable();
        Ok(Some(Rule {
            head,
            body,
            constraints: line.constraints,
            rule_support: line.rule_support,
            body_support: line.body_support,
            confidence: line.confidence,
        }))
    }

    /// Refuses a rule that stood there before: scores add up over rules, so it would count twice.
    fn once(&mut self, rule: &Rule) -> Result<(), RuleFileError> {
        let form = (rule.head, rule.body.clone(), rule.constraints.clone());
        let Some(first) = self.lines.insert(form, self.line) else { return Ok(()) };
        let message = format!(
            "found a rule again, expected every rule once; line {first} has the same head, body and constraints, \
             remove one of them"
        );
        Err(self.fault(1, message))
    }

    fn directed(&mut self, named: &NamedRelation) -> Option<DirectedRelation> {
        // Looked up once per name: there are many more rules than relations.
        let id = self.ids.get(&named.relation).copied().unwrap_or_else(|| {
            let id = self.relations.find(&named.relation);
            self.ids.insert(named.relation.clone(), id);
            id
        });
        let direction = if named.inverse { Direction::Subject } else { Direction::Object };
        Some(DirectedRelation::new(RelationId(id?), direction, self.relations.len()))
    }
}

/// Where a key stands in its line, counted from 1. A name cannot be taken for it: inside of a text the quotes are
/// escaped, and a text that is the same word is not followed by a colon.
fn column(text: &[u8], key: &str) -> usize {
    let quoted = format!("\"{key}\"");
    memchr::memmem::find_iter(text, &quoted)
        .find(|start| text[start + quoted.len()..].trim_ascii_start().starts_with(b":"))
        .map_or(1, |start| start + 1)
}
