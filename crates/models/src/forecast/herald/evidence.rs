//! Everything that speaks for an answer of one query, and the candidates that are chosen by it.

use super::chains::follow;
use super::counts::{Counts, Entity, NONE};
use super::moment::{Moment, Weighted, keep_best};
use super::rules::{Tables, bin};

/// Evidence that travels over other entities.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Path {
    /// Partners of partners.
    TwoHop,
    /// Answers of those who have an answer in common.
    Collaborative,
    /// Answers that partners get to the same relation.
    PartnersAnswers,
    /// Recent partners of recent partners.
    Triadic,
    /// Answers that similar subjects get to the same relation.
    SimilarSubjects,
    /// Partners of past answers.
    NearAnswers,
    /// Partners of partners of past answers.
    FarAnswers,
}

pub(super) const PATHS: usize = 7;

/// How many candidates each source has; those of paths in their order.
const BY_RULES: usize = 200;
const BY_CHAINS: usize = 60;
const BY_PATH: [usize; PATHS] = [80, 80, 50, 30, 50, 50, 50];
/// How far paths fan out.
const HOP: usize = 12;
const ANSWER_HOP: usize = 8;
const SIMILAR: usize = 20;
/// Rules that a noisy-or takes, and what the i-th counts.
const RULES_TAKEN: usize = 6;
const DAMPING: f32 = 0.8;

/// What the rules say about one candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RuleEvidence {
    pub largest: f32,
    pub sum: f32,
    /// Sum of log-odds above those of no evidence.
    pub log_odds: f32,
    pub noisy_or: f32,
}

/// What rules with two facts say about one candidate. Bodies are evidence one by one, also those of one rule.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ChainEvidence {
    pub largest: f32,
    pub sum: f32,
    pub noisy_or: f32,
}

/// What was found about one entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub id: u32,
    /// Its place among the partners of the known entity.
    pub partner: u32,
    /// The link of the asked relation, and of its inverse.
    pub same: u32,
    pub inverse: u32,
    pub rules: RuleEvidence,
    pub chains: ChainEvidence,
    pub paths: [f32; PATHS],
    chosen: bool,
}

/// The buffers in which the evidence of one query is gathered.
pub(super) struct Evidence {
    /// By entity: the query that last met it, and its place in `found`.
    met: Vec<(u32, u32)>,
    query: u32,
    pub found: Vec<Found>,
    /// Places in `found`, in the order of choice.
    pub candidates: Vec<u32>,
    /// Past answers, the strongest first.
    pub answers: Weighted,
    order: Weighted,
    similar: Weighted,
}

/// What is asked, and from when.
#[derive(Clone, Copy)]
pub(super) struct Ask<'a> {
    pub counts: &'a Counts,
    pub tables: &'a Tables,
    pub moment: &'a Moment,
    pub known: u32,
    pub relation: u32,
    /// Whether evidence travels further than two hops.
    pub propagation: bool,
}

impl<'a> Ask<'a> {
    pub fn entity(&self) -> &'a Entity {
        &self.counts.entities[self.known as usize]
    }
}

impl Evidence {
    pub fn new(entities: usize) -> Self {
        Self {
            met: vec![(0, 0); entities],
            query: 0,
            found: Vec::new(),
            candidates: Vec::new(),
            answers: Vec::new(),
            order: Vec::new(),
            similar: Vec::new(),
        }
    }

    /// How many entities it was made for.
    pub fn entities(&self) -> usize {
        self.met.len()
    }

    /// Finds the evidence and chooses candidates.
    pub fn gather(&mut self, ask: &Ask<'_>) {
        self.found.clear();
        self.candidates.clear();
        self.query = self.query.wrapping_add(1);
        if self.query == 0 {
            self.met.fill((0, 0));
            self.query = 1;
        }
        self.meet_partners(ask);
        let answers = ask.moment.answers(ask.counts, ask.known, ask.relation);
        self.answers.clear();
        self.answers.extend_from_slice(answers);
        self.walk_partners(ask);
        self.walk_answers(ask, answers);
        if ask.propagation {
            self.walk_similar(ask);
        }
        self.follow_chains(ask);
        self.choose(ask);
    }

