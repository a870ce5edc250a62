//! A run record as a table for people: per cent, intervals, and where the numbers come from.

use quadcast_core::{Candidates, Duplicates, Setting, Task, TiePolicy, ValidationUse};
use quadcast_eval::{FilterOutcome, Part, RelationTime, SlotOutcome};
use quadcast_run::{AskedAbout, Record, RulesCard, TrainedBy, Why};

use crate::evolving::{evolving_footing, evolving_tables};
use crate::tables::outcome_cells;
use crate::{plain_table, rule_count, shown};

/// A fraction as per cent with two decimals.
pub fn percent(fraction: f64) -> String {
    format!("{:.2}", 100.0 * fraction)
}

/// A difference of fractions in points, with its sign.
pub(crate) fn points(fraction: f64) -> String {
    match format!("{:+.2}", 100.0 * fraction) {
        zero if zero == "-0.00" || zero == "+0.00" => "0.00".to_owned(),
        other => other,
    }
}

/// A count with thin separators: 14 742.
pub fn counted(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Seconds with as many digits as matter.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 100.0 => format!("{s:.1} s"),
        s => {
            let whole = s.round() as u64;
            format!("{} min {:02} s", whole / 60, whole % 60)
        }
    }
}

/// Bytes in the largest fitting unit.
pub fn bytes(bytes: u64) -> String {
    match bytes as f64 {
        b if b >= 1e9 => format!("{:.2} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.0} MB", b / 1e6),
        b => format!("{:.0} kB", b / 1e3),
    }
}

/// Columns that text for people may take.
pub(crate) const WIDTH: usize = 100;

/// A paragraph of lines that begin with `first`; further ones with blanks of the same width and `hanging`. A word that is longer
/// than a line stands alone in it.
pub fn wrapped(text: &str, first: &str, hanging: &str) -> String {
    filled(text.split(' '), first, hanging)
}

/// The same in lines of another width.
pub fn wrapped_within(width: usize, text: &str, first: &str, hanging: &str) -> String {
    filled_within(width, text.split(' '), first, hanging)
}

/// The same of given words, which may hold blanks that no line ends at. Line ends within words are shown, not obeyed.
pub(crate) fn filled<'a>(words: impl Iterator<Item = &'a str>, first: &str, hanging: &str) -> String {
    filled_within(WIDTH, words, first, hanging)
}

