//! Models of evolving graphs with the real binary: runs, interruptions, reports.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::{Answer, Room, assert_texts};

/// Settings with which training takes a moment.
pub const QUICK: &str = "--set dimension=16 --set epochs=20 --set validate_every=10 --set batches=10";
pub const UNIVERSES: &str = "--set universes=12 --set validate_every=4 --set least_triples=50 --set most_triples=150 \
     --set least_epochs=5 --set most_epochs=10";

/// Runs a model on the graph in `circles`.
fn run_circles(room: &Room, procedure: &str, options: &str) -> Answer {
    let run = format!("run --model transe --data circles --procedure {procedure} {QUICK} {options}");
    room.quadcast(&run).success()
}

#[test]
fn every_procedure_learns_and_is_reported() {
    let room = Room::with_circles();
    for procedure in ["static", "pseudo-incremental", "incremental"] {
        let options = format!("--set optimiser=adagrad --set epochs=100 --out {procedure}");
        let run = run_circles(&room, procedure, &options);
        run.assert_fits();
        run.assert_says(&[&format!("transe on circles · {procedure}"), "accuracy", "backward transfer"]);
        run.assert_says(&["held-out triples that were inserted with the step"]);
        let record = room.record(procedure);
        assert_eq!(record["asked"], "new");
        for (title, mean) in [("mean of steps", "macro"), ("all queries", "micro")] {
            let rows = run.stdout.lines().filter_map(|line| line.strip_prefix(title));
            let cells: Vec<Vec<&str>> = rows.map(|row| row.split_whitespace().collect()).collect();
            let outcome = &record["evolving"];
            let values = [&outcome["filtered"][mean]["mrr"], &outcome["classification"][mean]];
            let shown = values.map(|value| format!("{:.2}", 100.0 * value.as_f64().expect("a share")));
            assert_eq!([cells[0][0], cells[1][0]], shown.each_ref().map(String::as_str), "{title}");
        }
        assert_eq!((&record["status"], &record["task"]), (&"complete".into(), &"evolving".into()));
        let steps = record["evolving"]["steps"].as_array().expect("steps");
        assert_eq!(steps.len(), 3);
        let chance = 10.0 / steps[2]["link"]["candidates"].as_f64().expect("candidates");
        let hits = steps[2]["link"]["filtered"]["hits@10"].as_f64().expect("hits");
        assert!(hits > 3.0 * chance, "{procedure}: {hits}, by chance {chance}");
        let accuracy = steps[2]["classification"]["accuracy"].as_f64().expect("accuracy");
        assert!(accuracy > 0.75, "{procedure}: {accuracy}");
    }
    room.quadcast("report static pseudo-incremental incremental --out page.html").success();
    let page = room.text("page.html");
    assert_texts(&page, &["transe, pseudo-incremental", "<svg", "mean of steps", "all queries"]);
    assert_texts(&page, &["held-out triples that were inserted with the step"]);
    room.quadcast("run static/run.toml --out again").success();
    room.assert_same_files("static", "again", &["model.safetensors"]);
    room.quadcast("run static/run.toml --out again").assert_error(2, &["holds a complete run already"]);
    // Runs of different tasks get a section each.
    let harbour = Room::with_runs();
    harbour.quadcast(&format!("report combined {} --out both.html", room.path("static").display())).success();
    assert_eq!(harbour.text("both.html").matches("<section class=\"dataset\"").count(), 2);
}

