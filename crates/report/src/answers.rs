//! Answers of a model as text.

use quadcast_core::Split;
use quadcast_run::{Answer, Answered, DatedFact, Filled, Fired, Forecast, JudgedTriple, Reason, Why};

use crate::{Shown, counted, percent, plain_table, shares, shown, weight_words, wrapped};

/// How many past facts are shown per answer; the JSON document has all.
const FACTS: usize = 5;

/// An answer of any kind.
pub fn answer_text(answered: &Answered) -> String {
    match answered {
        Answered::Entities(found) => forecast(found),
        Answered::Filled(found) => filled(found),
        Answered::Triple(found) => judged_triple(found),
    }
}

/// A part of a question; what is asked for is a question mark.
fn part(name: Option<&str>) -> Shown<&str> {
    shown(name.unwrap_or("?"))
}

/// The question, and the best answer with its reasons.
pub(crate) fn best_answer_text(forecast: &Forecast) -> String {
    let best = forecast.answers.first().and_then(|answer| Some(reasons(answer, answer.why.as_ref()?)));
    question(forecast) + &best.unwrap_or_default()
}

/// What is asked, of whom, and what is known.
fn question(forecast: &Forecast) -> String {
    let [subject, object] = [&forecast.subject, &forecast.object].map(|name| part(name.as_deref()));
    let (relation, at) = (shown(&forecast.relation), shown(&forecast.at));
    let until = shown(forecast.known_until.as_deref().unwrap_or("nothing"));
    let (model, dataset) = (shown(&forecast.model), shown(&forecast.dataset));
    format!("{subject} – {relation} – {object}, {at}\n{model} on {dataset}, facts known until {until}\n")
}

/// The question, the table of answers, and the reasons if they were asked for.
fn forecast(forecast: &Forecast) -> String {
    let mut text = question(forecast) + "\n";
    if forecast.answers.is_empty() {
        text.push_str("The model scored no candidate: the question has no precedent in its history.\n");
        return text;
    }
    text.push_str(&table(&forecast.answers));
    text.push_str(&format!(
        "\n{} of {} candidates scored\n",
        counted(forecast.reached as u64),
        counted(forecast.candidates as u64)
    ));
    for answer in &forecast.answers {
        if let Some(why) = &answer.why {
            text.push_str(&reasons(answer, why));
        }
    }
    text
}

fn table(answers: &[Answer]) -> String {
    let shares = answers.iter().any(|answer| answer.share.is_some());
    let known = answers.iter().any(|answer| answer.known.is_some());
    let mut header = vec!["", "answer", "score"];
    header.extend(shares.then_some("share"));
    let numbers = 2..header.len();
    header.extend(known.then_some("known"));
    let mut table = plain_table(&header, numbers);
    for answer in answers {
        let mut row =
            vec![answer.rank.to_string(), shortened(&answer.entity), format!("{:.4}", answer.score)];
        if shares {
            row.push(answer.share.map_or_else(String::new, |share| format!("{:.1} %", 100.0 * share)));
        }
        if known {
            row.push(if answer.known == Some(true) { "yes" } else { "" }.to_owned());
        }
        table.add_row(row);
    }
    table.text() + "\n"
}

/// Names that would break the table end in an ellipsis.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 60;
    let name = shown(name).to_string();
    if name.chars().count() <= LONGEST {
        return name;
    }
    name.chars().take(LONGEST - 1).chain(['…']).collect()
}

fn reasons(answer: &Answer, why: &Why) -> String {
    let weight = |weight: f64| weight_words(why, weight, answer.score);
    let mut text = format!("\n{}. {}\n", answer.rank, shortened(&answer.entity));
    if why.is_grouped() {
        return text + &shares::text(why);
    }
    match &why.rules {
        Some(fired) => text.push_str(&rules(fired)),
        None if why.losses => text.push_str(&losses(&why.facts, weight)),
        None if let Some(meaning) = why.meaning() => text.push_str(&support(meaning, &why.facts)),
        None => text.push_str(&precedents(&why.facts, weight)),
    }
    for other in &why.also {
        text.push_str(&format!("   {:>7}  {}\n", weight(other.weight), shown(&other.text)));
    }
    text
}

