//! Whether the figures of a record follow from its ranks, and the digest of both.

use quadcast_core::{Filter, TiePolicy};
use quadcast_eval::evolving::EvolvingOutcome;
use quadcast_eval::{Counting, FilterOutcome, Metrics, Outcome, Part, RankedQuery, Tally};
use serde_json::Value;

use crate::checksums::{checksum, hex};
use crate::ranks::{StepTimes, write_row};
use crate::{Plan, Record, RunError};

/// Figures that differ by less are the same: other versions may add up in another order.
const TOLERANCE: f64 = 1e-9;

/// Fields that differ between equal runs: how long they took, and how much memory.
const COSTS: [&str; 3] = ["seconds", "validation_seconds", "peak_memory_bytes"];

impl Record {
    /// An error that names the first figure that does not follow from the ranks.
    pub(crate) fn check_figures(&self, ranked: &[RankedQuery]) -> Result<(), String> {
        let Some(metrics) = &self.metrics else { return Err("it is complete and has no results".to_owned()) };
        let outcome = Outcome::new(ranked, self.candidates(), &self.protocol, self.seed)
            .ok_or("it has results and no ranks")?;
        for (name, own, found) in [
            ("time", &metrics.time, &outcome.filters[0]),
            ("static", &metrics.fixed, &outcome.filters[1]),
            ("raw", &metrics.raw, &outcome.filters[2]),
        ] {
            check_filter(own, found).map_err(|what| differs(&format!("metrics.{name}.{what}")))?;
        }
        self.check_steps(&outcome)?;
        self.check_evolving(ranked)?;
        self.check_relations(&outcome)?;
        let same_share = self.unreached.is_none_or(|share| close(share, outcome.unreached));
        if !same_share || self.not_a_number.is_some_and(|count| count != outcome.not_a_number) {
            return Err(differs("unreached or not_a_number"));
        }
        Ok(())
    }

    fn check_steps(&self, outcome: &Outcome) -> Result<(), String> {
        let same = self.by_step.len() == outcome.by_step.len()
            && self.by_step.iter().zip(&outcome.by_step).all(|(row, (step, part))| {
                row.step == step.0 && same_part(Some(&row.part), Some(part)).is_ok()
            });
        if same { Ok(()) } else { Err(differs("by_step")) }
    }

    /// Evolving graphs: the results of each step, and the means over all steps.
    fn check_evolving(&self, ranked: &[RankedQuery]) -> Result<(), String> {
        let Some(own) = &self.evolving else { return Ok(()) };
        let counting = Counting::new(self.candidates(), self.protocol.ties, self.seed);
        let filters = [("filtered", Filter::Time), ("ever", Filter::Static), ("raw", Filter::Raw)];
        // Random ties are drawn anew for the ranks of one step.
        for (name, filter) in filters.into_iter().filter(|_| self.protocol.ties != TiePolicy::Random) {
            let by_step = counting.group(ranked, filter, |query| query.query.step);
            for step in &own.steps {
                let Some(link) = &step.link else { continue };
                let noted = match filter {
                    Filter::Time => &link.filtered,
                    Filter::Static => &link.ever,
                    Filter::Raw => &link.raw,
                };
                let found = by_step.get(&step.step).and_then(Tally::metrics);
                if found.is_none_or(|found| same_metrics(&noted.metrics, &found).is_err()) {
                    return Err(differs(&format!("{name} of step {} in evolving.steps", step.step.0)));
                }
            }
        }
        let earlier = self.update.as_ref().map_or(&[][..], |update| &update.learned);
        let found = EvolvingOutcome::new(own.steps.clone(), earlier);
        for (name, own, found) in
            [("filtered", &own.filtered, &found.filtered), ("raw", &own.raw, &found.raw)]
        {
            same_metrics(&own.by_step, &found.by_step)
                .and(same_metrics(&own.by_question, &found.by_question))
                .map_err(|what| differs(&format!("evolving.{name}.{what}")))?;
        }
        let numbers = |outcome: &EvolvingOutcome| -> Vec<f64> {
            let means = outcome.classification.iter().chain(outcome.negative.values());
            let means = means.flat_map(|mean| [mean.by_step, mean.by_question]);
            means.chain(outcome.backward_transfer).chain(outcome.forward_transfer).collect()
        };
        let [noted, found] = [own, &found].map(numbers);
        let same = noted.len() == found.len() && noted.iter().zip(&found).all(|(a, b)| close(*a, *b));
        if same { Ok(()) } else { Err(differs("a mean over the steps in evolving")) }
    }

