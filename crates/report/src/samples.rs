//! Small runs for tests.

use std::collections::BTreeMap;

use quadcast_core::{
    Calendar, Dataset, Direction, EntityId, EvolvingDataset, EvolvingStep, Facts, Fingerprint, Names,
    Procedure, Protocol, Quad, Query, RelationId, SplitTriples, Splits, Step, TimeAxis, Triple, Vocabulary,
};
use quadcast_eval::evolving::{
    Classification, Counts, EvolvingOutcome, LinkOutcome, Mean, Played, Sizes, StepResult,
};
use quadcast_eval::{FilterOutcome, Isolation, IsolationVerdict, Judged, Metrics, Rank, RankedQuery, Ranks};
use quadcast_run::{
    Addition, Answer, DatasetCard, DatedFact, DirectedName, Fired, Forecast, ModelCard, Reason, Record,
    RuleCard, Sample, TrueAnswer, Why,
};

use crate::LoadedRun;

/// Facts of a sample: four a step.
const FACTS: u32 = 48;

/// A relation whose name needs every kind of escaping.
pub(crate) const RELATION: &str = r#"trades <with> "Ærø" & 50%_more"#;

/// A run on twelve days; the number of better candidates is given per fact.
pub(crate) fn run(name: &str, greater: impl Fn(u32) -> u32) -> LoadedRun {
    run_with(name, FACTS, greater)
}

/// A run on so many facts.
pub(crate) fn run_with(name: &str, facts: u32, greater: impl Fn(u32) -> u32) -> LoadedRun {
    let dataset = dataset(facts);
    let ranked: Vec<RankedQuery> = (0..facts)
        .flat_map(|i| Direction::BOTH.map(|direction| ranked(quad(i), direction, greater(i))))
        .collect();
    let config = serde_json::json!({ "variant": name, "same": 1 });
    let model = ModelCard { name: "sample".to_owned(), config, rules: None, trained_by: None };
    let card = DatasetCard::new(&dataset, None, dataset.fingerprint());
    let mut record = Record::begun(card, model, Protocol::default(), 1);
    let isolation = Some(Isolation {
        verdict: IsolationVerdict::Exact,
        questions: 64,
        steps: 4,
        largest_difference: 0.0,
    });
    let judged = Judged { ranked, repeated: 0, latest_read: Some(Step(0)), isolation };
    record.complete(&dataset, &judged).expect("queries");
    LoadedRun::new(format!("runs/{name}"), record, judged.ranked).expect("a complete record")
}

fn quad(i: u32) -> Quad {
    Quad {
        step: Step(i / 4),
        subject: EntityId(i % 5),
        relation: RelationId(i % 2),
        object: EntityId(5 + i % 7),
    }
}

fn ranked(fact: Quad, direction: Direction, greater: u32) -> RankedQuery {
    let (query, gold) = Query::hide(fact, direction);
    let rank = Rank { greater, tied: 1, tied_before: 0 };
    let ranks = Ranks { time: rank, fixed: rank, raw: rank, reached: true, not_a_number: false };
    RankedQuery { query, gold, ranks, seen: fact.step.0 > 2 }
}

fn dataset(facts: u32) -> Dataset {
    let relations = vec![Some(RELATION.to_owned()), Some("visits".to_owned())];
    let vocabulary = Vocabulary { entities: Names::anonymous(20), relations: Names::new(relations, None) };
    let steps = facts.div_ceil(4) as usize;
    let splits = Splits {
        train: Facts::default(),
        valid: Facts::default(),
        test: Facts::new((0..facts).map(quad).collect(), steps),
    };
    Dataset {
        name: "sample".to_owned(),
        vocabulary,
        axis: TimeAxis::new((0..steps as i64).collect(), Calendar::UNIX_DAYS),
        splits,
        beyond: Facts::default(),
    }
}

/// A fact of a reason.
pub(crate) fn fact(object: &str) -> DatedFact {
    DatedFact {
        subject: "Ann".to_owned(),
        relation: "meets".to_owned(),
        object: object.to_owned(),
        time: "2030-01-02".to_owned(),
    }
}

/// A rule that supports an answer with a share of its score.
pub(crate) fn fired(share: f64, confidence: f64) -> Fired {
    let relation = || DirectedName { relation: "meets".to_owned(), inverse: false };
    Fired {
        rule: RuleCard {
            head: relation(),
            body: vec![relation()],
            constraints: vec![],
            confidence,
            rule_support: 1,
            body_support: 2,
            words: "if X meets Y, then X meets Y".to_owned(),
            curve: None,
        },
        sentence: "if Ann meets <Bob>, then Ann meets <Bob>".to_owned(),
        score: 0.75,
        share,
        confidence_part: 0.25,
        recency_part: 0.5,
        latest: "2030-01-02".to_owned(),
        groundings: vec![vec![fact("<Bob>")]; 3],
        grounding_count: 9,
        groundings_cut: true,
    }
}

