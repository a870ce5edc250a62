//! One road for every task, in memory: open, fit, judge, answer.

#[path = "common/plans.rs"]
mod plans;

use quadcast_core::{ModelError, Run, Task};
use quadcast_eval::EvalError;
use quadcast_run::{AnswerOptions, Answered, Plan, Question, RunError, Session, Status};

use plans::{QUICK_TRANSE, circles, example, plan};

#[test]
fn every_task_takes_the_same_road() {
    let folder = tempfile::tempdir().expect("a folder");
    circles(folder.path());
    let plans = [
        (plan("recurrency", &example("harbour"), &[]), Task::Forecasting, ("Grey Heron", "docks at")),
        (plan("transe", folder.path(), QUICK_TRANSE), Task::Evolving, ("p0", "likes")),
    ];
    for (plan, task, (subject, relation)) in plans {
        let mut session = Session::open(plan, Run::silent(1)).expect("a plan");
        assert_eq!(session.task(), task);
        session.fit().expect("it fits");
        let record = session.judge().expect("it is judged").clone();
        assert_eq!((record.status, record.task), (Status::Complete, task));
        let queries = record.metrics.as_ref().map(|metrics| metrics.time.queries);
        assert_eq!(queries, Some(2 * record.dataset.test as u64), "{task:?}");
        let question = Question {
            subject: Some(subject.to_owned()),
            relation: Some(relation.to_owned()),
            ..Question::default()
        };
        let answered =
            session.answer(&question, AnswerOptions { top: 3, explain: false }).expect("an answer");
        let Answered::Entities(forecast) = answered else { panic!("{answered:?}") };
        assert_eq!(forecast.answers.len(), 3, "{task:?}");
    }
}

#[test]
fn a_cancelled_session_says_so_and_keeps_its_error_kind() {
    let run = Run::silent(1);
    run.cancellation.cancel();
    let mut session = Session::open(plan("recurrency", &example("harbour"), &[]), run).expect("a plan");
    let error = match session.fit() {
        Err(error) => error,
        Ok(()) => session.judge().expect_err("it was cancelled"),
    };
    assert!(matches!(error, RunError::Interrupted { .. }), "{error}");
    assert_eq!(error.exit_code(), 130);
    assert_eq!(RunError::from(EvalError::Model(ModelError::Cancelled)).exit_code(), 130);
}

#[test]
fn errors_keep_their_place_and_remedy() {
    let open = |plan: Plan| Session::open(plan, Run::silent(1)).err().expect("a bad plan");
    let error = open(Plan::default());
    assert!(error.to_string().contains("--data") && error.exit_code() == 2, "{error}");
    let error = open(plan("recurency", &example("harbour"), &[]));
    assert!(error.to_string().contains("did you mean"), "{error}");
    let error = open(plan("recurrency", &example("harbour"), &["lambda=many"]));
    assert!(error.to_string().contains("lambda") && error.exit_code() == 2, "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    for split in ["train", "valid", "test"] {
        std::fs::write(folder.path().join(format!("{split}.txt")), "0\t0\t1\t0\nx\t0\t1\t1\n")
            .expect("a file");
    }
    let error = open(plan("recurrency", folder.path(), &[]));
    assert!(error.to_string().contains(".txt:2:1"), "{error}");
}
