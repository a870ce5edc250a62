//! A page on the patterns of a dataset: a map, the detected relations, a table of all.

use minijinja::Value;
use quadcast_analysis::{Lags, NamedMirrors, Partner, Patterns, RelationPatterns};
use quadcast_core::{RelationId, Shares};
use serde::Serialize;

use super::page::render;
use crate::counted;
use crate::svg::{Heat, NARROW, NARROW_NAMES, WIDE};
use crate::tables::{Cell, Grid, Head, Span};

/// Relations that a map has room for.
const MAPPED: usize = 36;

/// What the template sees.
#[derive(Serialize)]
struct View {
    title: String,
    version: &'static str,
    facts: Vec<(&'static str, String)>,
    detected: Vec<(String, Vec<String>)>,
    /// One if there is no time, else two.
    maps: Vec<MapView>,
    timed: bool,
    left_out: String,
    /// Whether a phone shows fewer relations.
    many: bool,
    threshold: String,
    lag_unit: String,
    table: Grid,
}

#[derive(Serialize)]
struct MapView {
    word: &'static str,
    when: &'static str,
    drawings: [Value; 2],
}

/// The page as one HTML file. The same patterns give the same bytes.
pub fn patterns_page(found: &Patterns) -> String {
    let mut mapped = found.noticeable();
    let left_out = mapped.len().saturating_sub(MAPPED);
    mapped.truncate(MAPPED);
    let threshold = format!("{:.0} %", 100.0 * found.detection.threshold);
    let sizes = [
        ("counted", found.counted.clone()),
        ("facts", counted(found.facts)),
        ("relations with facts", counted(found.relations.len() as u64)),
        ("facts of an entity with itself", counted(found.self_loops)),
        ("a pattern is above", threshold.clone()),
        ("and has at least", format!("{} facts", counted(found.detection.min_support))),
    ];
    let view = View {
        title: format!("Patterns of {}", found.dataset),
        version: env!("CARGO_PKG_VERSION"),
        facts: sizes.into(),
        detected: detected(found),
        maps: maps(found, &mapped),
        timed: found.has_time(),
        left_out: match left_out {
            0 => String::new(),
            more => format!("{} more relations have a weaker pattern. ", counted(more as u64)),
        },
        many: mapped.len() > NARROW_NAMES,
        threshold,
        lag_unit: found.lag_unit.clone().unwrap_or_default(),
        table: table(found),
    };
    render("patterns.html", view)
}

/// Shares of the facts (s, p, o) that come with (o, q, s), by row p and column q.
fn maps(found: &Patterns, mapped: &[RelationId]) -> Vec<MapView> {
    if mapped.is_empty() {
        return Vec::new();
    }
    let name = |id: &RelationId| {
        let row = found.relations.iter().find(|row| row.id == *id);
        row.map_or_else(|| format!("#{}", id.0), |row| row.relation.clone())
    };
    let names: Vec<String> = mapped.iter().map(name).collect();
    let map = |word, when, pick: fn(Shares) -> f64| {
        let row = |&p| mapped.iter().map(|&q| pick(found.mirrored(p, q))).collect();
        let cells: Vec<Vec<f64>> = mapped.iter().map(row).collect();
        let about = format!("mirrored {when}");
        let threshold = found.detection.threshold;
        let heat = Heat { names: &names, cells: &cells, threshold, about: about.trim() };
        let drawings = [WIDE, NARROW].map(|width| Value::from_safe_string(heat.draw(width)));
        MapView { word, when, drawings }
    };
    if !found.has_time() {
        return vec![map("all", "", |shares| shares.any_time)];
    }
    vec![
        map("same", "at the same time", |shares| shares.same_time),
        map("any", "at any time", |shares| shares.any_time),
    ]
}

/// Detected relations: a heading and the names.
fn detected(found: &Patterns) -> Vec<(String, Vec<String>)> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let lists = |when: &str, mirrors: &NamedMirrors| {
        let symmetric =
            mirrors.symmetric.iter().map(|row| format!("{} {}", row.relation, percent(row.share)));
        let inverse = mirrors.inverse.iter().map(|pair| {
            let (there, back) = (percent(pair.forwards), percent(pair.backwards));
            format!("{} ↔ {} {there} / {back}", pair.relation, pair.inverse)
        });
        [
            (format!("Symmetric{when}"), symmetric.collect::<Vec<_>>()),
            (format!("Inverse{when}"), inverse.collect()),
        ]
    };
    if !found.has_time() {
        return lists("", &found.any_time).into();
    }
    let mut all = lists(" at the same time", &found.same_time).to_vec();
    all.extend(lists(" at any time", &found.any_time));
    all
}

