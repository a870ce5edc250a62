//! Steps of a changing graph that lack something, and facts by their age.

mod playing;

use playing::{play, played, playing};
use quadcast_core::{
    EvolvingDataset, EvolvingStep, Procedure, Protocol, SplitTriples, Step, TiePolicy, TripleOperation,
};
use quadcast_eval::EvalError;
use quadcast_eval::evolving::{EvolvingOutcome, Playing, StepExamples};
use quadcast_testing::changing::{Formula, data, t};

fn step(label: &str) -> EvolvingStep {
    EvolvingStep { label: label.to_owned(), ..EvolvingStep::default() }
}

/// The two steps on paper, one with nothing at all between them.
fn with_an_empty_step() -> EvolvingDataset {
    let mut data = data();
    data.steps.insert(1, step("nothing"));
    data
}

#[test]
fn a_step_without_anything_is_an_empty_row_and_the_run_goes_on() {
    let data = with_an_empty_step();
    for procedure in Procedure::ALL {
        let mut model = Formula::default();
        let outcome = play(&playing(&data, procedure, &[]), &mut model).expect("it plays");
        let links: Vec<bool> = outcome.steps.iter().map(|step| step.link.is_some()).collect();
        assert_eq!(links, [true, false, true], "{procedure:?}");
        assert!(
            model.shown.iter().filter(|shown| shown.contains('[')).count() == 2,
            "nothing to learn in between"
        );
        // Means are over the steps that have questions: as if the empty one were not there.
        let without = played(&self::data(), procedure, &[]).expect("it plays");
        assert_eq!((outcome.filtered, outcome.raw), (without.filtered, without.raw));
        assert_eq!(outcome.backward_transfer, without.backward_transfer);
        let asked: Vec<Step> = outcome.steps[2].transfer.iter().map(|transfer| transfer.step).collect();
        assert_eq!(asked, [Step(0)], "nothing is asked about the empty step");
        assert!(outcome.steps[1].new_facts().is_none() && outcome.steps[1].old_facts().is_none());
    }
}

#[test]
fn an_empty_row_is_kept_and_read_again() {
    let outcome = played(&with_an_empty_step(), Procedure::Static, &[]).expect("it plays");
    let text = serde_json::to_string(&outcome).expect("it is text");
    let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert!(value["steps"][1].get("link").is_none() && value["steps"][0].get("link").is_some());
    let again: EvolvingOutcome = serde_json::from_str(&text).expect("it is read");
    assert_eq!(again, outcome);
}

#[test]
fn a_step_without_test_triples_is_learned_and_the_past_is_judged() {
    let mut data = data();
    data.steps[1].evaluation.test.clear();
    let examples = StepExamples { valid: vec![(t(3, 0, 1), true), (t(2, 0, 1), false)], test: Vec::new() };
    let examples = [StepExamples::default(), examples];
    let outcome = played(&data, Procedure::Incremental, &examples).expect("it plays");
    let last = &outcome.steps[1];
    assert!(last.link.is_none() && last.classification.is_none());
    assert_eq!(last.negative.as_ref().map(|negative| negative.categories.len()), Some(1));
    assert!(
        outcome.classification.is_none(),
        "there was nothing to choose a threshold on, or nothing to judge"
    );
}

#[test]
fn triples_that_cannot_be_validated_are_refused_before_anything_is_learned() {
    let mut data = data();
    data.steps[1].evaluation.valid.clear();
    data.steps[1].label = "May".to_owned();
    for procedure in Procedure::ALL {
        let mut model = Formula::default();
        let error = play(&playing(&data, procedure, &[]), &mut model).expect_err("refused");
        assert!(matches!(&error, EvalError::NoValidation(step) if step == "2 (\"May\")"), "{error}");
        assert!(error.to_string().contains("quadcast data compile"));
        assert!(model.shown.is_empty());
    }
    // Deletions alone are nothing to learn for a model that never hears of them.
    data.steps[1].training = vec![TripleOperation { triple: t(2, 0, 1), insert: false }];
    assert!(played(&data, Procedure::PseudoIncremental, &[]).is_ok());
    assert!(matches!(played(&data, Procedure::Incremental, &[]), Err(EvalError::NoValidation(_))));
}

