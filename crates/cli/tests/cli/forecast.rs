//! `forecast` on the real binary: names, dates, reasons, files of questions.

use std::sync::LazyLock;

use crate::common::{Files, Room};

/// A fact on each of five days, small enough to check by hand; a finished run on it.
static FIVE_DAYS: LazyLock<Files> = LazyLock::new(|| {
    let day = |day: u32, object: &str| format!("anna\tmeets\t{object}\t2030-01-{day:02}\n");
    let train = day(1, "bert") + &day(2, "bert") + &day(3, "carl");
    let room = Room::with_splits(&train, &day(4, "bert"), &day(5, "bert"));
    room.quadcast("run --model recurrency --data small --set variant=strict --set lambda=0 --out run")
        .success();
    room.files()
});

fn five_days() -> Room {
    Room::with_files(&FIVE_DAYS)
}

#[test]
fn the_best_answers_on_paper() {
    let room = five_days();
    let question = "forecast run --subject anna --relation meets";
    let json = room.document(&format!("{question} --explain"));
    assert_eq!(json["at"], "2030-01-06", "the day after the last one");
    assert_eq!(json["known_until"], "2030-01-05");
    assert_eq!(json["answers"][0]["entity"], "bert");
    assert_eq!(json["answers"][0]["score"], 4.0);
    assert_eq!(json["answers"][1]["entity"], "carl");
    assert_eq!(json["reached"], 2);
    let times: Vec<_> =
        json["answers"][0]["why"]["facts"].as_array().unwrap().iter().map(|f| f["time"].clone()).collect();
    assert_eq!(times, ["2030-01-05", "2030-01-04", "2030-01-02", "2030-01-01"]);
    // Only facts before the date are used.
    let json = room.document(&format!("{question} --at 2030-01-03"));
    assert_eq!(json["answers"].as_array().unwrap().len(), 1);
    assert_eq!(json["answers"][0]["score"], 2.0);
    let json = room.document(&format!("{question} --at 2030-03-01"));
    assert_eq!(json["at"], "2030-03-01", "dates beyond the data are fine");
    let answer = room.quadcast("forecast run --object carl --relation meets").success();
    answer.assert_says(&["? – meets – carl, 2030-01-06", "anna"]);
}

