//! Statistics: counted on paper for small datasets, and equal to the published description of the real ones.

use std::path::Path;
use std::time::Instant;

use quadcast_analysis::{Details, SplitOrder, info};
use quadcast_data::{Content, LoadOptions, load};
use quadcast_report::info_text;
use quadcast_testing::real;
use quadcast_testing::small::{self, loaded};
use serde_json::{Value, json};

fn document_of(content: Content) -> Value {
    serde_json::to_value(info(&loaded(content))).unwrap()
}

/// Asserts values at JSON paths such as `temporal/facts/train`.
fn expect(document: &Value, values: &[(&str, Value)]) {
    for (path, value) in values {
        let found = document.pointer(&format!("/{path}")).unwrap_or_else(|| panic!("{path} is missing"));
        assert_eq!(found, value, "{path}");
    }
}

#[test]
fn forecasting_on_paper() {
    let document = document_of(Content::Temporal(small::forecasting()));
    let per_split = |train: u32, valid: u32, test: u32| json!({"train": train, "valid": valid, "test": test});
    expect(
        &document,
        &[
            ("kind", "temporal".into()),
            ("entities", json!({"declared": 6, "size": 5, "used": 4, "never_used": 1, "out_of_range": 0})),
            ("temporal/facts", per_split(4, 2, 4)),
            ("temporal/duplicates", per_split(1, 0, 1)),
            ("temporal/self_loops", per_split(0, 1, 0)),
            ("temporal/time_stamps", per_split(2, 1, 1)),
            ("temporal/split_order", "ordered".into()),
            ("temporal/facts_per_time_stamp", json!({"mean": 2.5, "min": 2, "max": 4})),
            ("temporal/time/first", "2014-01-01".into()),
            ("temporal/time/last", "2014-01-06".into()),
            ("temporal/time/granularity", 24.into()),
            ("temporal/time/gap_widths", json!([{"width": 72, "count": 1}])),
            ("temporal/time/first_gaps/0/after", "2014-01-03".into()),
            ("temporal/time/ranges/valid/first", "2014-01-03".into()),
            ("temporal/completion", Value::Null),
        ],
    );
}

#[test]
fn recurrency_and_novelty_on_paper() {
    let document = document_of(Content::Temporal(small::forecasting()));
    let share = |count: u32, share: f64| json!({"count": count, "share": share});
    expect(
        &document,
        &[
            ("temporal/recurrency/earlier", share(3, 0.75)),
            // Step 2 is the previous existing time stamp, three days before.
            ("temporal/recurrency/previous", share(2, 0.5)),
            ("temporal/recurrency/in_train_and_valid", share(3, 0.75)),
            ("temporal/recurrency/in_train", share(3, 0.75)),
            ("temporal/recurrency_without_duplicates/test_facts", 3.into()),
            ("temporal/recurrency_without_duplicates/earlier/count", 2.into()),
            ("temporal/recurrency_without_duplicates/previous/count", 1.into()),
            ("temporal/answers/objects", json!({"time_aware": 1.0, "static": 1.5})),
            ("temporal/answers/subjects", json!({"time_aware": 1.0, "static": 1.0})),
            ("temporal/entity_novelty/in_train", 3.into()),
            (
                "temporal/entity_novelty/unseen_in_train",
                json!({"ids": 1, "test_facts": 1, "examples": ["d"]}),
            ),
            ("temporal/entity_novelty/unseen_in_train_and_valid/ids", 1.into()),
            ("temporal/relation_novelty/unseen_in_train/examples", json!(["r1"])),
            ("temporal/relation_novelty/unseen_in_train_and_valid/ids", 0.into()),
        ],
    );
}

#[test]
fn completion_on_paper() {
    let document = document_of(Content::Temporal(small::completion()));
    expect(
        &document,
        &[
            ("temporal/completion/in_train_at_any_time/count", 4.into()),
            ("temporal/completion/in_train_earlier/count", 2.into()),
            ("temporal/completion/in_train_one_before/count", 2.into()),
            ("temporal/completion/in_train_one_before_or_after/count", 3.into()),
            ("temporal/completion/mirrored_in_train/count", 3.into()),
            ("temporal/completion/reversed_pair_in_train/count", 4.into()),
            ("temporal/split_order", "interleaved".into()),
            ("temporal/shared_time_stamps/train_test", 4.into()),
        ],
    );
}

