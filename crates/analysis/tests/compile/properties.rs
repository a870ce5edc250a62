//! What holds for every stream and every choice of options, on a thousand random ones.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use quadcast_analysis::{
    CompileOptions, Compiled, FrequencyFilter, FrequencyRule, HeldOut, IntervalRule, KeptOperation,
    SplitRule, compile,
};
use quadcast_core::{CategoryKind, EntityId, EvolvingDataset, EvolvingStep, Split, Triple};
use quadcast_data::{FaultPolicy, OperationStream};

use crate::naive;
use crate::support::{Graphs, Triples, compiled, graphs, original, set, stream_with};

/// Random rows become a well-formed stream by leaving out what contradicts the graph. Few triples, so that many of them
/// oscillate.
fn streams() -> impl Strategy<Value = OperationStream> {
    let row = (0..9_u32, 0..9_u32, 0..3_u32, prop::bool::weighted(0.6), 0..3_i64);
    let read = |rows: Vec<(u32, u32, u32, bool, i64)>| {
        let mut moment = 0;
        let operations = rows.into_iter().map(|(head, tail, relation, insert, passed)| {
            moment += passed;
            ((head * 3, tail * 3, relation + 40), insert, moment)
        });
        stream_with(&text(operations), FaultPolicy::Drop)
    };
    vec(row, 30..300).prop_map(read).prop_filter("something is left", |stream| stream.len() >= 8)
}

/// Operations as a file.
fn text(operations: impl IntoIterator<Item = naive::Operation>) -> String {
    let row = |((head, tail, relation), insert, moment): naive::Operation| {
        format!("{head} {tail} {relation} {} {moment}\n", if insert { '+' } else { '-' })
    };
    operations.into_iter().map(row).collect()
}

fn rules() -> impl Strategy<Value = IntervalRule> {
    prop_oneof![
        (1..7_usize).prop_map(IntervalRule::Operations),
        (1..7_usize).prop_map(IntervalRule::Time),
        (3..40_usize).prop_map(IntervalRule::Size),
    ]
}

fn filters() -> impl Strategy<Value = FrequencyFilter> {
    let rule = prop::sample::select(vec![
        FrequencyRule::Off,
        FrequencyRule::Off,
        FrequencyRule::Joint,
        FrequencyRule::Sequential,
        FrequencyRule::Fixpoint,
    ]);
    (rule, 0..6_u32, 0..9_u32).prop_map(|(rule, min_entity, min_relation)| FrequencyFilter {
        rule,
        min_entity,
        min_relation,
    })
}

fn options() -> impl Strategy<Value = CompileOptions> {
    let shares = prop::sample::select(vec![(0.05, 0.05), (0.1, 0.1), (0.25, 0.15)]);
    let keep = prop::sample::select(vec![KeptOperation::First, KeptOperation::Last]);
    (rules(), filters(), shares, keep, any::<bool>(), 0..20_usize, any::<u64>()).prop_map(
        |(intervals, filter, (valid, test), keep, cover_train, sample, seed)| CompileOptions {
            intervals,
            filter,
            keep,
            split: SplitRule::Drawn(HeldOut::new(valid, test).expect("shares")),
            cover_train,
            sample: Some(sample),
            seed,
            ..CompileOptions::default()
        },
    )
}

/// The benchmark, unless the filter leaves nothing.
fn attempt(stream: &OperationStream, options: &CompileOptions) -> Option<Compiled> {
    match compile(stream, options) {
        Ok(compiled) => Some(compiled),
        Err(error) if error.to_string().contains("the frequency filter leaves no operation") => None,
        Err(error) => panic!("{error}"),
    }
}

/// Operations of the stream per interval.
fn cut<'a>(operations: &'a [naive::Operation], compiled: &Compiled) -> Vec<&'a [naive::Operation]> {
    let mut rest = operations;
    let mut parts = Vec::new();
    for step in &compiled.report.steps {
        let (part, later) = rest.split_at(step.interval);
        parts.push(part);
        rest = later;
    }
    assert!(rest.is_empty());
    parts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn p1_to_p15(stream in streams(), options in options()) {
        let Some(compiled) = attempt(&stream, &options) else { return Ok(()) };
        let operations = naive::operations(&stream);
        let intervals = cut(&operations, &compiled);
        let dataset = &compiled.dataset;
        let after = graphs(&dataset.steps);
        snapshots_are_those_of_the_stream(dataset, &after, &intervals, &options);
        updates_are_minimal(dataset, &after);
        splits_are_permanent(dataset, &after, &options);
        training_follows(dataset, &after);
        categories_follow(dataset, &after);
        samples_and_lists(dataset, &after, &options);
        thresholds_hold(&after, &options);
        negatives_are_false(dataset, &operations);
        counts_are_right(&compiled, &after);
    }

    #[test]
    fn p16_threads_do_not_matter(stream in streams(), options in options()) {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| attempt(&stream, &options).map(|compiled| format!("{compiled:?}")))
        };
        prop_assert_eq!(with(1), with(3));
    }

    #[test]
    fn p17_a_shorter_stream_gives_the_beginning(
        stream in streams(), options in options(), size in 3..30_usize, share in 0.0..1.0_f64,
    ) {
        let filter = FrequencyFilter::OFF;
        let options = CompileOptions { intervals: IntervalRule::Size(size), filter, ..options };
        let whole = compiled(&stream, &options);
        let steps = 1 + (share * (stream.len() / size) as f64) as usize;
        let length = (steps * size).min(stream.len());
        let beginning = naive::operations(&stream).into_iter().take(length);
        let part = compiled(&stream_with(&text(beginning), FaultPolicy::Error), &options);
        for (long, short) in whole.dataset.steps.iter().zip(&part.dataset.steps) {
            prop_assert_eq!(without_negatives(long), without_negatives(short));
        }
        for id in 0..part.dataset.vocabulary.entities.len() as u32 {
            prop_assert_eq!(part.dataset.vocabulary.entities.name(id), whole.dataset.vocabulary.entities.name(id));
        }
    }
}