#[test]
fn graphs_on_paper() {
    let room = five_days();
    let json = room.document("forecast run --graph");
    assert_eq!((&json[0]["at"], &json[0]["made"]), (&"2030-01-06".into(), &"scored".into()));
    assert_eq!(json[0]["expected_facts"], 1.0);
    // Bert was met on four days of five, and a fact is expected per day: 1 - exp(-4/5).
    let close = |found: &serde_json::Value, expected: f64| {
        assert!((found.as_f64().unwrap() - expected).abs() < 1e-12, "{found} {expected}");
    };
    let facts = json[0]["facts"].as_array().unwrap();
    assert_eq!((facts.len(), &facts[0]["object"]), (2, &"bert".into()));
    close(&facts[0]["probability"], 1.0 - (-0.8_f64).exp());
    close(&facts[1]["probability"], 1.0 - (-0.2_f64).exp());

    // What was known before the fourth day: Bert twice, Carl once.
    let out = room.quadcast("forecast run --graph --at 2030-01-04 --next 2 --out graphs.csv").success();
    out.assert_says(&["4 facts in 2 predicted graphs: graphs.csv"]);
    let text = String::from_utf8(room.read("graphs.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "at,subject,relation,object,probability");
    assert!(lines[1].starts_with("2030-01-04,anna,meets,bert,0.486"), "{text}");
    assert!(lines[4].starts_with("2030-01-05,anna,meets,carl,0.283"), "{text}");
    let json = room.document("evaluate --data small --graphs graphs.csv");
    assert_eq!(json["known_until"], "2030-01-03");
    for step in json["steps"].as_array().unwrap() {
        assert_eq!((&step["f1"], &step["f1_of_last_known"]), (&1.0.into(), &0.0.into()));
        assert_eq!(
            (&step["jaccard_last_known"], &step["true_jaccard_last_known"]),
            (&0.0.into(), &0.0.into())
        );
    }
    let ranges = json["calibration"].as_array().unwrap();
    let observed: Vec<f64> = ranges.iter().map(|range| range["observed"].as_f64().unwrap()).collect();
    assert_eq!(observed, [0.0, 1.0], "{ranges:?}");
    let text = room.quadcast("evaluate --data small --graphs graphs.csv").success();
    text.assert_fits();
    text.assert_says(&["predicted graphs on small, last known step 2030-01-03", "100.0"]);
}

#[test]
fn graphs_that_cannot_be_judged_name_the_line() {
    let room = five_days();
    let head = "at,subject,relation,object,probability\n";
    for (rows, text) in [
        ("", "graphs.csv:1: the file holds no fact"),
        ("2030-01-04,anna,meets,bert,1.5\n", "graphs.csv:2: the probability is \"1.5\""),
        ("2030-01-04,anna,meets,bertha,0.5\n", "graphs.csv:2: there is no entity \"bertha\""),
        (
            "2030-02-04,anna,meets,bert,0.5\n",
            "graphs.csv:2: \"2030-02-04\" is not a time at which small has facts",
        ),
        (
            "2030-01-04,anna,meets,bert,0.5\n2030-01-04,anna,meets,bert,0.4\n",
            "graphs.csv:3: this fact is predicted twice",
        ),
    ] {
        room.write("graphs.csv", head.to_owned() + rows);
        room.assert_refused("evaluate --data small --graphs graphs.csv", &[text]);
    }
    room.write("graphs.csv", "subject,object\na,b\n");
    let header = "graphs.csv:1: expected a header with: at, subject, relation, object, probability";
    room.assert_refused("evaluate --data small --graphs graphs.csv", &[header]);
    room.assert_refused("forecast run --graph --next 0", &["0 steps: expected from 1 to 366"]);
    room.assert_refused("forecast run --graph --at 9999-01-01", &["more than 366 steps after"]);
}

#[test]
fn text_fits_a_page_and_gives_reasons() {
    let room = Room::with_runs();
    let question = "forecast combined --subject grey_heron --relation docks_at --explain --top 4";
    let answer = room.quadcast(question).success();
    answer.assert_fits();
    answer.assert_says(&["recurrency on harbour, facts known until 2031-07-28", "share", "held", "% "]);
}

#[test]
fn wrong_names_dates_and_data_come_with_advice() {
    let room = five_days();
    for (question, texts) in [
        ("run --subject ana --relation meets", ["no entity \"ana\"", "\"anna\""]),
        ("run --subject anna --relation meet", ["no relation \"meet\"", "\"meets\""]),
        ("run --subject anna --relation meets --at tomorrow", ["\"tomorrow\" is not a time", "2030-01-05"]),
        ("run --subject anna", ["--relation", ""]),
        ("small --subject anna --relation meets", ["not a run folder", "metrics.json"]),
        ("nowhere --subject anna --relation meets", ["there is no folder nowhere", ""]),
    ] {
        room.assert_refused(&format!("forecast {question}"), &texts);
    }
    room.write("small/test.txt", "anna\tmeets\tcarl\t2030-01-05\n");
    room.assert_refused("forecast run --subject anna --relation meets", &["fingerprint", "--data"]);
}

#[test]
fn many_questions_from_a_file() {
    let room = five_days();
    let questions = "anna,meets,,\n,meets,carl,2030-01-05\nanna,meets,,2030-01-02\n";
    room.write("questions.csv", format!("subject,relation,object,at\n{questions}"));
    let csv = room.quadcast("forecast run --queries questions.csv --top 1").success().stdout;
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows[0], "question,subject,relation,object,at,rank,answer,score,share");
    assert_eq!(rows[1], "1,anna,meets,,2030-01-06,1,bert,4,");
    assert_eq!(rows[2], "2,,meets,carl,2030-01-05,1,anna,1,");
    assert_eq!(rows[3], "3,anna,meets,,2030-01-02,1,bert,1,");
    room.quadcast("forecast run --queries questions.csv --out answers.json").success();
    assert_eq!(room.json("answers.json").as_array().unwrap().len(), 3);
}

#[test]
fn malformed_files_of_questions_name_the_line() {
    let room = five_days();
    for (content, texts) in [
        ("who,relation\n", &["questions.csv:1", "\"who\"", "subject, relation, object, at"][..]),
        ("subject,relation\n", &["no question"]),
        ("subject,relation\nanna,meets\nanna,\n", &["questions.csv:3", "relation is missing"]),
        ("subject,relation,object\nanna,meets,bert\n", &["questions.csv:2", "both sides"]),
        ("subject,relation\nanna,meets\nbob,meets\n", &["questions.csv:3", "no entity \"bob\""]),
    ] {
        room.write("questions.csv", content);
        room.assert_refused("forecast run --queries questions.csv", texts);
    }
    room.assert_refused("forecast run --queries absent.csv", &["absent.csv"]);
}

#[test]
fn files_of_questions_are_text_of_a_sensible_size() {
    let room = five_days();
    let asked = "forecast run --queries questions.csv";
    room.write("questions.csv", "subject,relation\nanna,meets\nan\0na,meets\n");
    room.assert_refused(asked, &["questions.csv:3:1: found a NUL byte"]);
    room.write("questions.csv", format!("subject,relation\n{},meets\n", "anna".repeat(1 << 19)));
    room.assert_refused(asked, &["questions.csv:2:1: the line is longer than 1048576 bytes"]);
    std::fs::remove_file(room.path("questions.csv")).expect("a file");
    room.write("questions.csv/inner", "");
    room.assert_refused(asked, &["questions.csv: this is a folder, expected a regular file"]);
}

#[cfg(unix)]
#[test]
fn questions_do_not_come_from_pipes_and_devices() {
    let room = five_days();
    room.assert_refused("forecast run --queries /dev/zero", &["/dev/zero: this is a device"]);
    if room.pipe("questions.csv") {
        room.assert_refused("forecast run --queries questions.csv", &["questions.csv: this is a pipe"]);
    }
}

#[test]
fn a_triple_of_a_changing_graph_is_judged() {
    let room = Room::with_circles();
    room.quadcast(
        "run --model transe --data circles --procedure incremental --set dimension=16 --set epochs=100 \
         --set validate_every=20 --set batches=10 --set optimiser=adagrad --out run",
    )
    .success();
    let question = |run: &str, object: &str| {
        format!("forecast {run} --subject 'person 0' --relation likes --object '{object}'")
    };
    let threshold = &room.record("run")["evolving"]["steps"][2]["classification"]["threshold"];
    let (mut friends, mut others) = (Vec::new(), Vec::new());
    for i in 1..=30 {
        let judged = room.document(&question("run", &format!("person {i}")));
        assert_eq!((&judged["at"], &judged["threshold"]), (&"after step 2".into(), threshold));
        let energy = judged["energy"].as_f64().expect("an energy");
        let plausible = judged["plausible"].as_bool().expect("a verdict");
        assert_eq!(plausible, energy < threshold.as_f64().expect("a threshold"), "{judged}");
        // Whoever is of the same circle is liked at one step or another, and nobody else ever is.
        let own = i % 6 == 0;
        assert_eq!((&judged["known"], judged["split"].is_null()), (&own.into(), !own), "{judged}");
        if own { friends.push(energy) } else { others.push(energy) }
    }
    let mean = |energies: &[f64]| energies.iter().sum::<f64>() / energies.len() as f64;
    assert!(mean(&friends) < mean(&others), "{friends:?} {others:?}");
    let answer = room.quadcast(&question("run", "person 6")).success();
    answer.assert_fits();
    answer.assert_says(&["person 0 – likes – person 6, after step 2\ntranse on circles\n", "taken for "]);
    answer.assert_says(&["it is in the graph", "the threshold classifies "]);
    let asked = "forecast run --subject 'person 0' --object 'person 6'";
    room.assert_refused(asked, &["which relation?", "--relation"]);
    room.assert_refused(&format!("{asked} --relation likes --at 2"), &["without --at and --explain"]);
    room.assert_refused(&question("run", "Nadja"), &["there is no entity \"Nadja\""]);

    // Triples that came and went since.
    room.write("came.txt", "person 0\tNadia\tlikes\t+\n");
    room.write("went.txt", "person 0\tNadia\tlikes\t-\n");
    room.quadcast("update run came.txt --out came").success();
    room.quadcast("update came went.txt --out went").success();
    for (run, text) in [
        ("came", "it is in the graph, as a training triple"),
        ("went", "it is not in the graph any more; its last step was "),
    ] {
        room.quadcast(&question(run, "Nadia")).success().assert_says(&[text]);
    }
}
