//! `quadcast rules`: what a run has learned, in words.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, value_parser};
use quadcast_core::{AgePoint, DirectedRelation, Direction, ListedRule, Names, RelationId, Rule, RuleCurve};
use quadcast_data::write_rules;
use quadcast_report::{counted, shown, wrapped, wrapped_within};
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
`quadcast run --rules`, also on another dataset that has the same relations.

Herald counts its rules by the age of their facts: they are listed with a curve over age, all numbers with
--json, and cannot be edited or exported.";

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
    /// Only rules of which at least this many bodies were sampled or counted
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
    let name = session.entry().name;
    if options.out.is_some() && (session.entry().capabilities)().counts_rules {
        return Err(Failure::input(format!(
            "the rules of {name} cannot be exported: they are part of the model. Leave out --out; --json prints the \
             rules with their curves"
        )));
    }
    let chosen = choose(all, wanted.map(RelationId), options, relations.len());
    if let Some(path) = &options.out {
        let rules: Vec<Rule> = chosen.into_iter().map(|listed| listed.rule).collect();
        write_atomically(path, |out| write_rules(out, &rules, relations))?;
        let done = json!({ "file": path, "rules": rules.len() });
        return output.result(&done, || format!("{}: {}\n", rules_of(rules.len()), shown(path.display())));
    }
    let card =
        |listed: &ListedRule| RuleCard { curve: listed.curve.clone(), ..rule_card(&listed.rule, relations) };
    let cards: Vec<RuleCard> = chosen.iter().map(card).collect();
    output.result(&cards, || {
        let subject = wanted.map_or_else(String::new, |id| format!(" for {}", shown(relations.name(id))));
        let heading = format!(
            "{name} on {}: {} of {}{subject}\n",
            shown(&dataset.name),
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
    mut rules: Vec<ListedRule>,
    wanted: Option<RelationId>,
    options: &Options,
    relations: usize,
) -> Vec<ListedRule> {
    rules.retain(|listed| listed.rule.body_support >= options.min_support);
    rules.sort_by(|a, b| {
        let (a, b) = (&a.rule, &b.rule);
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
                rules
                    .iter()
                    .filter(move |listed| listed.rule.head == head)
                    .take(limit(TOP_OF_RELATION))
                    .cloned()
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

/// Columns of the text.
const WIDTH: usize = 80;

/// What stands above rules with support.
const SAMPLED: &str = "“and then”: at the same time or later. Support: bodies that the head followed / all bodies \
                       sampled.\n";

/// What stands above rules that were counted by age.
const COUNTED: &str = "Support: bodies that the head followed / all bodies counted. Confidence is lower
than their ratio if bodies are few. Below each rule: its confidence in % by the
age of the body (of two facts, the older one) in time units; – if there is none.
";

fn text(rules: &[ListedRule], cards: &[RuleCard], relations: &Names) -> String {
    let Some(first) = rules.first() else { return "none\n".to_owned() };
    let mut text = if first.curve.is_some() { COUNTED } else { SAMPLED }.to_owned();
    text.push_str("\nconfidence        support  rule\n");
    text.extend(first.curve.as_ref().map(|curve| curve_row("", curve.by_age.iter().map(age_words))));
    text.push_str(&"─".repeat(if first.curve.is_some() { WIDTH } else { 60 }));
    text.push('\n');
    let mut head = None;
    for (ListedRule { rule, curve }, card) in rules.iter().zip(cards) {
        if head != Some(rule.head) {
            let gap = if head.is_some() { "\n" } else { "" };
            text.push_str(&format!("{gap}{}\n", question(rule.head, relations)));
            head = Some(rule.head);
        }
        let support = format!("{} / {}", rule.rule_support, rule.body_support);
        let first = format!("{:>8.2} %  {support:>13}  ", 100.0 * rule.confidence);
        if let Some(curve) = curve {
            text.push_str(&wrapped_within(WIDTH, &card.words, &first, "  "));
            text.push_str(&curve_row(&sparkline(curve), curve.by_age.iter().map(percent_words)));
        } else {
            text.push_str(&wrapped(&card.words, &first, "  "));
        }
    }
    text
}

/// What rules with this head answer.
fn question(head: DirectedRelation, relations: &Names) -> String {
    let (relation, direction) = head.split(relations.len());
    let name = shown(relations.name(relation.0));
    match direction {
        Direction::Object => format!("X – {name} – ?"),
        Direction::Subject => format!("? – {name} – X"),
    }
}

/// A line below a rule: a small picture, and a number per age.
fn curve_row(picture: &str, numbers: impl Iterator<Item = String>) -> String {
    let mut row = format!("{picture:>25}  ");
    for number in numbers {
        row.push_str(&format!("{number:>5}"));
    }
    row + "\n"
}

/// A range of ages in four characters: 3, 4–5, –32, 129–.
fn age_words(point: &AgePoint) -> String {
    let from = point.all.from;
    match point.all.to {
        Some(to) if to == from => from.to_string(),
        Some(to) if to > 16 => format!("–{to}"),
        Some(to) => format!("{from}–{to}"),
        None => format!("{from}–"),
    }
}

fn percent_words(point: &AgePoint) -> String {
    match point.all.confidence.map(|confidence| 100.0 * confidence) {
        None => "–".to_owned(),
        Some(percent) if percent < 9.95 => format!("{percent:.1}"),
        Some(percent) => format!("{percent:.0}"),
    }
}

/// A curve as blocks, the largest confidence the highest.
fn sparkline(curve: &RuleCurve) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let values = || curve.by_age.iter().map(|point| point.all.confidence);
    let largest = values().flatten().fold(0.0, f64::max);
    let block = |value: Option<f64>| match value {
        Some(value) if largest > 0.0 => BLOCKS[((value / largest * 8.0) as usize).min(7)],
        Some(_) => BLOCKS[0],
        None => ' ',
    };
    values().map(block).collect()
}

#[cfg(test)]
mod tests {
    use quadcast_core::{CurvePoint, SmoothCurve};

    use super::*;

    fn curve() -> RuleCurve {
        let point = |from, to, confidence| AgePoint {
            all: CurvePoint { from, to, body_support: 1, confidence },
            by_number: Vec::new(),
        };
        let by_age = vec![
            point(1, Some(1), Some(0.8)),
            point(4, Some(5), Some(0.4)),
            point(9, Some(16), None),
            point(65, Some(128), Some(0.012)),
            point(129, None, Some(0.0)),
        ];
        RuleCurve { by_age, smooth: SmoothCurve { alpha: 0.8, lambda: 0.25, phi: 0.0 } }
    }

    #[test]
    fn a_curve_is_a_row_of_numbers_beneath_its_ages() {
        let ages = curve_row("", curve().by_age.iter().map(age_words));
        let row = curve_row(&sparkline(&curve()), curve().by_age.iter().map(percent_words));
        assert_eq!(ages.trim_start(), "1  4–5 9–16 –128 129–\n");
        assert_eq!(row.trim_start(), "█▅ ▁▁     80   40    –  1.2  0.0\n");
        assert_eq!(ages.chars().count(), row.chars().count());
    }
}
