//! Rules on the real binary: read, shown, moved to other data, edited, and given as reasons.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::Value;

use crate::common::{Files, Room, assert_texts};

/// What follows is certain here: whoever asks is answered a day later. Every dataset has a relation of its own, which
/// stands first, so that ids differ where names agree.
fn place_world(room: &Room, folder: &str, own: &str, people: [&str; 5]) {
    let mut splits = [String::new(), String::new(), String::new()];
    for day in 0..40_usize {
        let split = &mut splits[usize::from(day >= 28) + usize::from(day >= 34)];
        let who = |day: usize| (people[day % 5], people[(day * 2 + 1) % 5]);
        let mut fact = |subject: &str, relation: &str, object: &str| {
            let date = format!("2030-{:02}-{:02}", 1 + day / 28, 1 + day % 28);
            split.push_str(&format!("{subject}\t{relation}\t{object}\t{date}\n"));
        };
        let (asks, asked) = who(day);
        fact(people[day % 3], own, people[4]);
        if asks != asked {
            fact(asks, "asks", asked);
        }
        if let Some((asks, asked)) = day.checked_sub(1).map(who).filter(|(a, b)| a != b) {
            fact(asked, "answers", asks);
        }
    }
    room.place_splits(folder, splits);
}

/// Two such datasets and a run on the first.
static LEARNED: LazyLock<Files> = LazyLock::new(|| {
    let room = Room::new();
    place_world(&room, "north", "a_sings_to", ["Ann", "Bob", "Cem", "Dag", "Eve"]);
    place_world(&room, "south", "zz_cooks_for", ["Uma", "Vic", "Wim", "Xia", "Yan"]);
    room.quadcast("run --model tlogic --data north --out north-run").success();
    room.files()
});

fn learned() -> Room {
    Room::with_files(&LEARNED)
}

const HAND: &str = r#"{"head":{"relation":"answers"},"body":[{"relation":"asks","inverse":true}],"confidence":0.8,"rule_support":4,"body_support":5}"#;

#[test]
fn rules_stand_beside_the_model_and_a_run_needs_them() {
    let room = learned();
    assert!(!room.json_lines("north-run/rules.jsonl").is_empty());
    assert_eq!(room.json("north-run/model.json").get("rules"), None);
    assert_eq!(room.record("north-run")["model"].get("rules"), None, "they were learned here");
    std::fs::remove_file(room.path("north-run/rules.jsonl")).expect("the rules");
    let texts = ["north-run/rules.jsonl: there is no such file", "make the run again"];
    room.assert_refused("forecast north-run --subject Ann --relation asks", &texts);
    room.assert_refused("rules north-run", &texts);
    room.write("north-run/rules.jsonl", format!("{HAND}\n{}\n", HAND.replace("asks", "begs")));
    room.assert_refused("rules north-run", &["north-run/rules.jsonl is damaged or edited"]);
}

#[test]
fn rules_in_words() {
    let room = learned();
    let answer = room.quadcast("rules north-run").success();
    answer.assert_fits();
    answer.assert_says(&["tlogic on north: ", "“and then”: at the same time or later", "support  rule"]);
    let answer = room.quadcast("rules north-run --relation Answers --top 1").success();
    answer.assert_says(&["for answers", "X – answers – ?", "? – answers – X"]);
    answer.assert_says(&["if Y asks X, then X answers Y"]);
    assert_eq!(answer.stdout.matches("  if ").count(), 2, "one per direction");
}

#[test]
fn the_most_confident_come_first_and_files_hold_what_is_read() {
    let room = learned();
    let rules = room.document("rules north-run --top 1000");
    let rules = rules.as_array().expect("a list");
    let mut kept = room.json_lines("north-run/rules.jsonl");
    assert_eq!(rules.len(), kept.len());
    for pair in rules.windows(2).filter(|pair| pair[0]["head"] == pair[1]["head"]) {
        assert!(pair[0]["confidence"].as_f64() >= pair[1]["confidence"].as_f64(), "{pair:?}");
    }
    let mut heads: Vec<String> = rules.iter().map(|rule| rule["head"].to_string()).collect();
    heads.dedup();
    let distinct: BTreeSet<&String> = heads.iter().collect();
    assert_eq!(heads.len(), distinct.len(), "rules of one head stand together");
    assert_eq!(room.document("rules north-run").as_array().map(Vec::len), Some(20));

    let said = room.quadcast("rules north-run --out all.jsonl").success();
    let mut all = room.json_lines("all.jsonl");
    said.assert_says(&[&format!("{} rules: all.jsonl", all.len())]);
    all.sort_by_key(Value::to_string);
    kept.sort_by_key(Value::to_string);
    assert_eq!(all, kept);
    let done = room.document("rules north-run --relation asks --top 2 --out few.jsonl");
    assert_eq!((&done["file"], &done["rules"]), (&"few.jsonl".into(), &4.into()));
    assert!(room.json_lines("few.jsonl").iter().all(|rule| rule["head"]["relation"] == "asks"));
}

