//! Rules of a run as text: each with its confidence and support, and with a curve over age if the model counts by age.

use quadcast_core::{AgePoint, RelationId, RuleCurve};
use quadcast_run::{DirectedName, RuleCard, RuleList};

use crate::{counted, shown, wrapped, wrapped_within};

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

/// The rules under what they answer, and how many there are.
pub fn rules_text(list: &RuleList) -> String {
    let relation = |id: RelationId| format!(" for {}", shown(list.relations.name(id.0)));
    let heading = format!(
        "{} on {}: {} of {}{}\n",
        list.model,
        shown(&list.dataset),
        counted(list.rules.len() as u64),
        rule_count(list.total),
        list.relation.map_or_else(String::new, relation)
    );
    heading + &table(&list.cards())
}

/// A number of rules, such as `1 rule` or `12 rules`.
pub fn rule_count(count: usize) -> String {
    format!("{} rule{}", counted(count as u64), if count == 1 { "" } else { "s" })
}

fn table(cards: &[RuleCard]) -> String {
    let Some(first) = cards.first() else { return "none\n".to_owned() };
    let mut text = if first.curve.is_some() { COUNTED } else { SAMPLED }.to_owned();
    text.push_str("\nconfidence        support  rule\n");
    text.extend(first.curve.as_ref().map(|curve| curve_row("", curve.by_age.iter().map(age_words))));
    text.push_str(&"─".repeat(if first.curve.is_some() { WIDTH } else { 60 }));
    text.push('\n');
    let mut head = None;
    for card in cards {
        if head != Some(&card.head) {
            let gap = if head.is_some() { "\n" } else { "" };
            text.push_str(&format!("{gap}{}\n", question(&card.head)));
            head = Some(&card.head);
        }
        let support = format!("{} / {}", card.rule_support, card.body_support);
        let first = format!("{:>8.2} %  {support:>13}  ", 100.0 * card.confidence);
        if let Some(curve) = &card.curve {
            text.push_str(&wrapped_within(WIDTH, &card.words, &first, "  "));
            text.push_str(&curve_row(&sparkline(curve), curve.by_age.iter().map(percent_words)));
        } else {
            text.push_str(&wrapped(&card.words, &first, "  "));
        }
    }
    text
}

/// What rules with this head answer.
fn question(head: &DirectedName) -> String {
    let name = shown(&head.relation);
    if head.inverse { format!("? – {name} – X") } else { format!("X – {name} – ?") }
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
    use quadcast_core::{CurvePoint, DirectedRelation, ListedRule, Names, Rule, SmoothCurve};

    use super::*;

    /// A rule that follows from an earlier fact of the first relation.
    fn rule(head: u32) -> ListedRule {
        let rule = Rule {
            head: DirectedRelation(head),
            body: vec![DirectedRelation(0)],
            constraints: Vec::new(),
            rule_support: 1,
            body_support: 4,
            confidence: 0.25,
            any_order: false,
        };
        ListedRule { rule, curve: None }
    }

    #[test]
    fn rules_stand_under_what_they_answer() {
        let names = ["asks", "ans\nwers"].map(|name| Some(name.to_owned()));
        let list = RuleList {
            model: "tlogic",
            dataset: "north".to_owned(),
            relations: Names::new(names.to_vec(), None),
            relation: Some(RelationId(1)),
            total: 1200,
            rules: [1, 1, 3].map(rule).to_vec(),
            portable: true,
        };
        let rule = "   25.00 %          1 / 4  if X asks Y, then X ans\\nwers Y\n";
        let expected = format!(
            "tlogic on north: 3 of 1 200 rules for ans\\nwers\n{SAMPLED}\n\
             confidence        support  rule\n{}\n\
             X – ans\\nwers – ?\n{rule}{rule}\n? – ans\\nwers – X\n{}",
            "─".repeat(60),
            rule.replace("then X", "then Y").replace("wers Y", "wers X")
        );
        assert_eq!(rules_text(&list), expected);
        assert!(
            rules_text(&RuleList { rules: Vec::new(), ..list })
                .ends_with("0 of 1 200 rules for ans\\nwers\nnone\n")
        );
    }

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
