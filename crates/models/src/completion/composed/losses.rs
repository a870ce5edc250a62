//! Losses of one question: from the scores of its candidates to the gradients of the loss.

use quadcast_kernels::Real;
use quadcast_kernels::activations::softplus;

use super::settings::{Config, LossName};

/// The sum of ln(1 + e^{−|x|}) is the logarithm of a product: one logarithm for this many factors, each at most 2.
const FACTORS: usize = 32;

/// The loss of one question. `right` is the score of the true answer, `wrong` those of the others (−∞: not a
/// candidate); both are replaced by their gradients times `weight`.
#[inline(always)]
pub(crate) fn loss<T: Real>(config: &Config, weight: T, right: &mut T, wrong: &mut [T]) -> f64 {
    match config.loss {
        LossName::Ce => cross_entropy(weight, right, wrong),
        LossName::Bce => binary(weight, right, wrong, true),
        LossName::SoftMargin => binary(weight, right, wrong, false),
        LossName::Margin => margin(T::from_f64(config.margin), weight, right, wrong),
        LossName::LogRank => log_rank(T::from_f64(config.temperature), weight, right, wrong),
    }
}

#[inline(always)]
fn largest<T: Real>(first: T, rest: &[T]) -> T {
    rest.iter().fold(first, |best, &x| best.larger(x))
}

/// −ln softmax at the true answer.
#[inline(always)]
fn cross_entropy<T: Real>(weight: T, right: &mut T, wrong: &mut [T]) -> f64 {
    let peak = largest(*right, wrong);
    let own = (*right - peak).exp();
    let mut total = own;
    for x in wrong.iter_mut() {
        *x = (*x - peak).exp();
    }
    for part in wrong.chunks(FACTORS) {
        let mut sum = T::ZERO;
        part.iter().for_each(|&x| sum += x);
        total += sum;
    }
    let scale = weight / total;
    wrong.iter_mut().for_each(|x| *x *= scale);
    let loss = (total.ln() + peak - *right).to_f64();
    *right = own * scale - weight;
    loss
}

/// Σ ln(1 + e^{x}) of the wrong and ln(1 + e^{−x}) of the right one; as a mean, or as a sum.
#[inline(always)]
fn binary<T: Real>(weight: T, right: &mut T, wrong: &mut [T], mean: bool) -> f64 {
    let count = 1 + wrong.iter().filter(|&&x| x > T::NEG_INFINITY).count();
    let share = if mean { 1.0 / count as f64 } else { 1.0 };
    let scale = T::from_f64(share) * weight;
    let mut total = 0.0;
    for part in wrong.chunks_mut(FACTORS) {
        let (mut sum, mut product) = (T::ZERO, T::ONE);
        for x in part {
            let positive = x.larger(T::ZERO);
            let tail = (*x - positive - positive).exp();
            sum += positive;
            product *= T::ONE + tail;
            // σ(x), from e^{−|x|}.
            let sigmoid = if *x > T::ZERO { T::ONE } else { tail } / (T::ONE + tail);
            *x = scale * sigmoid;
        }
        total += (sum + product.ln()).to_f64();
    }
    let negated = -*right;
    total += softplus(negated).to_f64();
    *right = -(scale * negated.sigmoid());
    share * total
}

/// The mean of max(0, margin − right + wrong).
#[inline(always)]
fn margin<T: Real>(margin: T, weight: T, right: &mut T, wrong: &mut [T]) -> f64 {
    let count = wrong.iter().filter(|&&x| x > T::NEG_INFINITY).count().max(1);
    let share = T::from_f64(1.0 / count as f64);
    let (mut total, mut violations) = (T::ZERO, T::ZERO);
    for x in wrong {
        let excess = margin - *right + *x;
        let violated = excess > T::ZERO;
        total += if violated { excess } else { T::ZERO };
        violations += if violated { T::ONE } else { T::ZERO };
        *x = if violated { share * weight } else { T::ZERO };
    }
    *right = -(share * weight * violations);
    (total * share).to_f64()
}

