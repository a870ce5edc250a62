//! Published artefacts on paper: the list with entity 0 in every other slot, and energies of swapped triples.

mod playing;

use playing::{play, playing};
use quadcast_core::{CategoryKind, CategoryTriples, Procedure, Protocol, Split, TiePolicy, Triple};
use quadcast_eval::evolving::{EvolvingOutcome, Playing, StepExamples};
use quadcast_testing::changing::{Formula, data, t};

fn played(procedure: Procedure, compat: bool) -> (EvolvingOutcome, Formula) {
    let data = data();
    let protocol = Protocol { ties: TiePolicy::Optimistic, ..Protocol::evolving(procedure) };
    let mut model = Formula::default();
    let game = Playing { protocol: protocol.with_compat(compat), ..playing(&data, procedure, &[]) };
    (play(&game, &mut model).expect("it plays"), model)
}

fn mean_ranks(outcome: &EvolvingOutcome) -> Vec<[f64; 2]> {
    let links = outcome.steps.iter().filter_map(|step| step.link.as_ref());
    links.map(|link| [link.filtered.metrics.mr, link.raw.metrics.mr]).collect()
}

#[test]
fn links_are_ranked_in_the_published_list_by_procedures_that_go_on() {
    // Energies are (3s + r + 3o) mod 4. Step 1 has entities 0 to 3 and asks about (0,0,3), of energy 1.
    // (0,0,?): the answer is at position 3, odd. Slots: 0 (energy 0), 0 (0), 2 (2); meant for 0, 1, 2. (0,0,1) is true, so that
    // the second is left out: rank 2 filtered, 3 raw. In a right list 1 has energy 3: 2 and 2.
    // (?,0,3): the answer is at position 0. Slots: 1 (0), 0 (1), 3 (2): rank 2 either way, as in a right list.
    let right = mean_ranks(&played(Procedure::Static, false).0);
    assert_eq!(right[0], [2.0, 2.0]);
    let published = mean_ranks(&played(Procedure::PseudoIncremental, true).0);
    assert_eq!(published[0], [2.0, 2.5]);
    // Step 2 has entities 0, 1, 3, 4 and asks about (0,0,3), of energy 1, and (4,1,3), of energy 2.
    // (0,0,?): position 2, even. Slots: 0 (0), 0 (0), 4 (0); meant for 0, 1, 4. Ranks 3 and 4; in a right list 3 and 3.
    // (?,0,3): position 0. Slots: 1 (0), 0 (1), 4 (1). Ranks 2 and 2, as in a right list.
    // (4,1,?): position 2. Slots: 0 (1), 0 (1), 4 (1). Ranks 4 and 4, as in a right list.
    // (?,1,3): position 3, odd. Slots: 0 (2), 0 (2), 3 (3). Ranks 1 and 1; in a right list 1 has energy 1: 2 and 2.
    assert_eq!(right[1], [2.75, 2.75]);
    assert_eq!(published[1], [2.5, 2.75]);
    assert_eq!(mean_ranks(&played(Procedure::Incremental, true).0), published);
    assert_eq!(
        mean_ranks(&played(Procedure::Static, true).0),
        right,
        "the static procedure filled its list right"
    );
    assert_eq!(mean_ranks(&played(Procedure::PseudoIncremental, false).0), right);
}

#[test]
fn validation_is_right_and_transfer_is_comparable_with_results() {
    let (published, model) = played(Procedure::Incremental, true);
    let (_, right) = played(Procedure::Incremental, false);
    assert_eq!(model.validated, right.validated);
    // (3,0,1) has energy 0, nothing is lower.
    assert_eq!(model.validated[0].mr, 1.0);
    // The model never changes: what it gets on another step is what it got there.
    let ranks = mean_ranks(&published);
    for step in &published.steps {
        for transfer in &step.transfer {
            assert_eq!(transfer.score.mr, ranks[transfer.step.index()][0]);
        }
    }
    assert_eq!(published.backward_transfer, Some(0.0));
}

