//! Every count, rule and feature against a slow reading that recounts it from the raw facts, and the gradient against differences.

use quadcast_core::{Calendar, Facts, History, HistoryIndex, Quad, Query, Run, Step, TimeAxis, stream};
use rand::Rng;

use super::chains::{Chain, chain_bin};
use super::counts::{HALF_LIVES, NONE, time_of};
use super::evidence::Path;
use super::features::{FEATURES, STARTS};
use super::network::{Layers, Weights};
use super::rules::bin;
use super::training::{Trainer, questions};
use super::*;
use crate::training::Learning;

const ENTITIES: u32 = 9;
const RELATIONS: u32 = 3;
/// Times with gaps: distances on the axis are not differences of steps.
const TIMES: [i64; 10] = [0, 1, 2, 4, 5, 9, 10, 11, 20, 21];

fn facts(seed: u64) -> Vec<Quad> {
    let mut random = stream(seed, "herald world", 0);
    let mut below = |n: u32| random.random_range(0..n);
    let steps = (0..TIMES.len() as u32).flat_map(|step| std::iter::repeat_n(step, 14));
    steps.map(|step| Quad::new(below(ENTITIES), below(RELATIONS), below(ENTITIES), step)).collect()
}

fn index(facts: &[Quad]) -> HistoryIndex {
    let axis = TimeAxis::new(TIMES.to_vec(), Calendar::UNKNOWN);
    HistoryIndex::new(
        &axis,
        ENTITIES as usize,
        RELATIONS as usize,
        &[&Facts::new(facts.to_vec(), TIMES.len())],
    )
}

fn config() -> Config {
    Config { hidden: 4, epochs: 1, ..Config::default() }
}

/// A model with rules counted on the whole history and random weights.
fn model(history: &History<'_>, config: Config) -> Herald {
    let mut herald = Herald::new(config).expect("a valid configuration");
    Trainer::new(&mut herald, history, 1, &Run::silent(3)).expect("facts to learn from");
    let mut random = stream(5, "herald test weights", 0);
    let learned = herald.learned.as_mut().expect("what was just counted");
    learned.weights.values.iter_mut().for_each(|value| *value = random.random_range(-0.5..0.5));
    herald
}

/// Subject, relation, object, time.
type Fact = (u32, u32, u32, u32);

/// Directed facts before a step, each once, with their time.
fn read(history: &History<'_>, step: Step) -> Vec<Fact> {
    let mut read = Vec::new();
    for snapshot in history.snapshots_from(Step(0)).filter(|snapshot| snapshot.step < step) {
        let mut facts: Vec<Quad> = snapshot.iter().collect();
        facts.dedup();
        for fact in facts {
            let time = time_of(history, fact.step);
            read.push((fact.subject.0, fact.relation.0, fact.object.0, time));
            read.push((fact.object.0, fact.relation.0 + RELATIONS, fact.subject.0, time));
        }
    }
    read
}

/// Number, last and previous time, and fading counts, of some facts.
struct Slow {
    n: usize,
    last: u32,
    previous: Option<u32>,
    faded: Vec<f64>,
}

fn slow(times: &[u32], now: u32) -> Slow {
    let mut distinct = times.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let left = |h: f64| times.iter().map(|&time| (-f64::from(now - time) / h).exp2()).sum();
    Slow {
        n: times.len(),
        last: distinct.last().copied().unwrap_or(0),
        previous: distinct.len().checked_sub(2).map(|place| distinct[place]),
        faded: HALF_LIVES.iter().map(|&h| left(h)).collect(),
    }
}

fn close(a: f32, b: f64, what: &str) {
    assert!((f64::from(a) - b).abs() < 1e-4 * b.abs().max(1.0), "{what}: {a} instead of {b}");
}

