//! Facts in the order of time, without repetitions, divided into three splits at the borders of steps.

use quadcast_core::{Duplicates, Splits};
use rustc_hash::FxHashSet;

use super::error::ImportError;
use super::options::{Granularity, Shares};
use super::steps::StepFact;

/// Sorts by step and drops duplicate facts of a step, if asked to; also counts them. Within a step facts keep the order of the
/// files.
pub(super) fn ordered(mut facts: Vec<StepFact>, duplicates: Duplicates) -> (Vec<StepFact>, u64) {
    if !facts.is_sorted_by_key(|fact| fact.step) {
        facts.sort_by_key(|fact| fact.step);
    }
    let before = facts.len();
    let mut seen = FxHashSet::default();
    let mut step = None;
    let mut repeated = 0;
    facts.retain(|fact| {
        if step != Some(fact.step) {
            step = Some(fact.step);
            seen.clear();
        }
        let first = seen.insert((fact.subject, fact.relation, fact.object));
        repeated += u64::from(!first);
        first || duplicates == Duplicates::Keep
    });
    debug_assert!(duplicates == Duplicates::Drop || facts.len() == before);
    (facts, repeated)
}

/// Cuts facts at borders of steps so that the shares come as near as possible to those wanted; every split gets at
/// least one step.
pub(super) fn divided(
    facts: &[StepFact],
    shares: Shares,
    granularity: Granularity,
) -> Result<Splits<&[StepFact]>, ImportError> {
    let mut borders: Vec<usize> = vec![0];
    borders.extend((1..facts.len()).filter(|&at| facts[at].step != facts[at - 1].step));
    let Some([first, second]) = cuts(&borders, facts.len(), shares) else {
        let steps = if facts.is_empty() { 0 } else { borders.len() };
        let finer = granularity
            .finer()
            .map_or_else(String::new, |finer| format!(", or cut finer with --granularity {finer}"));
        return Err(ImportError::Unusable(format!(
            "found {steps} different {granularity}(s), expected at least 3: train, valid and test need one each; \
             give more data{finer}"
        )));
    };
    let (before, test) = facts.split_at(borders[second]);
    let (train, valid) = before.split_at(borders[first]);
    Ok(Splits { train, valid, test })
}

/// The steps with which valid and test begin, from where each step begins among `facts` sorted facts. Every split gets
/// at least one step; `None` if there are too few for that.
pub fn cuts(begins: &[usize], facts: usize, shares: Shares) -> Option<[usize; 2]> {
    let steps = begins.len();
    if steps < 3 {
        return None;
    }
    // The border that leaves nearly `share` of the facts before it; of two equally near ones the earlier.
    let nearest = |share: f64, from: usize, to: usize| {
        let target = share * facts as f64;
        let distance = |border: usize| (begins[border] as f64 - target).abs();
        (from..=to)
            .reduce(|best, next| if distance(next) < distance(best) { next } else { best })
            .unwrap_or(from)
    };
    let valid = nearest(shares.train, 1, steps - 2);
    let test = nearest(shares.train + shares.valid, valid + 1, steps - 1);
    Some([valid, test])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(step: i64, subject: u32) -> StepFact {
        StepFact { step, subject, relation: 0, object: 0 }
    }

    /// Facts per step, divided: how many facts each split gets.
    fn sizes(steps: &[u32], shares: &str) -> [usize; 3] {
        let facts: Vec<StepFact> = (0..)
            .zip(steps)
            .flat_map(|(step, &count)| (0..count).map(move |subject| fact(step, subject)))
            .collect();
        let shares = shares.parse().expect("shares");
        let splits = divided(&facts, shares, Granularity::Day).expect("enough steps");
        [splits.train.len(), splits.valid.len(), splits.test.len()]
    }

    #[test]
    fn borders_lie_between_steps() {
        assert_eq!(sizes(&[1; 10], "80/10/10"), [8, 1, 1]);
        assert_eq!(sizes(&[5, 3, 1, 1], "80/10/10"), [8, 1, 1]);
        assert_eq!(sizes(&[1, 1, 100], "80/10/10"), [1, 1, 100], "each split gets a step");
        assert_eq!(sizes(&[100, 1, 1], "10/10/80"), [100, 1, 1]);
        assert_eq!(sizes(&[4, 4, 4], "34/33/33"), [4, 4, 4]);
    }

    #[test]
    fn too_few_steps_are_refused() {
        let facts = [fact(0, 0), fact(1, 0)];
        let refused = divided(&facts, Shares::default(), Granularity::Month);
        let error = refused.map(|_| ()).expect_err("two steps").to_string();
        assert!(error.contains("2 different month(s)") && error.contains("--granularity week"), "{error}");
        assert!(divided(&[], Shares::default(), Granularity::Hour).is_err());
    }

    #[test]
    fn repetitions_go_within_a_step_only() {
        let facts = vec![fact(2, 1), fact(1, 1), fact(2, 0), fact(2, 1)];
        let (dropped, repeated) = ordered(facts.clone(), Duplicates::Drop);
        assert!(dropped == [fact(1, 1), fact(2, 1), fact(2, 0)]);
        assert_eq!(repeated, 1);
        let (kept, repeated) = ordered(facts, Duplicates::Keep);
        assert_eq!((repeated, kept.len()), (1, 4));
    }
}
