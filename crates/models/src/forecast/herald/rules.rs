//! Tables that are learned by counting, on training facts only.
//!
//! How often did an entity in relation `b` to the known one become an answer of `q`, by the age and the number of such facts? How
//! often does an answer of `q` repeat? Which roles had the answers of `q` before?

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::counts::{Cell, Counts};
use super::moment::Moment;

/// Bins of ages and of numbers of facts.
pub(super) const AGES: usize = 10;
pub(super) const NUMBERS: usize = 3;
pub(super) const BINS: usize = AGES * NUMBERS;
/// Weight of the confidence over all bins in that of a bin, and of 0 in the confidence over all bins.
const BIN_PRIOR: f32 = 10.0;
const RULE_PRIOR: f32 = 30.0;
/// Weight of the roles of all answers in those of one relation.
const ROLE_PRIOR: f32 = 5.0;
/// What keeps log-odds finite.
const ODDS_FLOOR: f32 = 1e-3;
/// Place of a rule that was never counted.
const NEVER: u32 = u32::MAX;

/// The bin of facts of this age and number.
#[inline]
pub(super) fn bin(cell: &Cell, time: u32) -> usize {
    let age = match cell.age(time) {
        age @ 1..=3 => age as usize - 1,
        4..=5 => 3,
        6..=8 => 4,
        9..=16 => 5,
        17..=32 => 6,
        33..=64 => 7,
        65..=128 => 8,
        _ => 9,
    };
    let number = match cell.n {
        0 | 1 => 0,
        2..=4 => 1,
        _ => 2,
    };
    age * NUMBERS + number
}

/// Counts of one rule: bodies and how many of them were followed by the head, by bin.
#[derive(Clone, Copy)]
struct Tally {
    bodies: [u32; BINS],
    heads: [u32; BINS],
}

/// Counts of all rules that predict one relation, and of its answers.
#[derive(Clone, Default)]
struct HeadTally {
    rules: FxHashMap<u32, Box<Tally>>,
    answers: u64,
    repeated: u64,
    roles: Vec<f32>,
}

/// A distinct question of a training step, with all its answers.
pub(super) struct Asked {
    pub known: u32,
    pub relation: u32,
    pub golds: Vec<u32>,
}

/// Counts rules while training facts are played in time order.
#[derive(Clone)]
pub(super) struct RuleCounter {
    heads: Vec<HeadTally>,
}

impl RuleCounter {
    pub fn new(relations: usize) -> Self {
        let head = HeadTally { roles: vec![0.0; relations], ..HeadTally::default() };
        Self { heads: vec![head; relations] }
    }

    /// Counts the questions of one step, in order of relations. Heads are counted in parallel: each has its own table.
    pub fn add(&mut self, asked: &[Asked], counts: &Counts, moment: &Moment) {
        let groups: Vec<&[Asked]> = asked.chunk_by(|a, b| a.relation == b.relation).collect();
        let mut heads: Vec<(&mut HeadTally, &[Asked])> = Vec::new();
        let mut rest = &mut self.heads[..];
        let mut passed = 0;
        for group in groups {
            let (before, after) = rest.split_at_mut(group[0].relation as usize - passed + 1);
            passed += before.len();
            heads.extend(before.last_mut().map(|head| (head, group)));
            rest = after;
        }
        heads.into_par_iter().for_each(|(head, group)| {
            for asked in group {
                head.add(asked, counts, moment);
            }
        });
    }

    /// The tables so far.
    pub fn finish(&self) -> Tables {
        let relations = self.heads.len();
        let mut tables = Tables {
            relations,
            places: vec![NEVER; relations * relations],
            confidences: Vec::new(),
            bodies: Vec::new(),
            log_odds: Vec::new(),
            supports: Vec::new(),
            recurrence: Vec::with_capacity(relations),
            role_odds: vec![0.0; relations * relations],
        };
        let total: f64 = self.heads.iter().map(|head| head.answers as f64).sum();
        let of_all = |b: usize| {
            let sum: f64 = self.heads.iter().map(|head| f64::from(head.roles[b])).sum();
            (sum / total.max(1.0)) as f32
        };
        let background: Vec<f32> = (0..relations).map(of_all).collect();
        for (q, head) in self.heads.iter().enumerate() {
            tables.recurrence.push(head.repeated as f32 / (head.answers as f32 + 1.0));
            for (b, &all) in background.iter().enumerate() {
                let own = (head.roles[b] + ROLE_PRIOR * all) / (head.answers as f32 + ROLE_PRIOR);
                tables.role_odds[q * relations + b] = if all > 0.0 { (own / all).ln() } else { 0.0 };
            }
            let mut bodies: Vec<(&u32, &Box<Tally>)> = head.rules.iter().collect();
            bodies.sort_unstable_by_key(|(body, _)| **body);
            for (&body, tally) in bodies {
                tables.places[q * relations + body as usize] = tables.supports.len() as u32;
                tables.push(tally);
            }
        }
        tables.with_log_odds()
    }
}

