//! What happens without a cause in the past: activity (new facts between busy entities) and noise (any fact).
//!
//! Both are given as intensities: hits on a fact are Poisson, and a fact occurs if it is hit at all, so that
//! `P = 1 − e^{−λ}` with `λ(s, r, o, t) = noise + rate_r(t) · w_r(s) · u_r(o)`. Facts are independent of each other. Nothing
//! happens to entities that have not appeared yet, and nothing relates an entity to itself.

use std::sync::Arc;

use quadcast_core::{Background, Direction, EntityId, Query, RelationId, Triple};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Shares of entities: non-negative, sum 1.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    shares: Vec<f64>,
    cumulative: Vec<f64>,
}

impl Weights {
    /// Shares in proportion to `weights`, one per entity, at least one above 0.
    pub fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let mut sum = 0.0;
        let cumulative = shares
            .iter()
            .map(|share| {
                sum += share;
                sum
            })
            .collect();
        Self { shares, cumulative }
    }

    /// Equal shares for some entities of an id space.
    pub fn equal(entities: usize, members: impl IntoIterator<Item = EntityId>) -> Self {
        let mut weights = vec![0.0; entities];
        members.into_iter().for_each(|entity| weights[entity.index()] = 1.0);
        Self::new(&weights)
    }

    pub fn share(&self, entity: EntityId) -> f64 {
        self.shares[entity.index()]
    }

    /// All entities, largest share first, equal shares by id.
    pub fn by_share(&self) -> Vec<EntityId> {
        let mut ids: Vec<EntityId> = (0..self.shares.len() as u32).map(EntityId).collect();
        ids.sort_by(|&a, &b| self.share(b).total_cmp(&self.share(a)).then(a.cmp(&b)));
        ids
    }

    fn draw(&self, random: &mut ChaCha8Rng) -> EntityId {
        let total = self.cumulative.last().copied().unwrap_or_default();
        let mark = random.random::<f64>() * total;
        let index = self.cumulative.partition_point(|&sum| sum <= mark);
        EntityId(index.min(self.shares.len() - 1) as u32)
    }
}

/// How a rate changes over time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tempo {
    /// Relative change per step: the rate is multiplied by `1 + drift · t`.
    pub drift: f64,
    /// Relative swing around the rate within a season.
    pub swing: f64,
    /// Length of a season in steps; 0 without seasons.
    pub season: u32,
}

impl Tempo {
    fn at(&self, step: u32) -> f64 {
        let season = if self.season == 0 {
            1.0
        } else {
            let phase = f64::from(step % self.season) / f64::from(self.season);
            1.0 + self.swing * (std::f64::consts::TAU * phase).sin()
        };
        ((1.0 + self.drift * f64::from(step)) * season).max(0.0)
    }
}

/// New facts of one relation.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    pub relation: RelationId,
    /// Index of the shares of the subjects.
    pub subjects: usize,
    /// Index of the shares of the objects.
    pub objects: usize,
    /// Expected hits per step, before the tempo.
    pub rate: f64,
    pub tempo: Tempo,
}

/// Activity and noise of a world.
#[derive(Clone, Debug)]
pub(super) struct Chance {
    births: Arc<[u32]>,
    relations: usize,
    tables: Vec<Weights>,
    /// By relation; at most one each.
    activities: Vec<Option<Activity>>,
    /// All facts that can be said.
    facts: f64,
    /// Intensity of every fact.
    noise: f64,
}

/// Which part of the background hit a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Activity,
    Noise,
}

impl Chance {
    /// `noise` is the expected number of hits per step over all facts.
    pub fn new(
        births: Arc<[u32]>,
        relations: usize,
        tables: Vec<Weights>,
        activities: Vec<Activity>,
        noise: f64,
    ) -> Self {
        let mut by_relation = vec![None; relations];
        for activity in activities {
            let slot = &mut by_relation[activity.relation.index()];
            debug_assert!(slot.is_none(), "one activity per relation: the oracle's order depends on it");
            *slot = Some(activity);
        }
        let facts = births.len() as f64 * births.len() as f64 * relations as f64;
        Self { births, relations, tables, activities: by_relation, facts, noise: noise / facts }
    }

    fn is_born(&self, entity: EntityId, step: u32) -> bool {
        self.births[entity.index()] <= step
    }

    fn is_possible(&self, fact: Triple, step: u32) -> bool {
        fact.subject != fact.object && self.is_born(fact.subject, step) && self.is_born(fact.object, step)
    }

    /// Draws the facts that are hit at a step. A fact may be hit more than once.
    pub fn fire(&self, step: u32, random: &mut ChaCha8Rng, take: &mut dyn FnMut(Triple, Cause)) {
        for activity in self.activities.iter().flatten() {
            for _ in 0..poisson(activity.rate * activity.tempo.at(step), random) {
                let subject = self.tables[activity.subjects].draw(random);
                let object = self.tables[activity.objects].draw(random);
                let fact = Triple { subject, relation: activity.relation, object };
                if self.is_possible(fact, step) {
                    take(fact, Cause::Activity);
                }
            }
        }
        let entities = self.births.len() as u32;
        for _ in 0..poisson(self.noise * self.facts, random) {
            let mut entity = || random.random_range(0..entities);
            let (subject, object) = (entity(), entity());
            let fact = Triple::new(subject, random.random_range(0..self.relations as u32), object);
            if self.is_possible(fact, step) {
                take(fact, Cause::Noise);
            }
        }
    }