#[test]
fn whoever_is_not_reached_comes_behind_the_last_in_published_ranks() {
    let data = data();
    let raw = |compat| {
        let protocol = Protocol { ties: TiePolicy::Optimistic, ..Protocol::evolving(Procedure::Incremental) };
        let protocol = protocol.with_compat(compat);
        let mut model = Formula { sparse: true, ..Formula::default() };
        let game = Playing { protocol, ..playing(&data, Procedure::Incremental, &[]) };
        let outcome = play(&game, &mut model).expect("it plays");
        outcome.steps[0].link.as_ref().expect("asked").raw.object.expect("asked").metrics.mr
    };
    // (0,0,?): gold 3 is odd, and there are four candidates.
    assert_eq!((raw(false), raw(true)), (4.0, 5.0));
}

/// All triples whose tail passes a test, every other one true.
fn examples(tail: impl Fn(u32) -> bool) -> Vec<(Triple, bool)> {
    let all = (0..6).flat_map(|s| (0..2).flat_map(move |r| (0..6).map(move |o| t(s, r, o))));
    all.filter(|triple| tail(triple.object.0)).map(|triple| (triple, triple.subject.0 % 2 == 0)).collect()
}

fn classified(
    model: &mut Formula,
    compat: bool,
    procedure: Procedure,
    test: Vec<(Triple, bool)>,
) -> EvolvingOutcome {
    let mut data = data();
    let returned =
        CategoryTriples { kind: CategoryKind::Returned, split: Split::Train, triples: vec![t(0, 1, 3)] };
    data.steps[1].categories.push(returned);
    let step = StepExamples { valid: examples(|_| true), test };
    let examples = [step.clone(), step];
    let protocol = Protocol::evolving(Procedure::Incremental).with_compat(compat);
    let game = Playing { protocol, ..playing(&data, procedure, &examples) };
    play(&game, model).expect("it plays")
}

#[test]
fn with_tail_and_relation_swapped_no_triple_with_a_large_tail_is_taken_for_true() {
    // There are two relations. A model that may have nothing to say is asked with the swap, by every procedure.
    let partial = || Formula { sparse: true, ..Formula::default() };
    for procedure in Procedure::ALL {
        let large = classified(&mut partial(), true, procedure, examples(|tail| tail >= 2));
        for step in &large.steps {
            let found = step.classification.as_ref().expect("classified");
            assert_eq!((found.counts.true_positives, found.counts.false_positives), (0, 0));
            assert_eq!((found.coverage, found.accuracy), (0.0, 0.5));
        }
        let returned =
            large.steps[1].negative.as_ref().expect("something came back").of(CategoryKind::Returned);
        assert_eq!((returned.true_positives, returned.false_negatives), (0, 1));
    }
    let small = classified(&mut partial(), true, Procedure::Incremental, examples(|tail| tail < 2));
    let found = small.steps[0].classification.as_ref().expect("classified");
    assert_eq!(found.coverage, 1.0);
    assert!(found.counts.true_positives > 0, "a small tail may be taken for true");
    let honest = classified(&mut partial(), false, Procedure::Incremental, examples(|tail| tail >= 2));
    assert_eq!(honest.steps[0].classification.as_ref().expect("classified").coverage, 1.0);
    let whole = classified(&mut Formula::default(), true, Procedure::Incremental, examples(|tail| tail >= 2));
    assert_eq!(
        whole.steps[0].classification.as_ref().expect("classified").coverage,
        1.0,
        "one space is asked rightly"
    );
}

#[test]
fn swapped_energies_on_paper() {
    // (0,0,1) is asked as (0,1,0), of energy 5 mod 4 = 1; (1,0,0) as itself, 3; (1,1,0) as (1,0,1), 10 mod 4 = 2.
    // (3,0,3) has no relation 3. Of these energies a threshold of 2 gets most right.
    let examples = vec![(t(0, 0, 1), true), (t(1, 0, 0), false), (t(1, 1, 0), false), (t(3, 0, 3), true)];
    let data = data();
    let step = [StepExamples { valid: examples.clone(), test: examples }];
    let protocol = Protocol::evolving(Procedure::Incremental).with_compat(true);
    let game = Playing { protocol, ..playing(&data, Procedure::Static, &step) };
    let mut model = Formula { sparse: true, ..Formula::default() };
    let outcome = play(&game, &mut model).expect("it plays");
    let found = outcome.steps[0].classification.as_ref().expect("classified");
    assert_eq!((found.threshold, found.accuracy, found.coverage), (2.0, 0.75, 0.75));
    assert_eq!((found.counts.true_positives, found.counts.false_negatives), (1, 1));
}
