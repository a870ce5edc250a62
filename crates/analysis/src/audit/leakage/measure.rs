//! Looks for all evidence in a dataset.

use quadcast_core::{Dataset, EntityId, EvolvingDataset, Quad, RelationId, Step, Verdict, Vocabulary};
use quadcast_data::{Content, Loaded, TripleSet};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::evidence::{Evidence, Grade, SplitKind};
use super::outcome::{Leakage, LeakageCheck, LeakageOptions, UnseenInTest, classes};
use super::search::Search;
use super::tally::{Head, tally};
use crate::audit::order::INTERPOLATION;
use crate::index::{Graph, SplitFacts, at_once, graphs};
use crate::info::{Details, Info, Share, Unseen, inside_train};
use crate::patterns::NamedMirrors;

/// How many time stamps are named as examples.
const EXAMPLES: usize = 5;

/// Looks for everything that train tells about the test split.
pub(in crate::audit) fn leakage(loaded: &Loaded, info: &Info, options: &LeakageOptions) -> Leakage {
    let (kind, about) = split_kind(&loaded.content);
    let facts = SplitFacts::of(&loaded.content);
    let test = &facts.splits.test;
    let search = Search::new(kind, &facts, &options.detection);
    let (mut checks, (leaked, classes)) =
        rayon::join(|| checks(&search), || (leaked(&search), classes(&search, &seen_entities(&facts))));
    if let Content::Evolving(data) = &loaded.content {
        // Test triples in training are looked for at every step.
        checks.retain(|check| check.id != "duplicate");
        checks.splice(..0, evaluation_checks(data, &facts));
    }
    let (novelty, identical) = match &info.details {
        Details::Temporal(part) => (Some(&part.novelty), Some(&part.shared_quadruples)),
        Details::Static(part) => (Some(&part.novelty), Some(&part.shared_triples)),
        Details::Intervals(part) => (Some(&part.novelty), None),
        Details::Evolving(_) => (None, None),
    };
    let (inside, time_stamps) = match &loaded.content {
        Content::Temporal(data) => {
            let stamps = (kind != SplitKind::Forecasting).then(|| unseen_time_stamps(data));
            (Some(inside_train(data)), stamps)
        }
        _ => (None, None),
    };
    let leaked = Share::of(leaked, test.len());
    let exceeded = options.max_leakage.is_some_and(|limit| leaked.share > limit);
    let worst = checks.iter().map(|check| check.verdict).max().unwrap_or(Verdict::Pass);
    let relations = &facts.vocabulary.relations;
    Leakage {
        split_kind: kind,
        about,
        test_time_stamps_inside_train: inside,
        test_facts: test.len(),
        leaked,
        max_leakage: options.max_leakage,
        verdict: if exceeded { Verdict::Fail } else { worst },
        classes,
        checks,
        unseen: novelty.map(|novelty| UnseenInTest {
            entities: novelty.entities.unseen_in_train.clone(),
            relations: novelty.relations.unseen_in_train.clone(),
            time_stamps,
        }),
        identical: identical.cloned(),
        detection: options.detection,
        same_time: NamedMirrors::of(&search.counts, relations, &search.at_once, |shares| shares.same_time),
        any_time: NamedMirrors::of(&search.counts, relations, &search.any_time, |shares| shares.any_time),
        parallel: parallel(&search.parallel, facts.vocabulary),
        scores: Vec::new(),
    }
}

/// How a dataset is divided, and what that means in words.
fn split_kind(content: &Content) -> (SplitKind, String) {
    let data = match content {
        Content::Temporal(data) => data,
        Content::Static(_) => return (SplitKind::Static, "the facts carry no time".to_owned()),
        Content::Intervals(_) => {
            let about = "facts hold over intervals i; of the same time are facts with the same interval";
            return (SplitKind::Intervals, about.to_owned());
        }
        Content::Evolving(data) => {
            let label = data.steps.last().map_or("none", |step| step.label.as_str());
            let about = format!("patterns and counts without a step are those of the last step, {label}");
            return (SplitKind::Evolving, about);
        }
    };
    let inside = inside_train(data);
    let words = format!("{:.0} % of the test time stamps lie inside the time range of train", 100.0 * inside);
    let ends = data.splits.train.last_step().zip(data.splits.test.first_step());
    if ends.is_none_or(|(last, first)| last < first) {
        let about = "the test facts lie after train in time, so train cannot hold facts of the same \
                     time; what is counted is how much is known from earlier facts of any split";
        (SplitKind::Forecasting, about.to_owned())
    } else if inside >= INTERPOLATION {
        (SplitKind::Completion, format!("the facts were divided at random: {words}"))
    } else {
        (SplitKind::Mixed, format!("train and test overlap in time: {words}"))
    }
}

