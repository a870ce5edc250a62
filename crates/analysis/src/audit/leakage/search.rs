//! Finds the fact that gives a test fact away.

use quadcast_core::{Detection, EntityId, Mirrors, PatternCounts, Quad, RelationId, Step, TimeAxis, Triple};
use rustc_hash::FxHashSet;

use super::evidence::{Evidence, SplitKind};
use crate::index::FactIndex;
use crate::patterns::parallel_partners;

/// Everything that evidence is looked for in.
pub(super) struct Search<'a> {
    kind: SplitKind,
    train: FactIndex,
    /// The facts of all splits, where a question may look back at whatever is older than itself.
    past: Option<FactIndex>,
    valid: FxHashSet<Quad>,
    pub at_once: Mirrors,
    pub any_time: Mirrors,
    pub parallel: Vec<Vec<RelationId>>,
    pub counts: PatternCounts,
    axis: Option<&'a TimeAxis>,
}

/// Facts to look for evidence in.
pub(super) struct Sources<'a> {
    pub train: Vec<Quad>,
    pub valid: Vec<Quad>,
    pub test: &'a [Quad],
    pub relations: usize,
    /// The time axis, where steps follow each other in time.
    pub axis: Option<&'a TimeAxis>,
}

impl<'a> Search<'a> {
    pub fn new(kind: SplitKind, sources: Sources<'a>, detection: &Detection) -> Self {
        let Sources { train, valid, test, relations, axis } = sources;
        let named = train.iter().map(|fact| fact.relation.index() + 1).max().unwrap_or(0);
        let (counts, (train_index, past)) = rayon::join(
            || PatternCounts::of(train.iter().copied(), relations.max(named)),
            || {
                let past = (kind == SplitKind::Forecasting)
                    .then(|| FactIndex::of(train.iter().chain(&valid).chain(test).copied()));
                (FactIndex::of(train.iter().copied()), past)
            },
        );
        Self {
            kind,
            train: train_index,
            past,
            valid: valid.into_iter().collect(),
            at_once: Mirrors::detect(&counts, detection, true),
            any_time: Mirrors::detect(&counts, detection, false),
            parallel: parallel_partners(&counts, detection),
            counts,
            axis,
        }
    }

    /// The fact that gives a test fact away, if there is one.
    pub fn witness(&self, evidence: Evidence, fact: Quad) -> Option<Quad> {
        let p = fact.relation;
        match evidence {
            Evidence::Exact => self.train.contains(fact).then_some(fact),
            Evidence::InValid => self.valid.contains(&fact).then_some(fact),
            Evidence::Symmetric => {
                let partners = self.mirrors().map(|mirrors| symmetric(mirrors, p));
                partners.into_iter().flatten().find_map(|relation| self.mirror(fact, relation))
            }
            Evidence::Inverse => {
                let partners = self.mirrors().map(|mirrors| inverse(mirrors, p));
                partners.into_iter().flatten().find_map(|relation| self.mirror(fact, relation))
            }
            Evidence::Parallel => {
                let same_time = |&relation: &RelationId| Quad { relation, ..fact };
                let parallel = self.parallel.get(p.index())?;
                parallel.iter().map(same_time).find(|&other| self.train.contains(other))
            }
            Evidence::Mirror => self.mirror(fact, p),
            Evidence::Reversed => {
                let relation = self.train.relations_at(fact.object, fact.subject, fact.step).next()?;
                Some(turned(fact, relation))
            }
            Evidence::OtherRelation => {
                let mut relations = self.train.relations_at(fact.subject, fact.object, fact.step);
                Some(Quad { relation: relations.find(|&other| other != p)?, ..fact })
            }
            Evidence::SymmetricAnyTime => self.mirror_any_time(fact, symmetric(&self.any_time, p)?),
            Evidence::InverseAnyTime => self.mirror_any_time(fact, inverse(&self.any_time, p)?),
            Evidence::MirrorAnyTime => self.mirror_any_time(fact, p),
            Evidence::ReversedAnyTime => self.between(fact.object, fact.subject, fact.step),
            Evidence::PairSeen => self
                .between(fact.subject, fact.object, fact.step)
                .or_else(|| self.between(fact.object, fact.subject, fact.step)),
            Evidence::Near(units) => {
                let (step, distance) = self.nearest_other(fact)?;
                (distance <= units).then_some(Quad { step, ..fact })
            }
            Evidence::Previous => self.previous(fact),
            Evidence::Earlier => {
                let step = self.known().moments(fact.triple()).last_before(fact.step)?;
                Some(Quad { step, ..fact })
            }
            Evidence::Seen => {
                let step = self.train.moments(fact.triple()).first()?;
                Some(Quad { step, ..fact })
            }
        }
    }

