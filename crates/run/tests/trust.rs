//! What is believed of a run folder, and what is not.

#[path = "common/plans.rs"]
mod plans;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use quadcast_core::{Cancellation, Procedure, Progress, Run};
use quadcast_data::FaultPolicy;
use quadcast_run::{
    Place, Plan, Played, Record, Results, RunError, Session, Update, read_complete, read_results, verify,
};
use quadcast_testing::mutation::{Failure, Numbers, Watched, damage, flip, number_from};
use quadcast_testing::{files, write_files};
use sha2::{Digest, Sha256};

use plans::{QUICK_TRANSE, circles, example, plan};

/// Settings with which the network trains in a moment, and is compared after every epoch.
const QUICK_CYGNET: &[&str] = &["dimension=4", "epochs=2", "first_validation=1"];

/// How long damaged runs are read if nobody asks for more.
const SECONDS: u64 = 3;

/// Bit flips per file; `QUADCAST_FLIPS` says how many on request.
fn flips() -> u64 {
    number_from("QUADCAST_FLIPS", 40)
}

fn harbour(model: &str, settings: &[&str]) -> Plan {
    plan(model, &example("harbour"), settings)
}

/// A plan on a graph that changes, whose model goes on learning.
fn evolving(data: &Path) -> Plan {
    circles(data);
    let mut plan = plan("transe", data, QUICK_TRANSE);
    plan.protocol.procedure = Some(Procedure::Incremental);
    plan
}

fn complete_as(plan: Plan, out: &Path, run: Run) -> Result<PathBuf, RunError> {
    let place = Place { out: Some(out.to_owned()), ..Place::default() };
    Session::open(plan, run)?.complete(&place)
}

fn complete(plan: Plan, out: &Path) -> Result<PathBuf, RunError> {
    complete_as(plan, out, Run::silent(1))
}