#[test]
fn a_shared_border_is_not_interleaved() {
    let rows: [&[[u32; 4]]; 3] =
        [&[[0, 0, 1, 0], [0, 0, 1, 1]], &[[1, 0, 0, 1]], &[[1, 0, 0, 1], [1, 0, 2, 2]]];
    let data = small::days("border", small::vocabulary(3, 1, None), rows);
    let info = info(&loaded(Content::Temporal(data)));
    let Details::Temporal(part) = &info.details else { panic!("temporal data") };
    assert_eq!(part.split_order, SplitOrder::SharedBorder);
    assert_eq!(part.shared_time_stamp_examples.train_valid, ["2014-01-02"]);
    assert_eq!((part.shared_quadruples.valid_test, part.shared_quadruples.train_valid), (1, 0));
}

#[test]
fn empty_splits_are_counted_without_panic() {
    let data = small::days("empty", small::vocabulary(2, 1, None), [&[[0, 0, 1, 0]], &[], &[]]);
    let info = info(&loaded(Content::Temporal(data)));
    let Details::Temporal(part) = &info.details else { panic!("temporal data") };
    assert_eq!(part.recurrency.earlier.share, 0.0);
    assert_eq!(part.answers.objects.time_aware, 0.0);
    assert!(info_text(&info).contains("train before valid before test"));
    let nothing = small::days("nothing", small::vocabulary(0, 0, None), [&[], &[], &[]]);
    assert!(info_text(&quadcast_analysis::info(&loaded(Content::Temporal(nothing)))).contains("nothing"));
}

#[test]
fn graph_on_paper() {
    let document = document_of(Content::Static(small::graph()));
    expect(
        &document,
        &[
            ("kind", "static".into()),
            ("static/duplicates/train", 1.into()),
            ("static/self_loops/valid", 1.into()),
            ("static/shared_triples", json!({"train_valid": 0, "train_test": 1, "valid_test": 0})),
            ("static/entity_novelty/unseen_in_train/examples", json!(["d"])),
            // (b, r1, a) has (a, r0, b) in train; the others have no reversed pair.
            ("static/reversed_pair_in_train/count", 1.into()),
            ("static/type_constraints", false.into()),
        ],
    );
}

#[test]
fn intervals_on_paper() {
    let document = document_of(Content::Intervals(small::intervals()));
    let values = [
        ("rows", 6),
        ("open_start", 2),
        ("coarse_start", 1),
        ("open_end", 2),
        ("coarse_end", 0),
        ("open_both", 1),
        ("same_year", 1),
        ("end_before_start", 1),
        ("several_intervals", 1),
        ("most_intervals", 3),
        ("test_in_train_with_other_interval", 1),
        ("test_in_train", 0),
    ];
    for (name, value) in values {
        expect(&document, &[(&format!("intervals/{name}"), Value::from(value))]);
    }
    expect(&document, &[("intervals/years", json!({"first": -431, "last": 1950}))]);
    expect(&document, &[("intervals/entity_novelty/unseen_in_train/ids", 1.into())]);
}

#[test]
fn evolving_on_paper() {
    let document = document_of(Content::Evolving(small::evolving()));
    expect(
        &document,
        &[
            ("evolving/entities_gone", 1.into()),
            ("evolving/evaluation_constant", true.into()),
            ("evolving/steps/0/graph", 4.into()),
            ("evolving/steps/0/training_entities", 3.into()),
            ("evolving/steps/0/test_entities_unseen", 1.into()),
            ("evolving/steps/0/checks/increment_differs", 0.into()),
            ("evolving/steps/1/training", json!({"inserts": 2, "deletes": 1})),
            ("evolving/steps/1/training_graph", 2.into()),
            ("evolving/steps/1/graph", 3.into()),
            ("evolving/steps/1/test_in_train", 1.into()),
            ("evolving/steps/1/entity_change", json!({"added": 0, "removed": 1})),
            ("evolving/steps/1/classification/negatives_in_graph", 1.into()),
            ("evolving/steps/1/categories/0/total", 2.into()),
            ("evolving/steps/1/checks/void_operations", 1.into()),
            ("evolving/steps/1/checks/repeated_operations", 1.into()),
            ("evolving/steps/1/checks/increment_differs", 1.into()),
            ("evolving/steps/1/checks/overlap", 1.into()),
            ("evolving/steps/1/checks/misplaced_categories", 1.into()),
        ],
    );
}

