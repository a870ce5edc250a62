//! What is believed of a complete run.

use std::fs;
use std::path::Path;

use quadcast_core::Run;
use quadcast_run::{Plan, Played, Record, RunError, Session, read_complete, read_results, verify};
use quadcast_testing::files;
use quadcast_testing::mutation::{Numbers, flip};

use crate::plans::plan;
use crate::support::{QUICK_CYGNET, complete, evolving, finished, flips, forge_checksums, harbour, refusal};

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