fn finished(plan: Plan) -> (tempfile::TempDir, PathBuf) {
    let room = tempfile::tempdir().expect("a folder");
    let run = complete(plan, &room.path().join("run")).expect("a run");
    (room, run)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// Writes the checksums of a folder anew, as somebody who forges a run would.
fn forge_checksums(run: &Path) {
    let text = fs::read_to_string(run.join("SHA256SUMS")).expect("checksums");
    let line = |line: &str| {
        let name = line.split("  ").nth(1).expect("a name");
        let sum = Sha256::digest(fs::read(run.join(name)).expect("a file"));
        format!("{}  {name}\n", hex(&sum))
    };
    fs::write(run.join("SHA256SUMS"), text.lines().map(line).collect::<Vec<_>>().concat()).expect("room");
}

/// What reading the results of a run says.
fn refusal(run: &Path) -> String {
    read_results(run).map(drop).expect_err("it must be noticed").to_string()
}

#[test]
fn every_flipped_bit_is_noticed() {
    let mut tried = 0;
    for plan in [harbour("tlogic", &[]), harbour("cygnet", QUICK_CYGNET)] {
        let (_room, run) = finished(plan);
        let mut numbers = Numbers::new(1, 0);
        for (name, whole) in files(&run) {
            // The marker holds nothing that a result depends on.
            for _ in (0..flips()).filter(|_| name != Path::new(".quadcast-run")) {
                let mut damaged = whole.clone();
                flip(&mut damaged, &mut numbers);
                fs::write(run.join(&name), damaged).expect("room");
                let error = read_complete(&run).expect_err("a bit has changed");
                assert_eq!(error.exit_code(), 2, "{error}");
                assert!(error.to_string().contains(&run.display().to_string()), "{error}");
                tried += 1;
            }
            fs::write(run.join(&name), whole).expect("room");
        }
        read_results(&run).expect("unchanged again");
    }
    assert!(tried >= 14 * flips());
    println!("{tried} flipped bits in complete runs, all noticed");
}

/// Cancels a run when one of its phases has come so far: the units of the phase are counted from its begin.
struct StopIn {
    phase: usize,
    units: u64,
    /// Phases that have begun, and units of the last.
    seen: Mutex<(usize, u64)>,
    cancellation: Cancellation,
}

impl Progress for StopIn {
    fn begin(&self, _: &str, _: u64) {
        let mut seen = self.seen.lock().expect("no panic");
        *seen = (seen.0 + 1, 0);
    }

    fn advance(&self, units: u64) {
        let mut seen = self.seen.lock().expect("no panic");
        seen.1 += units;
        if seen.0 == self.phase && seen.1 >= self.units {
            self.cancellation.cancel();
        }
    }

    fn end(&self) {}
}

/// The files of a run that was interrupted in a phase, counted from 1, after so many units.
fn interrupted(plan: Plan, out: &Path, (phase, units): (usize, u64)) -> BTreeMap<PathBuf, Vec<u8>> {
    let silent = Run::silent(1);
    let cancellation = silent.cancellation.clone();
    let progress = Arc::new(StopIn { phase, units, seen: Mutex::default(), cancellation });
    let error = complete_as(plan, out, Run { progress, ..silent }).expect_err("it is interrupted");
    assert!(matches!(error, RunError::Interrupted { .. }), "{error}");
    files(out)
}

#[test]
fn a_flipped_bit_in_an_interrupted_run_changes_no_result() {
    let room = tempfile::tempdir().expect("a folder");
    let (whole, run) = (room.path().join("whole"), room.path().join("run"));
    let network = harbour("cygnet", QUICK_CYGNET);
    // The network: within the second training, and within the evaluation. The graph: within the training of its second step.
    let cases = [
        (network.clone(), (2, 100), "checkpoint/subject-position"),
        (network, (3, 7), "ranks.partial"),
        (evolving(&room.path().join("graph")), (3, 5), "checkpoint/after-1.safetensors"),
    ];
    let (mut tried, mut refused) = (0, 0);
    for (case, (plan, place, expected)) in (0..).zip(cases) {
        complete(plan.clone(), &whole).expect("a run");
        let kept = interrupted(plan.clone(), &run, place);
        assert!(kept.contains_key(Path::new(expected)), "{:?}", kept.keys());
        let mut numbers = Numbers::new(2, case);
        for (name, bytes) in &kept {
            // Each flip costs the rest of a run.
            for _ in 0..flips().div_ceil(40) {
                let mut damaged = bytes.clone();
                flip(&mut damaged, &mut numbers);
                fs::remove_dir_all(&run).expect("a folder");
                write_files(&run, &kept);
                fs::write(run.join(name), damaged).expect("room");
                tried += 1;
                match complete(plan.clone(), &run) {
                    Ok(_) => assert_same_results(&whole, &run, name),
                    Err(error) => {
                        let file = name.file_name().expect("a name").to_string_lossy();
                        assert!(error.to_string().contains(&*file), "{}: {error}", name.display());
                        assert_eq!(error.exit_code(), 2, "{error}");
                        refused += 1;
                    }
                }
            }
        }
        for folder in [&whole, &run] {
            fs::remove_dir_all(folder).expect("a folder");
        }
    }
    println!("{tried} flipped bits in interrupted runs: {refused} refused, all others without effect");
}

/// Asserts that two runs have the same ranks, model and digest.
fn assert_same_results(whole: &Path, run: &Path, flipped: &Path) {
    for name in ["ranks.csv.zst", "model.json", "model.safetensors"] {
        let [one, other] = [whole, run].map(|run| fs::read(run.join(name)).ok());
        assert!(one == other, "{name} is another one after a flip in {}", flipped.display());
    }
    let [one, other] = [whole, run].map(|run| read_complete(run).expect("a sound run").digest);
    assert_eq!(one, other, "after a flip in {}", flipped.display());
}

type Edit = fn(&mut Record);

#[test]
fn figures_must_follow_from_the_ranks() {
    let (_room, run) = finished(harbour("recurrency", &[]));
    let sound = Record::read(&run).expect("a record");
    let edits: [(&str, Edit); 4] = [
        ("metrics.time.mrr", |record| record.metrics.as_mut().expect("results").time.metrics.mrr = 0.99),
        ("metrics.raw.policy.mean.hits@10", |record| {
            let raw = &mut record.metrics.as_mut().expect("results").raw;
            raw.policy.get_mut("mean").expect("a policy").hits10 = 1.0;
        }),
        ("by_step", |record| record.by_step[3].part.metrics.mr = 1.0),
        ("by_relation", |record| drop(record.by_relation.pop())),
    ];
    for (place, edit) in edits {
        let mut record = sound.clone();
        edit(&mut record);
        record.write(&run).expect("room");
        let error = refusal(&run);
        assert!(error.contains("metrics.json is damaged or edited"), "the checksum notices first: {error}");
        forge_checksums(&run);
        let error = refusal(&run);
        assert!(error.contains(place) && error.contains("does not follow from the ranks"), "{error}");
    }
    let mut record = sound.clone();
    record.version = "9.9.9".to_owned();
    record.write(&run).expect("room");
    forge_checksums(&run);
    assert!(refusal(&run).contains("digest"), "{}", refusal(&run));
    sound.write(&run).expect("room");
    forge_checksums(&run);
    read_results(&run).expect("as it was");
}

#[test]
fn impossible_ranks_are_errors_with_their_row() {
    let (_room, run) = finished(harbour("recurrency", &[]));
    let path = run.join("ranks.csv.zst");
    let text = zstd::decode_all(fs::File::open(&path).expect("ranks")).expect("zstd");
    let text = String::from_utf8(text).expect("text");
    let entities = Record::read(&run).expect("a record").dataset.entities;
    // Columns of the fifth row: 9 to 11 are the time-aware rank, 15 to 17 the raw one.
    let edited = |changes: &[(usize, String)]| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut fields: Vec<String> = lines[5].split(',').map(str::to_owned).collect();
        for (column, value) in changes {
            fields[*column].clone_from(value);
        }
        lines[5] = fields.join(",");
        lines.join("\n") + "\n"
    };
    let last = entities.to_string();
    let cases = [
        (edited(&[(10, "0".to_owned())]), "time_tied is 0"),
        (edited(&[(9, last.clone()), (10, "2".to_owned())]), "lies beyond"),
        (edited(&[(15, last.clone()), (16, "2".to_owned())]), "lies beyond"),
        (edited(&[(10, "4294967295".to_owned())]), "lies beyond"),
        (edited(&[(5, last.clone())]), "correct answer"),
        (edited(&[(7, "2".to_owned())]), "cannot be read"),
        (edited(&[(9, "-1".to_owned())]), "cannot be read"),
    ];
    for (text, words) in cases {
        fs::write(&path, zstd::encode_all(text.as_bytes(), 1).expect("room")).expect("room");
        forge_checksums(&run);
        let error = refusal(&run);
        assert!(error.contains("ranks.csv.zst: line 6") && error.contains(words), "{words}: {error}");
    }
    let longer = format!("{text}{}\n", text.lines().nth(1).expect("a row"));
    fs::write(&path, zstd::encode_all(longer.as_bytes(), 1).expect("room")).expect("room");
    forge_checksums(&run);
    assert!(refusal(&run).contains("more rows"), "{}", refusal(&run));
}

