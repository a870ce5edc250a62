//! Synthetic worlds from outside: same seed same bytes, files that are read back, probabilities that are right.

use std::fs;
use std::path::Path;

use quadcast_analysis::{SynthWorld, WorldName, audit, synth, synth_target};
use quadcast_core::{
    Dataset, Direction, EntityId, Forecaster, History, HistoryIndex, Quad, Query, RelationId, Step, Triple,
    Verdict,
};
use quadcast_data::{Content, DataError, LoadOptions, load};
use quadcast_testing::{Collected, files, write_files};
use serde_json::json;

/// Worlds that are quick to make.
const SMALL: [WorldName; 5] = [
    WorldName::Village,
    WorldName::Evolving,
    WorldName::RecurrenceOnly,
    WorldName::RulesOnly,
    WorldName::ChainsOnly,
];

fn written(world: &SynthWorld, folder: &Path) {
    world.write(folder, false, &json!(null)).expect("a writable folder");
}

#[test]
fn the_seed_decides_every_byte_for_any_number_of_threads() {
    let room = tempfile::tempdir().expect("a temporary folder");
    let made = |name: WorldName, seed, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let folder = room.path().join(format!("{name}-{seed}-{threads}"));
        pool.install(|| written(&synth(name, seed), &folder));
        files(&folder)
    };
    for name in SMALL {
        let first = made(name, 7, 1);
        assert!(["world.json", "truth.csv.zst"].iter().all(|file| first.contains_key(Path::new(file))));
        assert!(first == made(name, 7, 2), "{name} depends on the threads");
        assert!(first != made(name, 8, 1), "{name} does not depend on the seed");
    }
}

#[test]
fn what_is_written_is_read() {
    let room = tempfile::tempdir().expect("a temporary folder");
    for name in SMALL {
        let folder = room.path().join(name.word());
        let world = synth(name, 1);
        written(&world, &folder);
        let loaded = load(&folder, &LoadOptions::default()).expect("a known layout");
        match (&world.content, &loaded.content) {
            (Content::Temporal(made), Content::Temporal(read)) => {
                assert_eq!(made.splits, read.splits, "{name}");
                assert_eq!(made.vocabulary, read.vocabulary, "{name}");
                assert_eq!(made.axis, read.axis, "{name}");
            }
            (Content::Evolving(made), Content::Evolving(read)) => {
                assert_eq!(made.vocabulary, read.vocabulary);
                assert_eq!(format!("{:?}", made.steps), format!("{:?}", read.steps));
            }
            _ => panic!("{name} is read as something else"),
        }
        let verdict = audit(&loaded).worst();
        assert!(verdict != Verdict::Fail, "{name}: {verdict:?}");
    }
}

/// Asserts the numbers of entities, relations and steps, and about the number of facts.
fn assert_size(dataset: &Dataset, sizes: (usize, usize, usize), facts: f64) {
    assert_eq!((dataset.entities(), dataset.relations(), dataset.axis.len()), sizes);
    let found: usize = dataset.splits.iter().map(|(_, facts)| facts.len()).sum();
    assert!((found as f64 / facts - 1.0).abs() < 0.02, "{found} facts");
}

#[test]
fn icews_like_has_the_size_of_its_model() {
    let world = synth(WorldName::IcewsLike, 1);
    let dataset = world.dataset().expect("facts");
    assert_size(dataset, (7128, 230, 365), 90_730.0);
    // Heavy-tailed: the busiest hundredth of the entities stands in more than a third of the places.
    let mut degrees = vec![0_usize; dataset.entities()];
    for fact in dataset.splits.train.iter() {
        degrees[fact.subject.index()] += 1;
        degrees[fact.object.index()] += 1;
    }
    degrees.sort_unstable_by(|a, b| b.cmp(a));
    let busiest: usize = degrees[..71].iter().sum();
    assert!(3 * busiest > degrees.iter().sum::<usize>(), "{busiest}");
}