    /// Evidence of rules with two facts.
    fn follow_chains(&mut self, ask: &Ask<'_>) {
        let (chains, first) = ask.tables.chains.of(ask.relation);
        follow(chains, ask.counts, ask.moment, ask.known, |place, [_, answer], bin| {
            let confidence = ask.tables.confidence(first + place as u32, bin);
            if confidence > 0.0 {
                let met = self.meet(answer);
                self.found[met].chains.take(confidence);
            }
        });
    }

    /// The place of an entity in `found`.
    fn meet(&mut self, id: u32) -> usize {
        let met = &mut self.met[id as usize];
        if met.0 != self.query {
            *met = (self.query, self.found.len() as u32);
            self.found.push(Found {
                id,
                partner: NONE,
                same: NONE,
                inverse: NONE,
                rules: RuleEvidence::default(),
                chains: ChainEvidence::default(),
                paths: [0.0; PATHS],
                chosen: false,
            });
        }
        met.1 as usize
    }

    /// What was found about an entity.
    pub fn of(&self, id: u32) -> Option<&Found> {
        let (query, place) = *self.met.get(id as usize)?;
        (query == self.query).then(|| &self.found[place as usize])
    }

    fn meet_partners(&mut self, ask: &Ask<'_>) {
        let inverse = ask.counts.inverse(ask.relation);
        let rules = ask.tables.rules_of(ask.relation);
        let entity = ask.entity();
        for (place, partner) in (0..).zip(&entity.partners) {
            let met = self.meet(partner.other);
            let found = &mut self.found[met];
            found.partner = place;
            let mut best = [0.0_f32; RULES_TAKEN];
            for (link_place, link) in entity.links_of_partner(partner) {
                if link.relation == ask.relation {
                    found.same = link_place;
                }
                if link.relation == inverse {
                    found.inverse = link_place;
                }
                let bin = bin(&link.cell, ask.moment.time);
                found.rules.take(ask.tables.evidence(rules[link.relation as usize], bin), &mut best);
            }
            found.rules.noisy_or = noisy_or(&best);
        }
    }

    fn walk(&mut self, path: Path, from: u32, to: &[(u32, f32)], weight: f32) {
        for &(id, further) in to {
            if id != from {
                let met = self.meet(id);
                self.found[met].paths[path as usize] += weight * further;
            }
        }
    }

    /// Paths that begin with a partner.
    fn walk_partners(&mut self, ask: &Ask<'_>) {
        let Ask { counts, moment, known, .. } = *ask;
        let own = moment.neighbours(counts, known);
        for &(partner, weight) in own.all.iter().take(HOP) {
            self.walk(Path::TwoHop, known, &moment.neighbours(counts, partner).all, weight);
        }
        if !ask.propagation {
            return;
        }
        for &(partner, weight) in own.all.iter().take(HOP) {
            self.walk(Path::PartnersAnswers, NONE, moment.answers(counts, partner, ask.relation), weight);
        }
        for &(partner, weight) in own.recent.iter().take(HOP) {
            self.walk(Path::Triadic, known, &moment.neighbours(counts, partner).recent, weight);
        }
    }