#[test]
fn a_bomb_as_ranks_is_refused_without_unpacking_it() {
    let (_room, run) = finished(harbour("recurrency", &[]));
    let mut bomb = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
    // Two gigabytes of one line, in a few hundred kilobytes.
    let zeros = vec![b'0'; 1 << 20];
    for _ in 0..2048 {
        std::io::Write::write_all(&mut bomb, &zeros).expect("room");
    }
    fs::write(run.join("ranks.csv.zst"), bomb.finish().expect("room")).expect("room");
    forge_checksums(&run);
    assert!(refusal(&run).contains("too long"), "{}", refusal(&run));
}

#[test]
fn a_saved_model_gives_the_same_ranks_again() {
    let room = tempfile::tempdir().expect("a folder");
    let plans = [
        harbour("recurrency", &[]),
        harbour("tlogic", &[]),
        harbour("cygnet", QUICK_CYGNET),
        harbour("naive-rules", &[]),
        evolving(&room.path().join("graph")),
    ];
    for plan in plans {
        let evolving = plan.protocol.procedure.is_some();
        let (_room, run) = finished(plan);
        let verification = verify(&run, None, Run::silent(1)).expect("a sound run");
        assert!(verification.holds() && verification.ranks > 0, "{verification:?}");
        let expected = if evolving { Played::TrainedAgain } else { Played::SavedModel };
        assert_eq!(verification.played, expected, "{verification:?}");
    }
}