    fn check_relations(&self, outcome: &Outcome) -> Result<(), String> {
        let rows = self.by_relation.iter().zip(&outcome.by_relation);
        let mut rows = rows.map(|(row, ((relation, direction), part))| {
            (row.id, row.direction.as_str()) == (relation.0, direction.word())
                && same_part(Some(&row.part), Some(part)).is_ok()
        });
        let same = self.by_relation.len() == outcome.by_relation.len() && rows.all(|same| same);
        if same { Ok(()) } else { Err(differs("by_relation")) }
    }

    /// Hash of plan, data, version and results: everything in the record but its cost, and the ranks.
    pub(crate) fn compute_digest(&self, plan: &Plan, ranked: &[RankedQuery]) -> Result<String, RunError> {
        let unsigned = Self { digest: None, ..self.clone() };
        let mut value = serde_json::to_value(unsigned).map_err(RunError::internal)?;
        remove_costs(&mut value);
        let mut rows = Vec::with_capacity(64 * ranked.len());
        for row in ranked {
            write_row(&mut rows, row, StepTimes::Numbers).map_err(RunError::internal)?;
        }
        let identity = plan.identity(&self.version)?;
        Ok(hex(&checksum(&[identity.as_bytes(), value.to_string().as_bytes(), &rows])))
    }
}

fn differs(what: &str) -> String {
    format!(
        "{what} does not follow from the ranks of the run. The record was damaged or edited: make the run again"
    )
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(1.0)
}

/// Compares results under one filter; tie policies that the record leaves out are not compared.
fn check_filter(own: &FilterOutcome, found: &FilterOutcome) -> Result<(), String> {
    same_metrics(&own.metrics, &found.metrics)?;
    if own.queries != found.queries {
        return Err("queries".to_owned());
    }
    if !close(own.ties, found.ties) {
        return Err("ties".to_owned());
    }
    for (name, own, found) in [
        ("object", &own.object, &found.object),
        ("subject", &own.subject, &found.subject),
        ("seen", &own.seen, &found.seen),
        ("unseen", &own.unseen, &found.unseen),
    ] {
        same_part(own.as_ref(), found.as_ref()).map_err(|what| format!("{name}.{what}"))?;
    }
    for (policy, own) in &own.policy {
        let found = found.policy.get(policy).ok_or_else(|| format!("policy.{policy}"))?;
        same_metrics(own, found).map_err(|what| format!("policy.{policy}.{what}"))?;
    }
    let ends = |outcome: &FilterOutcome| {
        outcome.ci95.map(|all| [all.mrr, all.hits1, all.hits3, all.hits10].map(<[f64; 2]>::from).concat())
    };
    let same = match (ends(own), ends(found)) {
        (Some(own), Some(found)) => own.iter().zip(&found).all(|(a, b)| close(*a, *b)),
        (None, None) => true,
        _ => false,
    };
    if same { Ok(()) } else { Err("ci95".to_owned()) }
}

fn same_part(own: Option<&Part>, found: Option<&Part>) -> Result<(), String> {
    match (own, found) {
        (None, None) => Ok(()),
        (Some(own), Some(found)) if own.queries == found.queries => {
            same_metrics(&own.metrics, &found.metrics)
        }
        _ => Err("queries".to_owned()),
    }
}

fn same_metrics(own: &Metrics, found: &Metrics) -> Result<(), String> {
    let names = ["mrr", "hits@1", "hits@3", "hits@10", "mr"];
    let (own, found): ([f64; 5], [f64; 5]) = ((*own).into(), (*found).into());
    let wrong = names.iter().zip(own.iter().zip(found)).find(|(_, (own, found))| !close(**own, *found));
    wrong.map_or(Ok(()), |(name, _)| Err((*name).to_owned()))
}

/// Removes what a run cost, at any depth.
fn remove_costs(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !COSTS.contains(&name.as_str()));
            fields.values_mut().for_each(remove_costs);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_costs),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn costs_are_no_part_of_a_digest() {
        let mut value = json!({ "mrr": 1, "seconds": 2, "training": [{ "seconds": 3, "epochs": 4 }] });
        remove_costs(&mut value);
        assert_eq!(value, json!({ "mrr": 1, "training": [{ "epochs": 4 }] }));
    }

    #[test]
    fn figures_are_compared_closely() {
        let metrics = Metrics { mrr: 0.5, hits1: 0.25, hits3: 0.5, hits10: 1.0, mr: 7.0 };
        assert_eq!(same_metrics(&metrics, &Metrics { mrr: 0.5 + 1e-12, ..metrics }), Ok(()));
        assert_eq!(same_metrics(&metrics, &Metrics { mrr: 0.500_001, ..metrics }), Err("mrr".to_owned()));
        assert_eq!(same_metrics(&metrics, &Metrics { mr: 6.0, ..metrics }), Err("mr".to_owned()));
        let part = Part { queries: 4, metrics };
        assert!(same_part(Some(&part), Some(&Part { queries: 5, metrics })).is_err());
        assert!(same_part(Some(&part), None).is_err());
    }
}
