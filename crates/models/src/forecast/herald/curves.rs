//! Rules to be read: how the confidence of a rule depends on the age and number of its facts, as counted and as a formula.

use quadcast_core::{AgePoint, CurvePoint, DirectedRelation, ListedRule, Rule, RuleCurve, SmoothCurve};

use super::counts::NONE;
use super::rules::{AGES, BINS, NUMBERS, Tables, overall_confidence};

/// The bins of ages and of numbers of facts, as [`super::rules::bin`] has them.
const AGE_BINS: [(u32, Option<u32>); AGES] = [
    (1, Some(1)),
    (2, Some(2)),
    (3, Some(3)),
    (4, Some(5)),
    (6, Some(8)),
    (9, Some(16)),
    (17, Some(32)),
    (33, Some(64)),
    (65, Some(128)),
    (129, None),
];
const NUMBER_BINS: [(u32, Option<u32>); NUMBERS] = [(1, Some(1)), (2, Some(4)), (5, None)];
/// The age that stands for a bin in the formula: its middle.
const AGE_MIDDLES: [f64; AGES] = [1.0, 2.0, 3.0, 4.5, 7.0, 12.5, 24.5, 48.5, 96.5, 192.5];
/// Halvings per unit that are tried: 2⁻⁸ to 2², in steps of √2.
const RATES: std::ops::RangeInclusive<i32> = -16..=4;

/// All rules whose head ever followed, those with one fact first, in order of heads and bodies.
pub(super) fn listed(tables: &Tables) -> Vec<ListedRule> {
    let heads = (0..).zip(tables.places.chunks_exact(tables.relations.max(1)));
    let of_head = |(head, places): (u32, &[u32])| -> Vec<ListedRule> {
        let counted = (0..).zip(places).filter(|(_, place)| **place != NONE);
        let followed = counted.filter(|(_, place)| tables.supports[**place as usize][0] > 0.0);
        followed.map(|(body, &place)| rule(tables, head, &[body], place as usize)).collect()
    };
    let chains = (tables.chains.first_place..).zip(&tables.chains.all);
    let followed = chains.filter(|(place, _)| tables.supports[*place][0] > 0.0);
    let of_chains =
        followed.map(|(place, chain)| rule(tables, chain.head, &[chain.first, chain.second], place));
    heads.flat_map(of_head).chain(of_chains).collect()
}

/// A rule without its curve.
pub(super) fn plain_rule(tables: &Tables, head: u32, body: &[u32], place: usize) -> Rule {
    let [heads, bodies] = tables.supports[place];
    let confidence = f64::from(overall_confidence([heads, bodies]));
    Rule {
        head: DirectedRelation(head),
        body: body.iter().copied().map(DirectedRelation).collect(),
        constraints: Vec::new(),
        rule_support: heads as u32,
        body_support: bodies as u32,
        confidence: six_digits(confidence),
        any_order: body.len() > 1,
    }
}

fn rule(tables: &Tables, head: u32, body: &[u32], place: usize) -> ListedRule {
    let bins = place * BINS..(place + 1) * BINS;
    let (confidences, bodies) = (&tables.confidences[bins.clone()], &tables.bodies[bins]);
    let mut by_age: Vec<AgePoint> = AGE_BINS
        .iter()
        .zip(confidences.chunks_exact(NUMBERS).zip(bodies.chunks_exact(NUMBERS)))
        .map(|(&age, (confidences, bodies))| age_point(age, confidences, bodies))
        .collect();
    if body.len() > 1 {
        // Two facts have an order instead of a number.
        for point in &mut by_age {
            point.by_number.clear();
        }
    }
    let smooth = fit(&by_age);
    ListedRule { rule: plain_rule(tables, head, body, place), curve: Some(RuleCurve { by_age, smooth }) }
}

fn age_point(age: (u32, Option<u32>), confidences: &[f32], bodies: &[u32]) -> AgePoint {
    let cells = || confidences.iter().map(|&c| f64::from(c)).zip(bodies.iter().copied());
    let total: u32 = bodies.iter().sum();
    let sum: f64 = cells().map(|(confidence, bodies)| confidence * f64::from(bodies)).sum();
    let by_number = NUMBER_BINS.iter().zip(cells());
    AgePoint {
        all: point(age, total, sum / f64::from(total.max(1))),
        by_number: by_number
            .map(|(&number, (confidence, bodies))| point(number, bodies, confidence))
            .collect(),
    }
}

fn point((from, to): (u32, Option<u32>), body_support: u32, confidence: f64) -> CurvePoint {
    CurvePoint { from, to, body_support, confidence: (body_support > 0).then(|| six_digits(confidence)) }
}

