//! Patterns: counted on paper, against the definition on random graphs, and as published on the real data.

use proptest::prelude::*;
use quadcast_analysis::{Lags, PatternOptions, Patterns, RelationPatterns, patterns};
use quadcast_core::{Detection, Names, Quad, RelationId, Shares, Splits, StaticGraph, Vocabulary};
use quadcast_data::Content;
use quadcast_report::{patterns_page, patterns_text};
use quadcast_testing::real;
use quadcast_testing::small::{self, days, loaded, vocabulary};

use crate::read;

fn options(min_support: u64, all: bool) -> PatternOptions {
    PatternOptions { detection: Detection { min_support, ..Detection::default() }, all }
}

fn relation<'a>(found: &'a Patterns, name: &str) -> &'a RelationPatterns {
    found.relations.iter().find(|row| row.relation == name).unwrap()
}

/// r0 is symmetric at once or a few days later, r1 and r2 are inverse over time, r3 goes with r1; r4 has no fact.
fn mirrors() -> Patterns {
    let train: [[u32; 4]; 12] = [
        [0, 0, 1, 0],
        [1, 0, 0, 0],
        [1, 0, 0, 0],
        [0, 0, 1, 5],
        [0, 0, 2, 9],
        [2, 0, 2, 9],
        [0, 1, 1, 1],
        [1, 2, 0, 2],
        [2, 1, 1, 3],
        [1, 2, 2, 50],
        [0, 3, 1, 1],
        [1, 3, 2, 1],
    ];
    let data = days("mirrors", vocabulary(3, 5, None), [&train, &[], &[[2, 0, 0, 9]]]);
    patterns(&loaded(Content::Temporal(data)), &options(2, false))
}

#[test]
fn shares_and_distances_on_paper() {
    let found = mirrors();
    assert_eq!((found.facts, found.self_loops, found.without_facts), (10, 1, 1));
    assert_eq!(found.lag_unit.as_deref(), Some("1 day"));
    let r0 = relation(&found, "r0");
    assert_eq!(r0.facts, 4, "the repeated row counts once, the self loop not at all");
    assert_eq!(r0.symmetric, Shares { same_time: 0.5, any_time: 0.75 });
    let lags = Lags { same_time: 2, to_seven: 1, never: 1, ..Lags::default() };
    assert_eq!(r0.symmetric_lags, Some(lags));
    assert_eq!(r0.repeated, 0.5, "a meets b on days 0 and 5");
    assert_eq!(r0.repeated_lags, Some(Lags { to_seven: 2, never: 2, ..Lags::default() }));
    let inverse = relation(&found, "r1").inverse.as_ref().unwrap();
    assert_eq!((inverse.relation.as_str(), inverse.forwards.same_time), ("r2", 0.0));
    assert_eq!((inverse.forwards.any_time, inverse.backwards.any_time), (1.0, 1.0));
    assert_eq!(inverse.lags, Some(Lags { one: 1, more: 1, ..Lags::default() }));
    let parallel = relation(&found, "r3").parallel.as_ref().unwrap();
    assert_eq!((parallel.relation.as_str(), parallel.mutual().same_time), ("r1", 0.5));
}

#[test]
fn patterns_are_named_and_ordered() {
    let found = mirrors();
    assert!(found.same_time.symmetric.is_empty(), "a half is not more than a half");
    assert_eq!(found.any_time.symmetric[0].relation, "r0");
    assert_eq!(found.any_time.inverse.len(), 1, "a pair is named once");
    assert_eq!(found.any_time.inverse[0].inverse, "r2");
    let order: Vec<&str> = found.relations.iter().map(|row| row.relation.as_str()).collect();
    assert_eq!(order[0], "r0", "the strongest at the same time comes first: {order:?}");
    assert_eq!(found.noticeable(), [0, 1, 2, 3].map(RelationId), "partners stand side by side");
    let document = serde_json::to_value(&found).unwrap();
    assert_eq!(document["relations"][0]["symmetric_lags"]["2-7"], 1);
    assert_eq!(document["any_time"]["inverse"][0]["forwards"], 1.0);
}

