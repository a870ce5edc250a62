//! Tables that are learned by counting, on training facts only.
//!
//! How often did an entity in relation `b` to the known one become an answer of `q`, by the age and the number of such facts? How
//! often does an answer of `q` repeat? Which roles had the answers of `q` before?

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::chains::{Chain, follow};
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
    let number = match cell.n {
        0 | 1 => 0,
        2..=4 => 1,
        _ => 2,
    };
    age_bin(cell.age(time)) * NUMBERS + number
}

/// The bin of an age, which is at least 1.
#[inline]
pub(super) fn age_bin(age: u32) -> usize {
    match age {
        0..=3 => age.saturating_sub(1) as usize,
        4..=5 => 3,
        6..=8 => 4,
        9..=16 => 5,
        17..=32 => 6,
        33..=64 => 7,
        65..=128 => 8,
        _ => 9,
    }
}

/// Counts of one rule: bodies and how many of them were followed by the head, by bin.
#[derive(Clone, Copy)]
struct Tally {
    bodies: [u32; BINS],
    heads: [u32; BINS],
}

impl Tally {
    const EMPTY: Self = Self { bodies: [0; BINS], heads: [0; BINS] };
}

/// Counts of all rules that predict one relation, and of its answers.
#[derive(Clone, Default)]
struct HeadTally {
    rules: FxHashMap<u32, Box<Tally>>,
    /// Rules with two facts, in order, and their counts.
    chains: Vec<Chain>,
    chain_tallies: Vec<Tally>,
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
    /// Nothing is counted yet. `chains` are the rules with two facts to count, in order.
    pub fn new(relations: usize, chains: &[Chain]) -> Self {
        let head = HeadTally { roles: vec![0.0; relations], ..HeadTally::default() };
        let mut heads = vec![head; relations];
        for group in chains.chunk_by(|a, b| a.head == b.head) {
            let head = &mut heads[group[0].head as usize];
            head.chains = group.to_vec();
            head.chain_tallies = vec![Tally::EMPTY; group.len()];
        }
        Self { heads }
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
            chains: Chains::default(),
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
        let chains: Vec<Chain> = self.heads.iter().flat_map(|head| head.chains.iter().copied()).collect();
        tables.chains = Chains::new(chains, relations, tables.supports.len());
        for tally in self.heads.iter().flat_map(|head| &head.chain_tallies) {
            tables.push(tally);
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
                let tally = self.rules.entry(link.relation).or_insert_with(|| Box::new(Tally::EMPTY));
                let bin = bin(&link.cell, moment.time);
                tally.bodies[bin] += 1;
                tally.heads[bin] += follows;
                self.repeated += u64::from(follows) * u64::from(link.relation == asked.relation);
            }
        }
        let tallies = &mut self.chain_tallies;
        follow(&self.chains, counts, moment, asked.known, |place, [_, answer], bin| {
            tallies[place].bodies[bin] += 1;
            tallies[place].heads[bin] += u32::from(asked.golds.binary_search(&answer).is_ok());
        });
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

/// The rules with two facts. Their confidences and supports stand behind those of the rules with one.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Chains {
    /// In order.
    pub all: Vec<Chain>,
    /// By head: the first of its chains, and at the end their number.
    starts: Vec<u32>,
    /// Place of the first chain among all rules.
    pub first_place: usize,
}

impl Chains {
    /// Chains in order, whose places begin at `first_place`.
    pub fn new(all: Vec<Chain>, relations: usize, first_place: usize) -> Self {
        let starts = (0..=relations as u32)
            .map(|head| all.partition_point(|chain| chain.head < head) as u32)
            .collect();
        Self { all, starts, first_place }
    }

    /// The chains that predict a relation, and the place of the first.
    #[inline]
    pub fn of(&self, head: u32) -> (&[Chain], u32) {
        let Some(&[start, end]) = self.starts.get(head as usize..).and_then(|starts| starts.first_chunk())
        else {
            return (&[], 0);
        };
        (&self.all[start as usize..end as usize], self.first_place as u32 + start)
    }
}

/// What was learned by counting.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Tables {
    pub relations: usize,
    /// Place of the rule `b → q` at `q·relations + b`.
    pub places: Vec<u32>,
    pub chains: Chains,
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