/// The first nine features of a cell.
fn check_cell(row: &[f32], slow: &Slow, now: u32, what: &str) {
    let age = f64::from(now - slow.last);
    let expected = [1.0, (slow.n as f64).ln_1p(), 0.2 * age.ln(), 1.0 / age];
    let fading = slow.faded.iter().map(|x| x.ln_1p());
    for (i, expected) in expected.into_iter().chain(fading).enumerate() {
        close(row[i], expected, &format!("{what} {i}"));
    }
}

fn check_row(known: u32, q: u32, id: u32, read: &[Fact], now: u32, row: &[f32]) {
    let times = |keep: &dyn Fn(&Fact) -> bool| -> Vec<u32> {
        read.iter().filter(|fact| keep(fact)).map(|fact| fact.3).collect()
    };
    let count = |keep: &dyn Fn(&Fact) -> bool| slow(&times(keep), now);
    let (same, asked) = (count(&|f| (f.0, f.1, f.2) == (known, q, id)), count(&|f| (f.0, f.1) == (known, q)));
    let (pair, own) = (count(&|f| (f.0, f.2) == (known, id)), count(&|f| f.0 == known));
    let (prior, all) = (count(&|f| (f.1, f.2) == (q, id)), count(&|f| f.1 == q));
    let activity = count(&|f| f.0 == id);
    let (s, p, o) = (&row[STARTS[0]..], &row[STARTS[1]..], &row[STARTS[2]..]);
    if same.n > 0 {
        check_cell(s, &same, now, "same fact");
        close(s[9], same.n as f64 / asked.n as f64, "share of answers");
        for h in 1..5 {
            close(s[9 + h], same.faded[h] / asked.faded[h], "fading share of answers");
        }
        assert_eq!(s[14], f32::from(u8::from(same.last == asked.last)), "most recent answer");
        let fit = same.previous.map_or(0.0, |before| {
            (-(f64::from(now - same.last) / f64::from(same.last - before)).ln().abs()).exp()
        });
        close(s[15], fit, "period");
    } else {
        assert!(s[..16].iter().all(|&x| x == 0.0), "nothing of the same fact");
    }
    if pair.n > 0 {
        check_cell(p, &pair, now, "same pair");
        for h in 1..5 {
            close(p[8 + h], pair.faded[h] / own.faded[h], "share of the pair");
        }
        let inverse = if q < RELATIONS { q + RELATIONS } else { q - RELATIONS };
        let back = count(&|f| (f.0, f.1, f.2) == (known, inverse, id));
        close(p[15], back.faded[1].ln_1p(), "inverse relation");
    } else {
        assert!(p[..18].iter().all(|&x| x == 0.0), "nothing of the pair");
    }
    for h in 1..4 {
        close(o[h - 1], 0.2 * (prior.faded[h] / all.faded[h].max(1e-30) / 1e-4).ln_1p(), "popularity");
        close(o[4 + h], 0.5 * activity.faded[h].ln_1p(), "activity");
    }
    close(o[3], 0.2 * (prior.n as f64 / (all.n as f64).max(1.0) / 1e-4).ln_1p(), "popularity at all times");
}

#[test]
fn features_are_what_a_slow_reading_counts() {
    for seed in 0..4 {
        let (index, step) = (index(&facts(seed)), Step(8));
        let history = index.before(step);
        let mut herald = model(&history, config());
        herald.begin(step, &history).expect("a model with rules");
        let (now, read) = (time_of(&history, step), read(&history, step));
        herald.with_worker(|worker| {
            for (known, q) in (0..ENTITIES).flat_map(|known| (0..2 * RELATIONS).map(move |q| (known, q))) {
                herald.prepare(known, q, worker).expect("a model with rules");
                for (i, &place) in worker.evidence.candidates.iter().enumerate() {
                    let id = worker.evidence.found[place as usize].id;
                    check_row(known, q, id, &read, now, &worker.rows[i * FEATURES..][..FEATURES]);
                }
            }
        });
    }
}