    /// The intensity of a fact at a step.
    pub fn intensity(&self, fact: Triple, step: u32) -> f64 {
        if !self.is_possible(fact, step) {
            return 0.0;
        }
        let activity = self.activities[fact.relation.index()].as_ref().map_or(0.0, |activity| {
            let shares = self.tables[activity.subjects].share(fact.subject)
                * self.tables[activity.objects].share(fact.object);
            activity.rate * activity.tempo.at(step) * shares
        });
        self.noise + activity
    }

    /// Who may answer at a step, prepared for many questions.
    pub fn standing(&self, step: u32) -> Standing {
        let order = |share: &dyn Fn(EntityId) -> f64| {
            let ids = || (0..self.births.len() as u32).map(EntityId);
            let born = |id| if self.is_born(id, step) { share(id) } else { UNBORN };
            let shares: Vec<f64> = ids().map(born).collect();
            let mut order: Vec<(f64, EntityId)> = shares.iter().copied().zip(ids()).collect();
            order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            Order { order, shares }
        };
        let mut orders: Standing = self.tables.iter().map(|table| order(&|id| table.share(id))).collect();
        orders.push(order(&|_| 0.0));
        orders
    }

    /// Whether the standing of one step is that of another.
    pub fn same_standing(&self, step: u32, other: u32) -> bool {
        let (low, high) = (step.min(other), step.max(other));
        !self.births.iter().any(|&birth| low < birth && birth <= high)
    }

    /// The probabilities of all answers to a question.
    pub fn answers<'a>(&self, standing: &'a [Order], query: &Query) -> ChanceAnswers<'a> {
        let (table, factor) = match &self.activities[query.relation.index()] {
            None => (self.tables.len(), 0.0),
            Some(activity) => {
                let (known, asked) = match query.direction {
                    Direction::Object => (activity.subjects, activity.objects),
                    Direction::Subject => (activity.objects, activity.subjects),
                };
                let share = self.tables[known].share(query.known);
                (asked, activity.rate * activity.tempo.at(query.step.0) * share)
            }
        };
        ChanceAnswers { order: &standing[table], factor, noise: self.noise }
    }

    /// Activity in words, by relation.
    pub fn words(&self, relation: &dyn Fn(RelationId) -> String) -> Vec<String> {
        let all: Vec<&Activity> = self.activities.iter().flatten().collect();
        let total: f64 = all.iter().map(|activity| activity.rate).sum();
        let births = self.births.iter().filter(|&&birth| birth > 0).count();
        let mut words = vec![format!(
            "Activity: about {total:.1} new facts per step over {} relations, between entities drawn by their shares; \
             {births} entities appear only after the first step.",
            all.len()
        )];
        words.extend(all.iter().filter(|a| a.tempo.drift != 0.0 || a.tempo.season != 0).take(12).map(|activity| {
            let Tempo { drift, swing, season } = activity.tempo;
            let (name, rate) = (relation(activity.relation), activity.rate);
            let [drift, swing] = [drift, swing].map(|share| 100.0 * share);
            format!(
                "The activity of {name} starts at {rate:.3} per step, changes by {drift:+.2} % per step and swings by \
                 {swing:.0} % over {season} steps."
            )
        }));
        let (noise, total) = (self.noise, self.noise * self.facts);
        words.push(format!(
            "Noise: every fact has the intensity {noise:.3e}, about {total:.2} facts per step in all."
        ));
        words
    }
}

/// Stands for the share of an entity that has not appeared yet, below every share.
const UNBORN: f64 = -1.0;

/// Entities by share, largest first, then by id.
#[derive(Clone, Debug)]
pub(super) struct Order {
    order: Vec<(f64, EntityId)>,
    shares: Vec<f64>,
}

/// Who may answer at a step: one order per table of shares, and one without shares.
pub(super) type Standing = Vec<Order>;

/// The background's probabilities of all answers to one question.
pub(super) struct ChanceAnswers<'a> {
    order: &'a Order,
    factor: f64,
    noise: f64,
}

impl ChanceAnswers<'_> {
    fn of_share(&self, share: f64) -> f64 {
        if share < 0.0 { 0.0 } else { -(-(self.noise + self.factor * share)).exp_m1() }
    }

    /// Where the entities with exactly this score stand in the order.
    fn block(&self, score: f64) -> std::ops::Range<usize> {
        let order = &self.order.order;
        let start = order.partition_point(|&(share, _)| self.of_share(share) > score);
        start..start + order[start..].partition_point(|&(share, _)| self.of_share(share) == score)
    }
}

impl Background for ChanceAnswers<'_> {
    fn score(&self, entity: EntityId) -> f64 {
        self.of_share(self.order.shares[entity.index()])
    }

    fn above(&self, score: f64) -> usize {
        self.order.order.partition_point(|&(share, _)| self.of_share(share) > score)
    }

    fn tied(&self, score: f64) -> usize {
        self.block(score).len()
    }

    fn tied_before(&self, score: f64, entity: EntityId) -> usize {
        let block = &self.order.order[self.block(score)];
        match (block.first(), block.last()) {
            // Within one share the order is by id.
            (Some(first), Some(last)) if first.0 == last.0 => block.partition_point(|&(_, id)| id < entity),
            _ => block.iter().filter(|(_, id)| *id < entity).count(),
        }
    }

    fn reaches(&self, entity: EntityId) -> bool {
        self.score(entity) > 0.0
    }
}

/// A Poisson number: how many exponential waits fit into `mean`.
fn poisson(mean: f64, random: &mut ChaCha8Rng) -> u32 {
    let (mut time, mut count) = (0.0, 0);
    loop {
        time -= (1.0 - random.random::<f64>()).ln();
        if time > mean {
            return count;
        }
        count += 1;
    }
}
