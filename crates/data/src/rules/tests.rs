//! Round trips, every mistake a person can make, and names that differ between datasets.

use std::fs;

use proptest::prelude::*;
use quadcast_core::{DirectedRelation, Names, Rule};

use super::*;

const GOOD: &str = r#"{"head":{"relation":"consults","inverse":false},"body":[{"relation":"visits","inverse":true},{"relation":"hosts","inverse":false}],"constraints":[[0,2]],"confidence":0.25,"rule_support":12,"body_support":48}"#;

fn names(names: &[&str]) -> Names {
    Names::new(names.iter().map(|name| Some((*name).to_owned())).collect(), None)
}

fn read(content: impl AsRef<[u8]>, names: &Names) -> Result<RulesRead, RuleFileError> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("rules.jsonl");
    fs::write(&path, content).expect("a file");
    read_rules(&path, names)
}

fn refused(content: impl AsRef<[u8]>, texts: &[&str]) {
    refused_among(&["consults", "visits", "hosts"], content, texts);
}

fn refused_among(relations: &[&str], content: impl AsRef<[u8]>, texts: &[&str]) {
    let error = read(content, &names(relations)).expect_err("a bad file").to_string();
    for text in texts {
        assert!(error.contains(text), "{text:?} is missing in {error}");
    }
}

/// The good line with one part replaced, on the second line of a file.
fn edited(from: &str, to: &str, texts: &[&str]) {
    assert!(GOOD.contains(from), "{from}");
    let other = GOOD.replace("consults", "hosts");
    refused(format!("{other}\n{}\n", GOOD.replace(from, to)), texts);
}

#[test]
fn a_line_on_paper() {
    let read =
        read(format!("\u{feff}{GOOD}\r\n\n"), &names(&["visits", "hosts", "consults"])).expect("a rule");
    let rule = Rule {
        head: DirectedRelation(2),
        body: vec![DirectedRelation(3), DirectedRelation(1)],
        constraints: vec![vec![0, 2]],
        rule_support: 12,
        body_support: 48,
        confidence: 0.25,
        any_order: false,
    };
    assert_eq!(read, RulesRead { rules: vec![rule.clone()], unknown_relations: vec![], dropped: 0 });
    let mut written = Vec::new();
    write_rules(&mut written, &[rule], &names(&["visits", "hosts", "consults"])).expect("memory");
    assert_eq!(String::from_utf8(written).expect("text"), format!("{GOOD}\n"));
}

#[test]
fn what_goes_without_saying_may_be_left_out() {
    let short = r#"{"head":{"relation":"Consults"},"body":[{"relation":"visits"}],"confidence":0.3333,"rule_support":1,"body_support":3}"#;
    let read = read(short, &names(&["visits", "consults"])).expect("a rule");
    assert_eq!(read.rules[0].head, DirectedRelation(1), "names are found as people write them");
    assert!(read.rules[0].constraints.is_empty());
}

#[test]
fn relations_that_are_not_there_drop_their_rules() {
    let other = GOOD.replace("visits", "avoids").replace("hosts", "eats");
    let read =
        read(format!("{other}\n{GOOD}\n"), &names(&["consults", "visits", "hosts"])).expect("one fits");
    assert_eq!((read.rules.len(), read.dropped), (1, 1));
    assert_eq!(read.unknown_relations, ["avoids", "eats"]);
    let texts = ["none of its 1 rules", "\"consults\", \"hosts\", \"visits\"", "\"a\", \"b\"", "and 1 more"];
    refused_among(&["a", "b", "c", "d", "e", "f"], GOOD, &texts);
}

#[test]
fn an_empty_file_holds_no_rules() {
    assert_eq!(read("", &names(&["a"])).expect("nothing"), RulesRead::default());
    assert_eq!(read("\n \n", &names(&["a"])).expect("nothing"), RulesRead::default());
}

#[test]
fn a_file_that_is_not_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let error = read_rules(&folder.path().join("absent.jsonl"), &names(&["a"])).expect_err("no file");
    let error = error.to_string();
    assert!(error.contains("absent.jsonl") && error.contains("check that the file exists"), "{error}");
}

#[test]
fn broken_lines_are_named_with_their_column() {
    refused("not json", &["rules.jsonl:1:2", "not a rule", "correct or remove"]);
    refused(&GOOD[..40], &["rules.jsonl:1:40", "EOF"]);
    refused(b"\xff\xfe".as_slice(), &["rules.jsonl:1:1"]);
    refused("[]", &["rules.jsonl:1:", "not a rule"]);
    refused(format!("{GOOD} {GOOD}"), &["rules.jsonl:1:", "trailing characters"]);
    edited("\"inverse\":true", "\"invers\":true", &["rules.jsonl:2:", "unknown field `invers`"]);
    edited(",\"body_support\":48", "", &["rules.jsonl:2:", "missing field `body_support`"]);
    edited("0.25", "\"high\"", &["rules.jsonl:2:", "expected f64"]);
    edited("0.25", "1e999", &["rules.jsonl:2:", "out of range"]);
    edited("12", "-12", &["rules.jsonl:2:", "`-12`"]);
}

#[test]
fn bodies_are_short_and_not_empty() {
    let body = r#"[{"relation":"visits","inverse":true},{"relation":"hosts","inverse":false}]"#;
    edited(body, "[]", &["rules.jsonl:2:49", "0 relations, expected 1 to 3"]);
    let hosts = r#"{"relation":"hosts"}"#;
    edited(body, &format!("[{hosts},{hosts},{hosts},{hosts}]"), &["4 relations, expected 1 to 3"]);
}

