//! The audit: verdicts and evidence on small datasets, and on the real ones.

use quadcast_analysis::{Audit, audit};
use quadcast_core::{Check, Splits, Verdict};
use quadcast_data::Content;
use quadcast_report::audit_text;
use quadcast_testing::real;
use quadcast_testing::small::{self, loaded, source};

use crate::read;

fn check<'a>(audit: &'a Audit, id: &str) -> &'a Check {
    audit.checks.iter().find(|check| check.id == id).unwrap()
}

fn verdicts(audit: &Audit) -> Vec<&'static str> {
    audit.checks.iter().map(|check| check.verdict.word()).collect()
}

/// Asserts the verdict of a check, words of its evidence, and words of its advice if there are any.
fn expect(audit: &Audit, id: &str, verdict: Verdict, evidence: &[&str], advice: &str) {
    let check = check(audit, id);
    assert_eq!(check.verdict, verdict, "{id}: {}", check.evidence);
    for words in evidence {
        assert!(
            check.evidence.contains(words),
            "{words} is missing in the evidence of {id}: {}",
            check.evidence
        );
    }
    let given = check.advice.as_deref().unwrap_or_default();
    assert!(given.contains(advice), "{advice} is missing in the advice of {id}: {given}");
}

#[test]
fn a_forecasting_dataset() {
    let audit = audit(&loaded(Content::Temporal(small::forecasting())));
    assert_eq!(verdicts(&audit), ["warn", "pass", "pass", "warn", "warn"]);
    assert_eq!(audit.worst(), Verdict::Warn);
    let ids: Vec<&str> = audit.checks.iter().map(|check| check.id).collect();
    assert_eq!(ids, ["D1", "D2", "D3", "D4", "D5"]);
    expect(&audit, "D2", Verdict::Pass, &["train 2014-01-01 to 2014-01-02, valid 2014-01-03"], "");
    let words = [
        "the files declare 6 entity ids, the id space has 5",
        "1 of 5 entity ids are never used",
        "test relations unseen in train: 1 (test facts touched: 1), of these unseen in valid too: 0 (0)",
    ];
    expect(&audit, "D4", Verdict::Warn, &words, "");
    let words = ["repeated rows: 1 in train, 1 in test", "1 gap in the raster of 24 hours, 72 hours wide"];
    expect(&audit, "D5", Verdict::Warn, &words, "");
}

#[test]
fn a_misplaced_row_is_named_by_file_and_line() {
    let train: Vec<[u32; 4]> = (0..10).map(|day| [0, 0, 1, day]).collect();
    let test: Vec<[u32; 4]> = [3].into_iter().chain(11..20).map(|day| [1, 0, 0, day]).collect();
    let data = small::days("late", small::vocabulary(2, 1, None), [&train, &[[1, 0, 0, 10]], &test]);
    let mut loaded = loaded(Content::Temporal(data));
    loaded.sources = Some(Splits {
        train: source("train.txt", None, 1, 10),
        valid: source("valid.txt", None, 1, 1),
        test: source("test.txt", Some(17), 17, 9),
    });
    let audit = audit(&loaded);
    let words = "test.txt:17 (2014-01-04) lies before train.txt:10 (2014-01-10) (1 of 10 test facts do)";
    expect(&audit, "D2", Verdict::Fail, &[words], "divide the facts by time");
    assert_eq!(audit.worst(), Verdict::Fail);
}

#[test]
fn an_interpolation_split_is_called_so() {
    let audit = audit(&loaded(Content::Temporal(small::completion())));
    expect(&audit, "D2", Verdict::Fail, &[], "completion");
    let evidence = &check(&audit, "D2").evidence;
    assert!(evidence.starts_with("this is an interpolation split: 100 %"), "{evidence}");
}