    /// Patterns at the same time, and over time: a pair that is found only over time leaks at the same time too.
    fn mirrors(&self) -> [&Mirrors; 2] {
        [&self.at_once, &self.any_time]
    }

    /// The facts that a question may look back at.
    fn known(&self) -> &FactIndex {
        self.past.as_ref().unwrap_or(&self.train)
    }

    /// The mirrored fact at the same time. A fact of an entity with itself would mirror itself.
    fn mirror(&self, fact: Quad, relation: RelationId) -> Option<Quad> {
        let mirror = turned(fact, relation);
        (fact.subject != fact.object && self.train.contains(mirror)).then_some(mirror)
    }

    fn mirror_any_time(&self, fact: Quad, relation: RelationId) -> Option<Quad> {
        let mirror = turned(fact, relation);
        let step = self.moment(mirror.triple(), fact.step)?;
        (fact.subject != fact.object).then_some(Quad { step, ..mirror })
    }

    /// When a triple holds, as near as possible to a step; before it in a forecasting dataset.
    fn moment(&self, triple: Triple, step: Step) -> Option<Step> {
        let moments = self.known().moments(triple);
        match self.kind {
            SplitKind::Forecasting => moments.last_before(step),
            _ => moments.nearest(step, |step| self.time(step)).map(|(step, _)| step),
        }
    }

    fn nearest_other(&self, fact: Quad) -> Option<(Step, u64)> {
        let moments = self.known().moments(fact.triple());
        match self.kind {
            SplitKind::Forecasting => {
                let step = moments.last_before(fact.step)?;
                Some((step, self.time(fact.step).abs_diff(self.time(step))))
            }
            _ => moments.nearest_other(fact.step, |step| self.time(step)),
        }
    }

    /// The triple one unit before; in a forecasting dataset at the time stamp before, whatever the gap.
    fn previous(&self, fact: Quad) -> Option<Quad> {
        let before = match self.kind {
            SplitKind::Forecasting => Step(fact.step.0.checked_sub(1)?),
            _ => self.axis.and_then(|axis| axis.step(axis.time(fact.step) - axis.granularity()))?,
        };
        let earlier = Quad { step: before, ..fact };
        self.known().contains(earlier).then_some(earlier)
    }

    fn between(&self, subject: EntityId, object: EntityId, before: Step) -> Option<Quad> {
        let first = self.known().first_between(subject, object)?;
        (self.kind != SplitKind::Forecasting || first.step < before).then_some(first)
    }

    fn time(&self, step: Step) -> i64 {
        self.axis.map_or(i64::from(step.0), |axis| axis.ordinal(step))
    }
}

/// The fact seen from the other side.
fn turned(fact: Quad, relation: RelationId) -> Quad {
    Quad { subject: fact.object, relation, object: fact.subject, ..fact }
}

fn symmetric(mirrors: &Mirrors, relation: RelationId) -> Option<RelationId> {
    mirrors.symmetric.binary_search(&relation).ok().map(|_| relation)
}

fn inverse(mirrors: &Mirrors, relation: RelationId) -> Option<RelationId> {
    let place = mirrors.inverse.binary_search_by_key(&relation, |pair| pair.0).ok()?;
    Some(mirrors.inverse[place].1)
}
