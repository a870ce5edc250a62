//! The patterns of a dataset as text.

use quadcast_analysis::{Lags, NamedMirrors, Partner, Patterns, RelationPatterns};

use super::block::Block;
use crate::shown;

/// Rows of a table; the JSON document has all.
const ROWS: usize = 15;
/// Rows of the table of parallel relations, which is a side matter.
const PARALLEL_ROWS: usize = 8;
/// Names in a list.
const NAMES: usize = 20;
/// From this share on, in both directions, a parallel relation is shown.
const PARALLEL: f64 = 0.1;

/// The patterns of a dataset: tables with lines of at most a hundred columns.
pub fn patterns_text(found: &Patterns) -> String {
    let mut block = Block::default();
    block.heading(&format!(
        "Patterns of {}: {} facts of {} relations ({})",
        found.dataset,
        found.facts,
        found.relations.len(),
        found.counted
    ));
    for remark in remarks(found) {
        block.sentence(&remark, "- ");
    }
    let timed = found.has_time();
    detected_lines(&mut block, if timed { "at the same time" } else { "" }, &found.same_time);
    if timed {
        detected_lines(&mut block, "at any time", &found.any_time);
    }
    mirrors(&mut block, found);
    if let Some(unit) = &found.lag_unit {
        distances(&mut block, found, unit);
    }
    parallels(&mut block, found);
    block.finish()
}

fn remarks(found: &Patterns) -> Vec<String> {
    let mut remarks = vec![format!(
        "a pattern needs a share above {:.0} % and {} facts{}",
        100.0 * found.detection.threshold,
        found.detection.min_support,
        if found.detection.mutual { "; inverses in both directions" } else { "" }
    )];
    match found.kind {
        "intervals" => {
            remarks.push("the same time means the same interval, any time any interval".to_owned());
        }
        "temporal" => {}
        _ => remarks.push("the facts carry no time".to_owned()),
    }
    if found.self_loops > 0 {
        let loops = found.self_loops;
        remarks.push(format!("facts of an entity with itself mirror themselves and are left out: {loops}"));
    }
    if found.without_facts > 0 {
        remarks.push(format!("relations without a fact here: {}", found.without_facts));
    }
    remarks
}

fn detected_lines(block: &mut Block, when: &str, mirrors: &NamedMirrors) {
    let title = |what: &str, count: usize| {
        let when = if when.is_empty() { String::new() } else { format!(" {when}") };
        format!("{what}{when}: {}", if count == 0 { "none".to_owned() } else { count.to_string() })
    };
    block.heading(&title("Symmetric relations", mirrors.symmetric.len()));
    let names = mirrors.symmetric.iter().map(|row| format!("{} {}", row.relation, percent(row.share)));
    list(block, names);
    block.heading(&title("Inverse relations", mirrors.inverse.len()));
    let pairs = mirrors.inverse.iter().map(|pair| {
        let (there, back) = (percent(pair.forwards), percent(pair.backwards));
        format!("{} <-> {} {there} / {back}", pair.relation, pair.inverse)
    });
    list(block, pairs);
}

fn mirrors(block: &mut Block, found: &Patterns) {
    block.heading("Strongest relations, per cent of their facts (there, back: per cent of p, of q)");
    let timed = found.has_time();
    if timed {
        block.line(&format!(
            "  {:<24}{:>8}{:>12}{:>7}  {:<20}{:>12}{:>12}",
            "", "", "symmetric", "", "", "there", "back"
        ));
    }
    block.line(&if timed {
        format!(
            "  {:<24}{:>8}{:>6}{:>6}{:>7}  {:<20}{:>6}{:>6}{:>6}{:>6}",
            "relation p", "facts", "same", "any", "again", "inverse q", "same", "any", "same", "any"
        )
    } else {
        format!(
            "  {:<34}{:>9}{:>11}  {:<28}{:>7}{:>7}",
            "relation p", "facts", "symmetric", "inverse q", "there", "back"
        )
    });
    for row in found.relations.iter().take(ROWS) {
        block.line(&mirror_row(row, timed));
    }
    rest(block, found);
}

fn distances(block: &mut Block, found: &Patterns, unit: &str) {
    block.heading(&format!(
        "Distance in time to the nearest such fact, in units of {unit}, per cent of the facts"
    ));
    let heads = |names: &[&str]| row_of(names.iter().map(|name| format!("{name:>6}")));
    block.line(&format!("  {:<20}{:<11}{:<36} {:<30}", "", "", "     mirrored", "     repeated"));
    block.line(&format!(
        "  {:<20}{:<11}{} {}",
        "relation p",
        "",
        heads(&Lags::NAMES),
        heads(&Lags::NAMES[1..])
    ));
    for row in found.relations.iter().take(ROWS) {
        let Some((by, mirror)) = row.mirror_lags() else { continue };
        let Some(again) = row.repeated_lags else { continue };
        let cells = |counts: &[u64]| {
            let share = |count: &u64| 100.0 * *count as f64 / row.facts.max(1) as f64;
            row_of(counts.iter().map(|count| format!("{:>6.0}", share(count))))
        };
        block.line(&format!(
            "  {:<20}{by:<11}{} {}",
            clip(&row.relation, 19),
            cells(&mirror.counts()),
            cells(&again.counts()[1..])
        ));
    }
    rest(block, found);
}

