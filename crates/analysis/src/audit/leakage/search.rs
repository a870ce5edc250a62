//! Finds the fact that gives a test fact away.

use quadcast_core::{Detection, EntityId, Mirrors, PatternCounts, Quad, RelationId, Splits, Step};
use rustc_hash::FxHashSet;

use super::evidence::{Evidence, SplitKind};
use crate::index::{FactIndex, SplitFacts};
use crate::patterns::{inverse_of, parallel_partners};

/// Everything that evidence is looked for in.
pub(super) struct Search<'a> {
    pub kind: SplitKind,
    pub facts: &'a SplitFacts<'a>,
    train: FactIndex,
    /// The facts of all splits, where a question may look back at whatever is older than itself.
    past: Option<FactIndex>,
    valid: FxHashSet<Quad>,
    pub at_once: Mirrors,
    pub any_time: Mirrors,
    pub parallel: Vec<Vec<RelationId>>,
    pub counts: PatternCounts,
}

impl<'a> Search<'a> {
    pub fn new(kind: SplitKind, facts: &'a SplitFacts<'a>, detection: &Detection) -> Self {
        let Splits { train, valid, test } = &facts.splits;
        let (counts, (train_index, past)) = rayon::join(
            || PatternCounts::of(train.iter().copied(), facts.relations(train)),
            || {
                let past = (kind == SplitKind::Forecasting)
                    .then(|| FactIndex::of(train.iter().chain(valid).chain(test).copied()));
                (FactIndex::of(train.iter().copied()), past)
            },
        );
        Self {
            kind,
            facts,
            train: train_index,
            past,
            valid: valid.iter().copied().collect(),
            at_once: Mirrors::detect(&counts, detection, true),
            any_time: Mirrors::detect(&counts, detection, false),
            parallel: parallel_partners(&counts, detection),
            counts,
        }
    }

    /// The fact that gives a test fact away, if there is one.
    pub fn witness(&self, evidence: Evidence, fact: Quad) -> Option<Quad> {
        let p = fact.relation;
        match evidence {
            Evidence::Exact => self.train.contains(fact).then_some(fact),
            Evidence::InValid => self.valid.contains(&fact).then_some(fact),
            Evidence::Symmetric => self.detected_mirror(fact, symmetric),
            Evidence::Inverse => self.detected_mirror(fact, inverse_of),
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
            Evidence::InverseAnyTime => self.mirror_any_time(fact, inverse_of(&self.any_time, p)?),
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
                let step = self.known().occurrences(fact.triple()).last_before(fact.step)?;
                Some(Quad { step, ..fact })
            }
            Evidence::Seen => {
                let step = self.train.occurrences(fact.triple()).first()?;
                Some(Quad { step, ..fact })
            }
        }
    }

    /// The mirrored fact at the same time by a pattern that was detected at the same time or over time: a pair that is found
    /// only over time leaks at the same time too.
    fn detected_mirror(
        &self,
        fact: Quad,
        partner: fn(&Mirrors, RelationId) -> Option<RelationId>,
    ) -> Option<Quad> {
        let patterns = [&self.at_once, &self.any_time].into_iter();
        patterns.filter_map(|mirrors| partner(mirrors, fact.relation)).find_map(|q| self.mirror(fact, q))
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

    /// The mirrored fact as near in time as possible; before it in a forecasting dataset.
    fn mirror_any_time(&self, fact: Quad, relation: RelationId) -> Option<Quad> {
        let mirror = turned(fact, relation);
        let occurrences = self.known().occurrences(mirror.triple());
        let step = match self.kind {
            SplitKind::Forecasting => occurrences.last_before(fact.step)?,
            _ => occurrences.nearest(fact.step, |step| self.facts.times.ordinal(step))?.0,
        };
        (fact.subject != fact.object).then_some(Quad { step, ..mirror })
    }

    fn nearest_other(&self, fact: Quad) -> Option<(Step, u64)> {
        let occurrences = self.known().occurrences(fact.triple());
        let ordinal = |step| self.facts.times.ordinal(step);
        match self.kind {
            SplitKind::Forecasting => {
                let step = occurrences.last_before(fact.step)?;
                Some((step, ordinal(fact.step).abs_diff(ordinal(step))))
            }
            _ => occurrences.nearest_other(fact.step, ordinal),
        }
    }

    /// The triple one unit before; in a forecasting dataset at the time stamp before, whatever the gap.
    fn previous(&self, fact: Quad) -> Option<Quad> {
        let before = if self.kind == SplitKind::Forecasting {
            Step(fact.step.0.checked_sub(1)?)
        } else {
            let axis = self.facts.times.axis()?;
            axis.step(axis.time(fact.step) - axis.granularity())?
        };
        let earlier = Quad { step: before, ..fact };
        self.known().contains(earlier).then_some(earlier)
    }

    fn between(&self, subject: EntityId, object: EntityId, before: Step) -> Option<Quad> {
        let first = self.known().first_between(subject, object)?;
        (self.kind != SplitKind::Forecasting || first.step < before).then_some(first)
    }
}

/// The fact seen from the other side.
fn turned(fact: Quad, relation: RelationId) -> Quad {
    Quad { subject: fact.object, relation, object: fact.subject, ..fact }
}

fn symmetric(mirrors: &Mirrors, relation: RelationId) -> Option<RelationId> {
    mirrors.symmetric.binary_search(&relation).ok().map(|_| relation)
}
