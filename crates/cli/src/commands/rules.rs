//! `quadcast rules`: what a run has learned, in words.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, value_parser};
use quadcast_core::{DirectedRelation, Direction, Names, RelationId, Rule};
use quadcast_data::write_rules;
use quadcast_report::{counted, wrapped};
use quadcast_run::{RuleCard, lookup, rule_card, rules_of_run, write_atomically};
use serde_json::json;

use crate::output::{Failure, Output};

/// Shown below the help.
pub const EXAMPLES: &str = "Examples:
  quadcast rules runs/tlogic-harbour-single-step-1
  quadcast rules RUN --relation 'docks at' --top 5 --min-support 20
  quadcast rules RUN --relation 'docks at' --out docks.jsonl
  quadcast run --model tlogic --data OTHER --rules docks.jsonl

A file of rules has one rule a line, with names. Edit it as you like and use it with
`quadcast run --rules`, also on another dataset that has the same relations.";

/// Rules shown when no relation is named.
const TOP: usize = 20;

/// Rules shown for each direction of a relation that is named.
const TOP_OF_RELATION: usize = 10;

/// Which rules to show.
#[derive(Debug, Args)]
pub struct Options {
    /// The folder of a complete run
    pub run: PathBuf,
    /// Only rules that predict this relation, in both directions
    #[arg(long, value_name = "NAME")]
    pub relation: Option<String>,
    /// How many rules; per direction if a relation is named [default: 20, of a relation 10; --out: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub top: Option<u32>,
    /// Only rules of which at least this many bodies were sampled
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub min_support: u32,
    /// Write the rules to a file (JSON Lines) that `quadcast run --rules` reads
    #[arg(long, value_name = "FILE.jsonl")]
    pub out: Option<PathBuf>,
    /// Where the dataset is, if it has moved since the run
    #[arg(long, value_name = "PATH|NAME")]
    pub data: Option<String>,
}

pub fn execute(options: &Options, output: &Output) -> Result<(), Failure> {
    let (session, all) = rules_of_run(&options.run, options.data.as_deref(), output.run())?;
    let dataset = session.dataset().ok_or_else(|| Failure::internal("models with rules have a dataset"))?;
    let relations = &dataset.vocabulary.relations;
    let wanted = match &options.relation {
        Some(name) => Some(lookup(relations, name, "relation").map_err(Failure::input)?),
        None => None,
    };
    let total = all.len();
    let chosen = choose(all, wanted.map(RelationId), options, relations.len());
    if let Some(path) = &options.out {
        write_atomically(path, |out| write_rules(out, &chosen, relations))?;
        let done = json!({ "file": path, "rules": chosen.len() });
        return output.result(&done, || format!("{}: {}\n", rules_of(chosen.len()), path.display()));
    }
    let cards: Vec<RuleCard> = chosen.iter().map(|rule| rule_card(rule, relations)).collect();
    output.result(&cards, || {
        let subject = wanted.map_or_else(String::new, |id| format!(" for {}", relations.name(id)));
        let heading = format!(
            "{} on {}: {} of {}{subject}\n",
            session.entry().name,
            dataset.name,
            counted(chosen.len() as u64),
            rules_of(total)
        );
        heading + &text(&chosen, &cards, relations)
    })
}

fn rules_of(count: usize) -> String {
    format!("{} rule{}", counted(count as u64), if count == 1 { "" } else { "s" })
}

/// The most confident rules first; of equal ones the one that was seen more often.
fn choose(
    mut rules: Vec<Rule>,
    wanted: Option<RelationId>,
    options: &Options,
    relations: usize,
) -> Vec<Rule> {
    rules.retain(|rule| rule.body_support >= options.min_support);
    rules.sort_by(|a, b| {
        b.confidence
            .total_cmp(&a.confidence)
            .then(b.body_support.cmp(&a.body_support))
            .then_with(|| (a.head, &a.body, &a.constraints).cmp(&(b.head, &b.body, &b.constraints)))
    });
    let top = options.top.map(|top| top as usize);
    let limit = |standard: usize| top.unwrap_or(if options.out.is_some() { usize::MAX } else { standard });
    match wanted {
        None => rules.truncate(limit(TOP)),
        Some(relation) => {
            let of = |direction| {
                let head = DirectedRelation::new(relation, direction, relations);
                rules.iter().filter(move |rule| rule.head == head).take(limit(TOP_OF_RELATION)).cloned()
            };
            rules = Direction::BOTH.into_iter().flat_map(of).collect();
        }
    }
    grouped(&rules)
}

/// Rules of one head together, heads in the order of their best rule.
fn grouped(rules: &[Rule]) -> Vec<Rule> {
    let mut known = BTreeSet::new();
    let heads: Vec<DirectedRelation> =
        rules.iter().map(|rule| rule.head).filter(|head| known.insert(*head)).collect();
    let of = |head: DirectedRelation| rules.iter().filter(move |rule| rule.head == head).cloned();
    heads.into_iter().flat_map(of).collect()
}

fn text(rules: &[Rule], cards: &[RuleCard], relations: &Names) -> String {
    if rules.is_empty() {
        return "none\n".to_owned();
    }
    let mut text =
        "“and then”: at the same time or later. Support: bodies that the head followed / all bodies \
                    sampled.\n\nconfidence        support  rule\n"
            .to_owned();
    text.push_str(&"─".repeat(60));
    text.push('\n');
    let mut head = None;
    for (rule, card) in rules.iter().zip(cards) {
        if head != Some(rule.head) {
            let (relation, direction) = rule.head.split(relations.len());
            let name = relations.name(relation.0);
            let question = match direction {
                Direction::Object => format!("X – {name} – ?"),
                Direction::Subject => format!("? – {name} – X"),
            };
            let gap = if head.is_some() { "\n" } else { "" };
            text.push_str(&format!("{gap}{question}\n"));
            head = Some(rule.head);
        }
        let support = format!("{} / {}", rule.rule_support, rule.body_support);
        let first = format!("{:>8.2} %  {support:>13}  ", 100.0 * rule.confidence);
        text.push_str(&wrapped(&card.words, &first, "  "));
    }
    text
}
