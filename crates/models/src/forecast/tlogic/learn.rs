//! Learning: temporal random walks that close a circle become rules, sampled bodies give their confidence.

use quadcast_core::{DirectedRelation, Edge, EntityId, History, Rule, Run, Step};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::settings::{Config, LONGEST, Transition};

/// Edges whose weight falls this many time units behind the newest do not change a draw of 53 bits.
const FADED: i64 = 40;
/// Digits of a confidence, as a factor.
const SIX_DIGITS: f64 = 1e6;

/// For each position of a body the first one with the same entity.
type Pattern = [u8; LONGEST + 1];

/// A sampled body: entities and steps. Positions that a shorter body does not use are zero.
type Body = ([EntityId; LONGEST + 1], [Step; LONGEST]);

/// Learns the rules of every directed relation, most confident first; equally confident ones in order of length and
/// discovery. The result does not depend on the number of threads: each relation and length has its own stream.
pub(super) fn learn(history: &History<'_>, config: &Config, run: &Run) -> Vec<Rule> {
    let train = Train::new(history);
    let mut relations: Vec<DirectedRelation> = (0..2 * history.relations() as u32)
        .map(DirectedRelation)
        .filter(|relation| !train.of(*relation).is_empty())
        .collect();
    if config.compat {
        relations.truncate(kept_by_published_runs(relations.len(), config.processes));
    }
    run.progress.begin("rules", relations.len() as u64);
    let rules: Vec<Vec<Rule>> = relations
        .par_iter()
        .map(|&relation| {
            let mut rules = Vec::new();
            for &length in &config.lengths {
                let random = run.stream(&format!("tlogic rules of length {length}"), u64::from(relation.0));
                Learner { history, train: &train, config, random }.learn(relation, length, &mut rules);
            }
            rules.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
            run.progress.advance(1);
            rules
        })
        .collect();
    run.progress.end();
    rules.into_iter().flatten().collect()
}

/// The published runs gave each of `processes` processes `relations / processes` relations, and the rest to the last one only if it
/// was fewer than that; otherwise the rest got no rules.
fn kept_by_published_runs(relations: usize, processes: usize) -> usize {
    let each = relations / processes;
    let rest = relations - each * processes;
    if rest < each { relations } else { each * processes }
}

/// A training fact read from subject to object.
#[derive(Clone, Copy)]
struct Fact {
    subject: EntityId,
    object: EntityId,
    step: Step,
}

/// Training facts in the two orders that histories do not have: by relation, and by pair of entities.
struct Train {
    relations: usize,
    /// By original relation.
    facts: Vec<Vec<Fact>>,
    /// Start of each entity's edges in `pairs`, plus the end of the last.
    starts: Vec<usize>,
    /// Edges by entity, each entity's in order of (other, step, relation).
    pairs: Vec<Edge>,
}

impl Train {
    fn new(history: &History<'_>) -> Self {
        let mut facts = vec![Vec::new(); history.relations()];
        for fact in history.snapshots_from(Step(0)).flatten() {
            let (subject, object, step) = (fact.subject, fact.object, fact.step);
            facts[fact.relation.index()].push(Fact { subject, object, step });
        }
        let mut starts = vec![0];
        let mut pairs = Vec::new();
        for entity in (0..history.entities() as u32).map(EntityId) {
            let start = pairs.len();
            pairs.extend_from_slice(history.edges(entity));
            pairs[start..].sort_unstable_by_key(|edge| (edge.other, edge.step, edge.relation));
            starts.push(pairs.len());
        }
        Self { relations: history.relations(), facts, starts, pairs }
    }

    /// The facts of a relation, as the original relation has them.
    fn of(&self, relation: DirectedRelation) -> &[Fact] {
        &self.facts[relation.split(self.relations).0.index()]
    }

