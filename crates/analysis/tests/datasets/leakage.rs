//! Leakage: counted on paper, against the definition on random graphs, and as described for the real data.

use proptest::prelude::*;
use quadcast_analysis::{
    Audit, Details, Leakage, LeakageCheck, LeakageOptions, ReferenceScore, SplitKind, audit, audit_with, info,
};
use quadcast_core::{Detection, Verdict};
use quadcast_data::Content;
use quadcast_report::audit_text;
use quadcast_testing::real;
use quadcast_testing::small::{self, days, loaded, vocabulary};

use crate::read;

fn check<'a>(leakage: &'a Leakage, id: &str) -> &'a LeakageCheck {
    leakage.checks.iter().find(|check| check.id == id).unwrap_or_else(|| panic!("no check {id}"))
}

fn count(leakage: &Leakage, id: &str) -> usize {
    check(leakage, id).count
}

fn expect(leakage: &Leakage, counts: &[(&str, usize)]) {
    for (id, expected) in counts {
        assert_eq!(count(leakage, id), *expected, "{id}");
    }
}

fn with_support(content: Content, min_support: u64, max_leakage: Option<f64>) -> Audit {
    let detection = Detection { min_support, ..Detection::default() };
    audit_with(&loaded(content), &LeakageOptions { detection, max_leakage })
}

#[test]
fn completion_on_paper() {
    // Test: a r0 b on day 1, a r0 c on day 3, c r1 a on day 0, b r0 a on days 2 and 0.
    let found = audit(&loaded(Content::Temporal(small::completion()))).leakage;
    assert_eq!((found.split_kind, found.test_facts), (SplitKind::Completion, 5));
    let expected = [
        ("duplicate", 0),
        ("mirror", 3),
        ("reversed-pair", 4),
        ("other-relation", 0),
        ("mirror-any-time", 3),
        ("reversed-pair-any-time", 4),
        ("pair-seen", 5),
        ("near-duplicate-1", 3),
        ("near-duplicate-3", 4),
        ("triple-previous", 2),
        ("triple-earlier", 2),
        ("triple-seen", 4),
        // Two facts are no support for a pattern.
        ("symmetric", 0),
    ];
    expect(&found, &expected);
    let classes: Vec<usize> = found.classes.iter().map(|class| class.count).collect();
    assert_eq!(classes, [0, 3, 0, 1, 1, 0, 0]);
    let mirror = check(&found, "mirror");
    assert_eq!((mirror.verdict, mirror.share, mirror.of), (Verdict::Warn, 0.6, 5));
    assert_eq!((mirror.relations[0].relation.as_str(), mirror.relations[0].of), ("r0", 4));
    let example = serde_json::to_value(&mirror.examples[0]).unwrap();
    assert_eq!(example["test"]["time"], example["by"]["time"]);
    assert_eq!(example["test"]["subject"], example["by"]["object"]);
}

#[test]
fn detected_patterns_leak() {
    // In train r0 is symmetric, r1 and r2 are inverse, r3 and r4 parallel; the test facts have their other half there.
    let train: [[u32; 4]; 11] = [
        [0, 0, 1, 0],
        [1, 0, 0, 0],
        [0, 0, 1, 2],
        [0, 1, 1, 0],
        [1, 2, 0, 0],
        [2, 1, 1, 2],
        [1, 2, 2, 2],
        [0, 3, 2, 0],
        [0, 4, 2, 0],
        [1, 4, 3, 2],
        [1, 3, 3, 2],
    ];
    let test: [[u32; 4]; 5] = [[1, 0, 0, 2], [3, 2, 0, 1], [0, 2, 3, 2], [3, 3, 2, 1], [3, 0, 3, 1]];
    let mut held = train.to_vec();
    held.extend([[0, 1, 3, 1], [3, 4, 2, 1]]);
    let data = || Content::Temporal(days("leaky", vocabulary(4, 5, None), [&held, &[[0, 0, 2, 0]], &test]));
    let audit = with_support(data(), 2, None);
    let found = &audit.leakage;
    expect(found, &["symmetric", "inverse", "parallel", "mirror"].map(|id| (id, 1)));
    assert_eq!((found.leaked.count, found.leaked.share), (3, 0.6));
    assert_eq!(found.parallel, [["r3".to_owned(), "r4".to_owned()]]);
    assert_eq!(found.verdict, Verdict::Warn);
    assert_eq!(with_support(data(), 2, Some(0.6)).leakage.verdict, Verdict::Warn, "the limit is allowed");
    let strict = with_support(data(), 2, Some(0.5));
    assert_eq!((strict.leakage.verdict, strict.worst()), (Verdict::Fail, Verdict::Fail));
    assert!(audit_text(&strict).contains("60.00 %) stand in train"), "{}", audit_text(&strict));
}