/// Neither the figures nor the digest know the model: only asking it again does.
#[test]
fn a_model_that_was_exchanged_gives_other_ranks() {
    let (_one, kept) = finished(harbour("recurrency", &["lambda=0.5"]));
    let (_other, run) = finished(harbour("recurrency", &["lambda=0.001"]));
    fs::copy(kept.join("model.json"), run.join("model.json")).expect("room");
    forge_checksums(&run);
    read_results(&run).expect("figures and digest fit");
    let found = verify(&run, None, Run::silent(1)).expect("whole files");
    assert!(!found.holds() && found.played == Played::SavedModel, "{found:?}");
    let first = found.first_difference.expect("the first row that differs");
    assert!(first.starts_with("row ") && first.contains(" rank "), "{first}");
}

#[test]
fn a_training_that_cannot_be_repeated_is_not_a_difference() {
    let room = tempfile::tempdir().expect("a folder");
    let mut plan = evolving(&room.path().join("graph"));
    plan.settings.push("deterministic=false".to_owned());
    let (_room, run) = finished(plan);
    let found = verify(&run, None, Run::silent(1)).expect("a sound run");
    assert!(found.holds() && found.played == Played::NotPlayed, "{found:?}");
    assert!(found.not_played.is_some_and(|why| why.contains("deterministic")), "{found:?}");
}

/// Two entities exchange their names: the facts stay what they were.
#[test]
fn names_count_for_a_model_that_reads_them() {
    let room = tempfile::tempdir().expect("a folder");
    let data = room.path().join("data");
    let facts = |steps: std::ops::Range<u32>| {
        let line = |step: u32| format!("{}\t0\t{}\t{step}\n", step % 3, (step + 1) % 3);
        steps.map(line).collect::<Vec<_>>().concat()
    };
    fs::create_dir(&data).expect("room");
    for (name, steps) in [("train", 0..20), ("valid", 20..25), ("test", 25..30)] {
        fs::write(data.join(format!("{name}.txt")), facts(steps)).expect("room");
    }
    fs::write(data.join("relation2id.txt"), "meets\t0\n").expect("room");
    let names = |names: [&str; 3]| {
        let line = |(id, name): (usize, &&str)| format!("{name}\t{id}\n");
        let lines: Vec<String> = names.iter().enumerate().map(line).collect();
        fs::write(data.join("entity2id.txt"), lines.concat()).expect("room");
    };
    names(["Police (Peru)", "Citizen (Chile)", "Peru"]);
    let quick = ["hidden=4", "epochs=1"];
    let reads =
        complete(plan("herald", &data, &[&quick[..], &["names=true"]].concat()), &room.path().join("reads"));
    let ignores = complete(plan("herald", &data, &quick), &room.path().join("ignores"));
    let [reads, ignores] = [reads, ignores].map(|run| run.expect("a run"));
    names(["Citizen (Chile)", "Police (Peru)", "Peru"]);
    let refused = |result: Result<(), RunError>| {
        let error = result.expect_err("the names have changed");
        assert!(error.exit_code() == 2 && error.to_string().contains("names"), "{error}");
    };
    refused(Session::reopen(&reads, None, Run::silent(1)).map(drop));
    refused(verify(&reads, None, Run::silent(1)).map(drop));
    let again = |run: &Path| Plan::read(&run.join(Plan::FILE)).expect("a plan");
    refused(complete(again(&reads), &room.path().join("again")).map(drop));
    refused(
        complete(
            Plan { other_data: true, ..Plan::trained_by(&reads).expect("a plan") },
            &room.path().join("given"),
        )
        .map(drop),
    );
    assert!(verify(&ignores, None, Run::silent(1)).expect("a sound run").holds());
    complete(again(&ignores), &room.path().join("ignored")).expect("the same run");
}

