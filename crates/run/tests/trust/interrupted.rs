//! Runs that were interrupted and whose files are damaged before they are taken up again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use quadcast_core::{Cancellation, ModelError, Progress, Run};
use quadcast_eval::EvalError;
use quadcast_run::{Plan, Results, RunError, read_complete, read_results, verify};
use quadcast_testing::mutation::{Numbers, Target, damage, flip};
use quadcast_testing::{files, write_files};

use crate::support::{Files, QUICK_CYGNET, complete, complete_as, evolving, flips, harbour, refused};

/// How long damaged runs are taken up if nobody asks for more.
const SECONDS: u64 = 4;

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
fn interrupted(plan: Plan, out: &Path, (phase, units): (usize, u64)) -> Files {
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

/// An interrupted run, and the results of the same plan without an interruption.
struct Specimen {
    plan: Plan,
    kept: Files,
    sound: Results,
    /// The files of its model.
    model: [Option<Vec<u8>>; 2],
}

/// The files of the model in a run folder.
fn model(run: &Path) -> [Option<Vec<u8>>; 2] {
    ["model.json", "model.safetensors"].map(|name| fs::read(run.join(name)).ok())
}

impl Specimen {
    fn new(plan: Plan, place: (usize, u64), expected: &str) -> Self {
        let room = tempfile::tempdir().expect("a folder");
        let [whole, run] = ["whole", "run"].map(|name| room.path().join(name));
        complete(plan.clone(), &whole).expect("a run");
        let kept = interrupted(plan.clone(), &run, place);
        assert!(kept.contains_key(Path::new(expected)), "{expected}: {:?}", kept.keys());
        Self { plan, kept, sound: read_results(&whole).expect("a sound run"), model: model(&whole) }
    }

    /// Takes damaged files up: whether the results are those of a run without an interruption, or what is wrong with that. Damage that
    /// no checksum shows may make another model or other ranks; then verification must notice what does not follow from the plan or
    /// from the saved model.
    fn taken_up(&self, Damaged { files, forged, .. }: &Damaged) -> Result<bool, String> {
        let room = tempfile::tempdir().expect("a folder");
        let run = room.path().join("run");
        write_files(&run, files);
        match complete(self.plan.clone(), &run) {
            // Forged numbers are as good as others until the training goes on with them.
            Err(RunError::Eval(EvalError::Model(ModelError::Training(_)))) if *forged => return Ok(false),
            Err(error) => return refused(&error).map(|()| false),
            Ok(_) => {}
        }
        let found = read_results(&run).map_err(|error| format!("it cannot be read: {error}"))?;
        let same_model = model(&run) == self.model;
        if same_model && found.record.digest == self.sound.record.digest {
            return Ok(true);
        }
        if !forged {
            return Err("other results".to_owned());
        }
        let same_ranks = found.ranks == self.sound.ranks;
        let verification = verify(&run, None, Run::silent(1)).map_err(|error| error.to_string())?;
        let evolving = self.plan.protocol.procedure.is_some();
        match (same_ranks, same_model, verification.holds()) {
            (false, true, true) => Err("other ranks of the same model are believed".to_owned()),
            (false, _, true) if evolving => Err("other ranks of the same plan are believed".to_owned()),
            _ => Ok(false),
        }
    }
}

/// Runs that together leave every file that an interruption can leave.
fn specimens(room: &Path) -> Vec<Specimen> {
    let network = harbour("cygnet", QUICK_CYGNET);
    let embedding = harbour("tntcomplex", &["dimension=4", "epochs=4", "validate_every=1", "batch=64"]);
    let graph = evolving(&room.join("graph"));
    let settings = QUICK_UNIVERSES.iter().map(|setting| (*setting).to_owned()).collect();
    let universes = Plan { model: Some("putranse".to_owned()), settings, ..graph.clone() };
    let ranks = "ranks.partial";
    vec![
        Specimen::new(harbour("recurrency", &[]), (2, 7), ranks),
        Specimen::new(network.clone(), (2, 100), "checkpoint/subject-position"),
        Specimen::new(network, (3, 7), ranks),
        Specimen::new(embedding, (1, 40), "checkpoint/training-position"),
        Specimen::new(graph, (3, 5), "checkpoint/after-1.safetensors"),
        Specimen::new(universes, (3, 2), "checkpoint/1-universes-2-0"),
    ]
}

/// Settings with which a few small universes grow at each step, in blocks.
const QUICK_UNIVERSES: &[&str] = &[
    "universes=4",
    "validate_every=2",
    "least_triples=10",
    "most_triples=20",
    "least_epochs=2",
    "most_epochs=4",
];

/// The files of an interrupted run, one of which is damaged.
#[derive(Clone)]
struct Damaged {
    /// The specimen.
    which: usize,
    files: Files,
    /// Whether its checksums fit.
    forged: bool,
}

/// The journal of ranks, and what checkpoints lie beside it.
const JOURNAL: &str = "ranks.partial";
const CHECKPOINTS: &str = "checkpoint";

/// Damages a file of an interrupted run: as it lies there, or what it holds, with checksums that fit.
fn damaged(specimens: &[Specimen], numbers: &mut Numbers) -> Damaged {
    let which = numbers.below(specimens.len());
    let mut files = specimens[which].kept.clone();
    let other = &specimens[numbers.below(specimens.len())].kept;
    let other = other.values().nth(numbers.below(other.len())).expect("a file");
    // The files of the work in progress are nearly all that is of interest; the others are those of complete runs too.
    let progress = |name: &&PathBuf| name.starts_with(CHECKPOINTS) || name.ends_with(JOURNAL);
    let mut names: Vec<PathBuf> = files.keys().filter(progress).cloned().collect();
    if numbers.below(8) == 0 {
        names = files.keys().cloned().collect();
    }
    let name = &names[numbers.below(names.len())];
    let bytes = files.get_mut(name).expect("a file");
    let forged = numbers.below(2) == 0 && forge(name, bytes, other, numbers);
    let rearranged = !forged && name.ends_with(JOURNAL) && numbers.below(2) == 0 && rearrange(bytes, numbers);
    if !forged && !rearranged {
        damage(bytes, other, numbers);
    }
    Damaged { which, files, forged }
}

/// Damages what a file of the work in progress holds, and gives it the checksum that fits; false if it has none.
fn forge(name: &Path, bytes: &mut Vec<u8>, other: &[u8], numbers: &mut Numbers) -> bool {
    if name.ends_with(JOURNAL) {
        let mut entries = entries(bytes);
        // The first says whose ranks these are.
        let chosen = numbers.below(entries.len());
        let mut text = zstd::decode_all(&entries[chosen][4..]).expect("a whole entry");
        damage(&mut text, other, numbers);
        entries[chosen] = entry(&text);
        *bytes = entries.concat();
        return true;
    }
    if !name.starts_with(CHECKPOINTS) || name.ends_with("owner.toml") {
        return false;
    }
    bytes.truncate(bytes.len() - 4);
    let head =
        bytes.first_chunk().map_or(0, |length| usize::try_from(u64::from_le_bytes(*length)).unwrap_or(0));
    match bytes.get(8..).and_then(|rest| rest.split_at_checked(head)) {
        // A position, and numbers that are as good as others.
        Some((head, numbers_after)) if numbers.below(4) > 0 => {
            let (mut head, state) = (head.to_vec(), numbers_after.to_vec());
            damage(&mut head, other, numbers);
            *bytes = [&(head.len() as u64).to_le_bytes()[..], &head, &state].concat();
        }
        _ => damage(bytes, other, numbers),
    }
    bytes.extend(crc32fast::hash(bytes).to_le_bytes());
    true
}

/// The entries of a journal, each with its length.
fn entries(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut entries = Vec::new();
    while let Some(length) = bytes.first_chunk() {
        let (entry, rest) = bytes.split_at(4 + u32::from_le_bytes(*length) as usize);
        entries.push(entry.to_vec());
        bytes = rest;
    }
    entries
}

/// An entry of a journal.
fn entry(text: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
    encoder.include_checksum(true).expect("a checksum");
    std::io::Write::write_all(&mut encoder, text).expect("room");
    let packed = encoder.finish().expect("room");
    [&(packed.len() as u32).to_le_bytes()[..], &packed].concat()
}

/// Repeats, moves or removes a whole entry of a journal but the first: all its checksums fit, and no rank is another one.
fn rearrange(bytes: &mut Vec<u8>, numbers: &mut Numbers) -> bool {
    let mut entries = entries(bytes);
    if entries.len() < 2 {
        return false;
    }
    let [one, other] = [(); 2].map(|()| 1 + numbers.below(entries.len() - 1));
    match numbers.below(3) {
        0 => entries.swap(one, other),
        1 => entries.insert(one, entries[other].clone()),
        _ => drop(entries.remove(one)),
    }
    *bytes = entries.concat();
    true
}

#[test]
fn a_damaged_interrupted_run_is_refused_or_ends_as_if_nothing_had_happened() {
    let room = tempfile::tempdir().expect("a folder");
    let specimens = Arc::new(specimens(room.path()));
    for (which, specimen) in specimens.iter().enumerate() {
        let files = specimen.kept.clone();
        assert_eq!(specimen.taken_up(&Damaged { which, files, forged: false }), Ok(true));
    }
    let input = |numbers: &mut Numbers| damaged(&specimens, numbers);
    let keep = |folder: &Path, damaged: &Damaged| write_files(folder, &damaged.files);
    let target = Target { name: "interrupted runs", seconds: SECONDS, input: &input, keep: &keep };
    let own = Arc::clone(&specimens);
    target.try_inputs(move |damaged| own[damaged.which].taken_up(&damaged));
}

/// Each entry of a journal is whole, and none is where it was.
#[test]
fn entries_of_a_journal_count_in_their_own_place_only() {
    let room = tempfile::tempdir().expect("a folder");
    let graph = evolving(&room.path().join("graph"));
    for (plan, place) in [(harbour("recurrency", &[]), (2, 7)), (graph, (3, 5))] {
        let specimen = Specimen::new(plan, place, JOURNAL);
        let journal = entries(&specimen.kept[Path::new(JOURNAL)]);
        let [owner, first] = [&journal[0], &journal[1]];
        let last = journal.last().expect("an entry");
        for journal in [vec![owner, last], vec![owner, first, first], vec![owner, last, first], vec![first]] {
            let journal: Vec<u8> = journal.into_iter().flatten().copied().collect();
            let mut files = specimen.kept.clone();
            files.insert(JOURNAL.into(), journal);
            assert_eq!(specimen.taken_up(&Damaged { which: 0, files, forged: false }), Ok(true));
        }
    }
}

/// Another step's ranks, with checksums that fit, are not those of the results beside them.
#[test]
fn forged_ranks_of_a_graph_are_judged_again() {
    let room = tempfile::tempdir().expect("a folder");
    let specimen = Specimen::new(evolving(&room.path().join("graph")), (3, 5), JOURNAL);
    let mut journal = entries(&specimen.kept[Path::new(JOURNAL)]);
    let text = zstd::decode_all(&journal[1][4..]).expect("a whole entry");
    let text = String::from_utf8(text).expect("text");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // One row has the best of all ranks now.
    let better = |line: &String| {
        let mut fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), 18, "{line}");
        fields.splice(9.., ["1", "1", "0"].repeat(3));
        fields.join(",")
    };
    let row =
        lines.iter().skip(1).position(|line| better(line) != *line).expect("a row that is not the best") + 1;
    lines[row] = better(&lines[row]);
    journal[1] = entry((lines.join("\n") + "\n").as_bytes());
    let mut files = specimen.kept.clone();
    files.insert(JOURNAL.into(), journal.concat());
    assert_eq!(specimen.taken_up(&Damaged { which: 0, files, forged: false }), Ok(true));
}

/// A checkpoint that holds something else and has the checksum of that is an error with the remedy.
#[test]
fn a_forged_checkpoint_that_does_not_fit_is_refused() {
    let specimen = Specimen::new(harbour("cygnet", QUICK_CYGNET), (2, 100), "checkpoint/subject-position");
    let room = tempfile::tempdir().expect("a folder");
    write_files(room.path(), &specimen.kept);
    let path = room.path().join("checkpoint/subject-position");
    let mut bytes = fs::read(&path).expect("a checkpoint");
    bytes.truncate(bytes.len() - 400);
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    fs::write(&path, bytes).expect("room");
    let error = complete(specimen.plan.clone(), room.path()).expect_err("it does not fit");
    assert_eq!(error.exit_code(), 2, "{error}");
    let text = error.to_string();
    assert!(text.contains("a checkpoint in") && text.contains("--overwrite"), "{text}");
}
