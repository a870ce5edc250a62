//! Rules on the real binary: read, shown, moved to other data, edited, and given as reasons.

mod common;

use common::{Room, assert_texts};
use serde_json::Value;

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
    for (split, facts) in ["train", "valid", "test"].iter().zip(splits) {
        room.write(&format!("{folder}/{split}.txt"), facts);
    }
}

/// A room with two such datasets and a run on the first.
fn learned() -> Room {
    let room = Room::new();
    place_world(&room, "north", "a_sings_to", ["Ann", "Bob", "Cem", "Dag", "Eve"]);
    place_world(&room, "south", "zz_cooks_for", ["Uma", "Vic", "Wim", "Xia", "Yan"]);
    room.quadcast("run --model tlogic --data north --out north-run").success();
    room
}

const HAND: &str = r#"{"head":{"relation":"answers"},"body":[{"relation":"asks","inverse":true}],"confidence":0.8,"rule_support":4,"body_support":5}"#;

/// The rules of a file, as JSON.
fn lines(room: &Room, file: &str) -> Vec<Value> {
    room.text(file).lines().map(|line| serde_json::from_str(line).expect("a rule")).collect()
}

#[test]
fn rules_stand_beside_the_model_and_not_in_it() {
    let room = learned();
    assert!(!lines(&room, "north-run/rules.jsonl").is_empty());
    assert_eq!(room.json("north-run/model.json").get("rules"), None);
    assert_eq!(room.json("north-run/metrics.json")["model"].get("rules"), None, "they were learned here");
}

#[test]
fn a_run_without_its_rules_is_refused() {
    let room = learned();
    std::fs::remove_file(room.path("north-run/rules.jsonl")).expect("the rules");
    let texts = ["north-run/rules.jsonl: there is no such file", "tlogic", "run again"];
    room.assert_refused("forecast north-run --subject Ann --relation asks", &texts);
    room.assert_refused("rules north-run", &texts);
    room.write("north-run/rules.jsonl", format!("{HAND}\n{}\n", HAND.replace("asks", "begs")));
    room.assert_refused("rules north-run", &["1 of its rules", "\"begs\"", "correct the names"]);
}

#[test]
fn rules_in_words() {
    let room = learned();
    let answer = room.quadcast("rules north-run").success();
    answer.assert_fits();
    answer.assert_says(&["tlogic on north: ", "“and then”: at the same time or later", "support  rule"]);
    let answer = room.quadcast("rules north-run --relation Answers --top 1").success();
    answer.assert_says(&[
        "for answers",
        "X – answers – ?",
        "? – answers – X",
        "if Y asks X, then X answers Y",
    ]);
    assert_eq!(answer.stdout.matches("  if ").count(), 2, "one per direction");
}

#[test]
fn the_most_confident_come_first() {
    let room = learned();
    let rules = room.quadcast("rules north-run --json --top 1000").success().json();
    let rules = rules.as_array().expect("a list");
    assert_eq!(rules.len(), lines(&room, "north-run/rules.jsonl").len());
    for pair in rules.windows(2).filter(|pair| pair[0]["head"] == pair[1]["head"]) {
        assert!(pair[0]["confidence"].as_f64() >= pair[1]["confidence"].as_f64(), "{pair:?}");
    }
    let mut heads: Vec<String> = rules.iter().map(|rule| rule["head"].to_string()).collect();
    heads.dedup();
    let count = heads.len();
    heads.sort();
    heads.dedup();
    assert_eq!(heads.len(), count, "rules of one head stand together");
    assert_eq!(room.quadcast("rules north-run --json").success().json().as_array().map(Vec::len), Some(20));
}

#[test]
fn rules_are_written_as_they_are_read() {
    let room = learned();
    let said = room.quadcast("rules north-run --out all.jsonl").success();
    let all = lines(&room, "all.jsonl");
    said.assert_says(&[&format!("{} rules: all.jsonl", all.len())]);
    let mut kept = lines(&room, "north-run/rules.jsonl");
    let (mut all, key) = (all, |rule: &Value| rule.to_string());
    all.sort_by_key(key);
    kept.sort_by_key(key);
    assert_eq!(all, kept);
    let done =
        room.quadcast("rules north-run --relation asks --top 2 --out few.jsonl --json").success().json();
    assert_eq!((&done["file"], &done["rules"]), (&"few.jsonl".into(), &4.into()));
    assert!(lines(&room, "few.jsonl").iter().all(|rule| rule["head"]["relation"] == "asks"));
}

#[test]
fn wrong_questions_come_with_advice() {
    let room = learned();
    room.assert_refused("rules north-run --relation anwers", &["no relation \"anwers\"", "\"answers\""]);
    room.assert_refused("rules absent", &["absent"]);
    room.assert_refused("rules north-run --top 0", &["--top"]);
    room.quadcast("run --data north --out plain").success();
    room.assert_refused("rules plain", &["recurrency has no rules to show", "models with rules: tlogic"]);
    std::fs::remove_dir_all(room.path("north")).expect("the data");
    room.assert_refused("rules north-run", &["north"]);
}

