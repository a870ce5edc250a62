//! Changing graphs on paper: what models are shown, how links are ranked, how a run goes on after a kill.

mod playing;

use std::collections::BTreeSet;
use std::sync::Arc;

use playing::{MemoryJournal, play, played, playing};
use quadcast_core::{
    Candidates, CategoryKind, Direction, EntityId, Procedure, Protocol, Run, SplitTriples, TiePolicy, Triple,
};
use quadcast_eval::Forgetful;
use quadcast_eval::evolving::{self, EvolvingOutcome, Learned, Playing, StepExamples, StepResult, walk};
use quadcast_testing::MemoryCheckpoints;
use quadcast_testing::changing::{Formula, data, energy, t};

#[test]
fn models_are_shown_what_the_procedure_allows_and_no_held_out_triple() {
    let data = data();
    let shown = |procedure| {
        let mut model = Formula::default();
        play(&playing(&data, procedure, &[]), &mut model).expect("it plays");
        model.shown
    };
    let first = "fit [(0, 0, 1), (0, 1, 3), (2, 0, 1)] [0, 1, 2, 3]";
    assert_eq!(shown(Procedure::Static), [first, "fit [(0, 0, 1), (0, 1, 3), (4, 0, 1)] [0, 1, 3, 4]"]);
    let update = "update [(4, 0, 1)] [0, 1, 3, 4]";
    assert_eq!(shown(Procedure::PseudoIncremental), [first, update, "1 came, 0 went"]);
    let update = "update [(0, 0, 1), (0, 1, 3), (4, 0, 1)] [0, 1, 3, 4]";
    assert_eq!(shown(Procedure::Incremental), [first, update, "1 came, 1 went"]);
}

/// The rank of an answer by going through all candidates.
fn naive(
    triple: Triple,
    direction: Direction,
    candidates: &[u32],
    left_out: &BTreeSet<Triple>,
) -> (u32, u32) {
    let with = |id: u32| match direction {
        Direction::Object => Triple { object: EntityId(id), ..triple },
        Direction::Subject => Triple { subject: EntityId(id), ..triple },
    };
    let others = candidates.iter().map(|&id| with(id)).filter(|o| *o != triple && !left_out.contains(o));
    let (mut lower, mut same) = (0, 1);
    for other in others {
        lower += u32::from(energy(other) < energy(triple));
        same += u32::from(energy(other) == energy(triple));
    }
    (lower, same)
}

#[test]
fn ranks_are_those_of_a_plain_count() {
    let data = data();
    let now = |step: usize| -> BTreeSet<Triple> {
        let graph = walk(&data).nth(step).expect("a step");
        graph.train.iter().chain(&graph.valid).chain(&graph.test).copied().collect()
    };
    let all_candidates: [(Candidates, [Vec<u32>; 2]); 3] = [
        (Candidates::Now, [vec![0, 1, 2, 3], vec![0, 1, 3, 4]]),
        (Candidates::Seen, [vec![0, 1, 2, 3], vec![0, 1, 2, 3, 4]]),
        (Candidates::All, [vec![0, 1, 2, 3, 4, 5], vec![0, 1, 2, 3, 4, 5]]),
    ];
    for (candidates, lists) in all_candidates {
        for ties in [TiePolicy::Optimistic, TiePolicy::Pessimistic, TiePolicy::Mean] {
            let protocol = Protocol { candidates, ties, ..Protocol::evolving(Procedure::Static) };
            let game = Playing { protocol, ..playing(&data, Procedure::Static, &[]) };
            let outcome = play(&game, &mut Formula::default()).expect("it plays");
            let mut ever = BTreeSet::new();
            for (step, (result, list)) in outcome.steps.iter().zip(&lists).enumerate() {
                ever.extend(now(step));
                let link = result.link.as_ref().expect("asked");
                let filters =
                    [(&link.filtered, now(step)), (&link.ever, ever.clone()), (&link.raw, BTreeSet::new())];
                for (found, left_out) in filters {
                    let asked: Vec<Triple> = walk(&data).nth(step).expect("a step").test;
                    let ranks = asked.iter().flat_map(|&triple| {
                        Direction::BOTH.map(|direction| {
                            let (lower, same) = naive(triple, direction, list, &left_out);
                            match ties {
                                TiePolicy::Optimistic => f64::from(lower + 1),
                                TiePolicy::Pessimistic => f64::from(lower + same),
                                _ => f64::from(lower) + f64::midpoint(f64::from(same), 1.0),
                            }
                        })
                    });
                    let ranks: Vec<f64> = ranks.collect();
                    let mean = ranks.iter().sum::<f64>() / ranks.len() as f64;
                    assert!((found.metrics.mr - mean).abs() < 1e-12, "{candidates:?} {ties:?} step {step}");
                }
            }
        }
    }
}

