//! Whether triples are true: against drawn negatives, and for triples that were true once.

use quadcast_core::{
    CategoryKind, CategoryTriples, EntityId, EvolvingModel, GraphSizes, ModelError, RelationId, Split, Triple,
};
use serde::{Deserialize, Serialize};

use super::threshold::energy_or_largest;
use super::{StepGraph, Thresholds};
use crate::EvalError;

/// Right and wrong answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// True and taken for true.
    pub true_positives: u64,
    /// False and taken for false.
    pub true_negatives: u64,
    /// False and taken for true.
    pub false_positives: u64,
    /// True and taken for false.
    pub false_negatives: u64,
}

impl Counts {
    fn add(&mut self, is_true: bool, taken_for_true: bool) {
        *match (is_true, taken_for_true) {
            (true, true) => &mut self.true_positives,
            (false, false) => &mut self.true_negatives,
            (false, true) => &mut self.false_positives,
            (true, false) => &mut self.false_negatives,
        } += 1;
    }

    /// All examples.
    pub fn examples(&self) -> u64 {
        self.true_positives + self.true_negatives + self.false_positives + self.false_negatives
    }

    /// Share of right answers.
    pub fn accuracy(&self) -> Option<f64> {
        share(self.true_positives + self.true_negatives, self.examples())
    }

    /// Share of the true ones that are found.
    pub fn recall(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_negatives)
    }

    /// Share of the false ones that are found.
    pub fn specificity(&self) -> Option<f64> {
        share(self.true_negatives, self.true_negatives + self.false_positives)
    }

    /// The harmonic mean of precision and recall.
    pub fn f1(&self) -> Option<f64> {
        share(2 * self.true_positives, 2 * self.true_positives + self.false_positives + self.false_negatives)
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |all, own| Self {
            true_positives: all.true_positives + own.true_positives,
            true_negatives: all.true_negatives + own.true_negatives,
            false_positives: all.false_positives + own.false_positives,
            false_negatives: all.false_negatives + own.false_negatives,
        })
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// How a model is asked for energies of single triples: as it gives them, or as they were asked for in published results.
#[derive(Clone, Copy)]
pub(super) struct EnergyRequest<'a> {
    model: &'a dyn EvolvingModel,
    /// Sizes of the id spaces, if tail and relation are swapped.
    swapped: Option<GraphSizes>,
    /// The graph beyond which the model has nothing to say.
    within: Option<&'a StepGraph>,
}

impl<'a> EnergyRequest<'a> {
    /// The published code swapped tail and relation for parallel universes, and for them alone.
    pub fn new(model: &'a dyn EvolvingModel, compat: bool, sizes: GraphSizes) -> Self {
        Self { model, swapped: (compat && model.capabilities().partial).then_some(sizes), within: None }
    }

    /// The same for a model that learned one graph and nothing else: about whoever is not in it there is nothing to say.
    pub fn within(self, graph: &'a StepGraph) -> Self {
        Self { within: Some(graph), ..self }
    }

    /// Lower is more plausible; infinite where the model has nothing to say.
    pub fn energies(&self, triples: &[Triple]) -> Result<Vec<f32>, ModelError> {
        let (mut places, mut asked) = (Vec::new(), Vec::new());
        for (place, triple) in triples.iter().enumerate() {
            if let Some(triple) = self.asked(triple) {
                places.push(place);
                asked.push(triple);
            }
        }
        let mut energies = vec![f32::INFINITY; triples.len()];
        for (place, energy) in places.into_iter().zip(self.model.energies(&asked)?) {
            energies[place] = energy;
        }
        Ok(energies)
    }

    /// What the model is asked about for a triple; `None` if it can have nothing to say. Swapped, a tail must have a relation of
    /// the same number.
    fn asked(&self, triple: &Triple) -> Option<Triple> {
        if self.within.is_some_and(|graph| !graph.has_room_for(triple)) {
            return None;
        }
        let Some(sizes) = self.swapped else { return Some(*triple) };
        let Triple { subject, relation, object } = *triple;
        let is_known = object.index() < sizes.relations && relation.index() < sizes.entities;
        is_known.then_some(Triple { subject, relation: RelationId(object.0), object: EntityId(relation.0) })
    }
}

/// Triple classification at one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Classification {
    /// Answers with one threshold for all relations.
    pub counts: Counts,
    /// Share of right answers.
    pub accuracy: f64,
    /// Harmonic mean of precision and recall.
    pub f1: f64,
    /// Probability that a true example has the lower energy than a false one.
    pub auc: f64,
    /// Share of the examples that the model has anything to say about.
    pub coverage: f64,
    /// Share of right answers with a threshold per relation.
    pub accuracy_by_relation: f64,
    /// The threshold for all relations; the largest number if every energy is below it.
    #[serde(deserialize_with = "energy_or_largest")]
    pub threshold: f64,
}