#[test]
fn rules_are_what_a_slow_reading_counts() {
    let index = index(&facts(7));
    let history = index.whole();
    let herald = model(&history, config());
    let tables = &herald.learned.as_ref().expect("rules").tables;
    let (mut heads, mut bodies) = (vec![0; 36], vec![0; 36]);
    for step in (0..TIMES.len() as u32).map(Step) {
        let read = read(&history, step);
        for asked in questions(&history, step).expect("a past step") {
            let mut triples: Vec<(u32, u32)> =
                read.iter().filter(|f| f.0 == asked.known).map(|f| (f.1, f.2)).collect();
            triples.sort_unstable();
            triples.dedup();
            for (b, other) in triples {
                let place = (asked.relation * 2 * RELATIONS + b) as usize;
                bodies[place] += 1;
                heads[place] += i32::from(asked.golds.contains(&other));
            }
        }
    }
    for (place, (&heads, &bodies)) in heads.iter().zip(&bodies).enumerate() {
        let rule = tables.places[place];
        let found = if rule == NONE { [0.0, 0.0] } else { tables.supports[rule as usize] };
        assert_eq!(found, [heads as f32, bodies as f32], "rule {place}");
    }
}

#[test]
fn rule_evidence_and_paths_are_what_a_slow_reading_finds() {
    let (index, step) = (index(&facts(2)), Step(9));
    let history = index.before(step);
    let mut herald = model(&history, config());
    herald.begin(step, &history).expect("a model with rules");
    let (now, read) = (time_of(&history, step), read(&history, step));
    // (a₁₆ + ½a₆₄ + 0.1a₂₅₆) / (1 + total), as all partners are neighbours here.
    let weight = |from: u32, to: u32| {
        let times: Vec<u32> = read.iter().filter(|f| (f.0, f.2) == (from, to)).map(|f| f.3).collect();
        let faded = slow(&times, now).faded;
        faded[2] + 0.5 * faded[3] + 0.1 * faded[4]
    };
    let share = |from: u32, to: u32| {
        weight(from, to) / (1.0 + (0..ENTITIES).map(|other| weight(from, other)).sum::<f64>())
    };
    herald.with_worker(|worker| {
        for known in 0..ENTITIES {
            herald.prepare(known, 1, worker).expect("a model with rules");
            let ask = herald.ask(known, 1).expect("a model with rules");
            let entity = ask.entity();
            for found in &worker.evidence.found {
                let two_hop: f64 = (0..ENTITIES).map(|c| share(known, c) * share(c, found.id)).sum();
                let expected = if found.id == known { 0.0 } else { two_hop };
                close(found.paths[Path::TwoHop as usize], expected, "two hops");
                let Some(partner) = entity.partners.get(found.partner as usize) else { continue };
                let mut confidences: Vec<f64> = entity
                    .links_of_partner(partner)
                    .map(|(_, link)| {
                        let rule = ask.tables.rules_of(1)[link.relation as usize];
                        f64::from(ask.tables.confidence(rule, bin(&link.cell, now)))
                    })
                    .collect();
                confidences.sort_by(|a, b| b.total_cmp(a));
                close(found.rules.sum, confidences.iter().sum(), "sum of rules");
                let damped = (0..).zip(&confidences).take(6).map(|(i, c)| 1.0 - 0.8_f64.powi(i) * c);
                close(found.rules.noisy_or, 1.0 - damped.product::<f64>(), "noisy-or");
            }
        }
    });
}

/// Answers of a rule with two facts, each with the bin of its body; few enough entities that all facts are among the latest.
fn slow_bodies(read: &[Fact], now: u32, known: u32, chain: &Chain) -> Vec<(u32, usize)> {
    let age = |fact: (u32, u32, u32)| {
        read.iter().filter(|f| (f.0, f.1, f.2) == fact).map(|f| (now - f.3).max(1)).min()
    };
    let mut bodies = Vec::new();
    for middle in (0..ENTITIES).filter(|&middle| middle != known) {
        let Some(first) = age((known, chain.first, middle)) else { continue };
        for answer in (0..ENTITIES).filter(|answer| ![known, middle].contains(answer)) {
            let second = age((middle, chain.second, answer));
            bodies.extend(second.map(|second| (answer, chain_bin(first, second))));
        }
    }
    bodies
}