fn filled_within<'a>(
    most: usize,
    words: impl Iterator<Item = &'a str>,
    first: &str,
    hanging: &str,
) -> String {
    let further = " ".repeat(first.chars().count()) + hanging;
    let (mut paragraph, mut line) = (String::new(), first.to_owned());
    let mut empty = true;
    for word in words {
        let word = shown(word).to_string();
        let width = line.chars().count() + word.chars().count() + usize::from(!empty);
        if !empty && width > most {
            paragraph.push_str(line.trim_end());
            paragraph.push('\n');
            line.clone_from(&further);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(&word);
        empty = false;
    }
    paragraph.push_str(line.trim_end());
    paragraph.push('\n');
    paragraph
}

/// The record as text: a heading, the results table, and what they rest on. Empty for a run without results.
pub fn summary(record: &Record) -> String {
    let Some(metrics) = &record.metrics else { return String::new() };
    let mut text = heading(record);
    text.push('\n');
    text.push_str(&results(&[
        ("time-aware", &metrics.time),
        ("static", &metrics.fixed),
        ("raw", &metrics.raw),
    ]));
    if let Some(outcome) = &record.evolving {
        text.push_str(&evolving_tables(record, outcome));
    }
    text.push('\n');
    for line in footing(record, &metrics.time) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn heading(record: &Record) -> String {
    let protocol = &record.protocol;
    let candidates = match protocol.candidates {
        Candidates::Seen | Candidates::All if record.task == Task::Evolving => {
            format!(" · candidates {}", protocol.candidates.word())
        }
        _ => String::new(),
    };
    let text = format!(
        "{} on {} · {}{candidates} · ties {} · seed {}{}",
        record.model.name,
        record.dataset.name,
        protocol.headline(),
        protocol.ties.word(),
        record.seed,
        if protocol.compat { " · compat" } else { "" }
    );
    let text = match protocol.leak {
        Some(leak) => format!("{text} · DEMONSTRATES THE QUERY-SET LEAK ({})", leak.word()),
        None => text,
    };
    wrapped(&text, "", "  ")
}

fn results(filters: &[(&str, &FilterOutcome)]) -> String {
    let header = ["filter", "MRR", "95 % interval", "H@1", "H@3", "H@10", "MR", "object", "subject"];
    let mut table = plain_table(&header, 1..header.len());
    for (name, outcome) in filters {
        let cells = outcome_cells(outcome).into_iter().map(|cell| cell.text);
        table.add_row([(*name).to_owned()].into_iter().chain(cells));
    }
    table.text() + "\n"
}

fn footing(record: &Record, time: &FilterOutcome) -> Vec<String> {
    let mut lines = vec![queries(record, time), seen(time)];
    if record.ties_known() {
        let unreached = record.unreached.map(|share| format!(", not scored {} %", percent(share)));
        lines.push(format!("correct answer tied {} %{}", percent(time.ties), unreached.unwrap_or_default()));
        lines.push(policies(record));
    }
    lines.extend(relation_time(record));
    match &record.evolving {
        Some(outcome) => {
            lines
                .extend(evolving_footing(record, outcome).into_iter().map(|line| line.trim_end().to_owned()));
        }
        None => lines.push(format!("history: {}", history(record))),
    }
    lines.push(format!(
        "load {}, fit {}, evaluate {}{}",
        seconds(record.seconds.load),
        seconds(record.seconds.fit),
        seconds(record.seconds.evaluate),
        record.peak_memory_bytes.map_or_else(String::new, |b| format!(", peak memory {}", bytes(b)))
    ));
    if let Some(rules) = &record.model.rules {
        lines.push(format!("rules: {}; nothing was learned in this run", rules_words(rules)));
    }
    lines.extend(record.model.trained_by.as_ref().map(|by| format!("model: {}", trained_by_words(by))));
    lines.extend(score_notes(record));
    if record.isolation.is_some_and(|isolation| isolation.is_broken()) {
        lines.push(
            "warning: the scores change when other queries are in the same batch (isolation broken):\n         \
             do not trust the figures"
                .to_owned(),
        );
    }
    if let Some(bad @ 1..) = record.not_a_number {
        lines.push(format!(
            "warning: the correct answer of {} queries scored \"not a number\" and was ranked last",
            counted(bad)
        ));
    }
    lines
}

fn queries(record: &Record, time: &FilterOutcome) -> String {
    let repeated = record.repeated_queries.unwrap_or(0) as u64;
    let repeated = match record.protocol.duplicates {
        Duplicates::Drop if repeated > 0 => format!(", {} duplicates asked once", counted(repeated)),
        _ => String::new(),
    };
    let asked = record.asked.map_or_else(String::new, |asked: AskedAbout| format!("; {}", asked.words()));
    let candidates = match record.task {
        Task::Evolving => String::new(),
        _ => format!(", {} candidates each", counted(record.dataset.entities as u64)),
    };
    format!("{} queries (both directions{repeated}{asked}){candidates}", counted(time.queries))
}

fn seen(time: &FilterOutcome) -> String {
    let seen = |part: Option<Part>| part.map_or_else(|| "–".to_owned(), |p| percent(p.metrics.mrr));
    let share = |part: Option<Part>| part.map_or(0.0, |p| p.queries as f64 / time.queries as f64);
    format!(
        "MRR on facts seen before {} ({} % of queries), never seen {}",
        seen(time.seen),
        percent(share(time.seen)),
        seen(time.unseen)
    )
}

/// Where external scores came from, and what that leaves open.
fn score_notes(record: &Record) -> Vec<String> {
    let Some(scores) = &record.scores else { return Vec::new() };
    let mut lines =
        vec![format!("scores: {}, {}, {}", scores.layout, bytes(scores.bytes), shown(&scores.file))];
    if !scores.order_verified {
        lines.push("warning: row order not verified; nothing proves that a row answers its query".to_owned());
    }
    if scores.ranked_by.is_some() {
        lines.push(
            "warning: the ranks come from an external model; checked for contradictions, not counted"
                .to_owned(),
        );
    }
    if !record.ties_known() {
        lines.push("warning: the file does not tell ties; every rank was taken as untied".to_owned());
    }
    lines
}

/// Given rules in words, such as `12 rules from a.jsonl, 3 dropped`.
pub fn rules_words(rules: &RulesCard) -> String {
    let dropped = match rules.dropped {
        0 => String::new(),
        dropped => format!(", {} dropped", counted(dropped as u64)),
    };
    format!("{} from {}{dropped}", rule_count(rules.used), shown(&rules.file))
}

/// Where a model that was trained elsewhere comes from, such as `trained by runs/a (single-step, digest 0123456789ab)`.
pub fn trained_by_words(by: &TrainedBy) -> String {
    let until =
        by.until.as_deref().map_or_else(String::new, |until| format!(", on facts up to {}", shown(until)));
    let digest: String = by.digest.chars().take(12).collect();
    format!("trained by {} ({}{until}, digest {})", shown(&by.run), shown(&by.protocol), shown(&digest))
}

/// The weight of a reason: a share of the score, or by how much the score falls without it.
pub fn weight_words(why: &Why, weight: f64, score: f64) -> String {
    let whole = why.parts_of.unwrap_or(score);
    match (why.losses, whole > 0.0) {
        (true, _) => format!("{weight:+.3}"),
        (false, true) => format!("{:.1} %", 100.0 * weight / whole),
        (false, false) => "–".to_owned(),
    }
}

fn policies(record: &Record) -> String {
    let shown = [TiePolicy::Mean, TiePolicy::Optimistic, TiePolicy::Pessimistic];
    let value = |policy: TiePolicy| {
        let metrics = record.policies()?.get(policy.word())?;
        Some(format!("{} {}", policy.word(), percent(metrics.mrr)))
    };
    format!("MRR by tie policy: {}", shown.into_iter().filter_map(value).collect::<Vec<_>>().join(", "))
}

/// Relation prediction and time prediction.
fn relation_time(record: &Record) -> Option<String> {
    let RelationTime { relation, time } = record.relation_time?;
    let told = |name: &str, slot: SlotOutcome| {
        let metrics = slot.metrics;
        format!(
            "{name} {} (H@1 {}, {} candidates)",
            percent(metrics.mrr),
            percent(metrics.hits1),
            slot.candidates
        )
    };
    Some(format!("MRR when asked for another part: {}, {}", told("relation", relation), told("time", time)))
}

fn history(record: &Record) -> String {
    let latest = shown(record.latest_read.as_deref().unwrap_or("nothing"));
    let validation = match record.protocol.validation {
        ValidationUse::Observed => "validation facts observed",
        ValidationUse::Withheld => "validation facts withheld",
    };
    if record.task == Task::Completion {
        return format!("training facts of all times known, {validation}");
    }
    let setting = match record.protocol.setting {
        Setting::SingleStep => "every earlier step known",
        Setting::MultiStep => "nothing of the test period known",
        Setting::Online => "every earlier step known and learned from",
    };
    if record.scores.is_some() {
        return format!("{setting}, {validation} (as declared)");
    }
    format!("{setting}, {validation}; latest fact read: {latest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(counted(7), "7");
        assert_eq!(counted(14742), "14 742");
        assert_eq!(counted(2_300_000), "2 300 000");
        assert_eq!(seconds(0.123), "0.12 s");
        assert_eq!(seconds(119.7), "2 min 00 s");
        assert_eq!(bytes(123_456_789), "123 MB");
        assert_eq!(bytes(12_345), "12 kB");
        assert_eq!(percent(0.37374), "37.37");
    }

    #[test]
    fn paragraphs_fit_a_page() {
        let text = wrapped(&"word ".repeat(50), "  - ", "  ");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.starts_with("  - word word") && text.contains("\n      word"), "{text}");
        assert_eq!(text.matches("word").count(), 50);
        assert_eq!(wrapped("short", "> ", ""), "> short\n");
        let long = "x".repeat(120);
        assert_eq!(wrapped(&format!("a {long} b"), "", " "), format!("a\n {long}\n b\n"));
        let times = filled(std::iter::repeat_n("1 min 02 s,", 20), "", "  ");
        assert_eq!(times.matches("1 min 02 s,").count(), 20, "{times}");
    }
}