#[test]
fn wrong_questions_come_with_advice() {
    let room = learned();
    room.assert_refused("rules north-run --relation anwers", &["no relation \"anwers\"", "\"answers\""]);
    room.assert_refused("rules absent", &["absent"]);
    room.assert_refused("rules north-run --top 0", &["--top"]);
    room.quadcast("run --model recurrency --data north --out plain").success();
    room.assert_refused(
        "rules plain",
        &["recurrency has no rules to show", "models with rules: herald, tlogic"],
    );
    std::fs::remove_dir_all(room.path("north")).expect("the data");
    room.assert_refused("rules north-run", &["north"]);
}

#[test]
fn rules_move_to_data_with_the_same_names() {
    let room = learned();
    let run = "run --model tlogic --data south --rules north-run/rules.jsonl --out south-run";
    let answer = room.quadcast(run);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let kept = room.json_lines("south-run/rules.jsonl").len();
    let dropped = room.json_lines("north-run/rules.jsonl").len() - kept;
    assert!(kept > 0 && dropped > 0);
    let said = format!(
        "{kept} rules from north-run/rules.jsonl; {dropped} dropped, this dataset has no relation \"a_sings_to\"\n"
    );
    assert_eq!(answer.stderr, said);
    answer.assert_says(&["from north-run/rules.jsonl", "nothing was learned in this run"]);

    let card = room.record("south-run")["model"]["rules"].clone();
    assert_eq!(card["file"], "north-run/rules.jsonl");
    assert_eq!((&card["used"], &card["dropped"]), (&kept.into(), &dropped.into()));
    assert_texts(&room.text("south-run/run.toml"), &["rules = \"north-run/rules.jsonl\""]);
    let page = room.quadcast("report south-run --out page.html").success();
    page.assert_says(&["page.html"]);
    assert_texts(&room.text("page.html"), &["from north-run&#x2f;rules.jsonl"]);

    // The same words about other ids.
    let moved = room.document("rules south-run --relation answers");
    let mut words = moved.as_array().expect("a list").iter().map(|rule| &rule["words"]);
    assert!(words.any(|words| words == "if Y asks X, then X answers Y"), "{moved}");
    let forecast = "forecast south-run --subject Vic --relation answers --at 2030-02-10 --explain";
    let best = &room.document(forecast)["answers"][0];
    let sentence = best["why"]["rules"][0]["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("Vic answers"), "{sentence}");
}

#[test]
fn a_run_with_given_rules_can_be_repeated() {
    let room = learned();
    room.write("hand.jsonl", format!("{HAND}\n"));
    room.quadcast("run --model tlogic --data south --rules hand.jsonl --out first --quiet").success();
    room.quadcast("run first/run.toml --out second --quiet").success();
    assert_eq!(room.read("first/ranks.csv.zst"), room.read("second/ranks.csv.zst"));
    assert_eq!(room.record("second")["model"]["rules"]["used"], 1);
    let answer = room.quadcast("run first/run.toml --out third");
    answer.assert_remarks("1 rule from hand.jsonl\n");
}

#[test]
fn rules_that_cannot_be_used_leave_nothing_behind() {
    let room = learned();
    room.write("empty.jsonl", "\n");
    room.write("odd.jsonl", HAND.replace("0.8", "0.7"));
    room.write("other.jsonl", HAND.replace("asks", "begs"));
    room.write("hand.jsonl", HAND);
    for (options, texts) in [
        ("tlogic --rules absent.jsonl", ["absent.jsonl", "check that the file exists", ""]),
        ("tlogic --rules empty.jsonl", ["empty.jsonl: the file holds no rule", "without --rules", ""]),
        ("tlogic --rules odd.jsonl", ["odd.jsonl:1:", "4 / 5 = 0.800000", "correct the confidence"]),
        ("tlogic --rules other.jsonl", ["none of its 1 rules", "\"begs\"", "\"zz_cooks_for\""]),
        (
            "recurrency --rules hand.jsonl",
            ["recurrency learns no rules", "hand.jsonl", "models with rules: tlogic"],
        ),
    ] {
        room.assert_refused(&format!("run --data south --out new --model {options}"), &texts);
    }
}

#[test]
fn compat_sets_the_key_of_models_that_have_one() {
    let room = learned();
    room.quadcast("run --model tlogic --data north --compat --out old").success();
    assert_eq!(room.record("old")["model"]["config"]["compat"], true);
    assert_eq!(room.record("north-run")["model"]["config"]["compat"], false);
    let answer = room.quadcast("run --model recurrency --data north --compat --out plain");
    answer.assert_remarks("recurrency does nothing different under --compat\n");
    room.quadcast("run --model recurrency --data north --compat --out quiet --quiet").success();
    room.quadcast("run --model recurrency --data north --out honest").success();
    assert_eq!(room.read("plain/ranks.csv.zst"), room.read("honest/ranks.csv.zst"));
    room.write("old.toml", "model = \"tlogic\"\ndata = \"north\"\n[config]\ncompat = true\n");
    room.quadcast("run old.toml --out again").success();
    assert_eq!(room.read("again/rules.jsonl"), room.read("old/rules.jsonl"));
}

#[test]
fn answers_come_with_the_rules_that_fired() {
    let room = learned();
    let question = "forecast north-run --subject Bob --relation answers --at 2030-02-10 --explain";
    let answer = room.quadcast(&format!("{question} --top 2")).success();
    answer.assert_fits();
    answer.assert_says(&["confidence ", "if ", ", then Bob answers ", " %  score ", "- 2030-02-0"]);
    let json = room.document(question);
    for answer in json["answers"].as_array().expect("answers") {
        let rules = answer["why"]["rules"].as_array().expect("rules");
        let shares: f64 = rules.iter().map(|rule| rule["share"].as_f64().expect("a share")).sum();
        assert!((shares - 1.0).abs() < 1e-6, "{shares}");
        for rule in rules {
            let parts = ["confidence_part", "recency_part"].map(|key| rule[key].as_f64().expect("a part"));
            assert!((parts[0] + parts[1] - rule["score"].as_f64().expect("a score")).abs() < 1e-6, "{rule}");
            let chains = rule["groundings"].as_array().expect("chains");
            assert!(!chains.is_empty() && chains.len() <= 3);
            assert!(rule["grounding_count"].as_u64().expect("a count") >= chains.len() as u64);
            assert_eq!(rule["groundings_cut"], false);
            for chain in chains.iter().map(|chain| chain.as_array().expect("facts")) {
                assert_eq!(chain.len(), rule["rule"]["body"].as_array().expect("a body").len());
                let times: Vec<&str> =
                    chain.iter().map(|fact| fact["time"].as_str().expect("a time")).collect();
                assert!(times.is_sorted() && times.iter().all(|time| *time < "2030-02-10"), "{times:?}");
            }
            assert_eq!(rule["latest"], chains[0][0]["time"], "the most recent chain comes first");
        }
    }
}

/// A run of a model that counts rules.
fn counted() -> Room {
    let room = learned();
    room.quadcast("run --model herald --data north --set hidden=8 --set epochs=1 --out counted").success();
    room
}

#[test]
fn counted_rules_come_with_curves_and_stay_in_the_model() {
    let room = counted();
    let answer = room.quadcast("rules counted --relation answers --top 2").success();
    answer.assert_says(&["herald on north: 4 of ", "for answers", "X – answers – ?", "? – answers – X"]);
    answer
        .assert_says(&["  1    2    3  4–5  6–8 9–16  –32  –64 –128 129–", "if Y asks X, then X answers Y"]);
    assert!(answer.stdout.lines().all(|line| line.chars().count() <= 80), "{}", answer.stdout);
    let rules = room.document("rules counted --top 1000 --min-support 5");
    for rule in rules.as_array().expect("a list") {
        let ages = rule["curve"]["by_age"].as_array().expect("a curve");
        let bodies: u64 = ages.iter().filter_map(|age| age["body_support"].as_u64()).sum();
        assert_eq!((ages.len(), rule["body_support"].as_u64()), (10, Some(bodies)));
        assert!(bodies >= 5 && rule["curve"]["smooth"]["alpha"].is_f64(), "{rule}");
    }
    room.assert_refused("rules counted --out file.jsonl", &["cannot be exported", "--json"]);
    let given = "run --model herald --data north --rules north-run/rules.jsonl --out given";
    room.assert_refused(given, &["herald learns no rules", "models with rules: tlogic"]);
}

#[test]
fn shares_of_evidence_add_up_to_the_score() {
    let room = counted();
    let question = "forecast counted --subject Bob --relation answers --at 2030-02-10 --explain";
    let text = room.quadcast(&format!("{question} --top 1")).success();
    assert!(text.stdout.lines().all(|line| line.chars().count() <= 80), "{}", text.stdout);
    let kinds = ["same fact", "same pair", "popularity: ", "rules", "paths", "roles"];
    text.assert_says(&kinds);
    text.assert_says(&["shares of the score", "score without evidence", " % at this age (", "  2030-02-0"]);
    for answer in room.document(question)["answers"].as_array().expect("answers") {
        let why = &answer["why"];
        let parts = ["facts", "also"].map(|key| why[key].as_array().expect("a list"));
        let weights = parts.into_iter().flatten().map(|part| part["weight"].as_f64().expect("a weight"));
        let (sum, score) = (weights.sum::<f64>(), answer["score"].as_f64().expect("a score"));
        assert!((sum - score).abs() < 1e-6 * score.abs().max(1.0), "{sum} {score}");
    }
}

#[test]
fn an_interrupted_run_goes_on_with_its_rules() {
    let room = learned();
    let run = "run --model tlogic --data north --out kept";
    room.interrupt(run);
    let answer = room.quadcast(run);
    answer.assert_remarks("resuming kept: fitted, 6 of 6 test steps done\n");
    let files = ["rules.jsonl", "explanations.json", "ranks.csv.zst", "model.json"];
    room.assert_same_files("kept", "north-run", &files);
}

#[test]
fn rules_that_were_edited_since_are_judged_anew() {
    let room = learned();
    let run = "run --model tlogic --data south --rules hand.jsonl --out kept --quiet";
    room.write("hand.jsonl", HAND);
    room.interrupt(run);
    room.write("hand.jsonl", HAND.replace("0.8", "0.2").replace("\":4", "\":1"));
    room.quadcast(run).success();
    assert_eq!(room.json_lines("kept/rules.jsonl")[0]["confidence"], 0.2);
    room.quadcast("run --model tlogic --data south --rules hand.jsonl --out whole --quiet").success();
    room.assert_same_files("kept", "whole", &["ranks.csv.zst", "explanations.json"]);
}

#[test]
fn samples_know_only_what_came_before() {
    let room = learned();
    room.quadcast("run --model tlogic --data north --setting multi-step --out multi").success();
    for (run, multi) in [("north-run", false), ("multi", true)] {
        let samples = room.json(&format!("{run}/explanations.json"));
        let samples = samples.as_array().expect("a list");
        assert!((1..=3).contains(&samples.len()));
        let mut relations: Vec<&Value> = samples.iter().map(|sample| &sample["relation"]).collect();
        relations.dedup();
        assert_eq!(relations.len(), samples.len(), "different relations");
        for sample in samples {
            let at = if multi { "2030-02-07" } else { sample["at"].as_str().expect("a time") };
            assert!(sample["known_until"].as_str().expect("a time") < at, "{sample}");
            assert_eq!(sample["truth"]["rank"], 1);
            let answers = sample["answers"].as_array().expect("answers");
            assert_eq!(answers.len(), 1);
            for rule in answers[0]["why"]["rules"].as_array().expect("rules") {
                for fact in rule["groundings"].as_array().expect("chains").iter().filter_map(|c| c.as_array())
                {
                    assert!(fact.iter().all(|fact| fact["time"].as_str() < Some(at)), "{rule}");
                }
            }
        }
    }
    let first = room.text("north-run/explanations.json");
    room.quadcast("run north-run/run.toml --out again --threads 1").success();
    assert_eq!(first, room.text("again/explanations.json"));
}