impl Classification {
    pub(super) fn judge(examples: &[(Triple, bool)], energies: &[f32], thresholds: &Thresholds) -> Self {
        let (mut common, mut own) = (Counts::default(), Counts::default());
        for (&(triple, is_true), &energy) in examples.iter().zip(energies) {
            common.add(is_true, thresholds.common.accepts(energy));
            own.add(is_true, thresholds.of(triple.relation).accepts(energy));
        }
        let reached = energies.iter().filter(|energy| energy.is_finite()).count();
        Self {
            counts: common,
            accuracy: common.accuracy().unwrap_or_default(),
            f1: common.f1().unwrap_or_default(),
            auc: auc(examples, energies),
            coverage: reached as f64 / energies.len().max(1) as f64,
            accuracy_by_relation: own.accuracy().unwrap_or_default(),
            threshold: thresholds.common.energy,
        }
    }
}

/// Ties count half.
fn auc(examples: &[(Triple, bool)], energies: &[f32]) -> f64 {
    let mut sorted: Vec<(f32, bool)> = examples.iter().zip(energies).map(|(e, &x)| (x, e.1)).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut true_below, mut won) = (0_u64, 0.0);
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        let true_ones = same.iter().filter(|example| example.1).count() as u64;
        let false_ones = same.len() as u64 - true_ones;
        won += (true_below as f64 + 0.5 * true_ones as f64) * false_ones as f64;
        true_below += true_ones;
    }
    let false_all = sorted.len() as u64 - true_below;
    if true_below == 0 || false_all == 0 { 0.5 } else { won / (true_below as f64 * false_all as f64) }
}

/// How the triples of one category of the past were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryOutcome {
    /// The number of the category: 2 deleted, 3 returned, 4 deleted again.
    pub category: u8,
    /// Which split the triples belong to.
    pub split: Split,
    /// Answers.
    pub counts: Counts,
}

/// Classification of triples that were true once, at one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NegativeClassification {
    /// By category and split.
    pub categories: Vec<CategoryOutcome>,
}

impl NegativeClassification {
    pub(super) fn judge(
        asking: &EnergyRequest<'_>,
        categories: &[CategoryTriples],
        thresholds: &Thresholds,
    ) -> Result<Self, EvalError> {
        let judged = categories.iter().map(|category| {
            let mut counts = Counts::default();
            for energy in asking.energies(&category.triples)? {
                counts.add(category.kind == CategoryKind::Returned, thresholds.common.accepts(energy));
            }
            Ok(CategoryOutcome { category: category.kind.number(), split: category.split, counts })
        });
        Ok(Self { categories: judged.collect::<Result<_, EvalError>>()? })
    }

    /// The answers of one category, all splits together.
    pub fn of(&self, kind: CategoryKind) -> Counts {
        self.categories.iter().filter(|c| c.category == kind.number()).map(|c| c.counts).sum()
    }

    /// The mean of the share of gone triples that are taken for false and of returned ones that are taken for true. Whoever
    /// gives one answer to everything gets one half.
    pub fn balanced(&self) -> Option<f64> {
        let gone: Counts =
            [CategoryKind::Deleted, CategoryKind::DeletedAgain].map(|kind| self.of(kind)).into_iter().sum();
        Some(f64::midpoint(gone.specificity()?, self.of(CategoryKind::Returned).recall()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evolving::Threshold;

    #[test]
    fn on_paper() {
        let t = |o| Triple::new(0, 0, o);
        let examples = [(t(1), true), (t(2), false), (t(3), true), (t(4), false)];
        let energies = [1.0, 2.0, 3.0, f32::INFINITY];
        let common = Threshold { energy: 2.5, accuracy: 0.0 };
        let thresholds = Thresholds { common, by_relation: std::collections::BTreeMap::default() };
        let result = Classification::judge(&examples, &energies, &thresholds);
        let expected =
            Counts { true_positives: 1, true_negatives: 1, false_positives: 1, false_negatives: 1 };
        assert_eq!((result.counts, result.accuracy, result.coverage), (expected, 0.5, 0.75));
        // Pairs: (1,2) won, (1,inf) won, (3,2) lost, (3,inf) won.
        assert_eq!(result.auc, 0.75);
    }

    #[test]
    fn who_has_nothing_to_say_leaves_a_record_that_can_be_read() {
        let examples = [(Triple::new(0, 0, 1), true), (Triple::new(0, 0, 2), false)];
        let silent = [f32::INFINITY; 2];
        let thresholds = Thresholds::best(&examples, &silent, false);
        let result = Classification::judge(&examples, &silent, &thresholds);
        let mut value = serde_json::to_value(&result).unwrap();
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!(serde_json::from_str::<Classification>(&text).unwrap(), result);
        // Earlier versions wrote an infinite threshold, which JSON turns into null.
        value["threshold"] = serde_json::Value::Null;
        assert_eq!(serde_json::from_value::<Classification>(value).unwrap(), result);
    }
}