#[test]
fn rules_with_two_facts_are_what_a_slow_reading_counts() {
    let index = index(&facts(7));
    let whole = index.whole();
    let mut herald = model(&whole, config());
    let tables = herald.learned.as_ref().expect("rules").tables.clone();
    let chains = tables.chains.all.clone();
    assert!(chains.len() > 10, "{} chains", chains.len());
    let mut supports = vec![[0.0, 0.0]; chains.len()];
    for step in (0..TIMES.len() as u32).map(Step) {
        let (now, read) = (time_of(&whole, step), read(&whole, step));
        for asked in questions(&whole, step).expect("a past step") {
            let own = chains.iter().zip(&mut supports).filter(|(chain, _)| chain.head == asked.relation);
            for (chain, [heads, bodies]) in own {
                for (answer, _) in slow_bodies(&read, now, asked.known, chain) {
                    *bodies += 1.0;
                    *heads += f32::from(u8::from(asked.golds.contains(&answer)));
                }
            }
        }
    }
    assert_eq!(tables.supports[tables.chains.first_place..], supports);
    assert!(supports.iter().any(|[heads, _]| *heads > 0.0));

    let step = Step(9);
    let history = index.before(step);
    herald.begin(step, &history).expect("a model with rules");
    let (now, read) = (time_of(&history, step), read(&history, step));
    herald.with_worker(|worker| {
        for (known, q) in (0..ENTITIES).flat_map(|known| (0..2 * RELATIONS).map(move |q| (known, q))) {
            herald.prepare(known, q, worker).expect("a model with rules");
            for found in &worker.evidence.found {
                let mut confidences: Vec<f32> = Vec::new();
                for (place, chain) in (tables.chains.first_place..).zip(&chains) {
                    let own = slow_bodies(&read, now, known, chain).into_iter();
                    let own = own.filter(|(answer, _)| chain.head == q && *answer == found.id);
                    confidences.extend(own.map(|(_, bin)| tables.confidence(place as u32, bin)));
                }
                let missed: f64 = confidences.iter().map(|c| 1.0 - f64::from(*c)).product();
                let sum: f32 = confidences.iter().sum();
                close(found.chains.sum, f64::from(sum), "sum of rules with two facts");
                close(found.chains.noisy_or, 1.0 - missed, "noisy-or of rules with two facts");
                assert_eq!(found.chains.largest, confidences.iter().copied().fold(0.0, f32::max));
            }
        }
    });
}

#[test]
fn later_facts_move_no_feature() {
    let whole = facts(4);
    let cut: Vec<Quad> = whole.iter().copied().filter(|fact| fact.step < Step(6)).collect();
    let rows = |facts: &[Quad]| {
        let index = index(facts);
        let mut herald = model(&index.before(Step(5)), config());
        herald.begin(Step(6), &index.before(Step(6))).expect("a model with rules");
        herald.with_worker(|worker| {
            let ask = |known: u32, worker: &mut Worker| {
                herald.prepare(known, 0, worker).expect("a model with rules");
                worker.rows.clone()
            };
            (0..ENTITIES).map(|known| ask(known, worker)).collect::<Vec<_>>()
        })
    };
    assert_eq!(rows(&whole), rows(&cut));
}

