//! `demo` on the real binary: the first thing a newcomer sees.

mod common;

use common::Room;

#[test]
fn one_command_makes_a_world_a_table_and_a_report() {
    let room = Room::new();
    let answer = room.quadcast("demo").success();
    answer.assert_fits();
    answer.assert_says(&[
        "Demo: a synthetic village",
        "audit: D1 warn, D2 pass",
        "single-step   best possible",
        "multi-step    recurrency",
        "report: quadcast-demo/report.html",
    ]);
    let (_, next) = answer.stdout.split_once("next: quadcast ").expect("a next command");
    room.quadcast(&next.replace("\\\n", " ")).success().assert_says(&["candidates scored"]);
    let page = room.text("quadcast-demo/report.html");
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"), "a page");
    assert!(page.contains("best possible"), "the reference row is in the report");
    for run in ["recurrency-single-step", "recurrency-strict-multi-step"] {
        assert_eq!(room.json(&format!("quadcast-demo/runs/{run}/metrics.json"))["status"], "complete");
    }
}

#[test]
fn the_world_can_be_asked_and_judged_like_any_other() {
    let room = Room::new();
    let shown = room.quadcast("demo --json").success().json();
    assert!(shown["rows"].as_array().unwrap().len() >= 8);
    for row in shown["rows"].as_array().unwrap() {
        let share = row["share_of_best"].as_f64().unwrap();
        assert!(share > 0.0 && share <= 1.05, "nobody beats the oracle by more than chance: {row}");
    }
    room.quadcast("data info quadcast-demo/village").success();
    room.quadcast("forecast quadcast-demo/runs/recurrency-single-step --subject #0 --relation #0").success();
}

#[test]
fn a_second_demonstration_replaces_the_first_and_nothing_else() {
    let room = Room::new();
    let first = room.quadcast("demo --out here").success();
    let second = room.quadcast("demo --out here").success();
    assert_eq!(first.stdout, second.stdout);
    assert_eq!(room.text("here/village/train.txt").lines().count(), 4378);
    room.write("mine/thesis.txt", "two years of work");
    room.assert_refused("demo --out mine", &["mine", "--out"]);
}
