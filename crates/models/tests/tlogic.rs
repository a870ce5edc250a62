//! TLogic against an independent reading of its definition, which lists every chain of facts.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use quadcast_core::{
    Calendar, DirectedRelation, Direction, EntityId, Facts, Forecaster, HistoryIndex, ModelError, Quad,
    Query, RelationId, Rule, Run, SavedModel, Step, TimeAxis, Validation, ValidationReport,
};
use quadcast_models::{find, set};
use quadcast_testing::Collected;

const ENTITIES: u32 = 5;
const RELATIONS: usize = 2;
const STEPS: u32 = 8;

/// Every way in which the variables of a body of some length can stand for the same entity, as groups.
fn all_constraints(length: usize) -> Vec<Vec<Vec<u8>>> {
    // Variables in order: each joins a class before it or opens a new one.
    let mut assignments: Vec<Vec<u8>> = vec![vec![0]];
    for _ in 0..length {
        assignments = assignments
            .into_iter()
            .flat_map(|classes| {
                let next = classes.iter().max().map_or(0, |class| class + 1);
                (0..=next).map(move |class| [classes.clone(), vec![class]].concat())
            })
            .collect();
    }
    let groups = |classes: Vec<u8>| -> Vec<Vec<u8>> {
        let members =
            |class| (0..classes.len() as u8).filter(|&i| classes[usize::from(i)] == class).collect();
        (0..=length as u8).map(members).filter(|group: &Vec<u8>| group.len() > 1).collect()
    };
    assignments.into_iter().map(groups).collect()
}

#[test]
fn there_are_as_many_patterns_as_partitions() {
    assert_eq!([1, 2, 3].map(|length| all_constraints(length).len()), [2, 5, 15]);
}

fn axis() -> TimeAxis {
    // A gap, so that steps and time units differ.
    let times = (0..i64::from(STEPS)).map(|step| if step < 5 { step } else { step + 2 }).collect();
    TimeAxis::new(times, Calendar::UNKNOWN)
}

fn index(quads: &[Quad]) -> HistoryIndex {
    let facts = Facts::new(quads.to_vec(), STEPS as usize);
    HistoryIndex::new(&axis(), ENTITIES as usize, RELATIONS, &[&facts])
}

/// A fact as an edge from one entity to another, in either direction.
fn edges(quads: &[Quad]) -> Vec<(u32, DirectedRelation, u32, u32)> {
    let both = |q: &Quad| {
        Direction::BOTH.map(|direction| {
            let (query, answer) = Query::hide(*q, direction);
            (query.known.0, query.directed(RELATIONS), answer.0, q.step.0)
        })
    };
    let all: BTreeSet<_> = quads.iter().flat_map(both).collect();
    all.into_iter().collect()
}

/// All chains of edges that fit a body: entities and steps.
fn chains(
    edges: &[(u32, DirectedRelation, u32, u32)],
    body: &[DirectedRelation],
    start: Option<u32>,
) -> Vec<(Vec<u32>, Vec<u32>)> {
    let mut chains: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
    for (i, &relation) in body.iter().enumerate() {
        if i == 0 {
            let first = |e: &&(u32, DirectedRelation, u32, u32)| {
                e.1 == relation && start.is_none_or(|start| e.0 == start)
            };
            chains = edges.iter().filter(first).map(|e| (vec![e.0, e.2], vec![e.3])).collect();
            continue;
        }
        chains = chains
            .iter()
            .flat_map(|(entities, steps)| {
                let goes_on = |e: &&(u32, DirectedRelation, u32, u32)| {
                    e.1 == relation && e.0 == entities[i] && e.3 >= steps[i - 1]
                };
                edges
                    .iter()
                    .filter(goes_on)
                    .map(|e| ([entities.clone(), vec![e.2]].concat(), [steps.clone(), vec![e.3]].concat()))
            })
            .collect();
    }
    chains
}

fn holds(constraints: &[Vec<u8>], entities: &[u32]) -> bool {
    constraints.iter().all(|group| {
        group.iter().all(|&position| entities[usize::from(position)] == entities[usize::from(group[0])])
    })
}

fn groups_of(entities: &[u32]) -> Vec<Vec<u8>> {
    let mut by_entity: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for (position, &entity) in (0..).zip(entities) {
        by_entity.entry(entity).or_default().push(position);
    }
    let mut groups: Vec<Vec<u8>> = by_entity.into_values().filter(|group| group.len() > 1).collect();
    groups.sort();
    groups
}

