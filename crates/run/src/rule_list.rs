//! The rules that a run has learned, as far as they are asked for: chosen, ordered, with names, and as a file.

use std::collections::BTreeSet;
use std::path::Path;

use quadcast_core::{DirectedRelation, Direction, ListedRule, Names, RelationId, Rule, Run};
use quadcast_data::write_rules;
use serde::{Serialize, Serializer};

use crate::lookup::lookup;
use crate::rule_words::card;
use crate::rules::expect_listed_rules;
use crate::{AnyModel, RuleCard, RunError, Session, read_complete, write_atomically};

/// Which rules of a run are asked for. By default all.
#[derive(Clone, Debug, Default)]
pub struct RuleChoice {
    /// Only rules that predict the relation of this name, in both directions.
    pub relation: Option<String>,
    /// Only rules of which at least this many bodies were sampled or counted.
    pub min_support: u32,
    /// How many rules at most; per direction if a relation is named.
    pub top: Option<usize>,
}

/// Rules of a run: the most confident first, of equal ones the one that was seen more often, and rules of one head together. As a
/// document it is the list of their cards.
#[derive(Clone, Debug)]
pub struct RuleList {
    /// The model.
    pub model: &'static str,
    /// The dataset.
    pub dataset: String,
    /// Names of its relations.
    pub relations: Names,
    /// The relation that was asked for.
    pub relation: Option<RelationId>,
    /// How many rules the model has.
    pub total: usize,
    /// Those that were asked for.
    pub rules: Vec<ListedRule>,
    /// Whether they can be used by other runs; rules that were counted by age are part of their model.
    pub portable: bool,
}

/// The rules of a complete run. `data` replaces the place of the dataset, not its content.
///
/// ```
/// use quadcast_core::Run;
/// use quadcast_run::{Place, Plan, RuleChoice, Session, rules_of_run};
///
/// # fn main() -> Result<(), quadcast_run::RunError> {
/// # let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/harbour");
/// # let room = tempfile::tempdir().expect("a folder");
/// let place = Place { out: Some(room.path().join("learned")), ..Place::default() };
/// let folder = Session::open(Plan::new("tlogic", data), Run::silent(1))?.complete(&place)?;
///
/// let choice = RuleChoice { relation: Some("docks at".to_owned()), min_support: 5, top: Some(3) };
/// let list = rules_of_run(&folder, None, &choice, Run::silent(1))?;
/// for rule in list.cards() {
///     println!("{:.2}  {}", rule.confidence, rule.words);
/// }
/// list.write(&room.path().join("docks.jsonl"))?;
/// # assert!((1..=6).contains(&list.rules.len()) && list.total > 6);
/// # Ok(())
/// # }
/// ```
pub fn rules_of_run(
    folder: &Path,
    data: Option<&str>,
    choice: &RuleChoice,
    run: Run,
) -> Result<RuleList, RunError> {
    expect_listed_rules(&read_complete(folder)?.model.name)?;
    let session = Session::reopen(folder, data, run)?;
    let all = match &session.model {
        AnyModel::Timed(model) => model.listed_rules()?,
        AnyModel::Evolving(_) => Vec::new(),
    };
    let dataset = session.dataset().ok_or_else(|| RunError::internal("models with rules have a dataset"))?;
    let relations = dataset.vocabulary.relations.clone();
    let wanted = choice.relation.as_deref().map(|name| lookup(&relations, name, "relation")).transpose();
    let relation = wanted.map_err(RunError::input)?.map(RelationId);
    Ok(RuleList {
        model: session.entry().name,
        dataset: dataset.name.clone(),
        relation,
        total: all.len(),
        rules: chosen(all, relation, choice, relations.len()),
        relations,
        portable: !(session.entry().capabilities)().counts_rules,
    })
}

