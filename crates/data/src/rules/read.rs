//! Rules from a file, line by line. People edit these files, so every mistake is named with the key that holds it.

use std::collections::BTreeSet;
use std::io::{self, BufRead};
use std::path::Path;

use quadcast_core::{DirectedRelation, Direction, Names, RelationId, Rule};
use rustc_hash::FxHashMap;
use thiserror::Error;

use super::write::{Line, NamedRelation};
use crate::files::{CheckedText, Checks, ReadFault, open_file};

/// The longest body that models follow.
const LONGEST: usize = 3;

/// How far the confidence may be from the ratio of the supports: it is written to six digits, and people round.
const TOLERANCE: f64 = 1e-4;

/// What is wrong, and the key it stands under.
type Fault = (&'static str, String);

/// A file of rules that cannot be used. The message names the file and, where there is one, the line and column, what was
/// expected and what to do.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct RuleFileError(String);

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
    let failed = |error| unreadable(path, &error);
    let mut reader = CheckedText::new(open_file(path).map_err(failed)?, Checks::LINES);
    let (ids, lines) = (FxHashMap::default(), FxHashMap::default());
    let mut file = Reading { path, relations, ids, lines, line: 0 };
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
        let known: Vec<String> =
            (0..relations.len() as u32).map(|id| relations.name(id).into_owned()).collect();
        return Err(RuleFileError(format!(
            "{}: none of its {dropped} rules fits this dataset: the rules name {}, the dataset has {}; use rules of a \
             dataset with the same relations, or rename the relations in the file",
            path.display(),
            listed(&unknown_relations),
            listed(&known)
        )));
    }
    Ok(RulesRead { rules, unknown_relations, dropped })
}

fn unreadable(path: &Path, error: &io::Error) -> RuleFileError {
    RuleFileError(ReadFault::of(error).map_or_else(
        || {
            let (path, advice) = (path.display(), "check that the file exists and that you may read it");
            format!("cannot read the rules {path}: {error}; {advice}")
        },
        |fault| fault.message(path),
    ))
}

/// The first names, for a message.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    if names.is_empty() {
        return "no relation".to_owned();
    }
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// What tells a rule from others.
type Form = (DirectedRelation, Vec<DirectedRelation>, Vec<Vec<u8>>);

/// A file that is being read.
struct Reading<'a> {
    path: &'a Path,
    relations: &'a Names,
    /// Relations by name as far as they were asked for; `None` for those that the dataset does not have.
    ids: FxHashMap<String, Option<u32>>,
    /// The line of every rule.
    lines: FxHashMap<Form, u64>,
    line: u64,
}

impl Reading<'_> {
    fn fault(&self, column: usize, message: &str) -> RuleFileError {
        RuleFileError(format!("{}:{}:{column}: {message}", self.path.display(), self.line))
    }

    /// The rule of a line; `None` if it names a relation that the dataset does not have.
    fn rule(&mut self, text: &[u8]) -> Result<Option<Rule>, RuleFileError> {
        let mut line: Line = serde_json::from_slice(text).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            self.fault(
                error.column().max(1),
                &format!(
                    "the line is not a rule ({message}), expected one JSON object per line with head, body, \
                     constraints, confidence, rule_support and body_support; correct or remove the line"
                ),
            )
        })?;
        check(&line).map_err(|(key, message)| self.fault(column(text, key), &message))?;
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
            any_order: false,
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
        Err(self.fault(1, &message))
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

/// Checks what the syntax alone does not.
fn check(line: &Line) -> Result<(), Fault> {
    let length = line.body.len();
    if !(1..=LONGEST).contains(&length) {
        return Err((
            "body",
            format!("the body has {length} relations, expected 1 to {LONGEST}; correct or remove the rule"),
        ));
    }
    constraints(&line.constraints, length)?;
    confidence(line)
}

fn constraints(groups: &[Vec<u8>], length: usize) -> Result<(), Fault> {
    let refuse = |message: String| Err(("constraints", message));
    let mut taken = vec![false; length + 1];
    for group in groups {
        if group.len() < 2 {
            return refuse(format!(
                "the group {group:?} binds nothing, expected two or more positions; complete or remove it"
            ));
        }
        if !group.windows(2).all(|pair| pair[0] < pair[1]) {
            return refuse(format!(
                "the group {group:?} is out of order, expected different positions in rising order; sort it"
            ));
        }
        for &position in group {
            match taken.get_mut(usize::from(position)) {
                None => {
                    return refuse(format!(
                        "position {position} does not exist, expected 0 to {length}: a body of {length} has \
                         {} variables; correct the group {group:?}",
                        length + 1
                    ));
                }
                Some(true) => {
                    return refuse(format!(
                        "position {position} stands in two groups, expected one; join them or take it out of one"
                    ));
                }
                Some(free) => *free = true,
            }
        }
    }
    Ok(())
}

fn confidence(line: &Line) -> Result<(), Fault> {
    let Line { confidence, rule_support, body_support, .. } = *line;
    if !(confidence.is_finite() && confidence > 0.0 && confidence <= 1.0) {
        return Err((
            "confidence",
            format!(
                "the confidence is {confidence}, expected a fraction above 0 and at most 1; \
                 correct it, or remove a rule that never holds"
            ),
        ));
    }
    for (key, support) in [("rule_support", rule_support), ("body_support", body_support)] {
        if support == 0 {
            return Err((key, format!("{key} is 0, expected 1 or more; correct it or remove the rule")));
        }
    }
    if rule_support > body_support {
        return Err((
            "rule_support",
            format!(
                "rule_support {rule_support} exceeds body_support {body_support}, expected at most that: the rule \
                 can hold only where its body does; correct one of them"
            ),
        ));
    }
    let ratio = f64::from(rule_support) / f64::from(body_support);
    if (confidence - ratio).abs() > TOLERANCE {
        return Err((
            "confidence",
            format!(
                "the confidence is {confidence}, expected rule_support / body_support = {rule_support} / \
                 {body_support} = {ratio:.6}; correct the confidence, or the supports if they are wrong"
            ),
        ));
    }
    Ok(())
}
