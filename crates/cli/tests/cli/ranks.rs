//! Ranks from files: taken if they can be those of a model, refused otherwise.

use std::collections::BTreeMap;

use crate::common::{Room, assert_texts};
use crate::scores::with_small;

/// Columns of a record's ranks by name.
type Line = BTreeMap<String, String>;

fn table(text: &str) -> Vec<Line> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|line| line.expect("a line")).collect()
}

/// The example with a run of ours in `combined`, and its ranks with keys.
fn with_own() -> (Room, Vec<Line>) {
    let room = Room::with_runs();
    let list = room.quadcast("data export harbour --queries test --out -").success().stdout;
    let place = |line: &Line, known: &str, relation: &str| {
        [&line["step"], &line["direction"], &line[known], &line[relation]].map(String::clone)
    };
    let queries: BTreeMap<_, _> = table(&list)
        .into_iter()
        .map(|line| (place(&line, "known_id", "relation_id"), (line["row"].clone(), line["key"].clone())))
        .collect();
    let mut lines = table(&room.unpacked("combined/ranks.csv.zst"));
    for line in &mut lines {
        let (row, key) = &queries[&place(line, "known", "relation")];
        line.insert("row".to_owned(), row.clone());
        line.insert("key".to_owned(), key.clone());
    }
    (room, lines)
}

