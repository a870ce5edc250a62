//! The patterns of one relation, detected patterns by name, and how far away in time the nearest companion of a fact lies.

use quadcast_core::{Mirrors, Names, PatternCounts, Quad, RelationId, Shares};
use serde::Serialize;

use crate::index::{FactIndex, Times};

/// Numbers of facts by the distance in time to their nearest companion, in units of the time raster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lags {
    /// At the same time.
    #[serde(rename = "0")]
    pub same_time: u64,
    /// One unit away.
    #[serde(rename = "1")]
    pub one: u64,
    /// 2 to 7 units.
    #[serde(rename = "2-7")]
    pub to_seven: u64,
    /// 8 to 30 units.
    #[serde(rename = "8-30")]
    pub to_thirty: u64,
    /// Further away.
    pub more: u64,
    /// There is none.
    pub never: u64,
}

impl Lags {
    /// Names of the classes, in the order of [`Lags::counts`].
    pub const NAMES: [&'static str; 6] = ["0", "1", "2-7", "8-30", "more", "never"];

    /// Takes note of a fact; `None` if it has no companion.
    pub(super) fn add(&mut self, lag: Option<u64>) {
        let class = match lag {
            Some(0) => &mut self.same_time,
            Some(1) => &mut self.one,
            Some(2..=7) => &mut self.to_seven,
            Some(8..=30) => &mut self.to_thirty,
            Some(_) => &mut self.more,
            None => &mut self.never,
        };
        *class += 1;
    }

    /// The numbers in order.
    pub const fn counts(&self) -> [u64; 6] {
        [self.same_time, self.one, self.to_seven, self.to_thirty, self.more, self.never]
    }

    /// Facts that have a companion.
    pub const fn found(&self) -> u64 {
        self.same_time + self.one + self.to_seven + self.to_thirty + self.more
    }
}

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

/// A relation that mirrors itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedSymmetric {
    /// The relation.
    pub relation: String,
    /// Share of its facts that are mirrored.
    pub share: f64,
}

/// Two relations that mirror each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedPair {
    /// The one.
    pub relation: String,
    /// The other.
    pub inverse: String,
    /// Share of the one's facts that the other mirrors.
    pub forwards: f64,
    /// Share of the other's facts that the one mirrors.
    pub backwards: f64,
}

/// Detected patterns by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NamedMirrors {
    /// Symmetric relations with their shares, the strongest first.
    pub symmetric: Vec<NamedSymmetric>,
    /// Inverse pairs, each once, the strongest first.
    pub inverse: Vec<NamedPair>,
}

impl NamedMirrors {
    /// Names patterns; `pick` chooses the share that they were detected by.
    pub(crate) fn of(
        counts: &PatternCounts,
        names: &Names,
        mirrors: &Mirrors,
        pick: fn(Shares) -> f64,
    ) -> Self {
        let share = |p, q| pick(counts.mirrored(p, q));
        let name = |relation: RelationId| names.name(relation.0).into_owned();
        let mut symmetric: Vec<NamedSymmetric> = mirrors
            .symmetric
            .iter()
            .map(|&p| NamedSymmetric { relation: name(p), share: share(p, p) })
            .collect();
        symmetric.sort_by(|a, b| b.share.total_cmp(&a.share));
        // A pair found from both sides is named once, from the side with the smaller id.
        let once =
            |&&(p, q): &&(RelationId, RelationId)| p < q || mirrors.inverse.binary_search(&(q, p)).is_err();
        let mut inverse: Vec<NamedPair> = mirrors
            .inverse
            .iter()
            .filter(once)
            .map(|&(p, q)| NamedPair {
                relation: name(p),
                inverse: name(q),
                forwards: share(p, q),
                backwards: share(q, p),
            })
            .collect();
        inverse.sort_by(|a, b| (b.forwards + b.backwards).total_cmp(&(a.forwards + a.backwards)));
        Self { symmetric, inverse }
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
    let chosen = |(p, best): (usize, Option<([f64; 4], RelationId)>)| {
        let p = RelationId(p as u32);
        inverse_of(detected[0], p).or_else(|| inverse_of(detected[1], p)).or(best.map(|(_, q)| q))
    };
    best.into_iter().enumerate().map(chosen).collect()
}

/// The detected inverse of a relation.
pub(crate) fn inverse_of(mirrors: &Mirrors, relation: RelationId) -> Option<RelationId> {
    let place = mirrors.inverse.binary_search_by_key(&relation, |pair| pair.0).ok()?;
    Some(mirrors.inverse[place].1)
}

/// The distances in time of one relation's facts to their companions.
#[derive(Clone, Copy, Default)]
pub(super) struct Distances {
    pub symmetric: Lags,
    pub inverse: Lags,
    pub repeated: Lags,
}

/// Distances in time of every relation's facts to their companions; without an order in time, facts that are repeated still
/// have a distance above zero, which says nothing but that.
pub(super) fn distances(
    index: &FactIndex,
    counts: &PatternCounts,
    inverse: &[Option<RelationId>],
    times: &Times<'_>,
) -> Vec<Distances> {
    let mut found = vec![Distances::default(); counts.relations()];
    let ordinal = |step| times.ordinal(step);
    for fact in index.facts().filter(|fact| fact.subject != fact.object) {
        let place = &mut found[fact.relation.index()];
        let lag = |relation| {
            let mirror = Quad { subject: fact.object, relation, object: fact.subject, ..fact };
            let nearest = index.occurrences(mirror.triple()).nearest(fact.step, ordinal);
            nearest.map(|(_, distance)| distance)
        };
        place.symmetric.add(lag(fact.relation));
        if let Some(partner) = inverse[fact.relation.index()] {
            place.inverse.add(lag(partner));
        }
        let other = index.occurrences(fact.triple()).nearest_other(fact.step, ordinal);
        place.repeated.add(other.map(|(_, distance)| distance));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_of_the_classes() {
        let mut lags = Lags::default();
        for lag in [0, 1, 2, 7, 8, 30, 31, u64::MAX] {
            lags.add(Some(lag));
        }
        lags.add(None);
        assert_eq!(lags.counts(), [1, 1, 2, 2, 2, 1]);
        assert_eq!(lags.found(), 8);
        let document = serde_json::to_value(lags).expect("numbers");
        let names: Vec<&str> = document.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(names, Lags::NAMES);
    }
}