#[test]
fn the_gradient_is_that_of_the_loss() {
    let mut random = stream(1, "herald gradient", 0);
    let rows: Vec<f32> = (0..5 * FEATURES).map(|_| random.random_range(-1.0..1.0)).collect();
    let is_gold = [false, true, false, true, false];
    for hidden in [[6, 3], [0, 0]] {
        let mut weights = Weights::new(hidden, 2, 9);
        weights.values.iter_mut().for_each(|value| *value = random.random_range(-0.3..0.3));
        let loss = |weights: &Weights| {
            let mut layers = Layers::default();
            layers.forward(weights, 1, &rows);
            layers.loss(&is_gold).0
        };
        let mut layers = Layers::default();
        layers.forward(&weights, 1, &rows);
        layers.loss(&is_gold);
        let (mut shared, mut own) = (vec![0.0; weights.shared()], vec![0.0; FEATURES]);
        layers.backward(&weights, &rows, &mut shared, &mut own);
        let from = weights.of_relation(1).start;
        let analytic = (0..shared.len()).map(|i| (i, shared[i])).chain((from..).zip(own.iter().copied()));
        for (i, gradient) in analytic {
            let at = |change: f32| {
                let mut moved = weights.clone();
                moved.values[i] += change;
                loss(&moved)
            };
            let numeric = (at(1e-3) - at(-1e-3)) / 2e-3;
            assert!(
                (numeric - f64::from(gradient)).abs() < 2e-2,
                "weight {i}: {gradient} instead of {numeric}"
            );
        }
    }
}