#[test]
fn constraints_are_groups_of_positions() {
    let at = format!("rules.jsonl:2:{}", GOOD.find("\"constraints\"").expect("a key") + 1);
    edited("[[0,2]]", "[[0]]", &[&at, "[0] binds nothing", "two or more"]);
    edited("[[0,2]]", "[[]]", &[&at, "[] binds nothing"]);
    edited("[[0,2]]", "[[2,0]]", &[&at, "[2, 0] is out of order", "sort it"]);
    edited("[[0,2]]", "[[1,1]]", &[&at, "different positions"]);
    edited("[[0,2]]", "[[0,3]]", &[&at, "position 3 does not exist, expected 0 to 2", "3 variables"]);
    edited("[[0,2]]", "[[0,1],[1,2]]", &[&at, "position 1 stands in two groups"]);
    edited("[[0,2]]", "[[0,256]]", &["rules.jsonl:2:", "`256`"]);
}

#[test]
fn numbers_agree() {
    let at = |key: &str| format!("rules.jsonl:2:{}", GOOD.find(key).expect("a key") + 1);
    edited("0.25", "0.0", &[&at("\"confidence\""), "the confidence is 0, expected a fraction above 0"]);
    edited("0.25", "1.5", &["the confidence is 1.5", "at most 1"]);
    edited("0.25", "-0.25", &["the confidence is -0.25"]);
    edited("\":12", "\":0", &[&at("\"rule_support\""), "rule_support is 0, expected 1 or more"]);
    edited("\":48", "\":0", &["body_support is 0"]);
    edited("\":48", "\":8", &[&at("\"rule_support\""), "rule_support 12 exceeds body_support 8"]);
    edited("0.25", "0.2502", &[&at("\"confidence\""), "12 / 48 = 0.250000", "or the supports"]);
    let rounded = GOOD.replace("0.25", "0.25009");
    assert!(read(rounded, &names(&["consults", "visits", "hosts"])).is_ok(), "people round");
}

#[test]
fn a_rule_stands_there_once() {
    let again = GOOD.replace("\":48", "\":47").replace("0.25", "0.2553");
    refused(format!("{GOOD}\n\n{again}\n"), &["rules.jsonl:3:1", "line 1 has the same head", "remove one"]);
}

#[test]
fn names_that_mislead_are_written_as_ids() {
    let all = Names::new(
        ["same", "same", "#0", "a \"quoted\"\tname"]
            .map(|name| Some(name.to_owned()))
            .into_iter()
            .chain([None])
            .collect(),
        None,
    );
    let rule = |id| Rule {
        head: DirectedRelation(id),
        body: vec![DirectedRelation(id)],
        constraints: vec![],
        rule_support: 1,
        body_support: 1,
        confidence: 1.0,
        any_order: false,
    };
    let rules: Vec<Rule> = (0..10).map(rule).collect();
    let mut text = Vec::new();
    write_rules(&mut text, &rules, &all).expect("memory");
    assert_eq!(read(text, &all).expect("rules").rules, rules);
}

const RELATIONS: u32 = 4;

prop_compose! {
    fn any_rule()(
        head in 0..2 * RELATIONS,
        body in prop::collection::vec(0..2 * RELATIONS, 1..=3),
        groups in prop::collection::vec(0_u8..3, 4),
        (rule_support, more) in (1_u32..=u32::MAX / 2, 0_u32..=u32::MAX / 2),
    ) -> Rule {
        let body_support = rule_support + more;
        let positions = 0..=body.len() as u8;
        let group = |wanted| positions.clone().filter(|&p| groups[usize::from(p)] == wanted).collect();
        let mut constraints: Vec<Vec<u8>> = (0..2).map(group).filter(|g: &Vec<u8>| g.len() > 1).collect();
        constraints.sort();
        let ratio = f64::from(rule_support) / f64::from(body_support);
        Rule {
            head: DirectedRelation(head),
            body: body.into_iter().map(DirectedRelation).collect(),
            constraints,
            rule_support,
            body_support,
            confidence: ((ratio * 1e6).round() / 1e6).max(1e-6),
            any_order: false,
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        mut rules in prop::collection::vec(any_rule(), 0..40),
        words in prop::collection::vec("\\PC{1,12}", RELATIONS as usize),
    ) {
        let key = |rule: &Rule| (rule.head, rule.body.clone(), rule.constraints.clone());
        rules.sort_by_key(key);
        rules.dedup_by_key(|rule| key(rule));
        let names = Names::new(words.into_iter().map(Some).collect(), None);
        let mut text = Vec::new();
        write_rules(&mut text, &rules, &names).expect("memory");
        prop_assert_eq!(memchr::memchr_iter(b'\n', &text).count(), rules.len());
        prop_assert_eq!(read(&text, &names).expect("what was written").rules, rules);
    }

    #[test]
    fn nothing_makes_it_panic(text in prop::collection::vec(any::<u8>(), 0..200), cut in 0..GOOD.len()) {
        let names = names(&["consults", "visits", "hosts"]);
        read(&text, &names).ok();
        read(&GOOD.as_bytes()[..cut], &names).ok();
    }
}