#[test]
fn forecasting_knows_only_earlier_facts() {
    // Test, day 5: a r0 b twice, d r1 a, b r0 a. The day before is day 2 on the axis.
    let found = audit(&loaded(Content::Temporal(small::forecasting()))).leakage;
    assert_eq!((found.split_kind, found.test_time_stamps_inside_train), (SplitKind::Forecasting, Some(0.0)));
    assert!(found.checks.iter().all(|check| check.id != "mirror" && check.verdict == Verdict::Pass));
    let expected = [
        ("triple-earlier", 3),
        ("triple-previous", 2),
        ("near-duplicate-1", 0),
        ("near-duplicate-3", 2),
        ("near-duplicate-7", 3),
        ("triple-seen", 3),
        ("mirror-any-time", 3),
        ("pair-seen", 3),
    ];
    expect(&found, &expected);
    assert_eq!(found.unseen.as_ref().unwrap().time_stamps, None);
    assert!(found.about.contains("train cannot hold facts of the same time"));
}

#[test]
fn static_graphs_and_intervals_on_paper() {
    let audit = with_support(Content::Static(small::graph()), 1, None);
    let found = &audit.leakage;
    expect(found, &[("duplicate", 1), ("mirror", 0), ("reversed-pair", 1), ("other-relation", 0)]);
    assert_eq!((found.leaked.count, check(found, "duplicate").verdict), (1, Verdict::Warn));
    assert_eq!(found.identical.as_ref().unwrap().train_test, 1);
    let found =
        audit_with(&loaded(Content::Intervals(small::intervals())), &LeakageOptions::default()).leakage;
    expect(&found, &[("duplicate", 0), ("triple-seen", 1), ("mirror", 0), ("mirror-any-time", 1)]);
    let example = &check(&found, "triple-seen").examples[0];
    assert_eq!(example.by.time.as_deref(), Some("1900-##-## to 1900-##-##"));
}

#[test]
fn evolving_graphs_on_paper() {
    let found = audit(&loaded(Content::Evolving(small::evolving()))).leakage;
    let of = |id: &str, step: &str| {
        let mut checks = found.checks.iter().filter(|check| check.step.as_deref() == Some(step));
        checks.find(|check| check.id == id).map(|check| (check.count, check.of))
    };
    assert_eq!(of("test-in-train", "1"), Some((0, 1)));
    assert_eq!(of("test-in-train", "2"), Some((1, 1)));
    assert_eq!(of("true-negatives", "1"), None);
    assert_eq!(of("true-negatives", "2"), Some((1, 2)));
    assert_eq!(found.leaked.count, 1);
}

#[test]
fn odd_datasets_do_not_panic() {
    let empty = audit(&loaded(Content::Temporal(days("nothing", vocabulary(0, 0, None), [&[], &[], &[]]))));
    assert_eq!((empty.leakage.test_facts, empty.leakage.leaked.share), (0, 0.0));
    let mut data = small::completion();
    data.vocabulary = vocabulary(1, 0, None);
    let text = audit_text(&audit(&loaded(Content::Temporal(data))));
    assert!(text.contains("#1"), "ids without a name have their number");
}