#[test]
fn a_shared_time_stamp_and_unsorted_files_warn() {
    let rows: [&[[u32; 4]]; 3] = [&[[0, 0, 1, 0], [0, 0, 1, 1]], &[[1, 0, 0, 1]], &[[1, 0, 2, 2]]];
    let mut loaded = loaded(Content::Temporal(small::days("border", small::vocabulary(3, 1, None), rows)));
    loaded.sources = Some(Splits {
        train: source("train.txt.gz", Some(2), 2, 1),
        valid: source("valid.txt", None, 1, 2),
        test: source("test.txt", None, 1, 2),
    });
    let words =
        ["time stamp 2014-01-02 lies in both train and valid", "train.txt.gz is not sorted by time: line 2"];
    expect(&audit(&loaded), "D2", Verdict::Warn, &words, "withholds");
}

#[test]
fn validation_must_exist_and_differ_from_test() {
    type Rows = [[u32; 4]];
    let cases: [(&Rows, &Rows, Verdict, &str); 4] = [
        (&[[0, 0, 2, 1]], &[[0, 0, 2, 2]], Verdict::Pass, ""),
        (&[], &[[0, 0, 2, 2]], Verdict::Fail, "empty"),
        (&[[0, 0, 2, 1]], &[[0, 0, 2, 1]], Verdict::Fail, "the validation set is the test set"),
        (
            &[[0, 0, 2, 1], [1, 0, 2, 1]],
            &[[0, 0, 2, 1]],
            Verdict::Fail,
            "1 quadruples stand in both valid and test",
        ),
    ];
    for (valid, test, verdict, words) in cases {
        let data = small::days("v", small::vocabulary(3, 1, None), [&[[0, 0, 1, 0]], valid, test]);
        expect(&audit(&loaded(Content::Temporal(data))), "D3", verdict, &[words], "");
    }
}

#[test]
fn ids_outside_the_id_space_fail() {
    let mut data = small::forecasting();
    data.vocabulary = small::vocabulary(3, 2, None);
    let words = "facts use entity ids outside the 3 of the id space 1 times";
    expect(&audit(&loaded(Content::Temporal(data))), "D4", Verdict::Fail, &[words], "");
}

#[test]
fn other_kinds_skip_what_does_not_apply() {
    let graph = audit(&loaded(Content::Static(small::graph())));
    assert_eq!(verdicts(&graph), ["warn", "skip", "fail", "warn", "warn"]);
    let spans = audit(&loaded(Content::Intervals(small::intervals())));
    assert_eq!(verdicts(&spans), ["warn", "skip", "warn", "warn", "warn"]);
    let growing = audit(&loaded(Content::Evolving(small::evolving())));
    assert_eq!(verdicts(&growing), ["warn", "warn", "fail", "warn", "warn"]);
    let words = "step 2: 1 of 1 test triples stand in the training graph";
    expect(&growing, "D3", Verdict::Fail, &[words], "");
}

#[test]
fn text_and_json() {
    let audit = audit(&loaded(Content::Temporal(small::completion())));
    let text = audit_text(&audit);
    assert!(text.starts_with("Audit of between: fail\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let document = serde_json::to_value(&audit).unwrap();
    assert_eq!(document["checks"][1]["id"], "D2");
    assert_eq!(document["checks"][1]["verdict"], "fail");
    assert_eq!(document["checks"][3]["advice"], serde_json::Value::Null);
}

#[test]
fn real_datasets() {
    let Some(root) = real::any() else { return };
    let expected = [
        ("forecasting/ICEWS14", ["pass", "pass", "pass", "warn", "warn"]),
        ("forecasting/YAGO1830-b", ["pass", "warn", "pass", "warn", "warn"]),
        ("forecasting/GDELT-small", ["pass", "pass", "pass", "warn", "warn"]),
        ("completion/icews14", ["pass", "fail", "pass", "warn", "warn"]),
        ("static/WN18", ["pass", "skip", "pass", "pass", "warn"]),
        ("intervals/wikidata12k", ["pass", "skip", "warn", "warn", "warn"]),
        ("evolving/WikidataEvolve", ["pass", "pass", "pass", "warn", "warn"]),
        ("evolving/YAGO-3SP", ["pass", "pass", "fail", "pass", "pass"]),
    ];
    for (folder, verdict) in expected {
        let audit = audit(&read(&root.join(folder)));
        assert_eq!(verdicts(&audit), verdict, "{folder}\n{}", audit_text(&audit));
    }
}
