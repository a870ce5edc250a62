//! From ranked queries to results: filters, directions, steps, relations, intervals.

use std::collections::{BTreeMap, BTreeSet};

use quadcast_core::{Direction, Filter, Protocol, RelationId, Step, TiePolicy, stream};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::{BlockBootstrap, ByMetric, Harmonic, Interval, Metrics, Rank, RankedQuery, Tally, Unit};

/// Metrics and how many queries they are the mean of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Number of queries.
    pub queries: u64,
    /// Means over them.
    #[serde(flatten)]
    pub metrics: Metrics,
}

/// Results under one filter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilterOutcome {
    /// Means over all queries, headline tie policy.
    #[serde(flatten)]
    pub metrics: Metrics,
    /// Number of queries.
    pub queries: u64,
    /// Share of queries whose correct answer is tied with another candidate.
    pub ties: f64,
    /// Intervals from the block bootstrap; absent with fewer than two units.
    pub ci95: Option<ByMetric<Interval>>,
    /// Queries for the object.
    pub object: Option<Part>,
    /// Queries for the subject.
    pub subject: Option<Part>,
    /// Facts that were true at an earlier step.
    pub seen: Option<Part>,
    /// Facts that were never true before.
    pub unseen: Option<Part>,
    /// Means over all queries under every tie policy.
    pub policy: BTreeMap<String, Metrics>,
}

/// Everything that is reported about one evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Results by filter, in the order of [`Filter::ALL`].
    pub filters: [FilterOutcome; 3],
    /// The curve over time: time-aware filter, both directions.
    pub by_step: BTreeMap<Step, Part>,
    /// Each relation in each direction: time-aware filter.
    pub by_relation: BTreeMap<(RelationId, Direction), Part>,
    /// Share of queries whose correct answer the model did not score.
    pub unreached: f64,
    /// Queries whose gold answer scored "not a number" and was ranked last.
    pub not_a_number: u64,
    /// How the intervals came about.
    pub bootstrap: BlockBootstrap,
}

impl Outcome {
    /// Summarises ranked queries under the headline tie policy, or `None` without queries. No rank lies beyond `candidates`.
    pub fn new(ranked: &[RankedQuery], candidates: usize, protocol: &Protocol, seed: u64) -> Option<Self> {
        Self::by_unit(ranked, candidates, (protocol.ties, Unit::of(protocol.task)), seed)
    }

    /// The same with intervals over a given unit.
    pub(crate) fn by_unit(
        ranked: &[RankedQuery],
        candidates: usize,
        (ties, unit): (TiePolicy, Unit),
        seed: u64,
    ) -> Option<Self> {
        let count = ranked.len();
        let counting = Counting::new(candidates, ties, seed);
        let by_step = counting.group(ranked, Filter::Time, |q| q.query.step);
        let units = match unit {
            Unit::Step => by_step.len(),
            Unit::Fact => ranked.iter().map(|q| unit.key(q)).collect::<BTreeSet<_>>().len(),
        };
        let bootstrap = BlockBootstrap::new(unit, units);
        let [time, fixed, raw] = Filter::ALL.map(|filter| counting.filter(ranked, filter, &bootstrap));
        let by_relation = counting.group(ranked, Filter::Time, |q| (q.query.relation, q.query.direction));
        Some(Self {
            filters: [time?, fixed?, raw?],
            by_step: parts(by_step),
            by_relation: parts(by_relation),
            unreached: ranked.iter().filter(|q| !q.ranks.reached).count() as f64 / count as f64,
            not_a_number: ranked.iter().filter(|q| q.ranks.not_a_number).count() as u64,
            bootstrap,
        })
    }

    /// The result under one filter.
    pub fn filter(&self, filter: Filter) -> &FilterOutcome {
        match filter {
            Filter::Time => &self.filters[0],
            Filter::Static => &self.filters[1],
            Filter::Raw => &self.filters[2],
        }
    }
}

impl RankedQuery {
    /// The rank under one filter.
    pub fn rank(&self, filter: Filter) -> Rank {
        match filter {
            Filter::Time => self.ranks.time,
            Filter::Static => self.ranks.fixed,
            Filter::Raw => self.ranks.raw,
        }
    }
}

fn part(tally: &Tally) -> Option<Part> {
    Some(Part { queries: tally.queries, metrics: tally.metrics()? })
}

/// Every group with queries.
pub(crate) fn parts<K: Ord>(groups: BTreeMap<K, Tally>) -> BTreeMap<K, Part> {
    groups.into_iter().filter_map(|(key, tally)| Some((key, part(&tally)?))).collect()
}

/// Counts ranked queries under one tie policy.
pub struct Counting {
    harmonic: Harmonic,
    ties: TiePolicy,
    seed: u64,
}

impl Counting {
    /// No rank lies beyond `candidates`; random ties are drawn from the seed of the run.
    pub fn new(candidates: usize, ties: TiePolicy, seed: u64) -> Self {
        Self { harmonic: Harmonic::up_to(candidates), ties, seed }
    }

    fn random(&self) -> ChaCha8Rng {
        stream(self.seed, "ties", 0)
    }

    fn tally(&self, ranked: &[RankedQuery], filter: Filter, policy: TiePolicy) -> Tally {
        let mut random = self.random();
        let mut tally = Tally::default();
        for query in ranked {
            tally.add(query.rank(filter), policy, &self.harmonic, &mut random);
        }
        tally
    }

    /// Tallies by key. Random ties are drawn in the order of the queries.
    pub fn group<'q, K: Ord>(
        &self,
        ranked: impl IntoIterator<Item = &'q RankedQuery>,
        filter: Filter,
        key: impl Fn(&RankedQuery) -> K,
    ) -> BTreeMap<K, Tally> {
        let mut random = self.random();
        let mut groups: BTreeMap<K, Tally> = BTreeMap::new();
        for query in ranked {
            let tally = groups.entry(key(query)).or_default();
            tally.add(query.rank(filter), self.ties, &self.harmonic, &mut random);
        }
        groups
    }

    fn filter(
        &self,
        ranked: &[RankedQuery],
        filter: Filter,
        bootstrap: &BlockBootstrap,
    ) -> Option<FilterOutcome> {
        let units: Vec<_> = self
            .group(ranked, filter, |q| bootstrap.unit.key(q))
            .into_values()
            .map(|tally| (tally.sums(), tally.queries))
            .collect();
        let ci95 = bootstrap.intervals(&units, self.seed);
        let directions = self.group(ranked, filter, |q| q.query.direction);
        let seen = self.group(ranked, filter, |q| q.seen);
        let all = self.tally(ranked, filter, self.ties);
        let policy = TiePolicy::ALL
            .into_iter()
            .filter_map(|p| Some((p.word().to_owned(), self.tally(ranked, filter, p).metrics()?)))
            .collect();
        let tied = ranked.iter().filter(|q| q.rank(filter).tied > 1).count();
        Some(FilterOutcome {
            metrics: all.metrics()?,
            queries: all.queries,
            ties: tied as f64 / ranked.len() as f64,
            ci95: ci95.map(ByMetric::from),
            object: directions.get(&Direction::Object).and_then(part),
            subject: directions.get(&Direction::Subject).and_then(part),
            seen: seen.get(&true).and_then(part),
            unseen: seen.get(&false).and_then(part),
            policy,
        })
    }
}