#[test]
fn gdelt_like_has_the_size_of_its_model() {
    let room = tempfile::tempdir().expect("a temporary folder");
    let folder = room.path().join("gdelt-like");
    let world = synth(WorldName::GdeltLike, 1);
    written(&world, &folder);
    let dataset = world.dataset().expect("facts");
    assert_size(dataset, (7691, 240, 2976), 2_278_405.0);
    let loaded = load(&folder, &LoadOptions::default()).expect("a known layout");
    let Content::Temporal(read) = &loaded.content else { panic!("facts with time stamps") };
    assert_eq!((&dataset.splits, dataset.axis.times()), (&read.splits, read.axis.times()));
    assert!(audit(&loaded).worst() != Verdict::Fail);
}

fn index(dataset: &Dataset) -> HistoryIndex {
    let parts: Vec<_> = dataset.splits.iter().map(|(_, facts)| facts).collect();
    HistoryIndex::new(&dataset.axis, dataset.entities(), dataset.relations(), &parts)
}

/// The oracle's probabilities of all answers to one question.
fn scored(oracle: &impl Forecaster, history: &History<'_>, query: Query) -> Vec<f64> {
    let mut scores = Collected::new(history.entities()).sparse();
    oracle.score(history, &[query], &mut scores).expect("scores");
    scores.row(0).to_vec()
}

#[test]
fn the_oracle_and_the_generator_agree_on_every_test_fact() {
    for name in [WorldName::Village, WorldName::RecurrenceOnly, WorldName::RulesOnly, WorldName::IcewsLike] {
        let world = synth(name, 5);
        let dataset = world.dataset().expect("facts");
        let (index, mut oracle) = (index(dataset), world.oracle().expect("an oracle"));
        let before = dataset.splits.train.len() + dataset.splits.valid.len();
        let mut rows = world.truth.rows[before..].iter();
        for step in dataset.splits.test.occupied() {
            let history = index.before(step);
            oracle.begin(step, &history).expect("its own world");
            for fact in dataset.splits.test.snapshot(step).iter() {
                let expected = rows.next().expect("a row per fact").probability;
                for direction in Direction::BOTH {
                    let (query, answer) = Query::hide(fact, direction);
                    let score = scored(&oracle, &history, query)[answer.index()];
                    assert!((score - expected).abs() < 1e-12, "{name} {fact:?}: {score}, {expected}");
                }
            }
        }
        assert!(rows.next().is_none());
    }
}

#[test]
fn probabilities_are_calibrated() {
    // All candidates of all (known, relation) pairs asked about would be a biased sample: they are asked because
    // something is true. So every pair is asked, at every test step, in one direction.
    let mut buckets = [(0_u32, 0.0, 0_u32); 10];
    for seed in 1..=8 {
        let world = synth(WorldName::Village, seed);
        let dataset = world.dataset().expect("facts");
        let (index, mut oracle) = (index(dataset), world.oracle().expect("an oracle"));
        for step in dataset.splits.test.occupied() {
            let history = index.before(step);
            oracle.begin(step, &history).expect("its own world");
            let truth: Vec<_> = dataset.splits.test.snapshot(step).iter().map(Quad::triple).collect();
            for known in (0..dataset.entities() as u32).map(EntityId) {
                for relation in (0..dataset.relations() as u32).map(RelationId) {
                    let query = Query { step, known, relation, direction: Direction::Object };
                    for (score, object) in scored(&oracle, &history, query).into_iter().zip(0_u32..) {
                        let fact = Triple { subject: known, relation, object: EntityId(object) };
                        let bucket = &mut buckets[((score * 10.0) as usize).min(9)];
                        bucket.0 += 1;
                        bucket.1 += score;
                        bucket.2 += u32::from(truth.binary_search(&fact).is_ok());
                    }
                }
            }
        }
    }
    let mut used = 0;
    for (count, expected, hits) in buckets.into_iter().filter(|(count, _, _)| *count >= 100) {
        let (mean, share) = (expected / f64::from(count), f64::from(hits) / f64::from(count));
        let error = (mean * (1.0 - mean) / f64::from(count)).sqrt();
        assert!((share - mean).abs() < 4.0 * error, "predicted {mean}, found {share} in {count}");
        used += 1;
    }
    assert!(used >= 6, "probabilities spread over {used} buckets");
}