fn six_digits(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// The formula that is nearest to a curve, in squares weighted by bodies: for each rate, what passes and what stays follow from
/// two linear equations.
fn fit(by_age: &[AgePoint]) -> SmoothCurve {
    let points: Vec<(f64, f64, f64)> = by_age
        .iter()
        .zip(AGE_MIDDLES)
        .filter_map(|(point, age)| Some((age, point.all.confidence?, f64::from(point.all.body_support))))
        .collect();
    let weight: f64 = points.iter().map(|(_, _, w)| w).sum();
    let mean = points.iter().map(|(_, c, w)| c * w).sum::<f64>() / weight.max(1.0);
    let mut best = SmoothCurve { alpha: six_digits(mean), lambda: 0.0, phi: 0.0 };
    let error = |curve: &SmoothCurve| -> f64 {
        points.iter().map(|&(age, c, w)| w * (curve.at(age) - c).powi(2)).sum()
    };
    let mut least = error(&best);
    for rate in RATES {
        let lambda = (0.5 * f64::from(rate)).exp2();
        let Some(curve) = fit_at(lambda, &points).filter(|curve| error(curve) < least) else { continue };
        (least, best) = (error(&curve), curve);
    }
    best
}

/// The best formula with a given rate; `None` if the confidence does not fall with age.
fn fit_at(lambda: f64, points: &[(f64, f64, f64)]) -> Option<SmoothCurve> {
    let [mut w, mut x, mut xx, mut y, mut xy] = [0.0; 5];
    for &(age, confidence, weight) in points {
        let left = (-lambda * (age - 1.0)).exp2();
        w += weight;
        x += weight * left;
        xx += weight * left * left;
        y += weight * confidence;
        xy += weight * left * confidence;
    }
    let determinant = w * xx - x * x;
    if determinant <= 1e-9 * w * xx {
        return None;
    }
    let (mut passes, mut stays) = ((w * xy - x * y) / determinant, (xx * y - x * xy) / determinant);
    if stays < 0.0 {
        (passes, stays) = (xy / xx, 0.0);
    }
    (passes > 0.0).then(|| SmoothCurve {
        alpha: six_digits(passes + stays),
        lambda: six_digits(lambda),
        phi: six_digits(stays / passes),
    })
}

#[cfg(test)]
mod tests {
    use super::super::counts::Cell;
    use super::super::rules::bin;
    use super::*;

    fn points(confidence: impl Fn(f64) -> Option<f64>) -> Vec<AgePoint> {
        let all = |((from, to), age): ((u32, Option<u32>), f64)| {
            let confidence = confidence(age);
            CurvePoint { from, to, body_support: u32::from(confidence.is_some()) * 50, confidence }
        };
        let bins = AGE_BINS.into_iter().zip(AGE_MIDDLES);
        bins.map(|bin| AgePoint { all: all(bin), by_number: Vec::new() }).collect()
    }

    #[test]
    fn bins_are_those_of_the_tables() {
        for (i, (from, to)) in AGE_BINS.into_iter().enumerate() {
            for (j, (fewest, most)) in NUMBER_BINS.into_iter().enumerate() {
                for age in [from, to.unwrap_or(9999)] {
                    for n in [fewest, most.unwrap_or(9999)] {
                        let mut cell = Cell::EMPTY;
                        cell.n = n;
                        assert_eq!(bin(&cell, age), i * NUMBERS + j, "age {age}, number {n}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_formula_is_found_again() {
        let true_curve = SmoothCurve { alpha: 0.6, lambda: 0.25, phi: 0.5 };
        let found = fit(&points(|age| Some(true_curve.at(age))));
        assert!((found.alpha - 0.6).abs() < 1e-4 && (found.phi - 0.5).abs() < 1e-4, "{found:?}");
        assert_eq!(found.lambda, 0.25);
        assert!((found.at(5.0) - 0.6 * (0.5 + 0.5) / 1.5).abs() < 1e-4, "halved after 4 units");
    }

    #[test]
    fn what_does_not_fall_is_constant() {
        let constant = SmoothCurve { alpha: 0.3, lambda: 0.0, phi: 0.0 };
        assert_eq!(fit(&points(|_| Some(0.3))), constant);
        assert_eq!(fit(&points(|age| (age < 2.0).then_some(0.3))), constant, "one point");
        let rising = fit(&points(|age| Some(0.001 * age)));
        assert_eq!((rising.lambda, rising.phi), (0.0, 0.0));
        assert_eq!(fit(&points(|_| None)).alpha, 0.0);
    }
}