    /// A fact of the relation, uniformly.
    fn draw(&self, relation: DirectedRelation, random: &mut ChaCha8Rng) -> Option<Fact> {
        let facts = self.of(relation);
        if facts.is_empty() {
            return None;
        }
        let fact = facts[random.random_range(0..facts.len())];
        Some(if relation.index() < self.relations {
            fact
        } else {
            Fact { subject: fact.object, object: fact.subject, step: fact.step }
        })
    }

    /// Edges from one entity to another, in order of (step, relation).
    fn between(&self, from: EntityId, to: EntityId) -> &[Edge] {
        let edges = &self.pairs[self.starts[from.index()]..self.starts[from.index() + 1]];
        let start = edges.partition_point(|edge| edge.other < to);
        let end = start + edges[start..].partition_point(|edge| edge.other == to);
        &edges[start..end]
    }
}

/// Learns the rules of one relation and length.
struct Learner<'a> {
    history: &'a History<'a>,
    train: &'a Train,
    config: &'a Config,
    random: ChaCha8Rng,
}

impl Learner<'_> {
    fn learn(&mut self, head: DirectedRelation, length: usize, rules: &mut Vec<Rule>) {
        let mut known = FxHashSet::default();
        let mut bodies = FxHashSet::default();
        for _ in 0..self.config.walks {
            let Some((body, pattern)) = self.walk(head, length) else { continue };
            if !known.insert((body, pattern)) {
                continue;
            }
            let (rule_support, body_support) = self.estimate(head, &body[..length], pattern, &mut bodies);
            if rule_support == 0 {
                continue;
            }
            let confidence = f64::from(rule_support) / f64::from(body_support);
            rules.push(Rule {
                head,
                body: body[..length].to_vec(),
                constraints: groups(&pattern[..=length]),
                rule_support,
                body_support,
                confidence: (confidence * SIX_DIGITS).round() / SIX_DIGITS,
                any_order: false,
            });
        }
    }

    /// Walks back in time from the object of a fact to its subject, and reads the way as a rule body.
    fn walk(
        &mut self,
        head: DirectedRelation,
        length: usize,
    ) -> Option<([DirectedRelation; LONGEST], Pattern)> {
        let start = self.train.draw(head, &mut self.random)?;
        let relations = self.train.relations;
        let mut body = [DirectedRelation(0); LONGEST];
        let mut entities = [EntityId(0); LONGEST + 1];
        entities[length] = start.object;
        let (mut here, mut now) = (start.object, start.step);
        let mut way_back = None;
        for position in (0..length).rev() {
            let edges = if position == 0 {
                self.train.between(here, start.subject)
            } else {
                self.history.edges(here)
            };
            // The first step is strictly back in time, later ones may stay at the same time.
            let first = position + 1 == length;
            let end = edges.partition_point(|edge| edge.step < now || (!first && edge.step == now));
            let edge = self.choose(&edges[..end], now, way_back)?;
            way_back =
                Some(Edge { step: edge.step, relation: edge.relation.inverse(relations), other: here });
            body[position] = edge.relation.inverse(relations);
            entities[position] = edge.other;
            (here, now) = (edge.other, edge.step);
        }
        Some((body, pattern(&entities[..=length])))
    }

    /// Draws one of the edges, which are in time order and end at `now`.
    fn choose(&mut self, edges: &[Edge], now: Step, except: Option<Edge>) -> Option<Edge> {
        let axis = self.history.axis();
        let allowed = |edge: &&Edge| Some(**edge) != except;
        let newest = axis.ordinal(edges.iter().rev().find(allowed)?.step);
        let uniform = self.config.transition == Transition::Uniform
            // So far back that every weight is zero in double precision.
            || ((newest - axis.ordinal(now)) as f64).exp() == 0.0;
        if uniform {
            loop {
                let edge = edges[self.random.random_range(0..edges.len())];
                if allowed(&&edge) {
                    return Some(edge);
                }
            }
        }
        let weighted = || {
            let behind = |edge: &Edge| newest - axis.ordinal(edge.step);
            let recent = edges.iter().rev().take_while(move |edge| behind(edge) <= FADED);
            recent.filter(allowed).map(move |edge| (*edge, (-(behind(edge) as f64)).exp()))
        };
        let total: f64 = weighted().map(|(_, weight)| weight).sum();
        let mut left = self.random.random::<f64>() * total;
        let mut chosen = None;
        for (edge, weight) in weighted() {
            chosen = Some(edge);
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
        chosen
    }

    /// Samples bodies: how often the head followed, and how many distinct bodies there were.
    fn estimate(
        &mut self,
        head: DirectedRelation,
        body: &[DirectedRelation],
        wanted: Pattern,
        bodies: &mut FxHashSet<Body>,
    ) -> (u32, u32) {
        bodies.clear();
        let constrained = wanted != UNCONSTRAINED;
        let mut rule_support = 0;
        for _ in 0..self.config.body_samples {
            let Some((entities, steps)) = self.sample(body) else { continue };
            if constrained && pattern(&entities[..=body.len()]) != wanted {
                continue;
            }
            if !bodies.insert((entities, steps)) {
                continue;
            }
            let (first, last, end) = (entities[0], entities[body.len()], steps[body.len() - 1]);
            let later = self.train.between(first, last).iter().rev().take_while(|edge| edge.step > end);
            if later.into_iter().any(|edge| edge.relation == head) {
                rule_support += 1;
            }
        }
        (rule_support, bodies.len() as u32)
    }

    /// A chain of facts that fits the body, drawn fact by fact.
    fn sample(&mut self, body: &[DirectedRelation]) -> Option<Body> {
        let first = self.train.draw(body[0], &mut self.random)?;
        let mut entities = [EntityId(0); LONGEST + 1];
        let mut steps = [Step(0); LONGEST];
        (entities[0], entities[1], steps[0]) = (first.subject, first.object, first.step);
        for (i, &relation) in body.iter().enumerate().skip(1) {
            let answers = self.history.answers(entities[i], relation);
            let answers = &answers[answers.partition_point(|event| event.step < steps[i - 1])..];
            if answers.is_empty() {
                return None;
            }
            let event = answers[self.random.random_range(0..answers.len())];
            (entities[i + 1], steps[i]) = (event.answer, event.step);
        }
        Some((entities, steps))
    }
}