/// Two answers: one that rests on four rules, and one that is wrong and rests on five facts.
pub(crate) fn explained() -> Vec<Sample> {
    let rules =
        Why { rules: Some([0.625, 0.2, 0.1, 0.075].map(|share| fired(share, 0.5)).into()), ..Why::default() };
    let facts = Why {
        facts: vec![Reason { fact: fact("Bob"), weight: 0.1, group: None }; 5],
        also: vec![Addition { text: "75 of 285 answers".to_owned(), weight: 0.5, group: None }],
        ..Why::default()
    };
    let sample = |why: Why, truth: &str, rank: u64| Sample {
        forecast: Forecast {
            model: "sample".to_owned(),
            dataset: "sample".to_owned(),
            subject: Some("Ann".to_owned()),
            relation: "meets".to_owned(),
            object: None,
            at: "2030-01-03".to_owned(),
            known_until: Some("2030-01-02".to_owned()),
            answers: vec![Answer {
                rank: 1,
                entity: "<Bob>".to_owned(),
                score: 1.0,
                share: None,
                known: None,
                why: Some(why),
            }],
            reached: 2,
            candidates: 20,
        },
        truth: TrueAnswer { entity: truth.to_owned(), rank, tied: 1 },
    };
    vec![sample(rules, "<Bob>", 1), sample(facts, "Cem", 4)]
}

/// A run on a graph that changes in two steps, with three test triples at each.
pub(crate) fn changing(model: &str, dimension: u32, seed: u64) -> LoadedRun {
    let triples = || (0..3).map(|i| Triple::new(i, 0, 5 + i)).collect::<Vec<_>>();
    let step = |label: &str| EvolvingStep {
        label: label.to_owned(),
        evaluation: SplitTriples { valid: Vec::new(), test: triples() },
        ..EvolvingStep::default()
    };
    let data = EvolvingDataset {
        name: "graph".to_owned(),
        vocabulary: Vocabulary { entities: Names::anonymous(8), relations: Names::anonymous(1) },
        steps: vec![step("1"), step("2")],
    };
    let fingerprint = Fingerprint::try_from("0123456789abcdef".to_owned()).expect("16 hex digits");
    let card = DatasetCard::evolving(&data, None, fingerprint);
    let config = serde_json::json!({ "dimension": dimension, "margin": 1.0 });
    let model = ModelCard { name: model.to_owned(), config, rules: None, trained_by: None };
    let mut record = Record::begun(card, model, Protocol::evolving(Procedure::Static), seed);
    let metrics = Metrics { mrr: 0.4, hits10: 0.5, mr: 4.0, ..Metrics::default() };
    let links = Mean { by_step: metrics, by_question: metrics };
    let outcome = EvolvingOutcome {
        steps: [(0, [3, 2]), (1, [12, 3])].map(|(step, right)| changing_step(step, metrics, right)).to_vec(),
        filtered: links,
        raw: links,
        // 6 of 10 examples are right at the first step, 24 of 30 at the second.
        classification: Some(Mean { by_step: 0.7, by_question: 0.75 }),
        negative: BTreeMap::new(),
        backward_transfer: None,
        forward_transfer: None,
    };
    let of_step = |step| triples().into_iter().map(move |triple| triple.at(Step(step)));
    let ranked: Vec<RankedQuery> = (0..2)
        .flat_map(of_step)
        .flat_map(|fact| Direction::BOTH.map(|direction| ranked(fact, direction, fact.subject.0 % 3)))
        .collect();
    record.complete_evolving(&data, Played { outcome, ranked: ranked.clone() }).expect("queries");
    LoadedRun::new(format!("runs/{}-{dimension}-{seed}", record.model.name), record, ranked).expect("results")
}

/// True and false examples are right so often, and wrong so often.
fn changing_step(step: u32, metrics: Metrics, [right, wrong]: [u64; 2]) -> StepResult {
    let counts = Counts {
        true_positives: right,
        true_negatives: right,
        false_positives: wrong,
        false_negatives: wrong,
    };
    let accuracy = counts.accuracy().expect("examples");
    let filter = || FilterOutcome { metrics, queries: 6, ..FilterOutcome::default() };
    StepResult {
        step: Step(step),
        label: (step + 1).to_string(),
        sizes: Sizes { train: 10, inserted: 5, deleted: 0, test: 3, entities: 8, relations: 1 },
        link: Some(LinkOutcome {
            filtered: filter(),
            ever: filter(),
            raw: filter(),
            candidates: 8,
            adjusted_mean_rank: 0.9,
            ..LinkOutcome::default()
        }),
        classification: Some(Classification {
            counts,
            accuracy,
            f1: accuracy,
            auc: accuracy,
            coverage: 1.0,
            accuracy_by_relation: accuracy,
            threshold: 0.0,
        }),
        ..StepResult::default()
    }
}

#[test]
fn samples_are_read_as_they_were_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(Sample::read_all(folder.path()).expect("no file is no samples"), []);
    Sample::write_all(folder.path(), &explained()).expect("a writable folder");
    assert_eq!(Sample::read_all(folder.path()).expect("samples"), explained());
    std::fs::write(folder.path().join(Sample::FILE), "[{}]").expect("a file");
    let error = Sample::read_all(folder.path()).expect_err("not a sample").to_string();
    assert!(error.contains("explanations.json"), "{error}");
    Sample::remove_all(folder.path()).expect("a file");
    Sample::remove_all(folder.path()).expect("no file is fine");
}