#[test]
fn text_fits_and_names_things() {
    let text = patterns_text(&mirrors());
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    for words in
        ["10 facts of 4 relations (train)", "r1 <-> r2 100.0 / 100.0", "in units of 1 day", "r0 75.0"]
    {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
}

/// A page on 39 relations between two entities each: 20 facts in a row, every second one with its mirror.
fn page(timed: bool) -> String {
    let mut rows: Vec<[u32; 4]> = Vec::new();
    for relation in 0..39 {
        let (a, b) = (2 * relation, 2 * relation + 1);
        rows.extend((0..20).map(|day| [a, relation, b, day]));
        rows.extend((0..20).step_by(2).map(|day| [b, relation, a, day]));
    }
    let name = "<a> & \"b\"".to_owned();
    let names = (0..39).map(|id| Some(if id == 0 { "<visits>".to_owned() } else { format!("r{id}") }));
    let ids = Vocabulary { entities: Names::anonymous(78), relations: Names::new(names.collect(), None) };
    let content = if timed {
        Content::Temporal(days(&name, ids, [&rows, &[], &[]]))
    } else {
        let train = rows.iter().map(|&[s, r, o, day]| Quad::new(s, r, o, day).triple()).collect();
        let splits = Splits { train, ..Splits::default() };
        Content::Static(StaticGraph { name, vocabulary: ids, splits, type_constraints: None })
    };
    patterns_page(&patterns(&loaded(content), &options(2, false)))
}

#[test]
fn the_page_holds_what_it_should() {
    let timed = page(true);
    for text in ["Patterns of &lt;a&gt; &amp;", "1 170", "66.67", "at any time", "3 more relations", "1 day"]
    {
        assert!(timed.contains(text), "{text}");
    }
    // Each map once for a screen and once for a phone.
    assert_eq!(timed.matches("<svg class=\"chart heat\"").count(), 4);
    assert!(!timed.contains("<visits>") && timed.contains("none detected"));
    let timeless = page(false);
    assert_eq!(timeless.matches("<svg class=\"chart heat\"").count(), 2);
    assert!(!timeless.contains("at the same time"), "{timeless}");
}

#[test]
fn the_page_loads_nothing_and_does_not_change() {
    let timed = page(true);
    for outside in ["http:", "https:", "src=", "<link", "@import", "url("] {
        assert!(!timed.contains(outside), "{outside}");
    }
    assert_eq!(timed, page(true));
    for tag in ["section", "table", "tr", "td", "th", "svg", "g", "figure", "div", "text", "ul", "li", "p"] {
        let opened = timed.matches(&format!("<{tag}>")).count() + timed.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, timed.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn all_splits_on_request() {
    let train: [[u32; 4]; 1] = [[0, 0, 1, 0]];
    let count = |all| {
        let data = days("two", vocabulary(2, 1, None), [&train, &[], &[[1, 0, 0, 0]]]);
        let found = patterns(&loaded(Content::Temporal(data)), &options(1, all));
        (found.counted.clone(), found.relations[0].symmetric.same_time)
    };
    assert_eq!(count(false), ("train".to_owned(), 0.0));
    assert_eq!(count(true), ("all splits".to_owned(), 1.0));
}

#[test]
fn other_kinds_work_too() {
    let graph = patterns(&loaded(Content::Static(small::graph())), &options(1, false));
    assert_eq!((graph.kind, graph.facts, graph.lag_unit.is_none()), ("static", 2, true));
    assert!(graph.relations.iter().all(|row| row.repeated_lags.is_none() && row.repeated == 0.0));
    assert!(patterns_text(&graph).contains("the facts carry no time"));
    let spans = patterns(&loaded(Content::Intervals(small::intervals())), &options(1, false));
    // a r0 b holds over two intervals, b r0 a over a third.
    assert_eq!(spans.relations[0].symmetric, Shares { same_time: 0.0, any_time: 1.0 });
    assert!((spans.relations[0].repeated - 2.0 / 3.0).abs() < 1e-12);
    let growing = patterns(&loaded(Content::Evolving(small::evolving())), &options(1, false));
    assert_eq!((growing.facts, growing.counted.as_str()), (2, "train of the last step, 2"));
    let all = patterns(&loaded(Content::Evolving(small::evolving())), &options(1, true));
    assert_eq!(all.facts, 3);
    for text in [patterns_text(&graph), patterns_text(&spans), patterns_text(&growing)] {
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}

#[test]
fn an_empty_dataset_has_no_patterns() {
    let data = days("nothing", vocabulary(0, 0, None), [&[], &[], &[]]);
    let found = patterns(&loaded(Content::Temporal(data)), &options(1, false));
    assert!(found.relations.is_empty() && found.noticeable().is_empty());
    assert!(patterns_text(&found).contains("0 facts of 0 relations"));
    let page = patterns_page(&found);
    assert!(!page.contains("chart heat") && page.contains("No relation has a noticeable pattern"));
}

proptest! {
    #[test]
    fn distances_agree_with_the_shares(
        rows in prop::collection::vec((0_u32..4, 0_u32..3, 0_u32..4, 0_u32..40), 0..60)
    ) {
        let rows: Vec<[u32; 4]> = rows.into_iter().map(|(s, r, o, t)| [s, r, o, t]).collect();
        let data = days("random", vocabulary(4, 3, None), [&rows, &[], &[]]);
        let found = patterns(&loaded(Content::Temporal(data)), &options(1, false));
        for row in &found.relations {
            let facts = row.facts as f64;
            let lags = row.symmetric_lags.unwrap();
            prop_assert_eq!(lags.counts().iter().sum::<u64>(), row.facts);
            prop_assert_eq!(lags.same_time as f64 / facts, row.symmetric.same_time);
            prop_assert_eq!(lags.found() as f64 / facts, row.symmetric.any_time);
            let again = row.repeated_lags.unwrap();
            prop_assert_eq!(again.same_time, 0);
            prop_assert_eq!(again.found() as f64 / facts, row.repeated);
            if let Some(inverse) = &row.inverse {
                let lags = inverse.lags.unwrap();
                prop_assert_eq!(lags.same_time as f64 / facts, inverse.forwards.same_time);
                prop_assert_eq!(lags.found() as f64 / facts, inverse.forwards.any_time);
            }
        }
    }
}

#[test]
fn icews14_has_the_published_patterns() {
    let Some(root) = real::any() else { return };
    let found = patterns(&read(&root.join("completion/icews14")), &PatternOptions::default());
    let names: Vec<&str> = found.same_time.symmetric.iter().map(|row| row.relation.as_str()).collect();
    let published = [
        "Discuss by telephone",
        "Engage in negotiation",
        "Consult",
        "Sign formal agreement",
        "Meet at a 'third' location",
        "Express intent to cooperate",
        "Engage in diplomatic cooperation",
        "Declare truce, ceasefire",
        "Express intent to settle dispute",
    ];
    assert_eq!(names, published);
    let three = |share: f64| (1000.0 * share).round() / 1000.0;
    let consult = relation(&found, "Consult");
    assert_eq!([consult.symmetric.same_time, consult.symmetric.any_time].map(three), [0.801, 0.900]);
    let visit = relation(&found, "Make a visit");
    let host = visit.inverse.as_ref().unwrap();
    assert_eq!((host.relation.as_str(), visit.facts), ("Host a visit", 3394));
    assert_eq!([host.forwards.same_time, host.backwards.same_time].map(three), [0.805, 0.798]);
    assert_eq!([host.forwards.any_time, host.backwards.any_time].map(three), [0.930, 0.922]);
    let pairs: Vec<&str> = found.any_time.inverse.iter().map(|pair| pair.relation.as_str()).collect();
    assert_eq!(pairs, ["Make a visit", "Receive deployment of peacekeepers", "Protest violently, riot"]);
}
