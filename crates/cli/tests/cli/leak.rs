//! The demonstration of the query-set leak: it can be run, and nothing takes its figures for results.

use crate::common::{Room, assert_texts};

/// Settings with which the model learns in a moment.
const QUICK: &str = "run --model herald --data harbour --set hidden=4 --set epochs=1";

#[test]
fn a_demonstration_is_marked_and_never_ranked() {
    let room = Room::with_harbour();
    room.quadcast(&format!("{QUICK} --out honest")).success();
    let answer = room.quadcast(&format!("{QUICK} --demonstrate-leak both-directions --out leaking"));
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert_texts(&answer.stderr, &["demonstrates the query-set leak (both-directions)", "not results"]);
    let [honest, leaking] = ["honest", "leaking"].map(|run| room.record(run));
    assert_eq!(honest["isolation"]["verdict"], "exact");
    assert!(honest["protocol"].get("leak").is_none());
    assert_eq!(leaking["isolation"]["verdict"], "broken");
    assert_eq!(leaking["protocol"]["leak"], "both-directions");
    let mrr = |record: &serde_json::Value| record["metrics"]["time"]["mrr"].as_f64().expect("a number");
    assert!(mrr(&honest) < mrr(&leaking), "{} {}", mrr(&honest), mrr(&leaking));

    let refusal = ["leaking demonstrates the query-set leak", "docs/query-set-leak.md"];
    room.assert_refused("compare honest leaking", &refusal);
    room.assert_refused(
        "forecast leaking --subject 'Grey Heron' --relation 'docks at'",
        &["demonstrates the query-set leak", "asked"],
    );
    room.assert_refused("report leaking --quiet", &["leaking is a demonstration of the query-set leak"]);
    room.quadcast("report honest leaking --out page.html").assert_remarks(
        "left out: leaking is a demonstration of the query-set leak, whose figures are not results\n",
    );
    assert_texts(&room.text("page.html"), &["left out: leaking", "without knowing the others"]);
    room.assert_refused(
        "run --trained-by leaking --demonstrate-leak same-direction",
        &["cannot be used with"],
    );
    // The saved model, shown the same queries again, gives the same ranks.
    room.quadcast("verify leaking").success();
}

#[test]
fn other_models_have_no_leak_to_demonstrate() {
    let room = Room::with_harbour();
    let why = ["tlogic answers each query without knowing the others", "--model herald"];
    room.assert_refused("run --model tlogic --data harbour --demonstrate-leak same-direction", &why);
}

#[test]
fn a_comparison_says_whether_queries_were_isolated() {
    let room = Room::with_runs();
    let document = room.document("compare combined strict");
    for side in ["first", "second"] {
        assert_eq!(document[side]["isolation"]["verdict"], "exact", "{side}");
    }
}
