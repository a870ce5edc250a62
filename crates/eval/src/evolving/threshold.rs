//! The energy below which a triple is taken for true.

use std::collections::BTreeMap;

use quadcast_core::{RelationId, Triple};
use serde::{Deserialize, Deserializer, Serialize};

/// Relations with fewer examples share a threshold with all others.
const LEAST_EXAMPLES: usize = 10;

/// An energy: triples below it are taken for true.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// The energy; the largest number if everything that has an energy is true. It is never infinite: records are JSON, which has
    /// no word for that.
    #[serde(deserialize_with = "energy_or_largest")]
    pub energy: f64,
    /// Share of the examples that it was chosen on which it gets right.
    pub accuracy: f64,
}

/// One example: its energy and whether it is true.
pub(super) type Example = (f32, bool);

impl Threshold {
    /// The threshold with the highest accuracy; of equal ones the lowest. It lies in the middle between two energies, or,
    /// as published, on the higher one.
    pub(super) fn best(examples: &[Example], on_energy: bool) -> Self {
        let mut sorted: Vec<Example> = examples.to_vec();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let count = sorted.len().max(1) as f64;
        let positives = sorted.iter().filter(|example| example.1).count();
        // Everything is false, below the lowest energy.
        let mut right = sorted.len() - positives;
        let lowest = sorted.first().map_or(0.0, |example| f64::from(example.0));
        // A model that has nothing to say about any example: no threshold is better than another, and none may be infinite.
        let lowest = if lowest.is_finite() { lowest } else { f64::MAX };
        let mut best = (right, lowest);
        let mut groups =
            sorted.chunk_by(|a, b| a.0 == b.0).take_while(|same| same[0].0.is_finite()).peekable();
        while let Some(same) = groups.next() {
            let true_ones = same.iter().filter(|example| example.1).count();
            right = right + true_ones - (same.len() - true_ones);
            if right > best.0 {
                let above = match groups.peek().map(|next| f64::from(next[0].0)) {
                    Some(next) if on_energy => next,
                    Some(next) => f64::midpoint(f64::from(same[0].0), next),
                    // Nothing finite is above: everything that has an energy is true.
                    None => f64::MAX,
                };
                best = (right, above);
            }
        }
        Self { energy: best.1, accuracy: best.0 as f64 / count }
    }

    /// Whether a triple of this energy is taken for true.
    pub fn accepts(&self, energy: f32) -> bool {
        f64::from(energy) < self.energy
    }
}

/// Reads an energy. Records of earlier versions have `null` where nothing had a finite one.
pub(super) fn energy_or_largest<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::MAX))
}

/// One threshold for all relations, and one for each that has enough examples.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    /// For all relations.
    pub common: Threshold,
    /// For relations with enough examples.
    pub by_relation: BTreeMap<RelationId, Threshold>,
}

impl Thresholds {
    /// Chosen on examples.
    pub(super) fn best(triples: &[(Triple, bool)], energies: &[f32], on_energy: bool) -> Self {
        let examples: Vec<Example> = triples.iter().zip(energies).map(|(t, &e)| (e, t.1)).collect();
        let mut groups: BTreeMap<RelationId, Vec<Example>> = BTreeMap::new();
        for ((triple, _), &example) in triples.iter().zip(&examples) {
            groups.entry(triple.relation).or_default().push(example);
        }
        groups.retain(|_, examples| examples.len() >= LEAST_EXAMPLES);
        let by_relation = groups.into_iter().map(|(r, examples)| (r, Threshold::best(&examples, on_energy)));
        Self { common: Threshold::best(&examples, on_energy), by_relation: by_relation.collect() }
    }

    /// The threshold of a relation.
    pub fn of(&self, relation: RelationId) -> Threshold {
        self.by_relation.get(&relation).copied().unwrap_or(self.common)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn in_the_middle_of_the_gap() {
        let examples = [(1.0, true), (2.0, true), (4.0, false), (5.0, false)];
        let threshold = Threshold::best(&examples, false);
        assert_eq!(threshold, Threshold { energy: 3.0, accuracy: 1.0 });
        assert_eq!(Threshold::best(&examples, true).energy, 4.0, "published: on an energy");
        assert!(threshold.accepts(2.9) && !threshold.accepts(3.0));
    }

    #[test]
    fn without_anything_to_say_nothing_is_true() {
        let threshold = Threshold::best(&[(f32::INFINITY, true), (f32::INFINITY, false)], false);
        assert!(!threshold.accepts(f32::INFINITY));
        assert_eq!(threshold.accuracy, 0.5);
        let known = Threshold::best(&[(1.0, true), (f32::INFINITY, false)], false);
        assert!(known.accepts(1e30) && !known.accepts(f32::INFINITY));
    }

    #[test]
    fn a_threshold_without_any_energy_can_be_written_and_read() {
        let silent = [(f32::INFINITY, true), (f32::INFINITY, false)];
        for on_energy in [false, true] {
            let threshold = Threshold::best(&silent, on_energy);
            assert_eq!(threshold.energy, f64::MAX);
            let text = serde_json::to_string(&threshold).unwrap();
            assert_eq!(serde_json::from_str::<Threshold>(&text).unwrap(), threshold);
        }
        let old: Threshold = serde_json::from_str(r#"{"energy":null,"accuracy":0.5}"#).unwrap();
        assert_eq!(old, Threshold::best(&silent, false));
    }

    proptest! {
        #[test]
        fn no_other_threshold_is_better(examples in prop::collection::vec((0_u8..12, any::<bool>()), 1..40)) {
            let examples: Vec<Example> = examples.into_iter().map(|(e, t)| (f32::from(e), t)).collect();
            let best = Threshold::best(&examples, false);
            let accuracy = |limit: f64| {
                let right = examples.iter().filter(|(e, t)| (f64::from(*e) < limit) == *t).count();
                right as f64 / examples.len() as f64
            };
            prop_assert_eq!(accuracy(best.energy), best.accuracy);
            for limit in 0..14 {
                prop_assert!(accuracy(f64::from(limit) - 0.5) <= best.accuracy + 1e-12);
            }
        }
    }
}