#[test]
fn means_over_steps_must_follow_from_the_steps() {
    let room = tempfile::tempdir().expect("a folder");
    let (_room, run) = finished(evolving(&room.path().join("graph")));
    let sound = Record::read(&run).expect("a record");
    let edits: [(&str, Edit); 3] = [
        ("evolving.filtered.mrr", |record| {
            record.evolving.as_mut().expect("steps").filtered.by_step.mrr = 0.99;
        }),
        ("raw of step", |record| {
            let step = &mut record.evolving.as_mut().expect("steps").steps[1];
            step.link.as_mut().expect("test triples").raw.metrics.mrr = 0.001;
        }),
        ("a mean over the steps", |record| {
            record.evolving.as_mut().expect("steps").forward_transfer = Some(0.99);
        }),
    ];
    for (place, edit) in edits {
        let mut record = sound.clone();
        edit(&mut record);
        record.write(&run).expect("room");
        forge_checksums(&run);
        assert!(refusal(&run).contains(place), "{place}: {}", refusal(&run));
    }
}

/// The card of the model that another run trained is part of the digest, and a size that no dataset has is refused before anything
/// of that size is made.
#[test]
fn edits_beside_the_figures_are_noticed() {
    let (room, run) = finished(harbour("recurrency", &[]));
    let mut plan = Plan::trained_by(&run).expect("a plan");
    plan.protocol.setting = Some(quadcast_core::Setting::MultiStep);
    plan.protocol.validation = None;
    let again = complete(plan, &room.path().join("again")).expect("a run");
    let sound = Record::read(&again).expect("a record");
    let edits: [(&str, Edit); 2] = [
        ("digest", |record| record.model.trained_by.as_mut().expect("a card").digest = "0".repeat(64)),
        ("ids have 32 bits", |record| record.dataset.entities = usize::MAX),
    ];
    for (place, edit) in edits {
        let mut record = sound.clone();
        edit(&mut record);
        record.write(&again).expect("room");
        forge_checksums(&again);
        assert!(refusal(&again).contains(place), "{place}: {}", refusal(&again));
    }
    let mut large = sound.clone();
    large.dataset.entities = u32::MAX as usize;
    large.write(&again).expect("room");
    forge_checksums(&again);
    assert!(refusal(&again).contains("digest"), "{}", refusal(&again));
}

#[test]
fn a_model_of_another_run_is_named() {
    let (room, run) = finished(harbour("recurrency", &[]));
    let mut plan = Plan::trained_by(&run).expect("a plan");
    plan.protocol.setting = Some(quadcast_core::Setting::MultiStep);
    plan.protocol.validation = None;
    let again = complete(plan, &room.path().join("again")).expect("a run");
    let [first, second] = [&run, &again].map(|run| Record::read(run).expect("a record"));
    let card = second.model.trained_by.expect("where the model came from");
    assert_eq!(Some(card.digest), first.digest);
    assert_eq!((card.run, card.protocol.as_str()), (run.display().to_string(), "single-step"));
    assert!(card.until.is_some(), "the last time of its training data");
}

#[test]
fn runs_with_other_options_do_not_share_a_folder() {
    let (room, _) = finished(harbour("recurrency", &[]));
    let taken = room.path().join("taken");
    fs::create_dir(&taken).expect("a folder");
    fs::write(taken.join("model.safetensors"), "mine").expect("room");
    let error = complete(harbour("recurrency", &[]), &taken).expect_err("not ours");
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("model.safetensors"), "{error}");
    assert_eq!(fs::read(taken.join("model.safetensors")).expect("still there"), b"mine");
}

/// Complete runs that together have every file that a run can have.
fn specimens(room: &Path) -> Vec<PathBuf> {
    let plans = [harbour("tlogic", &[]), harbour("cygnet", QUICK_CYGNET), evolving(&room.join("graph"))];
    let name = |number: usize| room.join(format!("run-{number}"));
    let mut runs: Vec<PathBuf> =
        (0..).zip(plans).map(|(number, plan)| complete(plan, &name(number)).expect("a run")).collect();
    let operations = room.join("news.txt");
    fs::write(&operations, "p0\tnewcomer\tlikes\t+\nnewcomer\tp2\tlikes\t+\n").expect("room");
    let update = Update { operations, policy: FaultPolicy::Error, settings: Vec::new(), time_budget: None };
    let mut version = Session::update(&runs[2], None, &update, Run::silent(1)).expect("an update");
    let place = Place { out: Some(name(3)), ..Place::default() };
    runs.push(version.complete_update(&place).expect("a version"));
    runs
}

