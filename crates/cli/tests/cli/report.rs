//! `quadcast report`: one page, or tables, made from run folders.

use std::process::Command;

use crate::common::{Room, assert_texts, skip};

#[test]
fn page_holds_every_run_and_every_setting() {
    let room = Room::with_runs();
    let answer = room.quadcast("report combined strict relaxed multi --out all.html").success();
    assert_eq!(answer.stdout, "report: all.html\n");
    let page = room.text("all.html");
    assert_eq!(page.matches("<section class=\"dataset\"").count(), 1);
    assert_eq!(page.matches("<section class=\"group\"").count(), 2);
    assert_texts(&page, &["recurrency combined", "recurrency strict", "bbdb467638b80c90", "2031-07-28"]);
    assert_texts(&page, &["“single-step” and “multi-step”: shown in separate tables"]);
    // The same records give the same bytes.
    room.quadcast("report combined strict relaxed multi --out again.html").success();
    assert_eq!(room.read("all.html"), room.read("again.html"));
}

#[test]
fn formats_follow_the_ending_or_the_option() {
    let room = Room::with_runs();
    let printed = room.quadcast("report combined strict --format csv").success().stdout;
    room.quadcast("report combined strict --out results.csv").success();
    assert_eq!(printed, room.text("results.csv"));
    assert_eq!(printed.lines().count(), 1 + 2 * 3);
    assert_row_is_the_record(&room, &printed);
    room.quadcast("report combined strict --out table.tex").success();
    assert_texts(&room.text("table.tex"), &["\\begin{tabular}", "recurrency strict &", "\\bottomrule"]);
    let text = room.quadcast("report combined strict --format md --out -").success().stdout;
    assert_texts(&text, &["## single-step", "| recurrency combined | 58.88 | 56.06 – 61.47 |", "| D1 |"]);
    room.quadcast("report combined").success();
    assert_texts(&room.text("report.html"), &["<!doctype html>"]);
}

/// Asserts that a table shows the numbers of the run in `strict` under the static filter.
fn assert_row_is_the_record(room: &Room, text: &str) {
    let record = room.record("strict");
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().expect("a head");
    let row = rows.find(|row| row.contains(&"recurrency strict") && row.contains(&"static")).expect("a row");
    for name in ["mrr", "hits@1", "hits@3", "hits@10", "mr"] {
        let column = head.iter().position(|head| *head == name).expect("a column");
        let value = row[column].parse::<f64>().expect("a number");
        assert_eq!(Some(value), record["metrics"]["static"][name].as_f64(), "{name}");
    }
}

#[test]
fn json_says_what_was_written() {
    let room = Room::with_runs();
    let said = room.document("report combined multi --out page.html");
    assert_eq!(said["report"], "page.html");
    assert_eq!(said["format"], "html");
    assert_eq!(said["bytes"], room.read("page.html").len());
    assert_eq!(said["runs"][1]["setting"], "multi-step");
    assert_eq!(said["runs"][0]["mrr"], room.record("combined")["metrics"]["time"]["mrr"]);
}

#[test]
fn names_from_the_data_cannot_break_the_page() {
    let room = Room::new();
    room.place_days("odd", "<script>alert(1)</script>\t\"likes\" & <b>Ærø</b>\t東京", "");
    room.quadcast("run --model recurrency --data odd --out run").success();
    room.quadcast("report run --out page.html").success();
    let page = room.text("page.html");
    assert!(!page.contains("<b>Ærø"), "{page}");
    assert_texts(&page, &["&lt;b&gt;Ærø"]);
}

#[test]
fn unfinished_runs_are_left_out_and_named() {
    let room = Room::with_runs();
    room.write("killed/metrics.json", room.read("strict/metrics.json"));
    room.edit_record("killed", |record| record["status"] = "incomplete".into());
    let answer = room.quadcast("report combined killed --out page.html");
    answer.assert_remarks("left out: killed is not finished: still running, or killed\n");
    assert_texts(&room.text("page.html"), &["left out: killed is not finished"]);
    room.assert_refused("report killed --quiet", &["no complete run to report", "quadcast run"]);
}

#[test]
fn what_is_not_a_run_is_refused() {
    let room = Room::with_runs();
    room.assert_refused("report nowhere", &["there is no folder nowhere"]);
    room.assert_refused("report harbour", &["harbour is not a run folder", "metrics.json"]);
    room.assert_refused("report combined --out harbour", &["--out harbour is a folder"]);
    room.assert_refused("report combined --format md --json", &["--json", "--out"]);
    room.write("broken/metrics.json", "{}");
    room.assert_refused("report broken", &["broken/metrics.json is not a run record"]);
}

#[test]
fn latex_compiles() {
    let room = Room::with_runs();
    room.quadcast("report combined strict multi --out table.tex").success();
    room.write(
        "paper.tex",
        "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\\input{table}\\end{document}\n",
    );
    let compiler = Command::new("pdflatex")
        .args(["-interaction=nonstopmode", "-halt-on-error", "paper.tex"])
        .current_dir(room.path(""))
        .output();
    match compiler {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
        Err(_) => skip("no pdflatex"),
    }
}

#[test]
fn runs_with_other_seeds_are_summarised() {
    let room = Room::with_runs();
    room.quadcast("run --model recurrency --data harbour --seed 2 --out other").success();
    let text = room.quadcast("report combined other --format md").success().stdout;
    assert_texts(&text, &["recurrency seed 1", "### Mean over seeds", "| recurrency | 2 | 58.88 ± 0.00 |"]);
}