/// The scores of a query by definition.
fn reference(
    rules: &[Rule],
    known: &[Quad],
    query: &Query,
    window: u32,
    ceiling: u32,
    top_k: usize,
) -> Vec<f64> {
    let (axis, relations) = (axis(), RELATIONS);
    let oldest = if window == 0 { i64::MIN } else { axis.ordinal(Step(ceiling)) - i64::from(window) };
    let known: Vec<Quad> =
        known.iter().copied().filter(|q| q.step.0 < ceiling && axis.ordinal(q.step) >= oldest).collect();
    let edges = edges(&known);
    let mut rules: Vec<&Rule> = rules.iter().filter(|r| r.head == query.directed(relations)).collect();
    rules.retain(|rule| rule.confidence >= 0.01 && rule.body_support >= 2);
    let ratio = |rule: &Rule| f64::from(rule.rule_support) / f64::from(rule.body_support);
    rules.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    let mut lists: BTreeMap<u32, Vec<f32>> = BTreeMap::new();
    for rule in rules {
        let mut latest: BTreeMap<u32, u32> = BTreeMap::new();
        for (entities, steps) in chains(&edges, &rule.body, Some(query.known.0)) {
            if holds(&rule.constraints, &entities) {
                let best = latest.entry(entities[rule.body.len()]).or_default();
                *best = (*best).max(steps[0]);
            }
        }
        for (&candidate, &begins) in &latest {
            let ago = (axis.ordinal(Step(begins)) - axis.ordinal(query.step)) as f64;
            let list = lists.entry(candidate).or_default();
            list.push((0.5 * ratio(rule) + 0.5 * (0.1 * ago).exp()) as f32);
            list.sort_by(|a, b| b.total_cmp(a));
        }
        if latest.is_empty() {
            continue;
        }
        let mut order: Vec<&Vec<f32>> = lists.values().collect();
        order.sort_by(|a, b| b.partial_cmp(a).unwrap_or(Ordering::Equal));
        order.truncate(top_k);
        order.dedup();
        if order.len() >= top_k {
            break;
        }
    }
    (0..ENTITIES)
        .map(|entity| match lists.get(&entity) {
            Some(list) => 1.0 - list.iter().map(|&score| 1.0 - f64::from(score)).product::<f64>(),
            None => f64::NEG_INFINITY,
        })
        .collect()
}

fn build(settings: &[String]) -> Box<dyn Forecaster> {
    let entry = find("tlogic").expect("the model exists");
    let mut config = (entry.defaults)();
    for setting in settings {
        set(&mut config, setting).expect("a valid setting");
    }
    entry.forecaster(&config).expect("a valid configuration")
}

fn quads() -> impl Strategy<Value = Vec<Quad>> {
    let quad = (0..ENTITIES, 0..RELATIONS as u32, 0..ENTITIES, 0..STEPS);
    prop::collection::vec(quad.prop_map(|(s, r, o, t)| Quad::new(s, r, o, t)), 0..40)
}