/// The patterns of every relation, per cent of its facts.
fn table(found: &Patterns) -> Grid {
    let timed = found.has_time();
    let shares = |about: &str| {
        if !timed {
            return vec![Head::number("share", format!("{about}, per cent"))];
        }
        let when = [("same", "at the same time"), ("any", "at any time")];
        when.map(|(name, when)| Head::number(name, format!("{about} {when}, per cent"))).to_vec()
    };
    let partner = |about: &str| {
        let mut heads = vec![Head { about: about.to_owned(), ..Head::text("q") }];
        for (way, of) in [("there", "the row's facts"), ("back", "the facts of q")] {
            let whens: &[&str] = if timed { &[", same", ", any"] } else { &[""] };
            let head = |when| Head::number(format!("{way}{when}"), format!("share of {of}, per cent"));
            heads.extend(whens.iter().map(head));
        }
        heads
    };
    let mut groups = vec![
        ("", vec![Head::text("relation"), Head::number("facts", "")]),
        ("symmetric", shares("mirrored by itself")),
        ("inverse", partner("mirrors it best: (o, q, s)")),
        ("parallel", partner("goes with it best: (s, q, o)")),
    ];
    if timed {
        let about = "facts that hold at another time too, per cent";
        groups.push(("repeated", vec![Head::number("again", about)]));
    }
    if found.lag_unit.is_some() {
        let lags = Lags::NAMES.map(|name| Head::number(name, "facts, per cent"));
        groups.push(("mirrored at a distance of", lags.to_vec()));
        groups.push(("repeated at a distance of", lags[1..].to_vec()));
    }
    let span = |(text, heads): &(&str, Vec<Head>)| Span {
        text: (*text).to_owned(),
        columns: heads.len(),
        series: None,
    };
    Grid {
        spans: groups.iter().map(span).collect(),
        head: groups.into_iter().flat_map(|(_, heads)| heads).collect(),
        rows: found.relations.iter().map(|row| cells(row, timed)).collect(),
    }
}

fn cells(row: &RelationPatterns, timed: bool) -> Vec<Cell> {
    let shares = |shares: Shares| {
        let same = timed.then_some(shares.same_time);
        same.into_iter().chain([shares.any_time]).map(|share| Cell::shaded(Some(share)))
    };
    let partner = |partner: &Option<Partner>| match partner {
        Some(partner) => {
            let mut cells = vec![Cell::text(&*partner.relation)];
            cells.extend(shares(partner.forwards));
            cells.extend(shares(partner.backwards));
            cells
        }
        None => vec![Cell::text("–"); if timed { 5 } else { 3 }],
    };
    let mut cells = vec![Cell::text(&*row.relation), Cell::number(row.facts as f64, counted(row.facts))];
    cells.extend(shares(row.symmetric));
    cells.extend(partner(&row.inverse));
    cells.extend(partner(&row.parallel));
    if timed {
        cells.push(Cell::shaded(Some(row.repeated)));
    }
    let mut lags = |lags: Option<Lags>, skipped: usize| {
        let counts = lags.iter().flat_map(|lags| lags.counts().into_iter().skip(skipped));
        let share = |count: u64| count as f64 / row.facts.max(1) as f64;
        cells.extend(counts.map(share).map(|share| Cell::number(share, format!("{:.1}", 100.0 * share))));
    };
    lags(row.mirror_lags().map(|(_, lags)| lags), 0);
    lags(row.repeated_lags, 1);
    cells
}
