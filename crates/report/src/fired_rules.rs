//! Rules that support an answer, as text.

use quadcast_run::{DatedFact, Fired};

use crate::{counted, wrapped};

/// How many rules are shown per answer; the JSON document has all.
const RULES: usize = 3;

/// How many chains of facts are shown per rule.
const CHAINS: usize = 2;

/// Where the text beside the shares begins.
const INDENT: &str = "            ";

/// The strongest rules with the facts that they rest on.
pub(crate) fn rules(fired: &[Fired]) -> String {
    if fired.is_empty() {
        return "   no rule supports it\n".to_owned();
    }
    let mut text = String::new();
    for rule in fired.iter().take(RULES) {
        text.push_str(&format!(
            "   {:5.1} %  score {:.4}, confidence {:.1} %\n",
            100.0 * rule.share,
            rule.score,
            100.0 * rule.rule.confidence
        ));
        text.push_str(&wrapped(&rule.sentence, INDENT, "  "));
        for chain in rule.groundings.iter().take(CHAINS) {
            text.push_str(&wrapped(&dated(chain), &format!("{INDENT}- "), ""));
        }
        let more = rule.grounding_count.saturating_sub(rule.groundings.len().min(CHAINS) as u64);
        if more > 0 {
            let least = if rule.groundings_cut { "at least " } else { "" };
            text.push_str(&format!("{INDENT}  and {least}{} more\n", counted(more)));
        }
    }
    if let Some(rest @ [_, ..]) = fired.get(RULES..) {
        let share: f64 = rest.iter().map(|rule| rule.share).sum();
        let plural = if rest.len() == 1 { "" } else { "s" };
        text.push_str(&format!("   and {} more rule{plural} ({:.1} %)\n", rest.len(), 100.0 * share));
    }
    text
}

fn dated(chain: &[DatedFact]) -> String {
    let facts: Vec<String> =
        chain.iter().map(|f| format!("{} {} {} {}", f.time, f.subject, f.relation, f.object)).collect();
    facts.join("; ")
}

#[cfg(test)]
mod tests {
    use quadcast_run::{DirectedName, RuleCard};

    use super::*;

    fn fired(chains: usize, count: u64, share: f64) -> Fired {
        let relation = || DirectedName { relation: "meets".to_owned(), inverse: false };
        let fact = |time: &str, object: &str| DatedFact {
            subject: "Ann".to_owned(),
            relation: "meets".to_owned(),
            object: object.to_owned(),
            time: time.to_owned(),
        };
        Fired {
            rule: RuleCard {
                head: relation(),
                body: vec![relation(), relation()],
                constraints: vec![],
                confidence: 0.25,
                rule_support: 1,
                body_support: 4,
                words: String::new(),
            },
            sentence: "if Ann meets Bob, and then Bob meets Cem, then Ann meets Cem".to_owned(),
            score: 0.5,
            share,
            confidence_part: 0.125,
            recency_part: 0.375,
            latest: "2030-01-02".to_owned(),
            groundings: vec![vec![fact("2030-01-02", "Bob"), fact("2030-01-03", "Cem")]; chains],
            grounding_count: count,
            groundings_cut: count > 9,
        }
    }

    #[test]
    fn the_strongest_rules_and_a_sum() {
        let text = rules(&[fired(3, 7, 0.5), fired(1, 1, 0.25), fired(2, 10, 0.125), fired(0, 0, 0.125)]);
        let expected = "    50.0 %  score 0.5000, confidence 25.0 %
            if Ann meets Bob, and then Bob meets Cem, then Ann meets Cem
            - 2030-01-02 Ann meets Bob; 2030-01-03 Ann meets Cem
            - 2030-01-02 Ann meets Bob; 2030-01-03 Ann meets Cem
              and 5 more
    25.0 %  score 0.5000, confidence 25.0 %
            if Ann meets Bob, and then Bob meets Cem, then Ann meets Cem
            - 2030-01-02 Ann meets Bob; 2030-01-03 Ann meets Cem
    12.5 %  score 0.5000, confidence 25.0 %
            if Ann meets Bob, and then Bob meets Cem, then Ann meets Cem
            - 2030-01-02 Ann meets Bob; 2030-01-03 Ann meets Cem
            - 2030-01-02 Ann meets Bob; 2030-01-03 Ann meets Cem
              and at least 8 more
   and 1 more rule (12.5 %)
";
        assert_eq!(text, expected);
        assert_eq!(rules(&[]), "   no rule supports it\n");
    }
}