/// Damages a file of a run, and now and then a second one.
fn damaged(
    kept: &[BTreeMap<PathBuf, Vec<u8>>],
    which: usize,
    numbers: &mut Numbers,
) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut run = kept[which].clone();
    for _ in 0..=numbers.below(8) / 7 {
        let other = &kept[numbers.below(kept.len())];
        let other = other.values().nth(numbers.below(other.len())).expect("a file");
        let chosen = numbers.below(run.len());
        let bytes = run.values_mut().nth(chosen).expect("a file");
        damage(bytes, other, numbers);
    }
    run
}

/// Gives a record that is still JSON the checksum that fits.
fn forge_record(run: &Path) {
    let path = run.join(Record::FILE);
    let text = fs::read(&path).expect("a record");
    let Ok(serde_json::Value::Object(mut record)) = serde_json::from_slice(&text) else { return };
    record.shift_remove("checksum");
    let mut record = serde_json::Value::Object(record);
    record["checksum"] = hex(&Sha256::digest(record.to_string())[..8]).into();
    fs::write(path, record.to_string()).expect("room");
}

/// Reads a damaged run in every way, with checksums that fit: whether it was accepted, or what is wrong with that.
fn examined(sound: &Results, run: &BTreeMap<PathBuf, Vec<u8>>, sums_are_sound: bool) -> Result<bool, String> {
    let room = tempfile::tempdir().expect("a folder");
    let folder = room.path();
    write_files(folder, run);
    if sums_are_sound {
        forge_record(folder);
        forge_checksums(folder);
    }
    let refused = |error: RunError| match error.exit_code() {
        2 => Ok(()),
        code => Err(format!("exit code {code}: {error}")),
    };
    read_complete(folder).map_or_else(refused, |_| Ok(()))?;
    let results = match read_results(folder) {
        Ok(found) if found.ranks == sound.ranks && found.record.metrics == sound.record.metrics => true,
        Ok(_) => return Err("other results are believed".to_owned()),
        Err(error) => refused(error).map(|()| false)?,
    };
    match Session::reopen(folder, None, Run::silent(1)) {
        // Another model may be in its place, which may also fail; it must not panic.
        Ok(mut session) => drop(session.judge().map(drop)),
        Err(error) => refused(error)?,
    }
    Ok(results)
}

#[test]
fn a_damaged_run_folder_is_refused_or_sound() {
    let room = tempfile::tempdir().expect("a folder");
    let runs = specimens(room.path());
    let sound: Vec<Results> = runs.iter().map(|run| read_results(run).expect("a sound run")).collect();
    let kept: Vec<_> = runs.iter().map(|run| files(run)).collect();
    let sums: Vec<Vec<u8>> = kept.iter().map(|run| run[Path::new("SHA256SUMS")].clone()).collect();
    for (sound, run) in sound.iter().zip(&kept) {
        assert_eq!(examined(sound, run, true), Ok(true));
    }
    let mut watched = Watched::new(move |(which, run): (usize, BTreeMap<PathBuf, Vec<u8>>)| {
        examined(&sound[which], &run, run[Path::new("SHA256SUMS")] == sums[which])
    });
    let (seconds, seed) =
        (number_from("QUADCAST_FUZZ_SECONDS", SECONDS), number_from("QUADCAST_FUZZ_SEED", 1));
    let (start, mut tried, mut accepted, mut failures) = (Instant::now(), 0, 0, Vec::new());
    while start.elapsed() < Duration::from_secs(seconds) && failures.len() < 5 {
        let mut numbers = Numbers::new(seed, tried);
        let which = numbers.below(kept.len());
        let run = damaged(&kept, which, &mut numbers);
        let why = match watched.result((which, run.clone())) {
            Ok(Ok(good)) => {
                accepted += u64::from(good);
                tried += 1;
                continue;
            }
            Ok(Err(why)) => why,
            Err(Failure::Panic) => "a panic".to_owned(),
            Err(Failure::Hang) => "a hang".to_owned(),
        };
        let folder = env::temp_dir().join(format!("quadcast-run-{seed}-{tried}"));
        write_files(&folder, &run);
        failures.push(format!("{why}: input {tried} of seed {seed}, kept in {}", folder.display()));
        tried += 1;
    }
    println!(
        "seed {seed}: {tried} damaged run folders, {accepted} accepted with sound results, {failures:?}"
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