/// Negatives must not come true later, so that they depend on the whole stream.
fn without_negatives(step: &EvolvingStep) -> String {
    let step = EvolvingStep { classification: vec![], classification_valid: vec![], ..step.clone() };
    format!("{step:?}")
}

/// P1, and the filter: replaying the updates gives the snapshots of the stream.
fn snapshots_are_those_of_the_stream(
    dataset: &EvolvingDataset,
    after: &[Graphs],
    intervals: &[&[naive::Operation]],
    options: &CompileOptions,
) {
    let expected = naive::filtered(naive::snapshots(intervals), options.filter);
    assert_eq!(expected.len(), after.len());
    for (expected, found) in expected.iter().zip(after) {
        let found: naive::Graph =
            found.all.iter().map(|&triple| original(triple, &dataset.vocabulary)).collect();
        assert_eq!(*expected, found);
    }
}

/// P2, P3, P8: one operation per triple, as many as the graphs differ in, none from an entity to itself.
fn updates_are_minimal(dataset: &EvolvingDataset, after: &[Graphs]) {
    let mut before = Triples::new();
    for (step, graphs) in dataset.steps.iter().zip(after) {
        let operations = step.operations.as_deref().expect("all operations");
        let triples: Vec<Triple> = operations.iter().map(|operation| operation.triple).collect();
        assert_eq!(set(&triples), &before ^ &graphs.all);
        assert!(triples.iter().all(|triple| triple.subject != triple.object));
        before.clone_from(&graphs.all);
    }
}

/// P4, P5, P9, P10: three disjoint parts at every step and over all of them, of the right sizes.
fn splits_are_permanent(dataset: &EvolvingDataset, after: &[Graphs], options: &CompileOptions) {
    let mut ever: BTreeMap<Triple, Split> = BTreeMap::new();
    let SplitRule::Drawn(held_out) = options.split else { panic!("splits are drawn here") };
    let shares = serde_json::to_value(held_out).expect("shares");
    let share = |split: &str| shares[split].as_f64().expect("a share");
    for (step, graphs) in dataset.steps.iter().zip(after) {
        let mut first = [0_usize; 3];
        let mut present = 0;
        for split in Split::ALL {
            for triple in graphs.splits.get(split) {
                assert!(graphs.all.contains(triple));
                present += 1;
                if let Some(known) = ever.insert(*triple, split) {
                    assert_eq!(known, split, "a triple changed its split");
                } else {
                    first[split as usize] += 1;
                }
            }
        }
        assert_eq!(present, graphs.all.len(), "step {}", step.label);
        let n: usize = first.iter().sum();
        let held = ((share("valid") + share("test")) * n as f64 - 1e-9).ceil() as usize;
        if options.cover_train {
            assert!(first[1] + first[2] <= held);
        } else {
            assert_eq!(first[1] + first[2], held);
            let test =
                (share("test") / (share("valid") + share("test")) * held as f64 - 1e-9).ceil() as usize;
            assert_eq!(first[2], test);
        }
    }
}

/// P6, P7: the training operations lead to the training graphs, and their insertions are the increment.
fn training_follows(dataset: &EvolvingDataset, after: &[Graphs]) {
    let mut before = Triples::new();
    for (step, graphs) in dataset.steps.iter().zip(after) {
        assert_eq!(graphs.splits.train, &(&graphs.all - &graphs.splits.valid) - &graphs.splits.test);
        let increment = step.increment.as_deref().expect("an increment");
        assert_eq!(set(increment), &graphs.splits.train - &before);
        // In the order of the update.
        let all = step.operations.as_deref().expect("all operations");
        let part: Vec<_> = all.iter().filter(|o| step.training.contains(o)).copied().collect();
        assert_eq!(part, step.training);
        before.clone_from(&graphs.splits.train);
    }
}