/// The most confident rules first; of equal ones the one that was seen more often.
fn chosen(
    mut rules: Vec<ListedRule>,
    relation: Option<RelationId>,
    choice: &RuleChoice,
    relations: usize,
) -> Vec<ListedRule> {
    rules.retain(|listed| listed.rule.body_support >= choice.min_support);
    rules.sort_by(|a, b| {
        let (a, b) = (&a.rule, &b.rule);
        b.confidence
            .total_cmp(&a.confidence)
            .then(b.body_support.cmp(&a.body_support))
            .then_with(|| (a.head, &a.body, &a.constraints).cmp(&(b.head, &b.body, &b.constraints)))
    });
    let top = choice.top.unwrap_or(usize::MAX);
    match relation {
        None => rules.truncate(top),
        Some(relation) => {
            let of = |direction| {
                let head = DirectedRelation::new(relation, direction, relations);
                rules.iter().filter(move |listed| listed.rule.head == head).take(top).cloned()
            };
            rules = Direction::BOTH.into_iter().flat_map(of).collect();
        }
    }
    grouped(&rules)
}

/// Rules of one head together, heads in the order of their best rule.
fn grouped(rules: &[ListedRule]) -> Vec<ListedRule> {
    let mut known = BTreeSet::new();
    let heads: Vec<DirectedRelation> =
        rules.iter().map(|listed| listed.rule.head).filter(|head| known.insert(*head)).collect();
    let of = |head: DirectedRelation| rules.iter().filter(move |listed| listed.rule.head == head).cloned();
    heads.into_iter().flat_map(of).collect()
}

impl RuleList {
    /// The rules with names and in words, each with its curve if it has one.
    pub fn cards(&self) -> Vec<RuleCard> {
        let with_names = |listed: &ListedRule| RuleCard {
            curve: listed.curve.clone(),
            ..card(&listed.rule, &self.relations)
        };
        self.rules.iter().map(with_names).collect()
    }

    /// Writes the rules to a file (JSON Lines) from which other runs can take them.
    pub fn write(&self, path: &Path) -> Result<(), RunError> {
        if !self.portable {
            return Err(RunError::input(format!(
                "the rules of {} cannot be exported: they are part of the model. Leave out --out; --json prints the \
                 rules with their curves",
                self.model
            )));
        }
        let rules: Vec<Rule> = self.rules.iter().map(|listed| listed.rule.clone()).collect();
        Ok(write_atomically(path, |out| write_rules(out, &rules, &self.relations))?)
    }
}

impl Serialize for RuleList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.cards().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relations of the small world.
    const RELATIONS: usize = 2;

    /// A rule that follows from one earlier fact of the first relation.
    fn rule(head: u32, confidence: f64, body_support: u32) -> ListedRule {
        let rule = Rule {
            head: DirectedRelation(head),
            body: vec![DirectedRelation(0)],
            constraints: Vec::new(),
            rule_support: 1,
            body_support,
            confidence,
            any_order: false,
        };
        ListedRule { rule, curve: None }
    }

    /// Heads and supports of the rules that are chosen.
    fn heads(relation: Option<u32>, min_support: u32, top: Option<usize>) -> Vec<(u32, u32)> {
        let rules = vec![
            rule(0, 0.25, 4),
            rule(1, 0.5, 2),
            rule(0, 0.5, 8),
            rule(3, 0.125, 9),
            rule(1, 0.75, 1),
            rule(3, 0.25, 5),
        ];
        let choice = RuleChoice { relation: None, min_support, top };
        let chosen = chosen(rules, relation.map(RelationId), &choice, RELATIONS);
        chosen.iter().map(|listed| (listed.rule.head.0, listed.rule.body_support)).collect()
    }

    #[test]
    fn heads_come_in_the_order_of_their_best_rule() {
        assert_eq!(heads(None, 0, None), [(1, 1), (1, 2), (0, 8), (0, 4), (3, 5), (3, 9)]);
        assert_eq!(
            heads(None, 2, None),
            [(0, 8), (0, 4), (1, 2), (3, 5), (3, 9)],
            "more support comes first"
        );
        assert_eq!(heads(None, 0, Some(3)), [(1, 1), (1, 2), (0, 8)]);
    }

    #[test]
    fn rules_of_a_relation_are_counted_per_direction() {
        assert_eq!(heads(Some(1), 0, Some(1)), [(1, 1), (3, 5)]);
        assert_eq!(heads(Some(1), 5, None), [(3, 5), (3, 9)]);
        assert!(heads(Some(0), 9, None).is_empty());
    }
}