#[test]
fn a_score_has_its_place() {
    let mut audit = audit(&loaded(Content::Temporal(small::completion())));
    assert_eq!(serde_json::to_value(&audit).unwrap()["leakage"]["scores"], serde_json::json!([]));
    let name = "naive-rules".to_owned();
    audit.leakage.scores.push(ReferenceScore { name, mrr: 0.5726, hits1: 0.4942, hits10: 0.7263 });
    let row = format!("  {:<48}   57.26   49.42   72.63\n", "naive-rules");
    assert!(audit_text(&audit).contains(&row), "{}", audit_text(&audit));
}

type Fact = [u32; 4];

fn rows(facts: Vec<(u32, u32, u32, u32)>) -> Vec<Fact> {
    facts.into_iter().map(Into::into).collect()
}

/// Whether a training fact is evidence for a test fact.
type Holds<'a> = &'a dyn Fn(&Fact, &Fact) -> bool;

proptest! {
    #[test]
    fn evidence_is_that_of_the_definition(
        train in prop::collection::vec((0_u32..4, 0_u32..2, 0_u32..4, 0_u32..12), 1..40),
        test in prop::collection::vec((0_u32..4, 0_u32..2, 0_u32..4, 0_u32..12), 1..20),
    ) {
        let [train, test] = [train, test].map(rows);
        let data = days("random", vocabulary(4, 2, None), [&train, &[], &test]);
        let found = audit(&loaded(Content::Temporal(data))).leakage;
        prop_assume!(found.split_kind != SplitKind::Forecasting);
        let cases: [(&str, Holds<'_>); 7] = [
            ("duplicate", &|a, b| a == b),
            ("mirror", &|a, b| a[0] != a[2] && [a[2], a[1], a[0], a[3]] == *b),
            ("reversed-pair", &|a, b| (a[2], a[0], a[3]) == (b[0], b[2], b[3])),
            ("other-relation", &|a, b| (a[0], a[2], a[3]) == (b[0], b[2], b[3]) && a[1] != b[1]),
            ("triple-earlier", &|a, b| a[..3] == b[..3] && b[3] < a[3]),
            ("near-duplicate-3", &|a, b| a[..3] == b[..3] && a[3] != b[3] && a[3].abs_diff(b[3]) <= 3),
            ("pair-seen", &|a, b| (a[0], a[2]) == (b[0], b[2]) || (a[0], a[2]) == (b[2], b[0])),
        ];
        // Days are written in hours: a raster that is wider than a day would make distances shorter.
        let mut times: Vec<u32> = train.iter().chain(&test).map(|row| row[3]).collect();
        times.sort_unstable();
        let even = times.windows(2).any(|pair| pair[1] - pair[0] == 1);
        for (id, holds) in cases.iter().filter(|(id, _)| even || !id.starts_with("near")) {
            let expected = test.iter().filter(|a| train.iter().any(|b| holds(a, b))).count();
            prop_assert_eq!(count(&found, id), expected, "{}", id);
        }
        let classes: usize = found.classes.iter().map(|class| class.count).sum();
        prop_assert_eq!(classes, test.len());
    }
}

/// Share of the test facts, with the decimals of the data's description.
fn four(leakage: &Leakage, id: &str) -> String {
    format!("{:.4}", check(leakage, id).share)
}

#[test]
fn completion_datasets_leak_as_described() {
    let Some(root) = real::any() else { return };
    let ids =
        ["triple-seen", "triple-earlier", "triple-previous", "near-duplicate-1", "mirror", "reversed-pair"];
    let described = [
        ("icews14", ["0.5526", "0.4181", "0.1067", "0.1838", "0.1828", "0.3462"], (137, 146), 0),
        ("icews05-15", ["0.7274", "0.6141", "0.1033", "0.1824", "0.1929", "0.3773"], (218, 234), 0),
        ("icews11-14", ["0.6597", "0.5335", "0.0991", "0.1764", "0.1798", "0.3563"], (168, 175), 1),
        ("ICEWS14RR", ["0.5570", "0.4238", "0.0994", "0.1774", "0.0260", "0.1610"], (246, 288), 5),
        ("ICEWS05-15RR", ["0.7292", "0.6156", "0.1056", "0.1865", "0.0522", "0.1967"], (296, 364), 0),
    ];
    for (folder, shares, entities, relations) in described {
        let found = audit(&read(&root.join("completion").join(folder))).leakage;
        assert_eq!(ids.map(|id| four(&found, id)), shares, "{folder}");
        let unseen = found.unseen.as_ref().unwrap();
        assert_eq!((unseen.entities.ids, unseen.entities.test_facts), entities, "{folder}");
        assert_eq!(unseen.relations.ids, relations, "{folder}");
        assert_eq!((found.split_kind, count(&found, "duplicate")), (SplitKind::Completion, 0));
    }
}

#[test]
fn icews14_leaks_by_its_published_patterns() {
    let Some(root) = real::any() else { return };
    let leakage = |folder: &str| audit(&read(&root.join(folder))).leakage;
    let found = leakage("completion/icews14");
    // The published lists lack one pair that detection finds; it has five test facts.
    let peacekeepers = ["Provide military protection or peacekeeping", "Receive deployment of peacekeepers"];
    let by_these: usize = check(&found, "inverse")
        .relations
        .iter()
        .filter(|row| peacekeepers.contains(&row.relation.as_str()))
        .map(|row| row.count)
        .sum();
    assert_eq!(found.leaked.count - by_these, 2062);
    let share = |found: &Leakage, id| (1000.0 * check(found, id).share).round() / 10.0;
    let again = leakage("completion/ICEWS14RR");
    for (id, before, after) in [
        ("other-relation", 18.2, 18.1),
        ("pair-seen", 85.3, 79.6),
        ("near-duplicate-7", 32.1, 33.2),
        ("near-duplicate-30", 41.7, 42.6),
    ] {
        assert_eq!((share(&found, id), share(&again, id)), (before, after), "{id}");
    }
    assert_eq!(again.leaked.count, 5, "only the pair that the published lists lack");
}

#[test]
fn forecasting_and_static_datasets_as_described() {
    let Some(root) = real::any() else { return };
    let leakage = |folder: &str| audit(&read(&root.join(folder))).leakage;
    let icews = leakage("forecasting/ICEWS14");
    let shares = ["triple-earlier", "triple-previous", "triple-seen"].map(|id| four(&icews, id));
    assert_eq!(shares, ["0.5237", "0.1053", "0.4157"]);
    assert_eq!((icews.verdict, icews.leaked.count), (Verdict::Pass, 0));
    let border = leakage("forecasting/YAGO1830-b");
    assert_eq!(
        (border.split_kind, four(&border, "triple-seen")),
        (SplitKind::Forecasting, "0.1162".to_owned())
    );
    for (folder, reversed) in [("WN18", "0.9396"), ("WN18RR", "0.3494"), ("FB15K237", "0.0000")] {
        let found = leakage(&format!("static/{folder}"));
        assert_eq!(four(&found, "reversed-pair"), reversed, "{folder}");
        assert_eq!(count(&found, "duplicate"), 0, "{folder}");
    }
}

#[test]
fn evolving_datasets_as_described() {
    let Some(root) = real::any() else { return };
    let described = [
        ("evolving/WikidataEvolve", "true-negatives", vec![106, 86, 92, 93]),
        ("evolving/YAGO-3SP", "test-in-train", vec![0, 53, 194]),
    ];
    for (folder, id, counts) in described {
        let data = read(&root.join(folder));
        let found = audit(&data).leakage;
        let of = |id: &str| -> Vec<usize> {
            found.checks.iter().filter(|check| check.id == id).map(|check| check.count).collect()
        };
        assert_eq!(of(id), counts, "{folder}");
        let Details::Evolving(part) = &info(&data).details else { panic!("an evolving graph") };
        let counted: Vec<usize> = part.steps.iter().map(|step| step.test_in_train).collect();
        assert_eq!(of("test-in-train"), counted, "{folder}");
    }
}
