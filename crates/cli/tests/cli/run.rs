//! What `quadcast run`, `models`, `--help` and `--version` print.

use serde_json::{Value, json};

use crate::common::{Room, assert_texts};

#[test]
fn herald_runs_when_no_model_is_named() {
    let room = Room::with_harbour();
    let answer = room.quadcast("run --data harbour --set hidden=8 --set epochs=1").success();
    answer.assert_says(&["herald on harbour · single-step", "record: runs/herald-harbour-single-step-1\n"]);
    room.quadcast("forecast runs/herald-harbour-single-step-1 --subject Grey_Heron --relation docks_at")
        .success();
}

#[test]
fn table_for_people() {
    let room = Room::with_harbour();
    let answer = room.quadcast("run --model recurrency --data harbour").success();
    answer.assert_fits();
    let history =
        "history: every earlier step known, validation facts observed; latest fact read: 2031-07-27\n";
    let kept = "runs/recurrency-harbour-single-step-1";
    answer.assert_says(&["recurrency on harbour · single-step · ties expected · seed 1\n", history]);
    answer.assert_says(&["95 % interval", "H@1", "H@10", "object   subject"]);
    answer.assert_says(&["mean ", "optimistic ", "pessimistic ", "load 0.", " s, fit ", " s, evaluate "]);
    answer
        .assert_says(&["416 queries (both directions), 37 candidates each\n", &format!("record: {kept}\n")]);
    if cfg!(target_os = "linux") {
        answer.assert_says(&[" MB\n", "peak memory "]);
    }
    let metrics = &room.record(kept)["metrics"];
    let percent = |value: &Value| format!("{:.2}", 100.0 * value.as_f64().expect("a number"));
    for (row, filter) in [("time-aware", "time"), ("static", "static"), ("raw", "raw")] {
        let row = answer.row(row);
        let numbers = &metrics[filter];
        let interval = &numbers["ci95"]["mrr"];
        let expected = [
            percent(&numbers["mrr"]),
            percent(&interval[0]),
            "–".to_owned(),
            percent(&interval[1]),
            percent(&numbers["hits@1"]),
            percent(&numbers["hits@3"]),
            percent(&numbers["hits@10"]),
            format!("{:.1}", numbers["mr"].as_f64().expect("a number")),
            percent(&numbers["object"]["mrr"]),
            percent(&numbers["subject"]["mrr"]),
        ];
        assert_eq!(row[1..], expected);
    }
    // Nothing is known, everything is tied: the widest numbers.
    let unknown = Room::with_splits("0 0 1 0\n", "1 0 0 1\n", "2 1 3 2\n");
    unknown.quadcast("run --model recurrency --data small").success().assert_fits();
}

#[test]
fn json_is_the_record_and_remarks_go_elsewhere() {
    let room = Room::with_harbour();
    let mut document = room.document("run --model recurrency --data harbour --out kept");
    let folder = document.as_object_mut().expect("an object").shift_remove("record");
    assert_eq!(folder, Some("kept".into()));
    let mut record = room.record("kept");
    assert!(record.as_object_mut().expect("an object").shift_remove("checksum").is_some());
    assert_eq!(document, record);
    let answer = room.quadcast("run --model recurrency --data harbour/ --verbose --json");
    assert_eq!(answer.code, 0);
    let texts = ["Layout labelled, because train.txt has names", "numbered by first appearance"];
    assert_texts(&answer.stderr, &texts);
    let other = answer.json();
    assert_eq!(other["status"], "complete");
    // A slash behind the folder changes nothing.
    assert_eq!(document["dataset"]["fingerprint"], other["dataset"]["fingerprint"]);
    room.quadcast("run --model recurrency --data harbour --quiet").success().assert_says(&["time-aware"]);
    room.quadcast("run --model recurrency --data harbour --verbose --quiet")
        .assert_error(2, &["--verbose", "--quiet"]);
}

#[test]
fn a_world_that_repeats_itself_is_forecast_perfectly() {
    let room = Room::with_splits("0 0 1 0\n2 1 3 0\n", "0 0 1 1\n2 1 3 1\n", "0 0 1 2\n2 1 3 2\n");
    let record = room.document("run --model recurrency --data small");
    for filter in ["time", "static", "raw"] {
        let metrics = &record["metrics"][filter];
        assert_eq!(metrics["mrr"], 1.0, "{filter}");
        assert_eq!(metrics["queries"], 4, "{filter}");
    }
}

