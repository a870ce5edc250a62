//! Detected patterns by name.

use quadcast_core::{Mirrors, Names, PatternCounts, RelationId, Shares};
use serde::Serialize;

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