#[test]
fn shares_add_up_to_the_score() {
    let (index, step) = (index(&facts(3)), Step(9));
    let history = index.before(step);
    for form in [Form::Full, Form::Additive] {
        let mut herald = model(&history, Config { form, ..config() });
        herald.begin(step, &history).expect("a model with rules");
        for (known, relation) in (0..ENTITIES).flat_map(|known| [(known, 0), (known, 2)]) {
            let (query, _) =
                Query::hide(Quad::new(known, relation, 0, step.0), quadcast_core::Direction::Object);
            for answer in (0..ENTITIES).map(EntityId) {
                let why = herald.explain(&history, &query, answer).expect("a model").expect("a reason");
                let parts =
                    why.evidence.iter().map(|e| e.weight).chain(why.also.iter().map(|part| part.weight));
                let sum: f64 = parts.sum();
                assert!((sum - why.score).abs() < 1e-6 * why.score.abs().max(1.0), "{sum} {}", why.score);
                let shares: f64 = why.rules.iter().map(|rule| rule.share).sum();
                assert!(why.rules.is_empty() || (shares - 1.0).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn names_have_a_country_and_a_sector() {
    let names = ["Police (Peru)", "Citizen (Chile)", "Peru", "Police (Chile)", "Barack Obama"];
    let names = quadcast_core::Names::new(names.map(|name| Some(name.to_owned())).to_vec(), None);
    let [countries, sectors] = Labels::new(Some(&names), 5).kinds;
    assert_eq!((countries.of[0], countries.of[1]), (countries.of[2], countries.of[3]));
    assert_eq!(sectors.of[0], sectors.of[3]);
    assert_eq!((countries.of[4], sectors.of[2]), (NONE, NONE));
}

#[test]
fn rules_are_listed_with_their_curves() {
    let index = index(&facts(7));
    let herald = model(&index.whole(), config());
    let listed = herald.listed_rules().expect("a model with rules");
    let supports = &herald.learned.as_ref().expect("rules").tables.supports;
    assert_eq!(listed.len(), supports.iter().filter(|[heads, _]| *heads > 0.0).count());
    for ListedRule { rule, curve } in &listed {
        let curve = curve.as_ref().expect("a curve");
        let points = || curve.by_age.iter().flat_map(|age| &age.by_number);
        let bodies: u32 = curve.by_age.iter().map(|age| age.all.body_support).sum();
        assert_eq!(bodies, rule.body_support, "{rule:?}");
        let by_number: u32 = points().map(|point| point.body_support).sum();
        assert_eq!(by_number, if rule.body.len() == 1 { bodies } else { 0 }, "{rule:?}");
        assert!(curve.by_age.iter().all(|age| age.all.confidence.is_some() == (age.all.body_support > 0)));
        assert!(points().filter_map(|point| point.confidence).all(|c| (0.0..=1.0).contains(&c)));
    }
    let mut loaded = Herald::new(Config::default()).expect("a valid configuration");
    loaded.load(&herald.save().expect("a model")).expect("its own state");
    assert_eq!(loaded.listed_rules().expect("a model with rules"), listed);
}

/// Rules are brought up to date every few batches. A training that goes on between two such places uses those of the last one.
#[test]
fn a_training_goes_on_where_it_was() {
    const STEPS: u32 = 140;
    let mut random = stream(1, "herald long world", 0);
    let mut below = |n: u32| random.random_range(0..n);
    let steps = (0..STEPS).flat_map(|step| std::iter::repeat_n(step, 5));
    let quads: Vec<Quad> =
        steps.map(|step| Quad::new(below(ENTITIES), below(RELATIONS), below(ENTITIES), step)).collect();
    let axis = TimeAxis::new((0..i64::from(STEPS)).collect(), Calendar::UNKNOWN);
    let facts = Facts::new(quads, STEPS as usize);
    let index = HistoryIndex::new(&axis, ENTITIES as usize, RELATIONS as usize, &[&facts]);
    let (history, run) = (index.whole(), Run::silent(3));
    let new = || Herald::new(config()).expect("a valid configuration");
    let (mut whole, mut resumed) = (new(), new());
    let mut training = Trainer::new(&mut whole, &history, 1, &run).expect("facts to learn from");
    let (batches, mut states) = (training.batches(), Vec::new());
    assert!(batches > 50, "rules are not refreshed at each batch");
    for batch in 0..batches {
        states.push(training.state().expect("a state"));
        training.step(1, batch).expect("facts to learn from");
    }
    let last = training.state().expect("a state");
    for from in [1, batches / 2, batches / 2 + 1, batches - 1] {
        let mut training = Trainer::new(&mut resumed, &history, 1, &run).expect("facts to learn from");
        training.restore(&states[from]).expect("its own state");
        for batch in from..batches {
            training.step(1, batch).expect("facts to learn from");
        }
        assert!(training.state().expect("a state") == last, "interrupted before batch {from}");
    }
}

/// Nothing is rehearsed.
struct NoRehearsal;

impl Rehearsal for NoRehearsal {
    fn play(&self, _: Step, _: &mut dyn Forecaster) -> Result<quadcast_core::LinkScore, ModelError> {
        Ok(quadcast_core::LinkScore::default())
    }
}

/// Scores of some queries about the last steps, which are played one by one.
fn played(herald: &mut Herald, index: &HistoryIndex, online: bool) -> Vec<Vec<f64>> {
    let mut played = Vec::new();
    for step in (6..TIMES.len() as u32).map(Step) {
        let history = index.before(step);
        if online {
            herald.learn(step, &history, &NoRehearsal).expect("a model with rules");
        }
        herald.begin(step, &history).expect("a model with rules");
        herald.with_worker(|worker| {
            for known in 0..ENTITIES {
                herald.score_candidates(known, 1, worker).expect("a model with rules");
                played.push(worker.scores.clone());
            }
        });
    }
    played
}

#[test]
fn weights_that_learn_online_start_from_the_fitted_ones() {
    let index = index(&facts(6));
    let fitted = |online_weights| model(&index.before(Step(5)), Config { online_weights, ..config() });
    let mut still = fitted(false);
    let single_step = played(&mut still, &index, false);
    assert_eq!(played(&mut still, &index, true), single_step, "without the option, online is single-step");

    let mut learning = fitted(true);
    let saved = learning.save().expect("a model");
    let online = played(&mut learning, &index, true);
    assert_ne!(online, single_step);
    assert_eq!(played(&mut learning, &index, true), online, "a new evaluation starts again");
    assert_eq!(played(&mut learning, &index, false), single_step, "what was learned belongs to its step");
    assert!(learning.save().expect("a model") == saved, "nothing of it is saved");
    let mut loaded = Herald::new(Config::default()).expect("a valid configuration");
    loaded.load(&saved).expect("its own state");
    assert_eq!(played(&mut loaded, &index, true), online);
}