/// How often the answer held before, and the latest times.
fn precedents(facts: &[Reason], weight: impl Fn(f64) -> String) -> String {
    let Some(Reason { fact, .. }) = facts.first() else {
        return "   never in this role before\n".to_owned();
    };
    let times = match facts.len() {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    let [subject, relation, object] = [&fact.subject, &fact.relation, &fact.object].map(shown);
    let mut text = format!("   “{subject} {relation} {object}” held {times} before\n");
    for reason in facts.iter().take(FACTS) {
        text.push_str(&format!("   {:>7}  {}\n", weight(reason.weight), shown(&reason.fact.time)));
    }
    if let Some(older @ [_, ..]) = facts.get(FACTS..) {
        let sum = older.iter().map(|reason| reason.weight).sum();
        text.push_str(&format!("   {:>7}  {} more\n", weight(sum), older.len()));
    }
    text
}

/// Why facts speak for the answer, and the facts.
fn support(meaning: &str, facts: &[Reason]) -> String {
    let mut text = wrapped(meaning, "   ", "   ");
    for Reason { fact, .. } in facts.iter().take(FACTS) {
        text.push_str(&wrapped(&told(fact), "     ", "  "));
    }
    if let Some(rest @ [_, ..]) = facts.get(FACTS..) {
        text.push_str(&format!("     and {} more\n", rest.len()));
    }
    text
}

/// What the score would lose without a fact.
fn losses(facts: &[Reason], weight: impl Fn(f64) -> String) -> String {
    if facts.is_empty() {
        return "   no fact about it in the snapshots that were read\n".to_owned();
    }
    let mut text =
        "   effect of each fact on the score (a negative effect speaks against the answer)\n".to_owned();
    for Reason { fact, weight: loss, .. } in facts.iter().take(FACTS) {
        text.push_str(&wrapped(&told(fact), &format!("   {:>7}  ", weight(*loss)), "  "));
    }
    if let Some(rest @ [_, ..]) = facts.get(FACTS..) {
        text.push_str(&format!("            and smaller effects of {} more facts\n", rest.len()));
    }
    text
}

/// How many rules are shown per answer; the JSON document has all.
pub(crate) const RULES: usize = 3;

/// How many chains of facts are shown per rule.
pub(crate) const CHAINS: usize = 2;

/// Where the text beside the shares of rules begins.
const INDENT: &str = "            ";

/// The strongest rules with the facts that they rest on.
fn rules(fired: &[Fired]) -> String {
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
        text.extend(further_chains(rule).map(|more| format!("{INDENT}  {more}\n")));
    }
    text.extend(further_rules(fired).map(|more| format!("   {more}\n")));
    text
}

/// How many chains of facts are not shown.
pub(crate) fn further_chains(rule: &Fired) -> Option<String> {
    let more = rule.grounding_count.saturating_sub(rule.groundings.len().min(CHAINS) as u64);
    let least = if rule.groundings_cut { "at least " } else { "" };
    (more > 0).then(|| format!("and {least}{} more", counted(more)))
}

/// How many rules are not shown, and their share.
pub(crate) fn further_rules(fired: &[Fired]) -> Option<String> {
    let rest = fired.get(RULES..).filter(|rest| !rest.is_empty())?;
    let share: f64 = rest.iter().map(|rule| rule.share).sum();
    let plural = if rest.len() == 1 { "" } else { "s" };
    Some(format!("and {} more rule{plural} ({:.1} %)", rest.len(), 100.0 * share))
}

fn dated(chain: &[DatedFact]) -> String {
    chain.iter().map(told).collect::<Vec<_>>().join("; ")
}

/// A fact with its time.
pub(crate) fn told(fact: &DatedFact) -> String {
    format!("{} {} {} {}", fact.time, fact.subject, fact.relation, fact.object)
}

/// Relations or times that complete a fact.
fn filled(filled: &Filled) -> String {
    let mut text = format!(
        "{} – {} – {}, {}\n{} on {}\n\n",
        shown(&filled.subject),
        part(filled.relation.as_deref()),
        shown(&filled.object),
        part(filled.at.as_deref()),
        shown(&filled.model),
        shown(&filled.dataset)
    );
    let mut table = plain_table(&["", filled.asked_for, "score", "known"], 2..3);
    for answer in &filled.answers {
        let known = if answer.known { "yes" } else { "" };
        table.add_row(vec![
            answer.rank.to_string(),
            answer.answer.clone(),
            format!("{:.4}", answer.score),
            known.to_owned(),
        ]);
    }
    text.push_str(&table.text());
    text.push_str(&format!("\n\n{} candidates\n", filled.candidates));
    text
}

