//! A forecast for people.

use quadcast_report::{Answer, Forecast, Reason, Why, counted, plain_table, wrapped};

use super::rule_text::rules;

/// How many past facts are shown per answer; the JSON document has all.
const FACTS: usize = 5;

/// The question, the table of answers, and the reasons if they were asked for.
pub fn forecast(forecast: &Forecast) -> String {
    let side = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
    let mut text = format!(
        "{} – {} – {}, {}\n",
        side(&forecast.subject),
        forecast.relation,
        side(&forecast.object),
        forecast.at
    );
    let until = forecast.known_until.as_deref().unwrap_or("nothing");
    text.push_str(&format!("{} on {}, facts known until {until}\n\n", forecast.model, forecast.dataset));
    if forecast.answers.is_empty() {
        text.push_str("The model has nothing to say: the question has no precedent in its history.\n");
        return text;
    }
    text.push_str(&table(&forecast.answers));
    text.push_str(&format!(
        "\n{} of {} candidates reached\n",
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
    table.trim_fmt() + "\n"
}

/// Names that would break the table end in an ellipsis.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 60;
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    name.chars().take(LONGEST - 1).chain(['…']).collect()
}

fn reasons(answer: &Answer, why: &Why) -> String {
    let weight = |weight: f64| why.weight(weight, answer.score);
    let mut text = format!("\n{}. {}\n", answer.rank, shortened(&answer.entity));
    match &why.rules {
        Some(fired) => text.push_str(&rules(fired)),
        None if why.losses => text.push_str(&losses(&why.facts, weight)),
        None if let Some(meaning) = why.meaning() => text.push_str(&support(meaning, &why.facts)),
        None => text.push_str(&precedents(&why.facts, weight)),
    }
    for other in &why.also {
        text.push_str(&format!("   {:>7}  {}\n", weight(other.weight), other.text));
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
    let mut text = format!("   “{} {} {}” held {times} before\n", fact.subject, fact.relation, fact.object);
    for reason in facts.iter().take(FACTS) {
        text.push_str(&format!("   {:>7}  {}\n", weight(reason.weight), reason.fact.time));
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
        let told = format!("{} {} {} {}", fact.time, fact.subject, fact.relation, fact.object);
        text.push_str(&wrapped(&told, "     ", "  "));
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
    let mut text = "   without the fact, the score would fall by\n".to_owned();
    for Reason { fact, weight: loss } in facts.iter().take(FACTS) {
        let told = format!("{} {} {} {}", fact.time, fact.subject, fact.relation, fact.object);
        text.push_str(&wrapped(&told, &format!("   {:>7}  ", weight(*loss)), "  "));
    }
    if let Some(rest @ [_, ..]) = facts.get(FACTS..) {
        text.push_str(&format!("            and less by {} more facts\n", rest.len()));
    }
    text
}
