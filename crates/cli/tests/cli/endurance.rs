//! Kills at random moments and processes that start together: every record that says complete is whole, and what it would be if
//! nothing had happened. `QUADCAST_KILLS` says how often each command is killed, `QUADCAST_RACES` how many rounds of races there are.

use std::thread::sleep;
use std::time::{Duration, Instant};

use quadcast_testing::mutation::{Numbers, number_from};

use crate::common::Room;
use crate::{completion, evolving};

/// Kills are spread over the time that a command takes, and a little more: some come too late.
const SPREAD: f64 = 1.3;

/// A run is killed so many times in a row at most; then it may end.
const IN_A_ROW: usize = 3;

/// A run that is over in a moment.
const RACER: &str = "run --model recurrency --data harbour";

/// Options of it that want the same folder by default.
const OPTIONS: [&str; 4] = ["", "--set lambda=0.5", "--ties mean", "--set variant=strict"];

/// What happened to the runs of some commands.
#[derive(Default)]
struct Toll {
    kills: u64,
    too_late: u64,
    ended: u64,
}

/// Kills a run again and again, until it was killed so often, and lets it end in between.
fn kill(room: &Room, command: &str, wanted: u64, numbers: &mut Numbers, toll: &mut Toll) {
    let begun = Instant::now();
    room.quadcast(&format!("{command} --quiet --out whole")).success();
    let mut duration = begun.elapsed();
    let (run, before) = (format!("{command} --quiet --out kept"), toll.kills);
    while toll.kills < before + wanted {
        for attempt in 0..=numbers.below(IN_A_ROW) {
            let moment = duration.mul_f64(SPREAD * numbers.fraction());
            let begun = Instant::now();
            match room.kill_when(&run, || begun.elapsed() >= moment) {
                None => toll.kills += 1,
                Some(code) => {
                    assert_eq!(code, 0, "{command}");
                    toll.too_late += 1;
                    // The first run was slower, or the machine was busy.
                    duration = if attempt == 0 { duration.min(begun.elapsed()) } else { duration };
                }
            }
            if is_complete(room, "kept") {
                break;
            }
        }
        if !is_complete(room, "kept") {
            room.quadcast(&run).success();
        }
        room.assert_same_run("whole", "kept");
        room.remove("kept");
        toll.ended += 1;
    }
    room.remove("whole");
}

/// Whether a run is complete. One that was killed has not failed.
fn is_complete(room: &Room, run: &str) -> bool {
    if !room.path(format!("{run}/metrics.json")).exists() {
        return false;
    }
    let status = room.record(run)["status"].take();
    assert_ne!(status, "failed", "{run}");
    status == "complete"
}

#[test]
fn killed_runs_of_every_task_end_as_if_they_had_not_been() {
    let (quick, universes) = (evolving::QUICK, evolving::UNIVERSES);
    let evolving = "--data circles --procedure incremental";
    let tasks = [
        (
            Room::with_harbour(),
            vec![
                "--model recurrency --data harbour".to_owned(),
                "--model tlogic --data harbour".to_owned(),
                "--model cygnet --data harbour --set dimension=8 --set epochs=4 --set first_validation=1"
                    .to_owned(),
                "--model re-gcn --data harbour --set dimension=8 --set epochs=3".to_owned(),
                "--model herald --data harbour --set hidden=8 --set epochs=2".to_owned(),
            ],
        ),
        (
            completion::visits(),
            vec![
                "--model naive-rules --data small".to_owned(),
                format!("--model tntcomplex --data small {}", completion::QUICK),
            ],
        ),
        (
            Room::with_circles(),
            vec![
                format!("--model transe {evolving} {quick}"),
                format!("--model putranse {evolving} {universes}"),
            ],
        ),
    ];
    let wanted = number_from("QUADCAST_KILLS", 1);
    let (mut toll, mut numbers, mut commands) = (Toll::default(), Numbers::new(1, 0), 0);
    for (room, options) in &tasks {
        for options in options {
            kill(room, &format!("run {options}"), wanted, &mut numbers, &mut toll);
            commands += 1;
        }
    }
    let Toll { kills, too_late, ended } = toll;
    println!(
        "{commands} commands: {kills} kills, {too_late} came too late, {ended} runs ended, all the same"
    );
}