fn text(lines: &[Line], header: &str) -> String {
    let mut text = format!("{header}\n");
    for line in lines {
        let fields: Vec<&str> = header.split(',').map(|name| line[name].as_str()).collect();
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

const RANKS: &str = "key,gold,time_rank,static_rank,raw_rank";
const TIED: &str = "time_tied,static_tied,raw_tied";
const BEFORE: &str = "time_tied_before,static_tied_before,raw_tied_before";

#[test]
fn ranks_of_a_run_give_its_numbers() {
    let (room, mut lines) = with_own();
    let all = lines[0].keys().cloned().collect::<Vec<_>>().join(",");
    let own = room.record("combined");
    let full = format!("{RANKS},{TIED},{BEFORE}");
    // Lines may come in any order.
    lines.sort_by(|a, b| a["gold"].cmp(&b["gold"]));
    for header in [full.as_str(), &full.replace("key", "row,key"), &all] {
        let packed = zstd::encode_all(text(&lines, header).as_bytes(), 1).expect("memory takes everything");
        room.write("mine.csv.zst", packed);
        let record = room.document("evaluate --data harbour --scores mine.csv.zst --out judged --overwrite");
        for part in ["metrics", "by_step", "by_relation", "bootstrap", "protocol", "repeated_queries"] {
            assert_eq!(record[part], own[part], "{header}: {part}");
        }
        let source = &record["scores"];
        assert_eq!((&source["layout"], &source["ranked_by"]), (&"ranks".into(), &"file".into()));
        assert_eq!((&source["order_verified"], &source["ties_known"]), (&true.into(), &true.into()));
        assert!(record.get("unreached").is_none() && record.get("not_a_number").is_none());
    }
    let answer = room.quadcast("compare combined judged").success();
    answer.assert_says(&["equal", "warning: the ranks of the second run come from an external model\n"]);
    room.quadcast("report combined judged --format md").success();
    room.quadcast("report combined judged --out page.html").success();
    assert_texts(&room.text("page.html"), &["the ranks come from an external model"]);
}

#[test]
fn what_the_file_does_not_tell_is_not_in_the_record() {
    let (room, lines) = with_own();
    let own = room.record("combined");
    room.write("tied.csv", text(&lines, &format!("{RANKS},{TIED}")));
    let record = room.document("evaluate --data harbour --scores tied.csv");
    for filter in ["time", "static", "raw"] {
        let mut expected = own["metrics"][filter]["policy"].clone();
        expected.as_object_mut().expect("policies").remove("ordinal");
        assert_eq!(record["metrics"][filter]["policy"], expected);
        assert_eq!(record["metrics"][filter]["mrr"], own["metrics"][filter]["mrr"]);
    }
    let texts = ["tied.csv", "--ties ordinal", "time_tied_before"];
    room.assert_refused("evaluate --data harbour --scores tied.csv --ties ordinal", &texts);
    room.write("bare.csv", text(&lines, RANKS));
    let answer = room.quadcast("evaluate --data harbour --scores bare.csv --out bare").success();
    answer.assert_fits();
    let warning = "warning: the ranks come from an external model";
    answer.assert_says(&["scores: ranks, ", warning, "does not tell ties"]);
    for unknown in ["not scored", "correct answer tied", "tie policy"] {
        assert!(!answer.stdout.contains(unknown), "{}", answer.stdout);
    }
    let record = room.record("bare");
    assert_eq!(record["scores"]["ties_known"], false);
    assert_eq!(record["metrics"]["time"]["policy"], serde_json::json!({}));
    room.quadcast("report combined bare --out page.html").success();
    room.quadcast("compare combined bare").success();
    assert_eq!(record["metrics"]["time"]["mrr"], own["metrics"]["time"]["policy"]["optimistic"]["mrr"]);
}

const HEADER: &str = "row,gold,time_rank,static_rank,raw_rank";
const GOOD: &str = "0,1,2,1,2\n1,2,1,1,1\n2,0,3,3,3\n3,1,1,1,1\n";

fn assert_bad(room: &Room, content: &str, texts: &[&str]) {
    room.write("r.csv", content);
    room.assert_refused("evaluate --data small --scores r.csv --unchecked-order --out judged", texts);
}

#[test]
fn lines_that_cannot_be_ranks() {
    let (room, _) = with_small();
    let good = format!("{HEADER}\n{GOOD}");
    room.write("r.csv", &good);
    let record = room.document("evaluate --data small --scores r.csv --unchecked-order");
    assert_eq!(record["metrics"]["time"]["mr"], 1.75);
    let cases = [
        ("2,0,4,3,4", "time_rank 4 is beyond the last place, 3"),
        ("2,0,0,0,0", "time_rank \"0\" is not a whole number ≥ 1"),
        ("2,0,1.5,1,2", "is not a whole number ≥ 1; give the optimistic rank"),
        ("2,0,1,2,1", "static_rank 2 is above time_rank 1"),
        ("2,0,3,1,2", "time_rank 3 is above raw_rank 2"),
        ("2,0,2,1,2", "shrink by 1, but the filter removes only 0"),
        ("2,1,3,3,3", "entity 1 (#1) is no answer to row 2 in the test split"),
        ("2,7,3,3,3", "entity 7 does not exist"),
        ("9,0,3,3,3", "row \"9\" does not exist"),
        ("1,2,1,1,1", "entity 2 (#2) was ranked for row 1 on line 3 already"),
        ("2,0,3,3", "4 fields, expected 5"),
    ];
    for (line, message) in cases {
        assert_bad(&room, &good.replace("2,0,3,3,3", line), &["r.csv:4: ", message]);
    }
    let text = good.replace("2,0,3,3,3\n", "");
    assert_bad(&room, &text, &["r.csv: 1 of 4 correct answers", "the first is entity 0 (#0) for row 2"]);
    let tied = "row,gold,time_rank,static_rank,raw_rank,time_tied,static_tied,raw_tied\n\
                0,1,2,1,2,2,2,2\n1,2,1,1,1,1,1,1\n2,0,3,3,3,1,1,1\n3,1,1,1,1,1,1,1\n";
    room.write("r.csv", tied);
    room.quadcast("evaluate --data small --scores r.csv --unchecked-order").success();
    let cases = [
        ("2,0,3,3,3,0,1,1", "time_tied \"0\" is not a whole number ≥ 1"),
        ("2,0,3,3,3,2,1,1", "time_rank 3 with time_tied 2 is beyond the last place, 3"),
        ("2,0,1,1,1,2,1,1", "time_tied 2 is above raw_tied 1"),
    ];
    for (line, message) in cases {
        assert_bad(&room, &tied.replace("2,0,3,3,3,1,1,1", line), &["r.csv:4: ", message]);
    }
}

#[test]
fn headers_that_cannot_be_used() {
    let (room, _) = with_small();
    let cases = [
        ("row,gold,rank", "time_rank, static_rank, raw_rank: a result stands under all three filters"),
        ("row,gold,time_rank", "submit scores"),
        ("row,time_rank,static_rank,raw_rank", "the header needs the columns gold"),
        ("gold,time_rank,static_rank,raw_rank", "key or row"),
        ("row,gold,time_rank,static_rank,raw_rank,time_tied", "time_tied, static_tied, raw_tied, or none"),
        ("row,gold,time_rank,static_rank,raw_rank,raw_rank", "\"raw_rank\", which is unknown or there twice"),
        ("row,gold,time_rank,static_rank,raw_rank,teid", "\"teid\", which is unknown"),
    ];
    for (header, message) in cases {
        assert_bad(&room, &format!("{header}\n{GOOD}"), &["r.csv:1: ", message]);
    }
}

#[test]
fn keys_are_checked() {
    let (room, keys) = with_small();
    room.write("r.csv", format!("{HEADER}\n{GOOD}"));
    let texts = ["r.csv does not say which query", "\"key\""];
    room.assert_refused("evaluate --data small --scores r.csv", &texts);
    let keyed = |keys: &[u64]| {
        let lines = GOOD.lines().zip(keys).map(|(line, key)| format!("{key},{line}\n"));
        format!("key,{HEADER}\n{}", lines.collect::<String>())
    };
    room.write("r.csv", keyed(&keys));
    room.quadcast("evaluate --data small --scores r.csv").success();
    let texts = ["r.csv:3: row 1 has the key", "permuted"];
    assert_bad(&room, &keyed(&[keys[0], keys[2], keys[1], keys[3]]), &texts);
    let text = format!("{}\n{},1,2,1,2\n", HEADER.replace("row", "key"), keys[0] + 1);
    assert_bad(&room, &text, &["r.csv:2: no query has the key"]);
}

#[test]
fn repeated_facts_share_a_line() {
    let room = Room::with_splits("0 0 1 0\n", "0 0 2 1\n", "0 0 1 2\n0 0 1 2\n1 0 2 2\n");
    room.write("r.csv", format!("{HEADER}\n{GOOD}"));
    for (duplicates, queries) in [("drop", 4), ("keep", 6)] {
        let command = "evaluate --data small --scores r.csv --unchecked-order --duplicates";
        let record = room.document(&format!("{command} {duplicates}"));
        assert_eq!(record["metrics"]["time"]["queries"], queries);
    }
}