#[test]
fn reports_have_every_format() {
    let room = Room::with_circles();
    for procedure in ["static", "incremental"] {
        run_circles(&room, procedure, &format!("--candidates all --out {procedure}"));
    }
    let record = room.record("incremental");
    let last = &record["evolving"]["steps"][2];
    let text = room.quadcast("report static incremental --format md").success().stdout;
    let accuracy = 100.0 * record["evolving"]["classification"]["micro"].as_f64().expect("accuracy");
    assert_texts(
        &text,
        &[
            "# circles\n",
            "candidates all",
            "| transe, static | mean of steps |",
            &format!("| transe, incremental | all queries | {accuracy:.2} |"),
        ],
    );
    assert!(!text.contains("```"), "{text}");

    room.quadcast("report static incremental --out results.csv").success();
    let text = room.text("results.csv");
    // Labels hold a comma and are quoted.
    let text = text.replace(", ", "; ");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    // Per filter and run, all three steps together and each alone.
    assert_eq!(rows.len(), 1 + 3 * 2 * (1 + 3), "{text}");
    let column = |name: &str| rows[0].iter().position(|head| *head == name).expect("a column");
    let row = |filter: &str| {
        let wanted = [("setting", "incremental"), ("filter", filter), ("step", "2")];
        let fits = |row: &&Vec<&str>| wanted.iter().all(|(name, value)| row[column(name)] == *value);
        rows.iter().find(fits).expect("a row")
    };
    let number = |filter: &str, name: &str| row(filter)[column(name)].parse::<f64>().ok();
    assert_eq!(number("time", "mrr"), last["link"]["filtered"]["mrr"].as_f64());
    assert_eq!(number("raw", "hits@3"), last["link"]["raw"]["hits@3"].as_f64());
    assert_eq!(number("time", "auc"), last["classification"]["auc"].as_f64());
    assert_eq!(number("time", "fit_seconds"), last["seconds"]["train"].as_f64());
    assert_eq!(["ranked", "candidates", "deleted"].map(|name| row("time")[column(name)]), ["60", "all", ""]);

    room.quadcast("report static incremental --out table.tex").success();
    assert_texts(&room.text("table.tex"), &["\\begin{tabular}", "transe, incremental & all queries &"]);
    // A folder that is named twice counts once.
    let twice = room.quadcast("report static static --format csv").success().stdout;
    assert_eq!(twice.lines().count(), 1 + 3 * (1 + 3));
}

#[test]
fn runs_are_compared_query_by_query() {
    let room = Room::with_circles();
    for (procedure, seed) in [("static", 1), ("incremental", 1), ("static", 2)] {
        run_circles(&room, procedure, &format!("--seed {seed} --out {procedure}-{seed}"));
    }
    let record = room.record("static-1");
    let time = &record["metrics"]["time"];
    let [low, high] = [0, 1].map(|end| time["ci95"]["mrr"][end].as_f64().expect("an interval"));
    assert!(low < high && (low..=high).contains(&time["mrr"].as_f64().expect("a share")));
    assert_eq!(record["bootstrap"]["unit"], "fact");
    assert_eq!(record["evolving"]["filtered"]["micro"]["hits@10"], time["hits@10"], "one rank per query");
    for other in ["incremental-1", "static-2"] {
        let compared = room.document(&format!("compare static-1 {other}"));
        assert_eq!(compared["queries"], time["queries"]);
        assert!(compared["differences"]["time"]["mrr"]["ci95"].is_array(), "{compared}");
    }
    room.quadcast("compare static-1 incremental-1").success().assert_says(&["facts", "sign flips"]);
    room.quadcast("report static-1 static-2 --format md").success().assert_says(&["Mean over seeds"]);
}

#[test]
fn triples_of_the_past_are_judged() {
    let room = Room::with_operations();
    room.quadcast(&format!("run --model transe --data world --procedure incremental {QUICK} --out run"))
        .success();
    let record = room.record("run");
    let steps = record["evolving"]["steps"].as_array().expect("steps");
    assert!(steps[0].get("negative").is_none(), "nothing was deleted yet");
    let categories = steps[9]["negative"]["categories"].as_array().expect("categories");
    let kinds: BTreeSet<u64> =
        categories.iter().filter_map(|category| category["category"].as_u64()).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [2, 3, 4]);
    let share = record["evolving"]["negative"]["2"]["macro"].as_f64();
    assert!(share.is_some_and(|share| (0.0..=1.0).contains(&share)));
}

#[test]
fn published_artefacts_of_the_evaluation_change_the_numbers_and_not_the_model() {
    let room = Room::with_operations();
    // Universes that are trained as without it: what is left are the artefacts of the evaluation.
    for (folder, compat) in [("right", ""), ("published", "--compat --set compat=false")] {
        let run = format!("run --model putranse --data world --procedure incremental {UNIVERSES} {compat}");
        let run = room.quadcast(&format!("{run} --out {folder}")).success();
        run.assert_fits();
        run.assert_says(&["older: queries"]);
    }
    // Validation is right in both.
    room.assert_same_files("right", "published", &["model.safetensors"]);
    let [right, published] = ["right", "published"].map(|folder| room.record(folder));
    let compat = [&right, &published].map(|record| record["protocol"]["compat"].as_bool());
    assert_eq!(compat, [Some(false), Some(true)]);
    let last = |record: &Value| record["evolving"]["steps"][9].clone();
    let [right, published] = [last(&right), last(&published)];
    assert_ne!(right["link"]["raw"]["mr"], published["link"]["raw"]["mr"]);
    let coverage = |step: &Value| step["classification"]["coverage"].as_f64().expect("classified");
    assert!(coverage(&published) < coverage(&right), "{} {}", coverage(&published), coverage(&right));
    room.quadcast("report right published --out page.html").success();
    assert_texts(&room.text("page.html"), &["entity 0 in every other slot", "Old and new facts"]);
    room.quadcast("report published --format md").success().assert_says(&["compat"]);
}