#[test]
fn a_graph_that_nothing_is_asked_about_is_refused() {
    let mut data = data();
    data.steps.iter_mut().for_each(|step| step.evaluation.test.clear());
    assert!(matches!(played(&data, Procedure::Static, &[]), Err(EvalError::Empty(_))));
    data.steps.clear();
    assert!(matches!(played(&data, Procedure::Static, &[]), Err(EvalError::Empty(_))));
}

#[test]
fn facts_are_judged_by_their_age() {
    let data = data();
    let protocol = Protocol { ties: TiePolicy::Optimistic, ..Protocol::evolving(Procedure::Static) };
    let game = Playing { protocol, ..playing(&data, Procedure::Static, &[]) };
    let outcome = play(&game, &mut Formula::default()).expect("it plays");
    assert_eq!(outcome.steps[0].old_facts(), None);
    assert_eq!(outcome.steps[0].new_facts().map(|part| part.queries), Some(2));
    // Step 2 asks about (0,0,3), which came with step 1, and (4,1,3), which is new. Energies are (3s + r + 3o) mod 4,
    // candidates 0, 1, 3, 4.
    // (0,0,?) has energies 0, 3, 1, 0: 0 and 4 are lower, rank 3. (?,0,3) has 1, 0, 2, 1: rank 2.
    let old = outcome.steps[1].old_facts().expect("an old one");
    assert_eq!((old.queries, old.metrics.mr), (2, 2.5));
    assert!((old.metrics.mrr - 5.0 / 12.0).abs() < 1e-12);
    // (4,1,?) has 1, 0, 2, 1: rank 4. (?,1,3) has 2, 1, 3, 2: rank 2.
    let new = outcome.steps[1].new_facts().expect("a new one");
    assert_eq!((new.queries, new.metrics.mr, new.metrics.hits3), (2, 3.0, 0.5));
    assert!((new.metrics.mrr - 3.0 / 8.0).abs() < 1e-12);
    let by_age = &outcome.steps[1].link.as_ref().expect("asked").by_age;
    assert_eq!(by_age.iter().map(|age| age.born).collect::<Vec<_>>(), [Step(0), Step(1)]);
}

#[test]
fn deleted_triples_are_asked_about_before_and_after() {
    let data = data();
    let mut model = Formula { turns: true, ..Formula::default() };
    let outcome = play(&playing(&data, Procedure::Incremental, &[]), &mut model).expect("it plays");
    assert_eq!(outcome.steps[0].unlearning, None);
    // (2,0,1) goes; 0 to 3 were seen before. (2,0,?) has energies 2, 1, 0, 3, nobody else is true: two of three fit worse.
    // (?,0,1) has 3, 2, 1, 0, and 0 and 3 are true: the other one fits worse. The update turns it round.
    let unlearning = outcome.steps[1].unlearning.expect("one went");
    assert_eq!(unlearning.asked, 1);
    assert!((unlearning.before - 5.0 / 6.0).abs() < 1e-12 && (unlearning.after - 1.0 / 6.0).abs() < 1e-12);
    let told_nothing = played(&data, Procedure::PseudoIncremental, &[]).expect("it plays");
    let unlearning = told_nothing.steps[1].unlearning.expect("one went");
    assert_eq!(unlearning.before, unlearning.after);
}

#[test]
fn a_fact_that_comes_back_is_as_old_as_it_first_was() {
    let mut data = data();
    // Three steps: (0,0,3) is asked about in the first and in the last, and gone in between. (1,0,3) comes last.
    let mut back = step("3");
    back.evaluation = SplitTriples { valid: vec![t(3, 0, 1)], test: vec![t(0, 0, 3), t(1, 0, 3)] };
    data.steps[1].evaluation.test = vec![t(4, 1, 3)];
    data.steps.push(back);
    let outcome = played(&data, Procedure::Static, &[]).expect("it plays");
    let ages = |index: usize| -> Vec<(u32, u64)> {
        let link = outcome.steps[index].link.as_ref().expect("asked");
        link.by_age.iter().map(|age| (age.born.0, age.part.queries)).collect()
    };
    assert_eq!((ages(1), ages(2)), (vec![(1, 2)], vec![(0, 2), (2, 2)]));
}