fn parallels(block: &mut Block, found: &Patterns) {
    // A pair that finds each other is shown once.
    let twice = |row: &RelationPatterns, q: &Partner| {
        let other = found.relations.iter().find(|other| other.id == q.id);
        q.id < row.id && other.and_then(|other| other.parallel.as_ref()).is_some_and(|p| p.id == row.id)
    };
    let worth = |row: &RelationPatterns, partner: &Partner| {
        partner.mutual().same_time >= PARALLEL && !twice(row, partner)
    };
    let mut rows: Vec<(&RelationPatterns, &Partner)> = found
        .relations
        .iter()
        .filter(|row| row.supported)
        .filter_map(|row| Some((row, row.parallel.as_ref().filter(|partner| worth(row, partner))?)))
        .collect();
    if rows.is_empty() {
        return;
    }
    rows.sort_by(|a, b| b.1.mutual().same_time.total_cmp(&a.1.mutual().same_time));
    let when = if found.has_time() { " at the same time" } else { "" };
    block.heading(&format!("Parallel relations{when}, (s, p, o) and (s, q, o), per cent"));
    block.line(&format!("  {:<40}{:<40}{:>8}{:>8}", "relation p", "parallel q", "there", "back"));
    for (row, partner) in rows.iter().take(PARALLEL_ROWS) {
        block.line(&format!(
            "  {:<40}{:<40}{:>8}{:>8}",
            clip(&row.relation, 38),
            clip(&partner.relation, 38),
            percent(partner.forwards.same_time),
            percent(partner.backwards.same_time)
        ));
    }
    if rows.len() > PARALLEL_ROWS {
        block.sentence(&format!("and {} more; --json has all", rows.len() - PARALLEL_ROWS), "");
    }
}

fn rest(block: &mut Block, found: &Patterns) {
    if found.relations.len() > ROWS {
        let more = found.relations.len() - ROWS;
        block.sentence(&format!("and {more} more relations; --json has all"), "");
    }
}

fn mirror_row(row: &RelationPatterns, timed: bool) -> String {
    let (inverse, facts) = (row.inverse.as_ref(), row.facts);
    let share = |pick: fn(&Partner) -> f64| inverse.map_or_else(|| "-".to_owned(), |q| percent(pick(q)));
    let inverse_name = inverse.map_or("-", |q| &q.relation);
    let symmetric = percent(row.symmetric.any_time);
    let (there, back) = (share(|q| q.forwards.any_time), share(|q| q.backwards.any_time));
    if !timed {
        let (name, inverse) = (clip(&row.relation, 33), clip(inverse_name, 27));
        return format!("  {name:<34}{facts:>9}{symmetric:>11}  {inverse:<28}{there:>7}{back:>7}");
    }
    format!(
        "  {:<24}{facts:>8}{:>6}{symmetric:>6}{:>7}  {:<20}{:>6}{there:>6}{:>6}{back:>6}",
        clip(&row.relation, 23),
        percent(row.symmetric.same_time),
        percent(row.repeated),
        clip(inverse_name, 19),
        share(|q| q.forwards.same_time),
        share(|q| q.backwards.same_time)
    )
}

fn list(block: &mut Block, words: impl Iterator<Item = String>) {
    let all: Vec<String> = words.collect();
    if all.is_empty() {
        return;
    }
    let mut text = all[..all.len().min(NAMES)].join("; ");
    if all.len() > NAMES {
        text.push_str(&format!("; and {} more", all.len() - NAMES));
    }
    block.sentence(&text, "  ");
}

fn row_of(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().concat()
}

fn percent(fraction: f64) -> String {
    format!("{:.1}", 100.0 * fraction)
}

/// The words, cut in the middle to a number of letters: many names begin alike.
fn clip(words: &str, most: usize) -> String {
    let words = shown(words).to_string();
    let letters: Vec<char> = words.chars().collect();
    if letters.len() <= most {
        return words;
    }
    let front = most.div_ceil(2);
    let back = most - front - 1;
    let text = |part: &[char]| part.iter().collect::<String>();
    format!("{}…{}", text(&letters[..front]), text(&letters[letters.len() - back..]))
}