/// Whether a triple is plausible, and whether it is in the graph.
fn judged_triple(judged: &JudgedTriple) -> String {
    let JudgedTriple { model, dataset, subject, relation, object, at, .. } = judged;
    let [model, dataset, subject, relation, object, at] =
        [model, dataset, subject, relation, object, at].map(shown);
    let mut text = format!("{subject} – {relation} – {object}, {at}\n{model} on {dataset}\n\n");
    text.push_str(&wrapped(&verdict(judged), "", "  "));
    if let Some(accuracy) = judged.accuracy {
        let share = percent(accuracy);
        text.push_str(&wrapped(
            &format!("the threshold classifies {share} % of the test examples of the step correctly"),
            "",
            "  ",
        ));
    }
    text.push_str(&format!("{}\n", whereabouts(judged)));
    text
}

fn verdict(judged: &JudgedTriple) -> String {
    let said = judged.energy.map_or_else(
        || "the model abstains".to_owned(),
        |energy| format!("energy {energy:.4} (lower is more plausible)"),
    );
    let word = |plausible: bool| if plausible { "true" } else { "false" };
    match (judged.threshold, judged.plausible, judged.energy) {
        (Some(limit), Some(plausible), Some(_)) => {
            let side = if plausible { "below" } else { "not below" };
            // A threshold above all energies is the largest number.
            let limit =
                if limit == f64::MAX { "above all energies".to_owned() } else { format!("{limit:.4}") };
            format!("{said}, {side} the threshold {limit}: taken for {}", word(plausible))
        }
        (Some(_), Some(plausible), None) => format!("{said}: taken for {}", word(plausible)),
        _ => format!("{said}; the run has no threshold for it"),
    }
}

fn whereabouts(judged: &JudgedTriple) -> String {
    match (judged.split, &judged.last_known) {
        (Some(Split::Train), _) => "it is in the graph, as a training triple".to_owned(),
        (Some(Split::Valid), _) => "it is in the graph, held out for validation".to_owned(),
        (Some(Split::Test), _) => "it is in the graph, held out for tests".to_owned(),
        (None, Some(last)) => format!("it is not in the graph any more; its last step was {}", shown(last)),
        (None, None) => "it is not in the graph, and never was".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{fact, fired};

    fn judged(energy: Option<f32>, threshold: Option<f64>) -> JudgedTriple {
        JudgedTriple {
            model: "transe".to_owned(),
            dataset: "circles".to_owned(),
            subject: "Ann".to_owned(),
            relation: "likes".to_owned(),
            object: "Bob".to_owned(),
            at: "after step 2".to_owned(),
            energy,
            threshold,
            accuracy: threshold.map(|_| 0.95),
            plausible: threshold.map(|limit| energy.is_some_and(|energy| f64::from(energy) < limit)),
            known: false,
            split: None,
            last_known: Some("1".to_owned()),
        }
    }

    #[test]
    fn verdicts_in_words() {
        assert_eq!(
            judged_triple(&judged(Some(1.5), Some(2.0))),
            "Ann – likes – Bob, after step 2\ntranse on circles\n\n\
             energy 1.5000 (lower is more plausible), below the threshold 2.0000: taken for true\n\
             the threshold classifies 95.00 % of the test examples of the step correctly\n\
             it is not in the graph any more; its last step was 1\n"
        );
        let said = |energy, threshold| verdict(&judged(energy, threshold));
        assert!(said(Some(2.0), Some(2.0)).ends_with("not below the threshold 2.0000: taken for false"));
        assert!(said(Some(9.0), Some(f64::MAX)).ends_with("above all energies: taken for true"));
        assert_eq!(said(None, Some(2.0)), "the model abstains: taken for false");
        assert!(said(Some(1.0), None).ends_with("the run has no threshold for it"));
    }

    /// A rule with chains of two facts.
    fn chained(chains: usize, count: u64, share: f64) -> Fired {
        let meeting = |time: &str, object| DatedFact { time: time.to_owned(), ..fact(object) };
        Fired {
            sentence: "if Ann meets Bob, and then Bob meets Cem, then Ann meets Cem".to_owned(),
            score: 0.5,
            groundings: vec![vec![meeting("2030-01-02", "Bob"), meeting("2030-01-03", "Cem")]; chains],
            grounding_count: count,
            groundings_cut: count > 9,
            ..fired(share, 0.25)
        }
    }

    #[test]
    fn the_strongest_rules_and_a_sum() {
        let text =
            rules(&[chained(3, 7, 0.5), chained(1, 1, 0.25), chained(2, 10, 0.125), chained(0, 0, 0.125)]);
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
