//! Answers of a model that divides its score among kinds of evidence: the share of each kind, and the facts and rules beneath it.

use quadcast_run::{DatedFact, Fired, Why};

use crate::answers::told;
use crate::counted;
use crate::terminal::wrapped_within;

/// How many facts and rules are shown per kind; the JSON document has more.
const FACTS: usize = 3;
const RULES: usize = 3;
/// The kind that rules belong to.
const OF_RULES: &str = "rules";
/// Columns of the text.
const WIDTH: usize = 80;
/// Where the text beside the shares begins.
const INDENT: &str = "           ";
/// Shares beyond this are no shares: they only place an answer below all candidates.
const LARGEST: f64 = 1e6;

/// A kind of evidence.
pub(crate) struct Kind<'a> {
    /// Its part of the score, with its sign.
    pub share: String,
    /// What was counted.
    pub title: &'a str,
    /// Facts and rules, one a line.
    pub lines: Vec<String>,
}

/// The kinds of evidence behind an answer, those with the largest share first, and last what no evidence gives.
pub(crate) fn kinds(why: &Why) -> Vec<Kind<'_>> {
    let of_facts = why.facts.iter().map(|reason| (reason.group.as_deref(), reason.weight));
    let of_others = why.also.iter().map(|other| (other.group.as_deref(), other.weight));
    let mut shares: Vec<(&str, f64)> = Vec::new();
    for (name, weight) in of_facts.chain(of_others) {
        let Some(name) = name else { continue };
        match shares.iter_mut().find(|(known, _)| *known == name) {
            Some((_, share)) => *share += weight,
            None => shares.push((name, weight)),
        }
    }
    shares.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let mut kinds: Vec<Kind<'_>> = shares.into_iter().map(|(name, share)| kind(why, name, share)).collect();
    let rest = why.also.iter().filter(|other| other.group.is_none());
    kinds.extend(rest.map(|other| Kind {
        share: signed(other.weight),
        title: &other.text,
        lines: Vec::new(),
    }));
    kinds
}

fn kind<'a>(why: &'a Why, name: &'a str, share: f64) -> Kind<'a> {
    let own = |group: &Option<String>| group.as_deref() == Some(name);
    let title = why.also.iter().find(|other| own(&other.group)).map_or(name, |other| &other.text);
    let facts: Vec<&DatedFact> =
        why.facts.iter().filter(|reason| own(&reason.group)).map(|reason| &reason.fact).collect();
    let mut lines: Vec<String> = facts.iter().take(FACTS).map(|fact| told(fact)).collect();
    let known = why.fact_count(name).unwrap_or(facts.len() as u64);
    lines.extend(more(known.saturating_sub(FACTS as u64), "earlier one"));
    if name == OF_RULES {
        let rules = why.rules.as_deref().unwrap_or_default();
        lines.extend(rules.iter().take(RULES).map(rule_words));
        lines.extend(more(rules.len().saturating_sub(RULES) as u64, "more rule"));
    }
    Kind { share: signed(share), title, lines }
}

fn more(count: u64, what: &str) -> Option<String> {
    let plural = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("and {} {what}{plural}", counted(count)))
}

/// A rule with its confidence at the age that its facts have now.
fn rule_words(fired: &Fired) -> String {
    let rule = &fired.rule;
    format!(
        "{:.1} % at this age ({:.1} % at any, {} of {}): {}",
        100.0 * fired.score,
        100.0 * rule.confidence,
        counted(u64::from(rule.rule_support)),
        counted(u64::from(rule.body_support)),
        fired.sentence
    )
}

fn signed(share: f64) -> String {
    match share.abs() {
        size if size > LARGEST => "–".to_owned(),
        size if size < 0.005 => "0.00".to_owned(),
        _ => format!("{share:+.2}"),
    }
}

/// The kinds of evidence behind an answer as text.
pub(crate) fn text(why: &Why) -> String {
    let mut text = "   shares of the score; a negative one speaks against the answer\n".to_owned();
    for kind in kinds(why) {
        text.push_str(&wrapped_within(WIDTH, kind.title, &format!("   {:>6}  ", kind.share), "  "));
        for line in kind.lines {
            text.push_str(&wrapped_within(WIDTH, &line, INDENT, "  "));
        }
    }
    text
}

/// The same as pairs of a share and a text; facts and rules have no share of their own.
pub(crate) fn rows(why: &Why) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for Kind { share, title, lines } in kinds(why) {
        rows.push((share, title.to_owned()));
        rows.extend(lines.into_iter().map(|line| (String::new(), line)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use quadcast_run::{Addition, Reason};
    use serde_json::json;

    use super::*;
    use crate::samples::{fact, fired};

    fn addition(group: Option<&str>, text: &str, weight: f64) -> Addition {
        Addition { text: text.to_owned(), weight, group: group.map(str::to_owned) }
    }

    fn why() -> Why {
        let same = |weight: f64| Reason { fact: fact("Bob"), weight, group: Some("same fact".to_owned()) };
        let also = vec![
            addition(Some("rules"), "rules", 1.5),
            addition(Some("popularity"), "popularity: 7 of 20 answers to this relation, 31 facts", -0.25),
            addition(Some("same pair"), "same pair: never before", 0.0),
            addition(None, "score without evidence", -1.0),
        ];
        let rules = Some(vec![fired(0.6, 0.25), fired(0.4, 0.25), fired(0.0, 0.25), fired(0.0, 0.25)]);
        let details = json!({ "facts": { "same fact": 5 } });
        let details = details.as_object().cloned().unwrap_or_default();
        Why { facts: vec![same(1.5), same(0.5)], also, rules, details, ..Why::default() }
    }

    #[test]
    fn every_kind_has_its_share_its_facts_and_its_rules() {
        let rule = "           75.0 % at this age (25.0 % at any, 1 of 2): if Ann meets <Bob>, then\n\
                    \x20            Ann meets <Bob>\n";
        let expected = format!(
            "   shares of the score; a negative one speaks against the answer\n\
             \x20   +2.00  same fact\n\
             \x20          2030-01-02 Ann meets Bob\n\
             \x20          2030-01-02 Ann meets Bob\n\
             \x20          and 2 earlier ones\n\
             \x20   +1.50  rules\n{rule}{rule}{rule}\
             \x20          and 1 more rule\n\
             \x20   -0.25  popularity: 7 of 20 answers to this relation, 31 facts\n\
             \x20    0.00  same pair: never before\n\
             \x20   -1.00  score without evidence\n"
        );
        assert_eq!(text(&why()), expected);
    }

    #[test]
    fn a_place_below_all_candidates_is_no_share() {
        let also = vec![addition(Some("popularity"), "popularity: no candidate", -4.5e15)];
        let rows = rows(&Why { also, ..Why::default() });
        assert_eq!(rows, [("–".to_owned(), "popularity: no candidate".to_owned())]);
    }
}
