//! Names with control characters in every format: a report with them is the report with the names as they are shown.

use quadcast_run::{Answered, Filled, Filling, JudgedTriple, RulesCard};

use crate::samples::{changing, explained, run};
use crate::svg::{Curve, DotRow, Dots, Heat, Line, WIDE};
use crate::{LoadedRun, Options, answer_text, csv, html, latex, markdown, shown, summary};

/// Escape sequences of seven and of eight bits, every kind of line end, a tab, and changes of direction.
const ODD: &str = "<Ann>\u{1b}[2J\u{9b}31m\u{7f}\r\n\u{85}\u{2028}\t\u{202e}&\u{2066}=1+1\u{0}\u{200b}";

/// A run of which everything that can be named has this name.
fn named(name: &str) -> LoadedRun {
    let mut run = run(name, |i| i % 3);
    run.name = format!("runs/{name}");
    run.samples = explained();
    for sample in &mut run.samples {
        let forecast = &mut sample.forecast;
        (forecast.subject, forecast.object) = (Some(name.to_owned()), None);
        forecast.relation = name.to_owned();
        forecast.at = name.to_owned();
        sample.truth.entity = name.to_owned();
        for answer in &mut forecast.answers {
            answer.entity = name.to_owned();
            let Some(why) = &mut answer.why else { continue };
            why.also.iter_mut().for_each(|other| other.text = name.to_owned());
            why.facts.iter_mut().for_each(|reason| reason.fact.subject = name.to_owned());
            for fired in why.rules.iter_mut().flatten() {
                fired.sentence = format!("if {name}, then {name}");
                fired.rule.words = name.to_owned();
                fired.groundings.iter_mut().flatten().for_each(|fact| fact.object = name.to_owned());
            }
        }
    }
    let record = &mut run.record;
    record.model.name = name.to_owned();
    record.model.rules = Some(RulesCard { file: name.to_owned(), used: 2, dropped: 0 });
    record.dataset.name = name.to_owned();
    record.dataset.variant = Some(name.to_owned());
    record.latest_read = Some(name.to_owned());
    record.by_relation.iter_mut().for_each(|row| row.relation = name.to_owned());
    record.by_step.iter_mut().for_each(|row| row.time = name.to_owned());
    run
}

/// A run on an evolving graph whose steps have this name.
fn evolving(name: &str) -> LoadedRun {
    let mut run = changing(name, 20, 1);
    run.record.dataset.name = name.to_owned();
    let steps = &mut run.record.evolving.as_mut().expect("results").steps;
    for step in steps {
        step.label = name.to_owned();
    }
    run
}

/// Asserts that a text for people is the same for the name and for what is shown of it, and has no other control characters
/// than line ends.
fn assert_shown(text: impl Fn(&str) -> String) {
    let odd = text(ODD);
    assert_eq!(odd, text(&shown(ODD).to_string()));
    assert!(!odd.contains(|c: char| c.is_control() && c != '\n'), "{odd:?}");
    assert!(odd.contains("u{9b}31m") || odd.contains("u\\{9b\\}31m"), "the name is missing: {odd}");
}

#[test]
fn reports_show_them() {
    let options = |name: &str| Options {
        title: Some(name.to_owned()),
        notes: vec![name.to_owned()],
        ..Options::default()
    };
    for of in [named, evolving] {
        assert_shown(|name| html(&[of(name), of("b")], &options(name)));
        assert_shown(|name| markdown(&[of(name), of("b")], &options(name)));
        assert_shown(|name| latex(&[of(name), of("b")], &options(name)));
        assert_shown(|name| summary(&of(name).record));
    }
}

#[test]
fn answers_show_them() {
    let of = |name: &str| named(name).samples.into_iter().map(|sample| sample.forecast);
    assert_shown(|name| of(name).map(|found| answer_text(&Answered::Entities(found))).collect());
    assert_shown(|name| {
        let answer = Filling { rank: 1, answer: name.to_owned(), score: 0.5, known: true };
        answer_text(&Answered::Filled(Filled {
            model: name.to_owned(),
            dataset: name.to_owned(),
            subject: name.to_owned(),
            relation: None,
            object: name.to_owned(),
            at: Some(name.to_owned()),
            asked_for: "relation",
            answers: vec![answer],
            candidates: 7,
        }))
    });
    assert_shown(|name| {
        answer_text(&Answered::Triple(JudgedTriple {
            model: name.to_owned(),
            dataset: name.to_owned(),
            subject: name.to_owned(),
            relation: name.to_owned(),
            object: name.to_owned(),
            at: name.to_owned(),
            energy: None,
            threshold: None,
            accuracy: None,
            plausible: None,
            known: true,
            split: None,
            last_known: Some(name.to_owned()),
        }))
    });
}

#[test]
fn drawings_show_them() {
    assert_shown(|name| {
        let label = || name.to_owned();
        let line = Line { label: label(), series: 0, values: vec![Some(1.0)] };
        let reference = Some((label(), 2.0));
        Curve { times: vec![label()], queries: vec![3], lines: vec![line], reference }.draw(WIDE)
    });
    assert_shown(|name| {
        let row = DotRow { label: name.to_owned(), series: 0, dots: vec![Some((1.0, None))] };
        Dots { cases: vec!["case".to_owned()], rows: vec![row] }.draw(WIDE)
    });
    assert_shown(|name| {
        let (names, cells) = ([name.to_owned()], [vec![0.5]]);
        Heat { names: &names, cells: &cells, threshold: 0.4, about: "mirrors" }.draw(WIDE)
    });
}

#[test]
fn csv_is_exact() {
    let text = csv(&[named(ODD)], &Options::default());
    assert!(text.contains(&format!("\"{ODD}\"")), "{text:?}");
}