/// Starts runs of these options together, or one after the other while the earlier ones run: exit codes and what they said.
fn race(room: &Room, options: &[usize], more: &str, pauses: &[Duration]) -> Vec<(i32, String)> {
    let start = |(&option, &pause): (&usize, &Duration)| {
        sleep(pause);
        room.start(&format!("{RACER} {} {more}", OPTIONS[option]))
    };
    let running: Vec<_> = options.iter().zip(pauses).map(start).collect();
    let ended = running.into_iter().map(|run| run.wait_with_output().expect("it ends"));
    ended
        .map(|run| {
            let said = String::from_utf8(run.stderr).expect("text");
            (run.status.code().expect("an exit code"), said)
        })
        .collect()
}

/// The digest of a run that verifies.
fn digest(room: &Room, run: &str) -> String {
    room.quadcast(&format!("verify {run}")).success().assert_says(&["all the same"]);
    room.record(run)["digest"].as_str().expect("a digest").to_owned()
}

#[test]
fn processes_that_race_leave_whole_records_of_their_own() {
    let room = Room::with_harbour();
    let begun = Instant::now();
    let alone: Vec<String> = (0..OPTIONS.len())
        .map(|option| {
            let run = format!("alone-{option}");
            room.quadcast(&format!("{RACER} {} --out {run}", OPTIONS[option])).success();
            digest(&room, &run)
        })
        .collect();
    let duration = begun.elapsed() / 2 / OPTIONS.len() as u32;
    let (mut races, mut records, mut told) = (0, 0, 0);
    for round in 0..number_from("QUADCAST_RACES", 2) {
        let mut numbers = Numbers::new(2, round);
        // Two and three processes; every other pair of rounds, they do not start at the same time.
        let options: Vec<usize> = (0..2 + round % 2).map(|_| numbers.below(OPTIONS.len())).collect();
        let late = if round / 2 % 2 == 0 { 0.0 } else { 1.0 };
        let pauses: Vec<Duration> =
            options.iter().map(|_| duration.mul_f64(late * numbers.fraction())).collect();

        // Without --out, every process gets a folder.
        for (code, said) in race(&room, &options, "--quiet", &pauses) {
            assert_eq!((code, said.as_str()), (0, ""));
        }
        let runs =
            std::fs::read_dir(room.path("runs")).expect("runs").map(|run| run.expect("a run").file_name());
        let mut found: Vec<String> =
            runs.map(|run| digest(&room, &format!("runs/{}", run.display()))).collect();
        let mut expected: Vec<String> = options.iter().map(|&option| alone[option].clone()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "round {round}: {options:?}");
        records += found.len();
        room.remove("runs");

        // With the same --out, one process gets the folder, and the others are told.
        let ended = race(&room, &options, "--quiet --out shared", &pauses);
        let winners: Vec<usize> = (0..ended.len()).filter(|&process| ended[process].0 == 0).collect();
        let [winner] = winners[..] else { panic!("round {round}: {ended:?}") };
        for (code, said) in ended.iter().filter(|(code, _)| *code != 0) {
            let known = ["shared is in use by another process", "shared holds a complete run already"];
            assert!(*code == 2 && known.iter().any(|text| said.contains(text)), "{code}: {said}");
            told += 1;
        }
        assert_eq!(digest(&room, "shared"), alone[options[winner]], "round {round}: {options:?}");
        room.remove("shared");
        records += 1;
        races += 2;
    }
    println!("{races} races of two and three processes: {records} records, all whole; {told} processes told");
}
