//! Files that users write: plans, questions, lists of relations.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use quadcast_analysis::{DivideOptions, DivisionMethod, PatternSource, divide};
use quadcast_core::{Names, Run, Task};
use quadcast_data::{Content, LoadOptions, load};
use quadcast_run::{AnswerOptions, MirrorLists, Plan, RunError, Session, judge_graphs, read_questions};
use quadcast_testing::mutation::{Numbers, Target, damage};

use crate::plans::{example, plan};
use crate::support::{complete, evolving, finished, harbour, refused};

/// How long damaged files are read if nobody asks for more.
const SECONDS: u64 = 3;

/// Edits of one file at most.
const EDITS: u64 = 4;

/// Who reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// A plan, for data of a task.
    Plan(Task),
    /// Questions, to one of the sessions.
    Questions(usize),
    /// Lists of relations that mirror each other.
    Lists,
    /// Predicted graphs.
    Graphs,
}

/// Good files with their readers.
type Files = Vec<(Reader, Vec<u8>)>;

/// The configurations of the repository, and the plans of complete runs.
fn plans(runs: &[&Path]) -> Files {
    let mut paths: Vec<PathBuf> = runs.iter().map(|run| run.join(Plan::FILE)).collect();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { paths.push(path) }
        }
    }
    paths.sort();
    let task = |path: &PathBuf| {
        let plan = Plan::read(path).expect("a plan");
        quadcast_models::find(plan.model.as_deref().expect("a model")).expect("one of ours").task()
    };
    paths.iter().map(|path| (Reader::Plan(task(path)), fs::read(path).expect("a file"))).collect()
}

fn questions(session: usize, [subject, relation, object, at]: [&str; 4]) -> (Reader, Vec<u8>) {
    let text = format!(
        "subject,relation,object,at\n{subject},{relation},,{at}\n,{relation},{object},\n\"{subject}\",{relation},,\n"
    );
    (Reader::Questions(session), text.into_bytes())
}

fn lists() -> Files {
    let texts = [
        r#"{"symmetric": ["meets", "Meets"], "inverse": [["docks_at", "inspects"]]}"#,
        r#"{"method": "leakage-free", "lists": {"symmetric": ["meets"], "inverse": [["inspects", "docks at"]], "origin": "a"}}"#,
    ];
    texts.iter().map(|text| (Reader::Lists, text.as_bytes().to_vec())).collect()
}

/// Numbered entities at times that are bare numbers, far apart.
fn bare_numbers(folder: &Path) -> PathBuf {
    let data = folder.join("numbered");
    fs::create_dir(&data).expect("a folder");
    let line = |step: i64| format!("{}\t0\t{}\t{}\n", step % 3, (step + 1) % 3, step * 24);
    for (name, steps) in [("train", 0..20), ("valid", 20..25), ("test", 25..30)] {
        fs::write(data.join(format!("{name}.txt")), steps.map(line).collect::<String>()).expect("room");
    }
    data
}

/// Reads files as the commands do.
struct Desk {
    /// The data of plans: facts with times, and a graph that changes.
    data: [String; 2],
    /// What questions are put to.
    sessions: Vec<Mutex<Session>>,
    /// What lists divide.
    dataset: quadcast_data::Loaded,
}