/// ½·softplus(−right) + ½·Σ w·softplus(wrong) with w = softmax(temperature·wrong), whose gradient counts too.
#[inline(always)]
fn log_rank<T: Real>(temperature: T, weight: T, right: &mut T, wrong: &mut [T]) -> f64 {
    let half = T::from_f64(0.5) * weight;
    let peak = largest(T::NEG_INFINITY, wrong);
    let (mut weights, mut mean) = (T::ZERO, 0.0);
    let softmax = |x: T| if x > T::NEG_INFINITY { (temperature * (x - peak)).exp() } else { T::ZERO };
    for &x in wrong.iter().filter(|&&x| x > T::NEG_INFINITY) {
        weights += softmax(x);
        mean += softmax(x).to_f64() * softplus(x).to_f64();
    }
    mean /= weights.to_f64().max(f64::MIN_POSITIVE);
    for x in wrong.iter_mut() {
        if *x > T::NEG_INFINITY {
            let share = softmax(*x) / weights;
            let above = T::from_f64(softplus(*x).to_f64() - mean);
            *x = half * share * (x.sigmoid() + temperature * above);
        } else {
            *x = T::ZERO;
        }
    }
    let negated = -*right;
    let loss = 0.5 * (softplus(negated).to_f64() + mean);
    *right = -(half * negated.sigmoid());
    loss
}

#[cfg(test)]
mod tests {
    use super::super::tests::all;
    use super::*;

    fn config(loss: LossName) -> Config {
        Config { loss, margin: 1.0, temperature: 0.5, ..Config::default() }
    }

    fn value(name: LossName, right: f64, wrong: &[f64]) -> (f64, f64, Vec<f64>) {
        let (mut right, mut wrong) = (right, wrong.to_vec());
        (loss(&config(name), 1.0, &mut right, &mut wrong), right, wrong)
    }

    #[test]
    fn gradients_are_those_of_the_losses() {
        let (right, wrong) = (0.3, vec![-1.2, 0.4, f64::NEG_INFINITY, 2.5, -0.1]);
        for name in all() {
            let (_, d_right, d_wrong) = value(name, right, &wrong);
            let h = 1e-6;
            let slope = (value(name, right + h, &wrong).0 - value(name, right - h, &wrong).0) / (2.0 * h);
            assert!((slope - d_right).abs() < 1e-8, "{name:?} {slope} {d_right}");
            for (j, &gradient) in d_wrong.iter().enumerate() {
                if wrong[j] == f64::NEG_INFINITY {
                    assert_eq!(gradient, 0.0, "{name:?}: no candidate, no gradient");
                    continue;
                }
                let moved = |by: f64| {
                    let mut wrong = wrong.clone();
                    wrong[j] += by;
                    value(name, right, &wrong).0
                };
                let slope = (moved(h) - moved(-h)) / (2.0 * h);
                assert!((slope - gradient).abs() < 1e-8, "{name:?} {j}: {slope} {gradient}");
            }
        }
    }

    #[test]
    fn values_by_hand() {
        let even = value(LossName::Ce, 1.0, &[1.0, 1.0, 1.0]).0;
        assert!((even - 4_f64.ln()).abs() < 1e-12);
        let bce = value(LossName::Bce, 0.0, &[0.0, 0.0]).0;
        assert!((bce - 2_f64.ln()).abs() < 1e-12, "a mean over all");
        let soft = value(LossName::SoftMargin, 0.0, &[0.0, 0.0]).0;
        assert!((soft - 3.0 * 2_f64.ln()).abs() < 1e-12, "a sum");
        // 1 − 2 + 0.5 is below 0, 1 − 2 + 3 = 2.
        assert!((value(LossName::Margin, 2.0, &[0.5, 3.0]).0 - 1.0).abs() < 1e-12);
        let log_rank = value(LossName::LogRank, 0.0, &[0.0, 0.0]).0;
        assert!((log_rank - 2_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn large_scores_stay_finite() {
        for name in all() {
            for scale in [1e4_f32, -1e4] {
                let (mut right, mut wrong) = (scale, vec![-scale, scale, 0.0]);
                let value = loss(&config(name), 1.0, &mut right, &mut wrong);
                assert!(value.is_finite() && right.is_finite(), "{name:?} {scale}");
                assert!(wrong.iter().all(|x| x.is_finite()), "{name:?} {scale} {wrong:?}");
            }
        }
    }
}