    /// Paths that begin with a past answer.
    fn walk_answers(&mut self, ask: &Ask<'_>, answers: &[(u32, f32)]) {
        let Ask { counts, moment, known, relation, .. } = *ask;
        let inverse = counts.inverse(relation);
        for &(answer, weight) in answers.iter().take(ANSWER_HOP) {
            let askers = moment.answers(counts, answer, inverse);
            for &(asker, back) in askers.iter().take(ANSWER_HOP).filter(|(asker, _)| *asker != known) {
                let theirs = moment.answers(counts, asker, relation);
                let theirs = &theirs[..theirs.len().min(ANSWER_HOP)];
                self.walk(Path::Collaborative, NONE, theirs, weight * back);
            }
            if ask.propagation {
                let near = &moment.neighbours(counts, answer).all;
                let near = &near[..near.len().min(HOP)];
                self.walk(Path::NearAnswers, NONE, near, weight);
                for &(between, further) in near {
                    let far = &moment.neighbours(counts, between).all;
                    self.walk(Path::FarAnswers, NONE, &far[..far.len().min(HOP)], weight * further);
                }
            }
        }
    }

    /// Answers of the strongest partners of partners.
    fn walk_similar(&mut self, ask: &Ask<'_>) {
        let mut similar = std::mem::take(&mut self.similar);
        similar.clear();
        let weight = |found: &Found| found.paths[Path::TwoHop as usize];
        similar.extend(
            self.found.iter().map(|found| (found.id, weight(found))).filter(|(_, weight)| *weight > 0.0),
        );
        keep_best(&mut similar, SIMILAR);
        let total: f32 = similar.iter().map(|(_, weight)| weight).sum();
        for &(subject, weight) in &similar {
            let theirs = ask.moment.answers(ask.counts, subject, ask.relation);
            self.walk(Path::SimilarSubjects, NONE, theirs, weight / total);
        }
        self.similar = similar;
    }

    fn choose(&mut self, ask: &Ask<'_>) {
        // A partner that no rule knows still comes before nobody.
        self.choose_best(BY_RULES, |found| {
            if found.partner == NONE { 0.0 } else { found.rules.noisy_or + f32::MIN_POSITIVE }
        });
        self.choose_best(BY_CHAINS, |found| found.chains.noisy_or);
        for (path, &count) in BY_PATH.iter().enumerate() {
            self.choose_best(count, |found| found.paths[path]);
        }
        let popular = ask.moment.popular(ask.counts, ask.relation);
        for &id in popular.iter().chain(&ask.moment.active) {
            let met = self.meet(id);
            self.choose_one(met);
        }
    }

    /// Chooses the entities with the largest values above 0.
    fn choose_best(&mut self, count: usize, value: impl Fn(&Found) -> f32) {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(
            self.found.iter().map(|found| (found.id, value(found))).filter(|(_, value)| *value > 0.0),
        );
        keep_best(&mut order, count);
        for &(id, _) in &order {
            self.choose_one(self.met[id as usize].1 as usize);
        }
        self.order = order;
    }

    fn choose_one(&mut self, place: usize) {
        let found = &mut self.found[place];
        if !std::mem::replace(&mut found.chosen, true) {
            self.candidates.push(place as u32);
        }
    }
}

impl ChainEvidence {
    #[inline]
    fn take(&mut self, confidence: f32) {
        self.largest = self.largest.max(confidence);
        self.sum += confidence;
        self.noisy_or += (1.0 - self.noisy_or) * confidence;
    }
}

impl RuleEvidence {
    /// Adds a rule; `best` are the strongest so far.
    #[inline]
    fn take(&mut self, (confidence, log_odds): (f32, f32), best: &mut [f32; RULES_TAKEN]) {
        self.largest = self.largest.max(confidence);
        self.sum += confidence;
        self.log_odds += log_odds;
        let mut confidence = confidence;
        for best in best {
            if confidence > *best {
                std::mem::swap(best, &mut confidence);
            }
        }
    }
}

/// `1 − Π(1 − 0.8ⁱ·cᵢ)`
fn noisy_or(best: &[f32; RULES_TAKEN]) -> f32 {
    let (mut missed, mut damping) = (1.0, 1.0);
    for confidence in best {
        missed *= 1.0 - damping * confidence;
        damping *= DAMPING;
    }
    1.0 - missed
}