#[test]
fn options_reach_the_record() {
    let room = Room::with_harbour();
    let options = "--setting multi-step --validation withheld --ties pessimistic --duplicates keep --seed 7 \
                   --model recb --set variant=strict --set lambda=0.1";
    let record = room.document(&format!("run --data harbour {options}"));
    assert_eq!(
        record["protocol"],
        json!({"task": "forecasting", "setting": "multi-step", "validation": "withheld", "ties": "pessimistic",
               "candidates": "all", "duplicates": "keep", "selection": "train-and-valid"})
    );
    assert_eq!(record["seed"], 7);
    assert_eq!(record["model"]["name"], "recurrency");
    assert_eq!(record["model"]["config"]["variant"], "strict");
    assert_eq!(record["model"]["config"]["lambda"], 0.1);
    // Nothing after the training period was read.
    assert_eq!(record["latest_read"], "2031-06-18");
    assert!(room.path("runs/recurrency-harbour-multi-step-7").is_dir());
}

#[test]
fn options_override_the_configuration_file() {
    let room = Room::with_harbour();
    room.write(
        "plan.toml",
        "model = \"recurrency\"\ndata = \"nowhere\"\nseed = 3\n[protocol]\nsetting = \"multi-step\"\n[config]\nvariant = \"strict\"\n\
         lambda = 0.1\n",
    );
    let record = room.document("run plan.toml --data harbour --seed 4 --set lambda=0.2");
    assert_eq!(record["seed"], 4);
    assert_eq!(record["protocol"]["setting"], "multi-step");
    assert_eq!(record["protocol"]["validation"], "observed");
    assert_eq!(record["model"]["config"]["variant"], "strict");
    assert_eq!(record["model"]["config"]["lambda"], 0.2);
}

#[test]
fn models_for_people_and_machines() {
    let room = Room::new();
    let (list, models) = room.both_ways("models");
    list.assert_says(&["forecasting\n  herald ", "completion\n  naive-rules ", "evolving\n  transe "]);
    let models = models.as_array().expect("a list");
    // A title, a line per model and an empty line per task, and a hint.
    assert_eq!(list.stdout.lines().count(), models.len() + 2 * 3 + 1);
    for model in models {
        let name = model["name"].as_str().expect("a name");
        let text = room.quadcast(&format!("models {name}")).success();
        text.assert_fits();
        let settings = model["settings"].as_array().expect("a list of settings");
        let keys: Vec<&str> = settings.iter().filter_map(|setting| setting["key"].as_str()).collect();
        text.assert_says(&keys);
        assert!(settings.iter().all(|setting| setting.get("default").is_some()), "{name}");
    }
    let recurrency = room.document("models RECB");
    assert_eq!(recurrency, models[1]);
    assert_eq!(recurrency["task"], "forecasting");
    assert_eq!(recurrency["capabilities"]["settings"], json!(["single-step", "multi-step"]));
    room.quadcast("models recurrency").success().assert_says(&[
        "single-step; multi-step",
        "IJCAI 2024",
        "\"combined\"",
        "strict, relaxed, combined",
        "a number from 0 to 1\n",
    ]);
    room.quadcast("models tcomplex").success().assert_says(&["156 *", "* composed has another default."]);
    assert_eq!(room.quadcast("models tlogik").code, 2);
}

#[test]
fn help_has_examples() {
    let room = Room::new();
    for command in ["", "run", "data info", "data audit"] {
        let answer = room.quadcast(&format!("{command} --help")).success();
        answer.assert_says(&["Usage: quadcast", "Examples:\n  quadcast "]);
        answer.assert_fits();
    }
    for command in ["models", "data", "data list"] {
        room.quadcast(&format!("{command} --help")).success().assert_says(&["Usage: quadcast", "--json"]);
    }
    room.quadcast("--help").assert_says(&["Exit codes: 0 success, 1 failure, 2 wrong usage or bad input."]);
}

#[test]
fn no_command_and_version() {
    let answer = Room::new().quadcast("");
    assert_eq!((answer.code, answer.stdout.as_str()), (2, ""));
    assert_texts(&answer.stderr, &["Usage: quadcast", "Examples:"]);
    let expected = concat!("quadcast ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(Room::new().quadcast("--version").success().stdout, expected);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_an_error() {
    use std::process::{Command, Stdio};

    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has /dev/full");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("quadcast"));
    let output = command
        .arg("models")
        .stdout(Stdio::from(full))
        .stderr(Stdio::piped())
        .spawn()
        .and_then(std::process::Child::wait_with_output)
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(1));
    let texts = ["cannot write to standard output", "No space left"];
    assert_texts(&String::from_utf8_lossy(&output.stderr), &texts);
}