/// Rules about one head: for each body every pattern of equal variables, or a few of them.
fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let body = prop::collection::vec(0..2 * RELATIONS as u32, 1..=3);
    let rule = (body, any::<prop::sample::Index>(), 1_u32..60, 1_u32..40);
    let rule = rule.prop_map(|(body, pattern, body_support, rule_support)| {
        let all = all_constraints(body.len());
        let rule_support = rule_support.min(body_support);
        Rule {
            head: DirectedRelation(0),
            constraints: all[pattern.index(all.len())].clone(),
            body: body.into_iter().map(DirectedRelation).collect(),
            rule_support,
            body_support,
            confidence: f64::from(rule_support) / f64::from(body_support),
            any_order: false,
        }
    });
    prop::collection::vec(rule, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn scores_are_those_of_listing_all_chains(
        quads in quads(),
        rules in rules(),
        window in 0_u32..6,
        top_k in 1_usize..4,
        ceiling in 2..=STEPS,
        asked in 0_u32..3,
    ) {
        let mut model = build(&[format!("window={window}"), format!("top_k={top_k}")]);
        let mut saved = model.save().expect("an empty model");
        saved.rules = Some(rules.clone());
        model.load(&saved).expect("sound rules");
        let index = index(&quads);
        let history = index.before(Step(ceiling));
        // Later steps with the same facts, as in multi-step: what is remembered must not change the scores.
        for ahead in 0..=asked {
            let step = Step(ceiling + ahead);
            model.begin(step, &history).expect("known relations");
            for known in (0..ENTITIES).map(EntityId) {
                let query = Query { step, known, relation: RelationId(0), direction: Direction::Object };
                let mut row = Collected::new(ENTITIES as usize).sparse();
                model.score(&history, &[query], &mut row).expect("a model with rules");
                let expected = reference(&rules, &quads, &query, window, ceiling, top_k);
                for (found, expected) in row.row(0).iter().zip(&expected) {
                    prop_assert!(found == expected || (found - expected).abs() < 1e-12, "{row:?} {expected:?}", row = row.row(0));
                }
            }
        }
    }

    #[test]
    fn explanations_list_the_chains_there_are(quads in quads(), rules in rules(), ceiling in 2..=STEPS) {
        let mut model = build(&[]);
        let mut saved = model.save().expect("an empty model");
        saved.rules = Some(rules);
        model.load(&saved).expect("sound rules");
        let index = index(&quads);
        let history = index.before(Step(ceiling));
        model.begin(Step(ceiling), &history).expect("known relations");
        let known: Vec<Quad> = quads.iter().copied().filter(|q| q.step.0 < ceiling).collect();
        let edges = edges(&known);
        for (known, answer) in (0..ENTITIES).flat_map(|a| (0..ENTITIES).map(move |b| (a, b))) {
            let query = Query { step: Step(ceiling), known: EntityId(known), relation: RelationId(0), direction: Direction::Object };
            let why = model.explain(&history, &query, EntityId(answer)).expect("a model").expect("a reason");
            let shares: f64 = why.rules.iter().map(|fired| fired.share).sum();
            prop_assert!(why.rules.is_empty() || (shares - 1.0).abs() < 1e-9);
            for fired in &why.rules {
                let fitting: Vec<_> = chains(&edges, &fired.rule.body, Some(known))
                    .into_iter()
                    .filter(|(e, _)| holds(&fired.rule.constraints, e) && e[fired.rule.body.len()] == answer)
                    .collect();
                prop_assert_eq!(fired.grounding_count, fitting.len() as u64);
                let latest = fitting.iter().map(|(_, steps)| steps[0]).max();
                prop_assert_eq!(Some(fired.latest.0), latest);
                prop_assert_eq!(fired.groundings.len(), fitting.len().min(3));
                prop_assert_eq!(Some(fired.groundings[0][0].step.0), latest, "the most recent comes first");
                for fact in fired.groundings.iter().flatten() {
                    prop_assert!(quads.contains(fact) && fact.step.0 < ceiling);
                }
            }
        }
    }
}

struct NoValidation;

impl Validation for NoValidation {
    fn steps(&self) -> u64 {
        0
    }

    fn play(&self, _: &mut dyn Forecaster) -> Result<ValidationReport, ModelError> {
        Err(ModelError::Unsupported("TLogic chooses nothing on validation".to_owned()))
    }
}

fn learn(quads: &[Quad], settings: &[String], seed: u64) -> Vec<Rule> {
    let mut model = build(settings);
    let index = index(quads);
    model.fit(&index.before(Step(STEPS)), &NoValidation, &Run::silent(seed)).expect("facts to learn from");
    let SavedModel { rules, .. } = model.save().expect("a fitted model");
    rules.expect("rules are saved")
}

/// Rule support and body support by head, body and constraints.
type Supports = BTreeMap<(u32, Vec<u32>, Vec<Vec<u8>>), (u32, u32)>;