/// P11: the categories are those that the graphs of each split show.
fn categories_follow(dataset: &EvolvingDataset, after: &[Graphs]) {
    for split in Split::ALL {
        let mut insertions: BTreeMap<Triple, u32> = BTreeMap::new();
        let mut before = &Triples::new();
        for (step, graphs) in dataset.steps.iter().zip(after) {
            let now = graphs.splits.get(split);
            for triple in now - before {
                *insertions.entry(triple).or_default() += 1;
            }
            before = now;
            for kind in CategoryKind::ALL {
                let belongs = |(triple, count): &(&Triple, &u32)| match kind {
                    CategoryKind::Deleted => **count == 1 && !now.contains(triple),
                    CategoryKind::Returned => **count > 1 && now.contains(triple),
                    CategoryKind::DeletedAgain => **count > 1 && !now.contains(triple),
                };
                let expected: Triples =
                    insertions.iter().filter(belongs).map(|(triple, _)| *triple).collect();
                let files: Vec<_> =
                    step.categories.iter().filter(|c| c.kind == kind && c.split == split).collect();
                assert!(files.len() <= 1 && files.iter().all(|file| !file.triples.is_empty()));
                assert_eq!(files.first().map(|file| set(&file.triples)).unwrap_or_default(), expected);
            }
        }
    }
}

/// P12, P14: samples are parts of the full sets, and what is listed as present is what occurs.
fn samples_and_lists(dataset: &EvolvingDataset, after: &[Graphs], options: &CompileOptions) {
    for (step, graphs) in dataset.steps.iter().zip(after) {
        for (ranked, all) in
            [(&step.evaluation.valid, &graphs.splits.valid), (&step.evaluation.test, &graphs.splits.test)]
        {
            assert!(set(ranked).is_subset(all));
            assert_eq!(Some(ranked.len()), options.sample.map(|sample| all.len().min(sample)));
        }
        let occurring: BTreeSet<EntityId> = graphs.all.iter().flat_map(|t| [t.subject, t.object]).collect();
        let listed = step.entities.as_deref().expect("a list");
        assert_eq!(listed, occurring.into_iter().collect::<Vec<_>>());
        let occurring: BTreeSet<_> = graphs.all.iter().map(|t| t.relation).collect();
        assert_eq!(step.relations.as_deref().expect("a list"), occurring.into_iter().collect::<Vec<_>>());
    }
}

/// P13: after the fixpoint, what is present is frequent.
fn thresholds_hold(after: &[Graphs], options: &CompileOptions) {
    let FrequencyFilter { rule: FrequencyRule::Fixpoint, min_entity, min_relation } = options.filter else {
        return;
    };
    for graphs in after {
        let (mut entities, mut relations) = (BTreeMap::new(), BTreeMap::new());
        for triple in &graphs.all {
            *entities.entry(triple.subject).or_insert(0) += 1;
            *entities.entry(triple.object).or_insert(0) += 1;
            *relations.entry(triple.relation).or_insert(0) += 1;
        }
        assert!(entities.values().all(|count| *count >= min_entity));
        assert!(relations.values().all(|count| *count >= min_relation));
    }
}

/// P15: a negative was never true, is made of present entities, and differs from its positive in one of them.
fn negatives_are_false(dataset: &EvolvingDataset, operations: &[naive::Operation]) {
    let ever: naive::Graph = operations.iter().map(|(triple, ..)| *triple).collect();
    for step in &dataset.steps {
        let present = step.entities.as_deref().expect("a list");
        for (examples, ranked) in [
            (&step.classification, &step.evaluation.test),
            (&step.classification_valid, &step.evaluation.valid),
        ] {
            let (positives, negatives) = examples.split_at(examples.len() / 2);
            assert!(positives.iter().all(|(triple, label)| *label && ranked.contains(triple)));
            for ((positive, _), (negative, label)) in positives.iter().zip(negatives) {
                assert!(!label && !ever.contains(&original(*negative, &dataset.vocabulary)));
                assert!(negative.subject != negative.object && negative.relation == positive.relation);
                assert!([negative.subject, negative.object].iter().all(|entity| present.contains(entity)));
                assert!((negative.subject == positive.subject) != (negative.object == positive.object));
            }
        }
    }
}

/// The report says what the benchmark holds.
fn counts_are_right(compiled: &Compiled, after: &[Graphs]) {
    for ((row, step), graphs) in compiled.report.steps.iter().zip(&compiled.dataset.steps).zip(after) {
        assert_eq!((row.graph, row.training_graph), (graphs.all.len(), graphs.splits.train.len()));
        assert_eq!((row.valid.all, row.test.all), (graphs.splits.valid.len(), graphs.splits.test.len()));
        assert_eq!(row.training.total(), step.training.len());
        assert_eq!(Some(row.entities), step.entities.as_ref().map(Vec::len));
        let trained: BTreeSet<EntityId> =
            graphs.splits.train.iter().flat_map(|t| [t.subject, t.object]).collect();
        assert_eq!(row.training_entities, trained.len());
        let categories: usize = row.categories.iter().flatten().map(|counts| counts.total).sum();
        assert_eq!(categories, step.categories.iter().map(|category| category.triples.len()).sum::<usize>());
    }
}