#[test]
fn a_step_without_questions_is_an_empty_row() {
    let room = Room::with_circles();
    room.place_splits("circles/3", [""; 3]);
    let run = run_circles(&room, "incremental", "--out run");
    run.assert_says(&["no test triples at step 3"]);
    room.assert_refused("rules run", &["transe has no rules to show", "tlogic"]);
    room.quadcast("report run --out page.html").success();
    let record = room.record("run");
    assert!(record["evolving"]["steps"][3].get("link").is_none());
    room.write("circles/3/train.txt", "person 1\tlikes\tperson 2\n");
    room.quadcast("run --model transe --data circles --procedure incremental --out other")
        .assert_error(2, &["step 4 (\"3\") has triples to learn but none for validation"]);
    assert_eq!(room.record("other")["status"], "failed");
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let room = Room::with_operations();
    for (model, settings) in [("transe", QUICK), ("incremental-transe", QUICK), ("putranse", UNIVERSES)] {
        let run = format!("run --model {model} --data world --procedure incremental {settings}");
        let runs = [1, 2].map(|threads| format!("{model}-{threads}"));
        for (threads, out) in [1, 2].iter().zip(&runs) {
            room.quadcast(&format!("{run} --threads {threads} --out {out}")).success();
        }
        room.assert_same_files(&runs[0], &runs[1], &["model.safetensors", "model.json"]);
        let outcome = |run: &str| {
            let record = room.record(run);
            let steps = record["evolving"]["steps"].as_array().expect("steps").clone();
            steps.into_iter().map(|step| step["link"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(outcome(&runs[0]), outcome(&runs[1]), "{model}");
    }
}

/// Which steps the record has a training of. No step took less time than its training did, interruptions or not.
fn trainings(room: &Room, run: &str) -> Vec<Value> {
    let record = room.record(run);
    let trained = record["training"].as_array().expect("trainings");
    for step in record["evolving"]["steps"].as_array().expect("steps") {
        let own = trained.iter().filter(|training| training["part"] == step["label"]);
        let seconds: f64 = own.map(|training| training["seconds"].as_f64().expect("seconds")).sum();
        assert!(step["seconds"]["train"].as_f64().expect("seconds") >= seconds - 1e-9, "{run}: {step}");
    }
    trained.iter().map(|training| training["part"].clone()).collect()
}

#[test]
fn a_killed_run_goes_on_as_if_it_had_not_been() {
    let room = Room::with_operations();
    for (model, settings) in [("transe", QUICK), ("putranse", UNIVERSES)] {
        let request =
            format!("run --model {model} --data world --procedure incremental {settings} --out {model}");
        let (whole, killed) = (format!("{model}-whole"), format!("{model}-killed"));
        room.quadcast(&format!("{request}-whole")).success();
        let kept = room.path(format!("{killed}/checkpoint/steps.json"));
        room.kill_when(&format!("{request}-killed"), || kept.exists());
        assert_eq!(room.record(&killed)["status"], "incomplete", "{model} was killed");
        room.quadcast(&format!("{request}-killed")).success();
        room.assert_same_files(&whole, &killed, &["model.safetensors"]);
        assert!(!room.path(format!("{killed}/checkpoint")).exists());
        assert_eq!(trainings(&room, &killed), trainings(&room, &whole), "{model}");
    }
}

#[test]
fn requests_that_make_no_sense_are_refused_before_anything_is_written() {
    let room = Room::with_harbour();
    for (options, text) in [
        ("--model transe --data harbour --out run", "quadcast data compile"),
        ("--model tranze --data harbour --out run", "did you mean \"transe\"?"),
        ("--model transe --data harbour --set margn=1 --out run", "margn"),
        ("--model transe", "which dataset?"),
    ] {
        room.assert_refused(&format!("run {options}"), &[text]);
    }
}