#[test]
fn several_steps_ahead_nothing_of_the_test_period_is_read() {
    let world = synth(WorldName::Village, 2);
    let dataset = world.dataset().expect("facts");
    let (index, mut oracle) = (index(dataset), world.oracle().expect("an oracle"));
    let first = dataset.splits.test.first_step().expect("test facts");
    let history = index.before(first);
    let fact = dataset.splits.test.snapshot(first).iter().next().expect("a fact");
    let mut later = Query::hide(fact, Direction::Object).0;
    later.step = Step(first.0 + 6);
    oracle.begin(later.step, &history).expect("it can be rolled out");
    assert!(scored(&oracle, &history, later).iter().all(|p| (0.0..=1.0).contains(p)));
    assert!(index.latest_read().is_some_and(|step| step < first), "nothing of the test period is read");
    let large = synth(WorldName::IcewsLike, 2);
    assert_eq!(large.rollouts(), 0);
    assert_eq!(large.oracle().expect("an oracle").capabilities().settings.len(), 1);
}

#[test]
fn names_are_forgiving_and_folders_are_not() {
    assert_eq!("Village".parse::<WorldName>().expect("a world"), WorldName::Village);
    let error = "vilage".parse::<WorldName>().expect_err("a typo").to_string();
    assert!(error.contains("did you mean village?") && error.contains("gdelt-like"), "{error}");

    let room = tempfile::tempdir().expect("a temporary folder");
    let folder = room.path().join("world");
    let world = synth(WorldName::RulesOnly, 1);
    written(&world, &folder);
    assert!(matches!(world.write(&folder, false, &json!(null)), Err(DataError::Occupied { .. })));
    world.write(&folder, true, &json!({ "replaced": true })).expect("a world may be replaced");
    assert!(fs::read_to_string(folder.join("world.json")).expect("a file").contains("replaced"));
    assert_eq!(fs::read_dir(room.path()).expect("a folder").count(), 1, "nothing is left beside it");
    synth_target(&folder, true).expect("what replaced it may be replaced");
    let whole = files(&folder);
    for (file, text) in
        [("notes/mine.txt", "mine"), ("train.txt", "A\tr\tB\t2031-01-01\n"), ("world.json", "{}")]
    {
        write_files(&folder, [(file, text)]);
        assert!(matches!(synth_target(&folder, true), Err(DataError::Occupied { .. })), "{file}");
        fs::remove_dir_all(&folder).expect("a folder");
        write_files(&folder, &whole);
        synth_target(&folder, true).expect("a world as it was written");
    }
    fs::remove_file(folder.join("world.json")).expect("a file");
    assert!(matches!(synth_target(&folder, true), Err(DataError::Occupied { .. })), "somebody else's files");
}

#[test]
fn the_description_says_what_the_world_is_made_of() {
    let world = synth(WorldName::Village, 1);
    let description = &world.description;
    assert_eq!(description["world"], "village");
    let processes = description["processes"].as_array().expect("a list");
    let words = processes.iter().filter_map(|p| p["rule"].as_str()).collect::<Vec<_>>().join("\n");
    assert!(
        words.contains("If (X consults Y) at t, then (Y advises X) at t+2 with probability 0.75."),
        "{words}"
    );
    assert_eq!(description["sizes"]["facts"]["test"], world.dataset().expect("facts").splits.test.len());
    let causes: Vec<String> = world.truth.rows.iter().map(|row| world.truth.causes(row)).collect();
    for label in &world.truth.labels {
        assert!(causes.iter().any(|cause| cause.split('+').any(|part| part == label)), "{label} never fires");
    }
    let facts = world.dataset().expect("facts").splits.iter().map(|(_, facts)| facts.len());
    assert_eq!(causes.len(), facts.sum::<usize>());
}