impl Desk {
    /// Whether a file is accepted, or what is wrong with its refusal.
    fn read(&self, (reader, bytes): &(Reader, Vec<u8>)) -> Result<bool, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, bytes).expect("room");
        let read = match reader {
            Reader::Plan(task) => self.plan(&path, *task),
            Reader::Questions(session) => self.ask(&path, *session),
            Reader::Lists => self.lists(&path),
            Reader::Graphs => judge_graphs(&path, "file", &self.data[0]).map(drop),
        };
        match read {
            Ok(()) => Ok(true),
            Err(error) => refused(&error).map(|()| false),
        }
    }

    /// Everything that is done with a plan before something is computed.
    fn plan(&self, path: &Path, task: Task) -> Result<(), RunError> {
        let data = &self.data[usize::from(task == Task::Evolving)];
        let plan = Plan { data: Some(data.clone()), other_data: true, ..Plan::read(path)? };
        Session::open(plan, Run::silent(1)).map(drop)
    }

    fn ask(&self, path: &Path, session: usize) -> Result<(), RunError> {
        let questions = read_questions(path, "file")?;
        // A panic is a finding of its own, also for the next question.
        let mut session = self.sessions[session].lock().unwrap_or_else(PoisonError::into_inner);
        session.answer_all(&questions, AnswerOptions { top: 3, explain: false }).map(drop)
    }

    fn lists(&self, path: &Path) -> Result<(), RunError> {
        let mirrors = MirrorLists::read(path)?.mirrors(self.relations())?;
        let patterns = PatternSource::Given { mirrors, origin: "a file".to_owned() };
        let options = DivideOptions { patterns, ..DivideOptions::new(DivisionMethod::LeakageFree) };
        Ok(divide(&self.dataset, &options).map(drop)?)
    }

    fn relations(&self) -> &Names {
        let Content::Temporal(data) = &self.dataset.content else { panic!("facts with times") };
        &data.vocabulary.relations
    }
}

/// Damages a good file.
fn damaged(good: &Files, numbers: &mut Numbers) -> (Reader, Vec<u8>) {
    // Half of them plans, of which there are many.
    let plans = good.iter().filter(|(reader, _)| matches!(reader, Reader::Plan(_))).count();
    let chosen = match numbers.below(2) {
        0 => numbers.below(plans),
        _ => plans + numbers.below(good.len() - plans),
    };
    let (reader, mut bytes) = good[chosen].clone();
    for _ in 0..=numbers.draw() % EDITS {
        let other = &good[numbers.below(good.len())].1;
        damage(&mut bytes, other, numbers);
    }
    (reader, bytes)
}

#[test]
fn damaged_plans_questions_and_lists_are_refused_or_used() {
    let room = tempfile::tempdir().expect("a folder");
    let (_room, dated) = finished(harbour("recurrency", &[]));
    let graph = room.path().join("graph");
    let evolving = complete(evolving(&graph), &room.path().join("evolving")).expect("a run");
    let numbered = plan("recurrency", &bare_numbers(room.path()), &[]);
    let bare = complete(numbered, &room.path().join("bare")).expect("a run");
    let runs = [dated.as_path(), &bare, &evolving];
    let mut good = plans(&runs);
    good.push(questions(0, ["Grey Heron", "docks at", "Harbour Council", "2031-07-15"]));
    good.push(questions(1, ["#0", "#0", "#1", "600"]));
    good.push(questions(2, ["p0", "likes", "p2", ""]));
    good.extend(lists());
    let graphs =
        "at,subject,relation,object,probability\n2031-07-15,Grey Heron,docks at,Harbour Council,0.5\n";
    good.push((Reader::Graphs, graphs.as_bytes().to_vec()));
    let sessions = runs.map(|run| Mutex::new(Session::reopen(run, None, Run::silent(1)).expect("a run")));
    let dataset = load(&example("harbour"), &LoadOptions::default()).expect("a dataset");
    let data = [example("harbour"), graph].map(|path| path.display().to_string());
    let desk = Desk { data, sessions: sessions.into(), dataset };
    for file in &good {
        assert_eq!(desk.read(file), Ok(true), "{}", String::from_utf8_lossy(&file.1));
    }
    let input = |numbers: &mut Numbers| damaged(&good, numbers);
    let keep = |folder: &Path, (reader, bytes): &(Reader, Vec<u8>)| {
        fs::create_dir_all(folder).expect("a folder");
        fs::write(folder.join(format!("{reader:?}")), bytes).expect("room");
    };
    let target = Target { name: "files of users", seconds: SECONDS, input: &input, keep: &keep };
    target.try_inputs(move |file| desk.read(&file));
}