#[test]
fn rules_move_to_data_with_the_same_names() {
    let room = learned();
    let run = "run --model tlogic --data south --rules north-run/rules.jsonl --out south-run";
    let answer = room.quadcast(run);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let kept = lines(&room, "south-run/rules.jsonl").len();
    let dropped = lines(&room, "north-run/rules.jsonl").len() - kept;
    assert!(kept > 0 && dropped > 0);
    let said = format!(
        "{kept} rules from north-run/rules.jsonl; {dropped} dropped, this dataset has no relation \"a_sings_to\"\n"
    );
    assert_eq!(answer.stderr, said);
    answer.assert_says(&["from north-run/rules.jsonl", "nothing was learned in this run"]);

    let card = room.json("south-run/metrics.json")["model"]["rules"].clone();
    assert_eq!(card["file"], "north-run/rules.jsonl");
    assert_eq!((&card["used"], &card["dropped"]), (&kept.into(), &dropped.into()));
    assert_texts(&room.text("south-run/run.toml"), &["rules = \"north-run/rules.jsonl\""]);
    let page = room.quadcast("report south-run --out page.html").success();
    page.assert_says(&["page.html"]);
    assert_texts(&room.text("page.html"), &["from north-run&#x2f;rules.jsonl"]);

    // The same words about other ids.
    let words = |run: &str| -> Vec<String> {
        let rules = room.quadcast(&format!("rules {run} --relation answers --json")).success().json();
        let list = rules.as_array().expect("a list");
        list.iter().map(|rule| rule["words"].as_str().expect("words").to_owned()).collect()
    };
    let moved = words("south-run");
    assert!(moved.contains(&"if Y asks X, then X answers Y".to_owned()), "{moved:?}");
    let forecast = "forecast south-run --subject Vic --relation answers --at 2030-02-10 --explain --json";
    let best = &room.quadcast(forecast).success().json()["answers"][0];
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
    assert_eq!(room.json("second/metrics.json")["model"]["rules"]["used"], 1);
    let answer = room.quadcast("run first/run.toml --out third");
    assert_eq!((answer.code, answer.stderr.as_str()), (0, "1 rule from hand.jsonl\n"));
}

#[test]
fn rules_that_cannot_be_used_leave_nothing_behind() {
    let room = learned();
    let run = |rules: &str| format!("run --model tlogic --data south --rules {rules} --out new");
    room.assert_refused(&run("absent.jsonl"), &["absent.jsonl", "check that the file exists"]);
    room.write("empty.jsonl", "\n");
    room.assert_refused(&run("empty.jsonl"), &["empty.jsonl: the file holds no rule", "without --rules"]);
    room.write("odd.jsonl", HAND.replace("0.8", "0.7"));
    room.assert_refused(&run("odd.jsonl"), &["odd.jsonl:1:", "4 / 5 = 0.800000", "correct the confidence"]);
    room.write("other.jsonl", HAND.replace("asks", "begs"));
    room.assert_refused(&run("other.jsonl"), &["none of its 1 rules", "\"begs\"", "\"zz_cooks_for\""]);
    room.write("hand.jsonl", HAND);
    room.assert_refused(
        "run --data south --rules hand.jsonl --out new",
        &["recurrency learns no rules", "hand.jsonl", "models with rules: tlogic"],
    );
}

#[test]
fn compat_sets_the_key_of_models_that_have_one() {
    let room = learned();
    room.quadcast("run --model tlogic --data north --compat --out old").success();
    assert_eq!(room.json("old/metrics.json")["model"]["config"]["compat"], true);
    assert_eq!(room.json("north-run/metrics.json")["model"]["config"]["compat"], false);
    let answer = room.quadcast("run --data north --compat --out plain");
    assert_eq!(
        (answer.code, answer.stderr.as_str()),
        (0, "recurrency does nothing different under --compat\n")
    );
    room.quadcast("run --data north --compat --out quiet --quiet").success();
    room.quadcast("run --data north --out honest").success();
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
    let json = room.quadcast(&format!("{question} --json")).success().json();
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

/// Runs into `kept` as far as the last test step: the ranks cannot be written, because their place is taken.
fn interrupt(room: &Room, run: &str) {
    room.write("kept/ranks.csv.zst/in-the-way", "");
    room.quadcast(run).assert_error(1, &["cannot write kept/ranks.csv.zst"]);
    std::fs::remove_dir_all(room.path("kept/ranks.csv.zst")).expect("the obstacle");
}

#[test]
fn an_interrupted_run_goes_on_with_its_rules() {
    let room = learned();
    let run = "run --model tlogic --data north --out kept";
    interrupt(&room, run);
    let answer = room.quadcast(run);
    assert_eq!((answer.code, answer.stderr.as_str()), (0, "resuming kept: fitted, 6 of 6 test steps done\n"));
    for file in ["rules.jsonl", "explanations.json", "ranks.csv.zst", "model.json"] {
        assert_eq!(room.read(&format!("kept/{file}")), room.read(&format!("north-run/{file}")));
    }
}

#[test]
fn rules_that_were_edited_since_are_judged_anew() {
    let room = learned();
    let run = "run --model tlogic --data south --rules hand.jsonl --out kept --quiet";
    room.write("hand.jsonl", HAND);
    interrupt(&room, run);
    room.write("hand.jsonl", HAND.replace("0.8", "0.2").replace("\":4", "\":1"));
    room.quadcast(run).success();
    assert_eq!(lines(&room, "kept/rules.jsonl")[0]["confidence"], 0.2);
    room.quadcast("run --model tlogic --data south --rules hand.jsonl --out whole --quiet").success();
    assert_eq!(room.read("kept/ranks.csv.zst"), room.read("whole/ranks.csv.zst"));
    assert_eq!(room.read("kept/explanations.json"), room.read("whole/explanations.json"));
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
