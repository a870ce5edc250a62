//! The audit of a dataset as text.

use quadcast_analysis::{Audit, Leakage, LeakageCheck, NamedFact, SplitKind, Unseen};
use quadcast_core::Verdict;

use super::block::Block;

/// Relations of a finding that are shown; the JSON document has more.
const RELATIONS: usize = 3;
/// Examples of a leak that are shown; of what only helps, one is.
const EXAMPLES: usize = 2;

/// The audit: lines of at most a hundred columns.
pub fn audit_text(audit: &Audit) -> String {
    let mut block = Block::default();
    block.heading(&format!("Audit of {}: {}", audit.dataset, audit.worst().word()));
    for check in &audit.checks {
        block.heading(&format!("{} {}: {}", check.id, check.verdict.word(), check.question));
        block.sentence(&check.evidence, "    ");
        if let Some(advice) = &check.advice {
            block.sentence(advice, " -> ");
        }
    }
    leakage(&mut block, &audit.leakage);
    block.finish()
}

fn leakage(block: &mut Block, found: &Leakage) {
    block.heading(&format!("Leakage {}: {}", found.verdict.word(), headline(found)));
    block.sentence(&format!("{}: {}", found.split_kind.word(), found.about), "    ");
    if let Some(limit) = found.max_leakage {
        block.sentence(&format!("allowed are {:.2} % of the test facts", 100.0 * limit), "    ");
    }
    block.sentence(&patterns(found), "    ");
    block.line("");
    block.line(&title(found));
    for check in &found.checks {
        block.line(&row(check));
    }
    novelties(block, found);
    if found.split_kind != SplitKind::Evolving {
        classes(block, found);
    }
    // What only helps has the same examples as the leaks, if there are any.
    let leaks = found.leaked.count > 0;
    let shown = |check: &&LeakageCheck| check.verdict > Verdict::Pass && (check.leak || !leaks);
    for check in found.checks.iter().filter(shown) {
        evidence(block, check);
    }
    if !found.scores.is_empty() {
        block.heading("Without any learning, time-aware filter");
        block.line(&format!("  {:<48}  {:>6}  {:>6}  {:>6}", "", "MRR", "H@1", "H@10"));
    }
    for score in &found.scores {
        let [mrr, hits1, hits10] = [score.mrr, score.hits1, score.hits10].map(|value| 100.0 * value);
        block.line(&format!("  {:<48}  {mrr:>6.2}  {hits1:>6.2}  {hits10:>6.2}", score.name));
    }
}

fn headline(found: &Leakage) -> String {
    if found.split_kind == SplitKind::Forecasting {
        return "how much of the test split is known from earlier facts".to_owned();
    }
    format!(
        "{} of {} test facts ({:.2} %) stand in train or follow from it by a pattern",
        found.leaked.count,
        found.test_facts,
        100.0 * found.leaked.share
    )
}

fn title(found: &Leakage) -> String {
    let (fact, holds) = match found.split_kind {
        SplitKind::Static | SplitKind::Evolving => ("(s, p, o)", "train holds"),
        SplitKind::Intervals => ("(s, p, o, i)", "train holds"),
        SplitKind::Forecasting => ("(s, p, o, t)", "known is"),
        SplitKind::Completion | SplitKind::Mixed => ("(s, p, o, t)", "train holds"),
    };
    format!("  {:<66}{:>8}{:>9}", format!("of a test fact {fact} {holds}"), "facts", "%")
}

fn patterns(found: &Leakage) -> String {
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let timed = !matches!(found.split_kind, SplitKind::Static | SplitKind::Evolving);
    let mut text = format!(
        "detected in train{}: {}, {}, {}",
        if timed { " at the same time" } else { "" },
        count(found.same_time.symmetric.len(), "symmetric relation"),
        count(found.same_time.inverse.len(), "inverse pair"),
        count(found.parallel.len(), "parallel pair")
    );
    if timed {
        text.push_str(&format!(
            "; over time: {}, {}",
            count(found.any_time.symmetric.len(), "symmetric relation"),
            count(found.any_time.inverse.len(), "inverse pair")
        ));
    }
    text + " (quadcast data patterns names them)"
}

fn novelties(block: &mut Block, found: &Leakage) {
    let Some(unseen) = &found.unseen else { return };
    let kinds = [
        ("entities", Some(&unseen.entities)),
        ("relations", Some(&unseen.relations)),
        ("time stamps", unseen.time_stamps.as_ref()),
    ];
    let share = |unseen: &Unseen| 100.0 * unseen.test_facts as f64 / found.test_facts.max(1) as f64;
    for (what, unseen) in kinds.iter().filter_map(|(what, unseen)| Some((what, (*unseen)?))) {
        let words = format!("nothing about one of its {what} (new ones: {})", unseen.ids);
        block.line(&format!("  {words:<66}{:>8}{:>9.2}", unseen.test_facts, share(unseen)));
    }
}

fn classes(block: &mut Block, found: &Leakage) {
    block.heading("Every test fact once, by the strongest evidence");
    let words = found
        .classes
        .iter()
        .filter(|class| class.count > 0)
        .map(|class| format!("{} {} ({:.1} %)", class.class, class.count, 100.0 * class.share));
    block.sentence(&words.collect::<Vec<_>>().join(", "), "    ");
}

fn row(check: &LeakageCheck) -> String {
    let verdict = if check.verdict == Verdict::Pass { "" } else { check.verdict.word() };
    format!("  {:<66}{:>8}{:>9.2}  {verdict}", check.holds, check.count, 100.0 * check.share)
}

/// Where a finding comes from: relations and examples.
fn evidence(block: &mut Block, check: &LeakageCheck) {
    block.heading(&format!("{}: {} ({:.2} %)", check.holds, check.count, 100.0 * check.share));
    let relations = check.relations.iter().take(RELATIONS);
    let words = relations.map(|row| format!("{} {} of {}", row.relation, row.count, row.of));
    let more = if check.relations.len() > RELATIONS { ", ..." } else { "" };
    block.sentence(&format!("{}{more}", words.collect::<Vec<_>>().join(", ")), "    mostly ");
    for example in check.examples.iter().take(if check.leak { EXAMPLES } else { 1 }) {
        let by =
            if example.by == example.test { String::new() } else { format!(" <- {}", words_of(&example.by)) };
        block.sentence(&format!("{}{by}", words_of(&example.test)), "    e.g. ");
    }
}

fn words_of(fact: &NamedFact) -> String {
    let time = fact.time.as_ref().map(|time| format!(", {time}")).unwrap_or_default();
    format!("({}, {}, {}{time})", fact.subject, fact.relation, fact.object)
}
