//! Completion with the real binary: the task is seen from the data or said, and the record tells it.

use crate::common::{Room, assert_texts};

/// Visits that are mirrored at once, divided at random.
pub fn visits() -> Room {
    let mut train = String::new();
    for i in 0..30 {
        let day = 1 + i % 9;
        train.push_str(&format!("guest {i}\tmakes a visit\thost {}\t2031-02-0{day}\n", i % 7));
        train.push_str(&format!("host {}\thosts a visit\tguest {i}\t2031-02-0{day}\n", i % 7));
    }
    train.push_str("Town Hall\thosts a visit\tInes Dorrit\t2031-02-05\n");
    let valid = "guest 1\tmakes a visit\thost 2\t2031-02-03\n";
    let test = "Ines Dorrit\tmakes a visit\tTown Hall\t2031-02-05\n";
    Room::with_splits(&train, valid, test)
}

#[test]
fn a_random_split_is_completed() {
    let room = visits();
    let run = room.quadcast("run --data small --out run");
    assert_eq!((run.code, run.stderr.lines().count()), (0, 1), "{}", run.stderr);
    assert_texts(&run.stderr, &["the splits share their times, so this is completion"]);
    run.assert_says(&["naive-rules on small · completion"]);
    let record = room.record("run");
    assert_eq!(record["protocol"]["task"], "completion");
    assert_eq!(record["protocol"]["validation"], "withheld");
    assert_eq!(record["metrics"]["time"]["mrr"], 1.0, "the mirror of the only test fact is known");

    // The audit says so too: rule 1 alone answers everything.
    let audit = room.quadcast("data audit small --json").json();
    assert_eq!(audit["leakage"]["scores"][0]["mrr"], 1.0);
    room.quadcast("data audit small").assert_says(&["naive-rules, all four", "100.00  100.00  100.00"]);

    // The record repeats itself, and answers questions with reasons.
    room.quadcast("run run/run.toml --out again").success();
    room.assert_same("run", "again");
    room.write("questions.csv", "subject,relation,object,at\nInes Dorrit,makes a visit,,2031-02-05\n");
    room.quadcast("forecast run --queries questions.csv --explain --out answers.json").success();
    let why = &room.json("answers.json")[0]["answers"][0]["why"];
    assert_eq!(why["details"]["rule"], 1);
    let meaning = "hosts a visit is the inverse of makes a visit, and held at the same time";
    assert_eq!(why["details"]["meaning"], meaning);
    assert_eq!(why["facts"][0]["subject"], "Town Hall");
    let question = "forecast run --subject 'Ines Dorrit' --relation 'makes a visit'";
    let answer = room.quadcast(&format!("{question} --explain --at 2031-02-05")).success();
    answer.assert_says(&["2031-02-05 Town Hall hosts a visit Ines Dorrit"]);
    for at in ["", "--at 2050-01-01"] {
        let texts = ["naive-rules completes facts at times of its data: give --at from 2031"];
        room.assert_refused(&format!("{question} {at}"), &texts);
    }
    room.quadcast("report run again --out report.html").success();
    assert_texts(&room.text("report.html"), &["training facts of all times"]);
}

#[test]
fn the_task_can_be_said() {
    let room = Room::with_harbour();
    let run = room.quadcast("run --data harbour --task completion --out run").success();
    run.assert_says(&["naive-rules on harbour · completion"]);
    room.quadcast("run --model naive-rules --data harbour --validation observed --out observed").success();
    assert_eq!(room.record("observed")["protocol"]["validation"], "observed");
    assert_ne!(room.read("run/ranks.csv.zst"), room.read("observed/ranks.csv.zst"));
    room.quadcast("run --model naive-rules --data harbour --threads 1 --out alone").success();
    room.assert_same("run", "alone");
}

#[test]
fn tasks_that_do_not_fit_are_refused() {
    let room = visits();
    for (options, text) in [
        ("--task forecasting", "a random split is for completion"),
        ("--model recurrency", "a random split is for completion"),
        ("--model recurrency --task completion", "recurrency is a model for forecasting"),
        ("--model naive-rules --setting multi-step", "completion has no such period"),
        ("--task completion --setting single-step", "leave it out"),
        ("--model naive-rules --intervals every", "--intervals is for facts that hold"),
        ("--model tntcomplex --set scorer=transe", "temporal = \"tnt\" multiplies complex numbers"),
        ("--model composed --set temporal=lstm", "temporal = \"lstm\""),
    ] {
        room.assert_refused(&format!("run --data small --out run {options}"), &[text]);
    }
    let compat = room.quadcast("run --data small --compat --out compat");
    assert_eq!(compat.code, 2, "{}", compat.stderr);
    assert_texts(&compat.stderr, &["listed by hand for ICEWS14 and ICEWS05-15 only"]);
}