/// Every rule that some walk could find, with its exact supports.
fn all_rules(quads: &[Quad], length: usize) -> Supports {
    let edges = edges(quads);
    let directed = 2 * RELATIONS as u32;
    let mut rules = BTreeMap::new();
    let bodies = (0..directed.pow(length as u32)).map(|number| -> Vec<DirectedRelation> {
        (0..length as u32).map(|i| DirectedRelation(number / directed.pow(i) % directed)).collect()
    });
    for body in bodies {
        let chains = chains(&edges, &body, None);
        for head in 0..directed {
            let follows = |(entities, steps): &(Vec<u32>, Vec<u32>)| {
                let end = steps[length - 1];
                let heads =
                    edges.iter().filter(|e| e.1.0 == head && e.0 == entities[0] && e.2 == entities[length]);
                heads.map(|e| e.3).any(|step| step > end)
            };
            // A walk does not go straight back over the fact that it came by.
            let walkable = |(entities, steps): &(Vec<u32>, Vec<u32>)| {
                (1..length).all(|i| {
                    !(steps[i] == steps[i - 1]
                        && entities[i + 1] == entities[i - 1]
                        && body[i] == body[i - 1].inverse(RELATIONS))
                })
            };
            let found: BTreeSet<Vec<Vec<u8>>> =
                chains.iter().filter(|c| follows(c) && walkable(c)).map(|c| groups_of(&c.0)).collect();
            for constraints in found {
                let fitting: Vec<_> = chains
                    .iter()
                    .filter(|c| constraints.is_empty() || groups_of(&c.0) == constraints)
                    .collect();
                let support = fitting.iter().filter(|c| follows(c)).count() as u32;
                let body: Vec<u32> = body.iter().map(|relation| relation.0).collect();
                rules.insert((head, body, constraints), (support, fitting.len() as u32));
            }
        }
    }
    rules
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// With enough walks and samples, learning finds exactly the rules that there are, with exact supports.
    #[test]
    fn enough_walks_find_every_rule_with_its_exact_confidence(
        facts in prop::collection::btree_set((0..4_u32, 0..RELATIONS as u32, 0..4_u32, 0..5_u32), 1..9),
        length in 1_usize..=3,
    ) {
        let quads: Vec<Quad> = facts.into_iter().map(|(s, r, o, t)| Quad::new(s, r, o, t)).collect();
        let settings = [
            format!("lengths=[{length}]"),
            "walks=20000".to_owned(),
            "body_samples=4000".to_owned(),
            "transition=uniform".to_owned(),
        ];
        let learned = learn(&quads, &settings, 1);
        let found: Supports = learned
            .into_iter()
            .map(|rule| {
                let body: Vec<u32> = rule.body.iter().map(|relation| relation.0).collect();
                ((rule.head.0, body, rule.constraints), (rule.rule_support, rule.body_support))
            })
            .collect();
        prop_assert_eq!(found, all_rules(&quads, length));
    }
}

#[test]
fn walks_prefer_recent_facts_by_the_exponential_of_the_time_between() {
    // Two bodies lead to the fact of relation 1, one time unit apart: relation 0 forwards, and before that backwards.
    let quads = [Quad::new(0, 1, 1, 4), Quad::new(0, 0, 1, 3), Quad::new(1, 0, 0, 2)];
    let body = |rule: &Rule| (rule.head.0, rule.body[0].0);
    // Over many seeds, the newer body is chosen with probability e / (1 + e).
    let newer = (0..2000)
        .filter(|&seed| {
            let settings = ["lengths=[1]".to_owned(), "walks=1".to_owned()];
            learn(&quads, &settings, seed).iter().any(|rule| body(rule) == (1, 0))
        })
        .count();
    let share = newer as f64 / 2000.0;
    let expected = 1.0 / (1.0 + (-1.0_f64).exp());
    assert!((share - expected).abs() < 0.04, "{share} against {expected}");
}

/// A query that no rule answers ties everyone, or, if asked to, goes by how often each entity answered the relation.
#[test]
fn a_query_without_candidates_falls_back_only_if_asked_to() {
    let quads = [Quad::new(0, 0, 1, 0), Quad::new(2, 0, 1, 1), Quad::new(3, 0, 4, 2), Quad::new(0, 1, 4, 2)];
    let index = index(&quads);
    let query =
        Query { step: Step(3), known: EntityId(3), relation: RelationId(0), direction: Direction::Object };
    let scores = |fallback: &str, ceiling: u32| {
        let mut model = build(&[format!("fallback={fallback}")]);
        // The counts follow the history step by step.
        for step in 1..=ceiling {
            model.begin(Step(step), &index.before(Step(step))).expect("known relations");
        }
        let mut row = Collected::new(ENTITIES as usize).sparse();
        model.score(&index.before(Step(ceiling)), &[query], &mut row).expect("a model without rules");
        row.into_rows().remove(0)
    };
    assert_eq!(scores("none", 3), [f64::NEG_INFINITY; 5]);
    assert_eq!(scores("popularity", 3), [0.0, 2.0 / 3.0, 0.0, 0.0, 1.0 / 3.0]);
    assert_eq!(scores("popularity", 2), [0.0, 1.0, 0.0, 0.0, 0.0], "the third step is not known yet");
}
