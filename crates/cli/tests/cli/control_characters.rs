//! Names that hold terminal escapes, and paths that do: people see them spelt out, programs get them as they are.

use std::fmt::Write;
use std::sync::LazyLock;

use crate::common::{Answer, Files, Room, assert_texts};

/// Escape sequences of seven and of eight bits, changes of direction, and what hides between letters.
const PEOPLE: [&str; 4] = ["Ann\u{1b}[31m", "Bob\u{9b}2J", "\u{202e}Cem\u{2066}", "Dag\u{7f}\u{200b}x"];
const MEETS: &str = "meets\u{1b}]0;title\u{7}!";
const HOSTS: &str = "hosts\u{85}\u{2028}!";

/// A folder is as odd as what it holds, and looks like a formula.
const DATA: &str = "=odd\u{1b}[7m";
const RUNS: [&str; 2] = ["recurrency\u{1b}[1m", "tlogic\u{8}\u{202e}"];

/// The dataset, with a run of each model and one more of the first.
static ODD: LazyLock<Files> = LazyLock::new(|| {
    let room = Room::new();
    room.place_splits(DATA, [days(1..=40), days(41..=46), days(47..=52)]);
    for (model, run) in ["recurrency", "tlogic"].into_iter().zip(RUNS) {
        let answer = seen(&room, &format!("run --model {model} --data '{DATA}' --out '{run}'"));
        answer.assert_says(&["=odd\\u{1b}[7m"]);
    }
    seen(&room, &format!("run --model recurrency --data '{DATA}' --out twin"));
    room.files()
});

/// Meetings that people take turns in, each returned the day after.
fn days(days: std::ops::RangeInclusive<u32>) -> String {
    let mut facts = String::new();
    for day in days {
        let date = format!("2031-{:02}-{:02}", 1 + day / 28, 1 + day % 28);
        for pair in 0..3 {
            let [one, other] = [day + pair, day + 2 * pair + 1].map(|i| PEOPLE[i as usize % PEOPLE.len()]);
            writeln!(facts, "{one}\t{MEETS}\t{other}\t{date}").expect("memory takes everything");
            writeln!(facts, "{other}\t{HOSTS}\t{one}\t{date}").expect("memory takes everything");
        }
    }
    facts
}

/// Asserts that a person can read a text without its doing anything.
fn assert_harmless(text: &str, what: &str) {
    let acts = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!text.contains(acts), "{what}: {text:?}");
}

/// Runs a command whose words must be harmless, whatever they say.
fn said(room: &Room, arguments: &str) -> Answer {
    let answer = room.quadcast(arguments);
    assert_harmless(&answer.stdout, arguments);
    assert_harmless(&answer.stderr, arguments);
    answer
}

/// The same of a command that succeeds.
fn seen(room: &Room, arguments: &str) -> Answer {
    said(room, arguments).success()
}

#[test]
fn datasets_are_described() {
    let room = Room::with_files(&ODD);
    seen(&room, &format!("data info '{DATA}'")).assert_says(&["=odd\\u{1b}[7m: facts"]);
    seen(&room, &format!("data audit '{DATA}'")).assert_says(&["Audit of =odd\\u{1b}[7m"]);
    let patterns = seen(&room, &format!("data patterns '{DATA}' --out 'page\u{1b}.html'"));
    patterns.assert_says(&["meets\\u{1b}]0", "report: page\\u{1b}.html"]);
    patterns.assert_fits();
    let page = room.text("page\u{1b}.html");
    assert_harmless(&page, "patterns.html");
    assert_texts(&page, &["meets\\u{1b}]0;title\\u{7}!", "hosts\\u{85}\\u{2028}!"]);
    seen(&room, &format!("data diff '{DATA}' '{DATA}'"));
    seen(&room, &format!("data split '{DATA}' --method random --out 'split\u{1b}'"));
}

#[test]
fn rules_and_answers_are_told() {
    let room = Room::with_files(&ODD);
    let tlogic = RUNS[1];
    seen(&room, &format!("rules '{tlogic}'")).assert_says(&["X – meets\\u{1b}]0;title\\u{7}! – ?", "if X"]);
    seen(&room, &format!("rules '{tlogic}' --relation '{HOSTS}'"))
        .assert_says(&["for hosts\\u{85}\\u{2028}!"]);
    for run in RUNS {
        let asked = format!("forecast '{run}' --subject '{}' --relation '{MEETS}' --explain", PEOPLE[0]);
        let answer = seen(&room, &asked);
        answer.assert_says(&["Ann\\u{1b}[31m – meets\\u{1b}]0;title\\u{7}! – ?", "Bob\\u{9b}2J"]);
        answer.assert_fits();
    }
}

#[test]
fn runs_are_compared_and_reported() {
    let room = Room::with_files(&ODD);
    let [first, second] = RUNS;
    let words = ["first   recurrency, seed 1: recurrency\\u{1b}[1m", "tlogic\\u{8}\\u{202e}"];
    seen(&room, &format!("compare '{first}' '{second}'")).assert_says(&words);
    for format in ["md", "html", "latex"] {
        let out = format!("out\u{1b}.{format}");
        let title = "--title 'My\u{1b}[5m\n\u{202e}report'";
        let arguments = format!("report '{first}' '{second}' twin --format {format} --out '{out}' {title}");
        seen(&room, &arguments).assert_says(&["report: out\\u{1b}."]);
        let text = room.text(&out);
        assert_harmless(&text, &out);
        // Two runs of one model are told apart by their folders.
        assert!(text.contains("1b"), "{format}: {text}");
    }
    assert_texts(&room.text("out\u{1b}.html"), &["My\\u{1b}[5m\\n\\u{202e}report", "recurrency\\u{1b}[1m"]);
}