fn unseen_time_stamps(data: &Dataset) -> Unseen {
    let test = &data.splits.test;
    let new: Vec<Step> =
        test.occupied().filter(|&step| data.splits.train.snapshot(step).is_empty()).collect();
    Unseen {
        ids: new.len(),
        test_facts: new.iter().map(|&step| test.snapshot(step).len()).sum(),
        examples: new.iter().take(EXAMPLES).map(|&step| data.axis.label(step)).collect(),
    }
}

fn seen_entities(facts: &SplitFacts<'_>) -> FxHashSet<EntityId> {
    facts.splits.train.iter().flat_map(|fact| [fact.subject, fact.object]).collect()
}

/// Looks for all evidence of the kind.
fn checks(search: &Search<'_>) -> Vec<LeakageCheck> {
    let (kind, facts) = (search.kind, search.facts);
    let check = |&evidence: &Evidence| {
        let (id, holds) = evidence.words(kind, &facts.times);
        let head = Head { id, step: None, holds, grade: evidence.grade(kind) };
        tally(head, &facts.splits.test, |fact| search.witness(evidence, fact), facts)
    };
    Evidence::of(kind).par_iter().map(check).collect()
}

/// Test facts that any evidence of the gravest kind gives away.
fn leaked(search: &Search<'_>) -> usize {
    let mut leaks = Evidence::of(search.kind);
    leaks.retain(|evidence| evidence.grade(search.kind) == Grade::Leak);
    let leaked = |fact: &&Quad| leaks.iter().any(|&leak| search.witness(leak, **fact).is_some());
    search.facts.splits.test.iter().filter(leaked).count()
}

/// At every step of a graph that changes: test triples that stand in training, and negatives that are true.
fn evaluation_checks(data: &EvolvingDataset, names: &SplitFacts<'_>) -> Vec<LeakageCheck> {
    let mut checks = Vec::new();
    graphs(data, |_, graph: &Graph<'_>| {
        let label = &graph.step.label;
        let head = |id: &str, holds: &str| Head {
            id: id.to_owned(),
            step: Some(label.clone()),
            holds: format!("step {label}: {holds}"),
            grade: Grade::Leak,
        };
        let evaluation = graph.evaluation();
        let mut test: Vec<Quad> = evaluation.test.iter().map(at_once).collect();
        test.sort_unstable();
        test.dedup();
        let in_train = |fact: Quad| graph.train.contains(&fact.triple()).then_some(fact);
        checks.push(tally(
            head("test-in-train", "(s, p, o), the test triple itself"),
            &test,
            in_train,
            names,
        ));
        let negatives = graph.step.classification.iter().filter(|(_, label)| !label);
        let negatives: Vec<Quad> = negatives.map(|(triple, _)| at_once(triple)).collect();
        if !negatives.is_empty() {
            let held_out: TripleSet = evaluation.valid.iter().chain(&evaluation.test).copied().collect();
            let holds =
                |fact: Quad| in_train(fact).or_else(|| held_out.contains(&fact.triple()).then_some(fact));
            let head = head("true-negatives", "negatives of triple classification that are true");
            checks.push(tally(head, &negatives, holds, names));
        }
    });
    checks
}

/// Parallel relations by name, each pair once if it holds in both directions.
fn parallel(partners: &[Vec<RelationId>], vocabulary: &Vocabulary) -> Vec<[String; 2]> {
    let mut pairs = Vec::new();
    for (p, others) in partners.iter().enumerate() {
        for q in others {
            let mutual = partners[q.index()].iter().any(|back| back.index() == p);
            if p < q.index() || !mutual {
                pairs.push([p as u32, q.0].map(|id| vocabulary.relations.name(id).into_owned()));
            }
        }
    }
    pairs
}