/// Settings with which a composed model trains in a moment.
pub const QUICK: &str =
    "--set dimension=8 --set epochs=40 --set validate_every=10 --set batch=32 --set factor_weight=0";

#[test]
fn a_composed_model_is_trained_and_asked() {
    let room = visits();
    room.quadcast(&format!("run --model tntcomplex --data small {QUICK} --out run")).success();
    let record = room.record("run");
    assert!(record["metrics"]["time"]["mrr"].as_f64().is_some_and(|mrr| mrr > 0.1), "{}", record["metrics"]);
    assert_eq!(record["relation_time"]["relation"]["candidates"], 2);
    assert_eq!(record["relation_time"]["time"]["candidates"], 9);
    assert_eq!(record["relation_time"]["time"]["queries"], 1);

    // Same seed, same result, for any number of threads.
    room.quadcast(&format!("run --model tntcomplex --data small {QUICK} --threads 1 --out again")).success();
    room.assert_same("run", "again");

    // Each part of a fact can be what is asked for.
    let (hosts, at) = ("--relation 'hosts a visit'", "--at 2031-02-05");
    let (subject, object) = ("--subject 'Town Hall'", "--object 'Ines Dorrit'");
    let time = room.document(&format!("forecast run {subject} {object} {hosts}"));
    assert_eq!((&time["asked_for"], &time["candidates"]), (&"time".into(), &9.into()));
    assert_eq!(time["answers"][0]["answer"], "2031-02-05", "the only time it held: {time}");
    assert_eq!(time["answers"][0]["known"], true);
    let relation = room.document(&format!("forecast run {subject} {object} {at}"));
    assert_eq!(relation["answers"][0]["answer"], "hosts a visit", "{relation}");
    let best = room.document(&format!("forecast run {subject} {hosts} {at}"));
    assert_eq!(best["answers"][0]["entity"], "Ines Dorrit", "{best}");

    assert_eq!(room.quadcast("run --data small --out rules").code, 0);
    for (question, text) in [
        (format!("run {subject} {object}"), "two things are missing"),
        (format!("run {subject} {object} {hosts} {at}"), "nothing is missing"),
        (format!("rules {subject} {object} {at}"), "naive-rules cannot tell which relation fits best"),
    ] {
        room.assert_refused(&format!("forecast {question}"), &[text]);
    }
}

/// Ministers (0 to 39, and 45) and their offices (40 to 44), with the years that they held them.
fn offices() -> Room {
    let mut train = String::new();
    for i in 0..40 {
        let (start, end) = (1950 + 2 * (i % 10), 1953 + 2 * (i % 10));
        train.push_str(&format!("{i}\t0\t{}\t{start}-##-##\t{end}-##-##\n", 40 + i % 5));
    }
    train.push_str("45\t0\t41\t1960-##-##\t####-##-##\n");
    let valid = "1\t0\t42\t1955-##-##\t1958-##-##\n";
    let test = "45\t0\t42\t1952-##-##\t1956-##-##\n";
    Room::with_splits(&train, valid, test)
}

#[test]
fn facts_with_intervals_are_asked_about_at_years() {
    let room = offices();
    let run = format!("run --model tntcomplex --data small {QUICK}");
    room.quadcast(&format!("{run} --out start")).success();
    let record = room.record("start");
    assert_eq!(record["protocol"]["intervals"], "start");
    assert_eq!((&record["dataset"]["test"], &record["by_step"][0]["time"]), (&1.into(), &"1952".into()));
    room.quadcast(&format!("{run} --intervals every --out every")).success();
    let record = room.record("every");
    assert_eq!(record["protocol"]["intervals"], "every");
    let steps = record["by_step"].as_array().expect("steps").len();
    assert_eq!(record["dataset"]["test"], steps);

    // Results of the two cannot be compared, and each repeats itself.
    assert_ne!(room.quadcast("compare start every").code, 0);
    room.quadcast("run every/run.toml --out again").success();
    room.assert_same("every", "again");
    let answer = room.document("forecast start --subject #45 --relation #0 --at 1965");
    assert_eq!(answer["at"], "1965");
    room.quadcast("forecast start --subject 45 --relation #0 --at 1965")
        .assert_error(2, &["there is no entity \"45\"", "only ids, from #0 on"]);
}