#[test]
fn paths_forge_no_lines() {
    let room = Room::with_files(&ODD);
    let run = RUNS[0];
    room.write("ops.txt", "0 1 0 +\n1 2 0 +\n");
    for (arguments, text) in [
        (format!("run --model recurrency --data '{DATA}' --out 'kept\nforged'"), "record: kept\\nforged\n"),
        (format!("data export '{DATA}' --queries test --out 'q\nforged'"), "each: q\\nforged\n"),
        ("data convert ops.txt --out 'c\nforged'".to_owned(), "triples: c\\nforged\n"),
        ("data synth --operations 400 --out 's\nforged'".to_owned(), "(seed 1): s\\nforged\n"),
    ] {
        let answer = seen(&room, &arguments);
        answer.assert_says(&[text]);
        assert!(answer.stdout.lines().all(|line| !line.starts_with("forged")), "{}", answer.stdout);
    }
    for (arguments, text) in [
        ("data convert ops.txt --out 'c\nforged'".to_owned(), "c\\nforged: the file exists"),
        ("data convert 'c\nforged' --hold 3 --out d".to_owned(), "c\\nforged is a stream"),
        (
            format!("data split '{DATA}' --method leakage-free --out d --lists 'l\nforged'"),
            "--lists l\\nforged: ",
        ),
    ] {
        said(&room, &arguments).assert_error(2, &[text]);
    }
    room.write("q\nforged.csv", "subject,relation\nnobody,nothing\n");
    let asked = format!("forecast '{run}' --queries 'q\nforged.csv'");
    said(&room, &asked).assert_error(2, &["q\\nforged.csv:2: "]);
}

#[test]
fn programs_get_exact_names() {
    let room = Room::with_files(&ODD);
    let run = RUNS[0];
    let question = format!("forecast '{run}' --subject '{}' --relation '{MEETS}'", PEOPLE[1]);
    let answer = seen(&room, &format!("{question} --json"));
    let document = answer.json();
    assert_eq!([&document["subject"], &document["relation"]], [PEOPLE[1], MEETS]);
    room.write("questions.csv", format!("subject,relation\n{},{MEETS}\n", PEOPLE[1]));
    let printed = room.quadcast(&format!("forecast '{run}' --queries questions.csv")).success().stdout;
    assert_texts(&printed, &[PEOPLE[0], MEETS]);
    let table = room.quadcast(&format!("report '{run}' --format csv")).success().stdout;
    assert!(table.lines().nth(1).is_some_and(|row| row.starts_with(&format!("{DATA},"))), "{table:?}");
}

#[test]
fn spreadsheets_compute_no_name_if_asked_for() {
    let room = Room::with_files(&ODD);
    let table = format!("report '{}' --spreadsheet", RUNS[0]);
    let printed = room.quadcast(&format!("{table} --format csv")).success().stdout;
    assert!(printed.lines().nth(1).is_some_and(|row| row.starts_with(&format!("'{DATA},"))), "{printed:?}");
    room.quadcast(&format!("{table} --out table.csv")).success();
    assert_eq!(room.text("table.csv"), printed);
    room.assert_refused(&format!("{table} --format md"), &["--spreadsheet is for CSV"]);

    room.place_days("formulas", "=1+1\t@meets\t-0.5", "");
    room.quadcast("run --model recurrency --data formulas --out run").success();
    room.write("questions.csv", "subject,relation\n=1+1,@meets\n");
    let asked = "forecast run --queries questions.csv --top 1";
    let answers = |options: &str| room.quadcast(&format!("{asked} {options}")).success().stdout;
    assert_texts(&answers(""), &["\n1,=1+1,@meets,,", ",-0.5,"]);
    // A name that is a number stays one.
    assert_texts(&answers("--spreadsheet"), &["\n1,'=1+1,'@meets,,", ",-0.5,"]);

    let exported = |options: &str| {
        let export = "data export formulas --queries test --out queries.csv --entities entities.csv";
        room.quadcast(&format!("{export} {options}")).success();
        ["queries.csv", "entities.csv"].map(|file| room.text(file))
    };
    for (options, mark) in [("", ""), ("--spreadsheet", "'")] {
        let [queries, entities] = exported(options);
        assert_texts(&queries, &[&format!(",{mark}=1+1,0,{mark}@meets,"), &format!(",-0.5,0,{mark}@meets,")]);
        assert_texts(&entities, &[&format!(",{mark}=1+1\n"), ",-0.5\n"]);
    }
}

#[test]
fn errors_are_harmless() {
    let room = Room::with_files(&ODD);
    let run = RUNS[0];
    for (arguments, text) in [
        (format!("forecast '{run}' --subject 'Zoe\u{1b}[2J' --relation '{MEETS}'"), "Zoe\\u{1b}[2J"),
        (format!("rules '{}' --relation 'meats\u{9b}'", RUNS[1]), "did you mean \"meets\\u{1b}]0"),
        ("data info 'none\u{1b}[2J'".to_owned(), "none\\u{1b}[2J"),
        ("run --data 'none\u{202e}'".to_owned(), "none\\u{202e}"),
        ("report 'none\u{1b}'".to_owned(), "none\\u{1b}"),
        ("data info --format 'x\u{1b}[2J\u{9b}' y".to_owned(), "x\\u{1b}[2J\\u{9b}"),
        ("'rum\u{1b}[2J'".to_owned(), "rum\\u{1b}[2J"),
    ] {
        said(&room, &arguments).assert_error(2, &[text]);
    }
    room.place_splits("broken", ["A\tr\tB\t\u{1b}[2Jnoon\n"; 3]);
    said(&room, "data info broken").assert_error(2, &["\\u{1b}[2Jnoon"]);
}
