//! Complete runs whose files are damaged, with checksums that fit.

use std::fs;
use std::path::{Path, PathBuf};

use quadcast_core::Run;
use quadcast_data::FaultPolicy;
use quadcast_run::{Place, Record, Results, Session, Update, read_complete, read_results};
use quadcast_testing::mutation::{Numbers, Target, damage};
use quadcast_testing::{files, write_files};
use sha2::{Digest, Sha256};

use crate::support::{Files, QUICK_CYGNET, complete, evolving, forge_checksums, harbour, hex, refused};

/// How long damaged runs are read if nobody asks for more.
const SECONDS: u64 = 3;

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
fn damaged(kept: &[Files], which: usize, numbers: &mut Numbers) -> Files {
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
fn examined(sound: &Results, run: &Files, sums_are_sound: bool) -> Result<bool, String> {
    let room = tempfile::tempdir().expect("a folder");
    let folder = room.path();
    write_files(folder, run);
    if sums_are_sound {
        forge_record(folder);
        forge_checksums(folder);
    }
    read_complete(folder).map_or_else(|error| refused(&error), |_| Ok(()))?;
    let results = match read_results(folder) {
        Ok(found) if found.ranks == sound.ranks && found.record.metrics == sound.record.metrics => true,
        Ok(_) => return Err("other results are believed".to_owned()),
        Err(error) => refused(&error).map(|()| false)?,
    };
    match Session::reopen(folder, None, Run::silent(1)) {
        // Another model may be in its place, which may also fail; it must not panic.
        Ok(mut session) => drop(session.judge().map(drop)),
        Err(error) => refused(&error)?,
    }
    Ok(results)
}

#[test]
fn a_damaged_run_folder_is_refused_or_sound() {
    let room = tempfile::tempdir().expect("a folder");
    let runs = specimens(room.path());
    let sound: Vec<Results> = runs.iter().map(|run| read_results(run).expect("a sound run")).collect();
    let kept: Vec<Files> = runs.iter().map(|run| files(run)).collect();
    let sums: Vec<Vec<u8>> = kept.iter().map(|run| run[Path::new("SHA256SUMS")].clone()).collect();
    for (sound, run) in sound.iter().zip(&kept) {
        assert_eq!(examined(sound, run, true), Ok(true));
    }
    let input = |numbers: &mut Numbers| {
        let which = numbers.below(kept.len());
        (which, damaged(&kept, which, numbers))
    };
    let keep = |folder: &Path, (_, run): &(usize, Files)| write_files(folder, run);
    let target = Target { name: "complete runs", seconds: SECONDS, input: &input, keep: &keep };
    target.try_inputs(move |(which, run)| {
        examined(&sound[which], &run, run[Path::new("SHA256SUMS")] == sums[which])
    });
}
