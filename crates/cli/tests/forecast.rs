//! `forecast` on the real binary: names, dates, reasons, files of questions.

mod common;

use common::Room;

/// A room with the example dataset and a finished run on it.
fn judged() -> Room {
    let room = Room::with_harbour();
    room.quadcast("run --data harbour --out run").success();
    room
}

/// Three facts on three days each, small enough to check by hand; a finished run on it.
fn three_days() -> Room {
    let day = |day: u32, object: &str| format!("anna\tmeets\t{object}\t2030-01-{day:02}\n");
    let train = day(1, "bert") + &day(2, "bert") + &day(3, "carl");
    let room = Room::with_splits(&train, &day(4, "bert"), &day(5, "bert"));
    room.quadcast("run --data small --set variant=strict --set lambda=0 --out run").success();
    room
}

#[test]
fn the_best_answers_on_paper() {
    let room = three_days();
    let answer = room.quadcast("forecast run --subject anna --relation meets --explain --json").success();
    let json = answer.json();
    assert_eq!(json["at"], "2030-01-06", "the day after the last one");
    assert_eq!(json["known_until"], "2030-01-05");
    assert_eq!(json["answers"][0]["entity"], "bert");
    assert_eq!(json["answers"][0]["score"], 4.0);
    assert_eq!(json["answers"][1]["entity"], "carl");
    assert_eq!(json["reached"], 2);
    let times: Vec<_> =
        json["answers"][0]["why"]["facts"].as_array().unwrap().iter().map(|f| f["time"].clone()).collect();
    assert_eq!(times, ["2030-01-05", "2030-01-04", "2030-01-02", "2030-01-01"]);
}

#[test]
fn only_facts_before_the_date_are_used() {
    let room = three_days();
    let json =
        room.quadcast("forecast run --subject anna --relation meets --at 2030-01-03 --json").success().json();
    assert_eq!(json["answers"].as_array().unwrap().len(), 1);
    assert_eq!(json["answers"][0]["score"], 2.0);
    let json =
        room.quadcast("forecast run --subject anna --relation meets --at 2030-03-01 --json").success().json();
    assert_eq!(json["at"], "2030-03-01", "dates beyond the data are fine");
}

#[test]
fn the_subject_can_be_asked_for() {
    let room = three_days();
    let answer = room.quadcast("forecast run --object carl --relation meets").success();
    answer.assert_says(&["? – meets – carl, 2030-01-06", "anna"]);
}

#[test]
fn text_fits_a_page_and_gives_reasons() {
    let room = judged();
    let answer =
        room.quadcast("forecast run --subject grey_heron --relation docks_at --explain --top 4").success();
    answer.assert_fits();
    answer.assert_says(&["recurrency on harbour, facts known until 2031-07-28", "share", "held", "% "]);
}

#[test]
fn wrong_names_and_dates_come_with_advice() {
    let room = three_days();
    room.assert_refused("forecast run --subject ana --relation meets", &["no entity \"ana\"", "\"anna\""]);
    room.assert_refused(
        "forecast run --subject anna --relation meet",
        &["no relation \"meet\"", "\"meets\""],
    );
    room.assert_refused(
        "forecast run --subject anna --relation meets --at tomorrow",
        &["\"tomorrow\" is not a time", "2030-01-05"],
    );
    room.assert_refused("forecast run --subject anna", &["--relation"]);
    room.assert_refused(
        "forecast small --subject anna --relation meets",
        &["not a run folder", "metrics.json"],
    );
    room.assert_refused("forecast nowhere --subject anna --relation meets", &["there is no folder nowhere"]);
}

#[test]
fn other_data_is_refused() {
    let room = three_days();
    room.write("small/test.txt", "anna\tmeets\tcarl\t2030-01-05\n");
    room.assert_refused("forecast run --subject anna --relation meets", &["fingerprint", "--data"]);
}