impl HeadTally {
    fn add(&mut self, asked: &Asked, counts: &Counts, moment: &Moment) {
        let entity = &counts.entities[asked.known as usize];
        for partner in &entity.partners {
            let follows = u32::from(asked.golds.binary_search(&partner.other).is_ok());
            for (_, link) in entity.links_of_partner(partner) {
                let tally = self
                    .rules
                    .entry(link.relation)
                    .or_insert_with(|| Box::new(Tally { bodies: [0; BINS], heads: [0; BINS] }));
                let bin = bin(&link.cell, moment.time);
                tally.bodies[bin] += 1;
                tally.heads[bin] += follows;
                self.repeated += u64::from(follows) * u64::from(link.relation == asked.relation);
            }
        }
        self.answers += asked.golds.len() as u64;
        for &gold in &asked.golds {
            for &(role, weight) in &moment.profile(counts, gold).roles {
                self.roles[role as usize] += weight;
            }
        }
    }
}

/// Confidence of a rule over all bins, of its heads and bodies: low if bodies are few.
pub(super) fn overall_confidence([heads, bodies]: [f32; 2]) -> f32 {
    heads / (bodies + RULE_PRIOR)
}

/// What was learned by counting.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Tables {
    pub relations: usize,
    /// Place of the rule `b → q` at `q·relations + b`.
    pub places: Vec<u32>,
    /// By rule: confidence by bin.
    pub confidences: Vec<f32>,
    /// By rule: number of bodies by bin.
    pub bodies: Vec<u32>,
    /// By rule: log-odds of the confidences above those of no evidence.
    pub log_odds: Vec<f32>,
    /// By rule: heads and bodies.
    pub supports: Vec<[f32; 2]>,
    /// By relation: share of answers that were given before.
    pub recurrence: Vec<f32>,
    /// `ln(p(role | answers q) / p(role))` at `q·relations + role`.
    pub role_odds: Vec<f32>,
}

impl Tables {
    fn push(&mut self, tally: &Tally) {
        let heads: u32 = tally.heads.iter().sum();
        let bodies: u32 = tally.bodies.iter().sum();
        let overall = overall_confidence([heads as f32, bodies as f32]);
        self.supports.push([heads as f32, bodies as f32]);
        self.bodies.extend_from_slice(&tally.bodies);
        for (&heads, &bodies) in tally.heads.iter().zip(&tally.bodies) {
            self.confidences.push((heads as f32 + BIN_PRIOR * overall) / (bodies as f32 + BIN_PRIOR));
        }
    }

    /// Derives the log-odds, which every link of a query needs.
    pub fn with_log_odds(mut self) -> Self {
        let odds = |c: f32| (c + ODDS_FLOOR) / (1.0 - c + ODDS_FLOOR);
        self.log_odds = self.confidences.iter().map(|&c| (odds(c) / odds(0.0)).ln()).collect();
        self
    }

    /// The rules that predict a relation: places by body.
    #[inline]
    pub fn rules_of(&self, head: u32) -> &[u32] {
        &self.places[head as usize * self.relations..][..self.relations]
    }

    /// Confidence of a rule, given its place and the bin of its facts.
    #[inline]
    pub fn confidence(&self, place: u32, bin: usize) -> f32 {
        if place == NEVER { 0.0 } else { self.confidences[place as usize * BINS + bin] }
    }

    /// Confidence and log-odds of a rule.
    #[inline]
    pub fn evidence(&self, place: u32, bin: usize) -> (f32, f32) {
        let place = place as usize * BINS + bin;
        self.confidences.get(place).map_or((0.0, 0.0), |&confidence| (confidence, self.log_odds[place]))
    }

    /// By role: its odds among the answers of a relation.
    #[inline]
    pub fn role_odds_of(&self, head: u32) -> &[f32] {
        &self.role_odds[head as usize * self.relations..][..self.relations]
    }
}
