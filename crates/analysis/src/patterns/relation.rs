//! The patterns of one relation.

use quadcast_core::{Mirrors, PatternCounts, Quad, RelationId, Shares, Step, TimeAxis};
use serde::Serialize;

use super::Lags;
use crate::index::FactIndex;

/// Another relation, and how much of either accompanies the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Partner {
    /// Its id.
    pub id: RelationId,
    /// Its name.
    pub relation: String,
    /// Shares of this relation's facts that the partner answers.
    pub forwards: Shares,
    /// Shares of the partner's facts that this relation answers.
    pub backwards: Shares,
    /// Distance in time to the partner's nearest answer; none without an order in time, and for parallel relations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lags: Option<Lags>,
}

impl Partner {
    /// What holds in both directions.
    pub fn mutual(&self) -> Shares {
        Shares {
            same_time: self.forwards.same_time.min(self.backwards.same_time),
            any_time: self.forwards.any_time.min(self.backwards.any_time),
        }
    }
}

/// The patterns of one relation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RelationPatterns {
    /// Its id.
    pub id: RelationId,
    /// Its name.
    pub relation: String,
    /// Facts, each once, without those of an entity with itself: all shares are of these.
    pub facts: u64,
    /// Whether it has enough facts for a pattern to count.
    pub supported: bool,
    /// Shares of the facts (s, p, o) that come with (o, p, s).
    pub symmetric: Shares,
    /// Distance in time from (s, p, o) to the nearest (o, p, s).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symmetric_lags: Option<Lags>,
    /// The relation q that mirrors it best: (o, q, s).
    pub inverse: Option<Partner>,
    /// The relation q that goes with it best: (s, q, o).
    pub parallel: Option<Partner>,
    /// Share of the facts whose triple holds at another time too.
    pub repeated: f64,
    /// Distance in time from (s, p, o) to the nearest other time that it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated_lags: Option<Lags>,
}

impl RelationPatterns {
    /// How strongly it is mirrored, by itself or mutually by another: first at the same time, then at any.
    pub fn strength(&self) -> Shares {
        let other = self.inverse.as_ref().map(Partner::mutual).unwrap_or_default();
        Shares {
            same_time: self.symmetric.same_time.max(other.same_time),
            any_time: self.symmetric.any_time.max(other.any_time),
        }
    }

    /// By what it is mirrored best, `by itself` or `by inverse`, and the distances in time of that.
    pub fn mirror_lags(&self) -> Option<(&'static str, Lags)> {
        let inverse = self.inverse.as_ref().filter(|q| q.mutual().any_time > self.symmetric.any_time);
        match inverse.and_then(|q| q.lags) {
            Some(lags) => Some(("by inverse", lags)),
            None => Some(("by itself", self.symmetric_lags?)),
        }
    }
}

/// The best partner of every relation: the detected one where there is one, else the one that holds best in both
/// directions. A rare relation is mirrored by a frequent one by chance; that this does not hold the other way round
/// tells such pairs apart.
pub(super) fn partners(
    pairs: &[(RelationId, RelationId)],
    relations: usize,
    shares: impl Fn(RelationId, RelationId) -> Shares,
    detected: [&Mirrors; 2],
) -> Vec<Option<RelationId>> {
    let mut best: Vec<Option<([f64; 4], RelationId)>> = vec![None; relations];
    for &(p, q) in pairs.iter().filter(|(p, q)| p != q) {
        let (there, back) = (shares(p, q), shares(q, p));
        let key = [
            there.same_time.min(back.same_time),
            there.any_time.min(back.any_time),
            there.same_time,
            there.any_time,
        ];
        let place = &mut best[p.index()];
        if place.is_none_or(|(least, _)| key > least) {
            *place = Some((key, q));
        }
    }
    let found = |mirrors: &Mirrors, p: RelationId| {
        let place = mirrors.inverse.binary_search_by_key(&p, |pair| pair.0).ok()?;
        Some(mirrors.inverse[place].1)
    };
    let chosen = |(p, best): (usize, Option<([f64; 4], RelationId)>)| {
        let p = RelationId(p as u32);
        found(detected[0], p).or_else(|| found(detected[1], p)).or(best.map(|(_, q)| q))
    };
    best.into_iter().enumerate().map(chosen).collect()
}

/// What is counted fact by fact.
#[derive(Clone, Copy, Default)]
pub(super) struct Walked {
    pub symmetric: Lags,
    pub inverse: Lags,
    pub repeated: Lags,
}

/// Distances in time of every relation's facts to their companions; without an axis, facts that are repeated still
/// have a distance above zero, which says nothing but that.
pub(super) fn walk(
    index: &FactIndex,
    counts: &PatternCounts,
    inverse: &[Option<RelationId>],
    axis: Option<&TimeAxis>,
) -> Vec<Walked> {
    let time = |step: Step| axis.map_or(i64::from(step.0), |axis| axis.ordinal(step));
    let mut walked = vec![Walked::default(); counts.relations()];
    for fact in index.facts().filter(|fact| fact.subject != fact.object) {
        let place = &mut walked[fact.relation.index()];
        let mirror =
            |relation| Quad { subject: fact.object, relation, object: fact.subject, ..fact }.triple();
        let lag =
            |relation| index.moments(mirror(relation)).nearest(fact.step, time).map(|(_, distance)| distance);
        place.symmetric.add(lag(fact.relation));
        if let Some(partner) = inverse[fact.relation.index()] {
            place.inverse.add(lag(partner));
        }
        let other = index.moments(fact.triple()).nearest_other(fact.step, time);
        place.repeated.add(other.map(|(_, distance)| distance));
    }
    walked
}