#[test]
fn the_document_keeps_its_names() {
    let document = document_of(Content::Temporal(small::forecasting()));
    let names: Vec<&str> = document.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "name path kind format notes entities relations fingerprint split_fingerprints \
                    catalogue family quirks temporal";
    assert_eq!(names.join(" "), expected);
}

#[test]
fn ids_outside_the_id_space_are_counted() {
    let mut data = small::forecasting();
    data.vocabulary = small::vocabulary(3, 2, None);
    let document = document_of(Content::Temporal(data));
    expect(&document, &[("entities/out_of_range", 1.into()), ("entities/used", 3.into())]);
}

#[test]
fn text_names_things() {
    let text = info_text(&info(&loaded(Content::Temporal(small::forecasting()))));
    for words in ["2014-01-06", "1 in 1 test fact: d", "1 x 3 days", "75.00 % (3)", "the files declare 6"] {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
}

/// Compares one golden value. Shares are strings, compared with the decimals they are printed with; `sum:` adds up
/// the splits.
fn differs(document: &Value, path: &str, expected: &Value) -> Option<String> {
    let at = |path: &str| document.pointer(&format!("/{path}")).cloned().unwrap_or(Value::Null);
    let found = match path.strip_prefix("sum:").map(at) {
        Some(Value::Object(parts)) => Value::from(parts.values().filter_map(Value::as_u64).sum::<u64>()),
        Some(other) => other,
        None => at(path),
    };
    let same = match (expected, &found) {
        (Value::String(text), Value::Number(number)) => {
            let decimals = text.split('.').nth(1).map_or(0, str::len);
            format!("{:.decimals$}", number.as_f64().unwrap()) == *text
        }
        _ => *expected == found,
    };
    (!same).then(|| format!("{path}: expected {expected}, found {found}"))
}

#[test]
fn golden_values_are_really_compared() {
    let document = json!({"a": {"train": 1, "valid": 2}, "share": 0.523_67});
    assert_eq!(differs(&document, "sum:a", &3.into()), None);
    assert_eq!(differs(&document, "share", &"0.5237".into()), None);
    for (path, value) in [("sum:a", 4), ("sum:b", 0), ("a/test", 0), ("a/train", 2)] {
        assert!(differs(&document, path, &value.into()).is_some(), "{path}");
    }
    assert!(differs(&document, "share", &"0.5236".into()).is_some());
}

#[test]
fn real_datasets_have_the_published_numbers() {
    let Some(root) = real::any() else { return };
    let golden: Value = serde_json::from_str(include_str!("golden/info.json")).unwrap();
    let mut wrong = Vec::new();
    for (folder, values) in golden["datasets"].as_object().unwrap() {
        match document(&root.join(folder)) {
            Ok(found) => {
                let values = values.as_object().unwrap();
                let differences = values.iter().filter_map(|(path, value)| differs(&found, path, value));
                wrong.extend(differences.map(|difference| format!("{folder}: {difference}")));
            }
            Err(error) => wrong.push(format!("{folder}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{} values differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn document(folder: &Path) -> Result<Value, String> {
    let loaded = load(folder, &LoadOptions::default()).map_err(|error| error.to_string())?;
    let start = Instant::now();
    let info = info(&loaded);
    println!("{}: {:.3} s", info.name, start.elapsed().as_secs_f64());
    let wide = info_text(&info).lines().find(|line| line.chars().count() > 100).map(str::to_owned);
    assert_eq!(wide, None, "a line of {} is too wide", info.name);
    Ok(serde_json::to_value(info).unwrap())
}