#[test]
fn whoever_is_not_reached_is_last() {
    let data = data();
    let mut model = Formula { sparse: true, ..Formula::default() };
    let outcome = play(&playing(&data, Procedure::Static, &[]), &mut model).expect("it plays");
    // Step 1 asks (0,0,?): gold 3 is odd. Candidates 0 to 3, of which 1 is filtered: rank 3 of 3; raw 4 of 4.
    let link = outcome.steps[0].link.as_ref().expect("asked");
    let [object, subject] = [&link.filtered.object, &link.filtered.subject];
    assert_eq!(object.expect("asked").metrics.mr, 3.0);
    assert_eq!(link.raw.object.expect("asked").metrics.mr, 4.0);
    // (?,0,3): gold 0 has energy 1; of the other even ones 2 has energy 3.
    assert_eq!(subject.expect("asked").metrics.mr, 1.0);
    assert_eq!(link.unreached, 0.5);
}

#[test]
fn classification_takes_its_threshold_from_validation_and_triples_of_the_past_are_judged_by_it() {
    let data = data();
    // Energies: (0,0,1) 3, (3,0,1) 0, (2,0,1) 1, (0,0,3) 1, (1,0,1) 2.
    let examples = StepExamples {
        valid: vec![(t(3, 0, 1), true), (t(2, 0, 1), false)],
        test: vec![(t(3, 0, 1), true), (t(0, 0, 3), true), (t(1, 0, 1), false)],
    };
    let examples = [examples.clone(), examples];
    let outcome = played(&data, Procedure::Static, &examples).expect("it plays");
    let found = outcome.steps[1].classification.as_ref().expect("classified");
    assert_eq!((found.threshold, found.counts.true_positives, found.counts.true_negatives), (0.5, 1, 1));
    assert_eq!(found.counts.false_negatives, 1);
    let negative = outcome.steps[1].negative.as_ref().expect("something was deleted");
    assert_eq!(negative.of(CategoryKind::Deleted).specificity(), Some(1.0));
    assert_eq!(negative.balanced(), None, "nothing came back");
    assert!(outcome.steps[0].negative.is_none());
    assert_eq!(outcome.negative[&2].by_step, 1.0);
    assert!((outcome.classification.expect("classified").by_question - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn who_learned_one_graph_takes_triples_of_those_who_left_for_false() {
    let mut data = data();
    // Entity 2 is gone at step 2, entity 4 is there; both triples have an energy below the threshold.
    data.steps[1].categories[0].triples = vec![t(2, 0, 1), t(0, 0, 4)];
    let examples = StepExamples {
        valid: vec![(t(3, 0, 1), true), (t(0, 1, 4), true), (t(0, 0, 1), false)],
        test: vec![],
    };
    let examples = [examples.clone(), examples];
    let found = |procedure| {
        let step = played(&data, procedure, &examples).expect("it plays").steps.remove(1);
        let deleted = step.negative.expect("something was deleted").of(CategoryKind::Deleted);
        (deleted.true_negatives, deleted.false_positives)
    };
    assert_eq!(found(Procedure::Static), (1, 1));
    assert_eq!(found(Procedure::Incremental), (0, 2), "it may know whoever was there before");
}

#[test]
fn an_interrupted_run_goes_on_after_the_last_step() {
    let data = data();
    let game = playing(&data, Procedure::Incremental, &[]);
    let mut whole = Formula::default();
    let expected = play(&game, &mut whole).expect("it plays");
    let shelf = Arc::new(MemoryCheckpoints::default());
    let run = Run { checkpoints: shelf.clone(), ..Run::silent(1) };
    let mut killed = Formula { fails_at: Some(1), ..Formula::default() };
    let mut journal = MemoryJournal::default();
    assert!(evolving::play(&game, &mut killed, &run, &mut journal).is_err());
    let mut resumed = Formula::default();
    let found = evolving::play(&game, &mut resumed, &run, &mut journal).expect("it plays");
    let uninterrupted = evolving::play(&game, &mut Formula::default(), &Run::silent(1), &mut Forgetful);
    assert_eq!(found.ranked, uninterrupted.expect("it plays").ranked);
    assert_eq!(resumed.shown, whole.shown, "it was shown the first step once");
    let scores =
        |outcome: &EvolvingOutcome| outcome.steps.iter().map(|step| step.link.clone()).collect::<Vec<_>>();
    assert_eq!(scores(&found.outcome), scores(&expected));
    // Killed before anybody has kept the model, it is shown nothing again.
    let mut after = Formula { fails_at: Some(0), ..Formula::default() };
    let again = evolving::play(&game, &mut after, &run, &mut journal).expect("all was saved");
    assert_eq!(scores(&again.outcome), scores(&expected));
    assert_eq!(after.shown, whole.shown);
}

#[test]
fn what_was_forgotten_of_earlier_runs_counts() {
    let data = data();
    let turns = || Formula { turns: true, ..Formula::default() };
    let whole = play(&playing(&data, Procedure::Incremental, &[]), &mut turns()).expect("it plays");
    let learned: Vec<_> = whole.steps.iter().filter_map(StepResult::learned).collect();
    assert_eq!(learned.len(), whole.steps.len(), "all steps have test triples");
    let backward = |earlier: &[Learned]| {
        let last = data.steps.len() - 1;
        let game = Playing { first: last, earlier, ..playing(&data, Procedure::Incremental, &[]) };
        play(&game, &mut turns()).expect("it plays").backward_transfer
    };
    assert_eq!(backward(&[]), None, "nobody knows how it did then");
    assert_eq!(backward(&learned[..learned.len() - 1]), whole.backward_transfer);
    assert!(whole.backward_transfer.is_some());
}

#[test]
fn test_triples_have_no_say_in_what_is_chosen() {
    // The formula likes all other ends of 1 better than 0, which is the true one. That another is true as well, only the test
    // triples can tell.
    let validated = |test: Triple, compat: bool| {
        let mut data = data();
        data.steps[0].evaluation = SplitTriples { valid: vec![t(1, 0, 0)], test: vec![test] };
        let protocol = Protocol::evolving(Procedure::Static).with_compat(compat);
        let game = Playing { protocol, ..playing(&data, Procedure::Static, &[]) };
        let mut model = Formula::default();
        play(&game, &mut model).expect("it plays");
        model.validated[0]
    };
    let (silent, telling) = (t(0, 1, 1), t(1, 0, 2));
    assert_eq!(validated(telling, false), validated(silent, false));
    assert_ne!(validated(telling, true), validated(silent, true), "as published");
}

#[test]
fn scores_that_are_no_numbers_are_an_error() {
    let data = data();
    let game = playing(&data, Procedure::Static, &[]);
    let error = play(&game, &mut Formula { broken: true, ..Formula::default() });
    let error = error.expect_err("it cannot be ranked").to_string();
    assert!(error.contains("of step 1") && error.contains("not a number"), "{error}");
}

#[test]
fn a_killed_run_of_a_model_with_nothing_to_say_goes_on() {
    let data = data();
    let examples = StepExamples {
        valid: vec![(t(3, 0, 1), true), (t(2, 0, 1), false)],
        test: vec![(t(3, 0, 1), true), (t(1, 0, 1), false)],
    };
    let examples = [examples.clone(), examples];
    let game = playing(&data, Procedure::Incremental, &examples);
    let shelf = Arc::new(MemoryCheckpoints::default());
    let run = Run { checkpoints: shelf.clone(), ..Run::silent(1) };
    let silent = || Formula { silent: true, ..Formula::default() };
    let mut journal = MemoryJournal::default();
    let mut killed = Formula { fails_at: Some(1), ..silent() };
    assert!(evolving::play(&game, &mut killed, &run, &mut journal).is_err());
    // What an earlier version has left: JSON has no infinite numbers.
    {
        let mut kept = shelf.kept();
        let steps = kept.get_mut("steps.json").expect("one step was judged");
        let mut value: serde_json::Value = serde_json::from_slice(steps).expect("JSON");
        assert_eq!(value[0]["classification"]["threshold"], f64::MAX);
        value[0]["classification"]["threshold"] = serde_json::Value::Null;
        *steps = serde_json::to_vec(&value).expect("memory takes everything");
    }
    let outcome = evolving::play(&game, &mut silent(), &run, &mut journal).expect("it continues").outcome;
    let text = serde_json::to_string(&outcome).expect("a record");
    assert_eq!(serde_json::from_str::<EvolvingOutcome>(&text).expect("the same record"), outcome);
    let thresholds = outcome.steps.iter().map(|step| step.classification.as_ref().map(|c| c.threshold));
    assert!(thresholds.eq([Some(f64::MAX); 2]));
}