/// All entities differ.
const UNCONSTRAINED: Pattern = [0, 1, 2, 3];

/// Which positions carry the same entity.
fn pattern(entities: &[EntityId]) -> Pattern {
    let mut pattern = UNCONSTRAINED;
    for (i, entity) in entities.iter().enumerate() {
        let first = entities.iter().position(|other| other == entity).unwrap_or(i);
        pattern[i] = first as u8;
    }
    pattern
}

/// The positions that share an entity with another, in groups.
fn groups(pattern: &[u8]) -> Vec<Vec<u8>> {
    let members = |first: u8| -> Vec<u8> {
        (0..pattern.len() as u8).filter(|&i| pattern[usize::from(i)] == first).collect()
    };
    (0..pattern.len() as u8).map(members).filter(|group| group.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_groups() {
        let ids = |ids: [u32; 4]| ids.map(EntityId);
        assert_eq!(pattern(&ids([5, 6, 7, 8])), UNCONSTRAINED);
        assert_eq!(pattern(&ids([5, 6, 5, 6])), [0, 1, 0, 1]);
        assert_eq!(groups(&pattern(&ids([5, 6, 5, 6]))), [[0, 2], [1, 3]]);
        assert_eq!(groups(&pattern(&ids([5, 5, 7, 5]))), [[0, 1, 3]]);
        assert!(groups(&pattern(&ids([5, 6, 0, 0])[..2])[..2]).is_empty());
    }

    #[test]
    fn published_runs_lost_the_rest_of_a_division() {
        // YAGO: 20 relations, 15 processes, the last five were lost. ICEWS14: 460 of 460.
        assert_eq!(kept_by_published_runs(20, 15), 15);
        assert_eq!(kept_by_published_runs(460, 16), 460);
        assert_eq!(kept_by_published_runs(10, 15), 0);
    }
}