#[test]
fn many_questions_from_a_file() {
    let room = three_days();
    room.write(
        "questions.csv",
        "subject,relation,object,at\nanna,meets,,\n,meets,carl,2030-01-05\nanna,meets,,2030-01-02\n",
    );
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
    let room = three_days();
    let refused = |content: &str, texts: &[&str]| {
        room.write("questions.csv", content);
        room.assert_refused("forecast run --queries questions.csv", texts);
    };
    refused("who,relation\n", &["questions.csv:1", "\"who\"", "subject, relation, object, at"]);
    refused("subject,relation\n", &["no question"]);
    refused("subject,relation\nanna,meets\nanna,\n", &["questions.csv:3", "relation is missing"]);
    refused("subject,relation,object\nanna,meets,bert\n", &["questions.csv:2", "both sides"]);
    refused("subject,relation\nanna,meets\nbob,meets\n", &["questions.csv:3", "no entity \"bob\""]);
    room.assert_refused("forecast run --queries absent.csv", &["absent.csv"]);
}

/// A room with a run on a graph that changes: sixty people who like those of their own circle of ten.
fn circles() -> Room {
    let room = Room::with_circles();
    room.quadcast(
        "run --model transe --data circles --procedure incremental --set dimension=16 --set epochs=100 \
         --set validate_every=20 --set batches=10 --set optimiser=adagrad --out run",
    )
    .success();
    room
}

#[test]
fn a_triple_of_a_changing_graph_is_judged() {
    let room = circles();
    let ask = |object: &str| {
        let question =
            format!("forecast run --subject 'person 0' --relation likes --object '{object}' --json");
        room.quadcast(&question).success().json()
    };
    let threshold =
        room.json("run/metrics.json")["evolving"]["steps"][2]["classification"]["threshold"].clone();
    let (mut friends, mut others) = (Vec::new(), Vec::new());
    for i in 1..=30 {
        let judged = ask(&format!("person {i}"));
        assert_eq!((&judged["at"], &judged["threshold"]), (&"after step 2".into(), &threshold));
        let energy = judged["energy"].as_f64().expect("an energy");
        let plausible = judged["plausible"].as_bool().expect("a verdict");
        assert_eq!(plausible, energy < threshold.as_f64().expect("a threshold"), "{judged}");
        // Whoever is of the same circle is liked at one step or another, and nobody else ever is.
        assert_eq!(
            (&judged["known"], judged["split"].is_null()),
            (&(i % 6 == 0).into(), i % 6 != 0),
            "{judged}"
        );
        if i % 6 == 0 { friends.push(energy) } else { others.push(energy) }
    }
    let mean = |energies: &[f64]| energies.iter().sum::<f64>() / energies.len() as f64;
    assert!(mean(&friends) < mean(&others), "{friends:?} {others:?}");
    let answer =
        room.quadcast("forecast run --subject 'person 0' --relation likes --object 'person 6'").success();
    answer.assert_fits();
    answer.assert_says(&["person 0 – likes – person 6, after step 2\ntranse on circles\n", "taken for "]);
    answer.assert_says(&["it is in the graph", "the threshold classifies "]);
    let asked = "forecast run --subject 'person 0' --object 'person 6'";
    room.assert_refused(asked, &["which relation?", "--relation"]);
    room.assert_refused(&format!("{asked} --relation likes --at 2"), &["without --at and --explain"]);
    room.assert_refused(
        "forecast run --subject 'person 0' --relation likes --object Nadja",
        &["there is no entity \"Nadja\""],
    );
}

#[test]
fn a_triple_that_went_is_judged_too() {
    let room = circles();
    room.write("came.txt", "person 0\tNadia\tlikes\t+\n");
    room.write("went.txt", "person 0\tNadia\tlikes\t-\n");
    room.quadcast("update run came.txt --out came").success();
    room.quadcast("update came went.txt --out went").success();
    let ask = |run: &str| {
        let question = format!("forecast {run} --subject 'person 0' --relation likes --object Nadia");
        room.quadcast(&question).success()
    };
    ask("came").assert_says(&["it is in the graph, as a training triple"]);
    ask("went").assert_says(&["it is not in the graph any more; its last step was "]);
}
