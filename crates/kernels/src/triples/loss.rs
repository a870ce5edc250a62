//! Losses of a triple and the false ones drawn for it, on energies.

use crate::Real;
use crate::activations::softplus;

/// The form of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// max(0, margin + true − false), for every false one.
    Margin,
    /// ½·softplus(−s) of the true and ½·softplus(s) of every false one, with the score s = margin − energy.
    Softplus,
}

/// A loss: the mean over the false triples of a sample, or their weighted sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Its form.
    pub kind: LossKind,
    /// The margin.
    pub margin: f64,
    /// False triples are weighted by the softmax of −temperature·energy, treated as a constant; without it, equally.
    pub temperature: Option<f64>,
}

impl Loss {
    /// The loss of one sample. Energies are replaced by the slopes of the loss along them, times `share`.
    #[inline]
    pub fn apply<T: Real>(&self, share: T, right: &mut T, wrong: &mut [T]) -> f64 {
        let margin = T::from_f64(self.margin);
        let even = T::ONE / T::from_f64(wrong.len().max(1) as f64);
        let weights = self.temperature.map(|temperature| Weights::of(T::from_f64(temperature), wrong));
        let weight = |x: T| weights.as_ref().map_or(even, |weights| weights.of_energy(x));
        let half = T::from_f64(0.5);
        let (mut total, mut slope) = (T::ZERO, T::ZERO);
        if self.kind == LossKind::Softplus {
            let score = margin - *right;
            total = half * softplus(-score);
            slope = half * (-score).sigmoid();
        }
        for x in wrong.iter_mut() {
            let weight = weight(*x);
            match self.kind {
                LossKind::Margin => {
                    let excess = margin + *right - *x;
                    let active = if excess > T::ZERO { weight } else { T::ZERO };
                    total += active * excess;
                    slope += active;
                    *x = -(share * active);
                }
                LossKind::Softplus => {
                    let score = margin - *x;
                    total += half * weight * softplus(score);
                    *x = -(share * half * weight * score.sigmoid());
                }
            }
        }
        *right = share * slope;
        total.to_f64()
    }
}

/// softmax(−temperature·x)
struct Weights<T> {
    temperature: T,
    lowest: T,
    total: T,
}

impl<T: Real> Weights<T> {
    #[inline(always)]
    fn of(temperature: T, energies: &[T]) -> Self {
        let lowest = energies.iter().fold(-T::NEG_INFINITY, |low, &x| if x < low { x } else { low });
        let mut weights = Self { temperature, lowest, total: T::ONE };
        let mut total = T::ZERO;
        energies.iter().for_each(|&x| total += weights.of_energy(x));
        weights.total = total;
        weights
    }

    #[inline(always)]
    fn of_energy(&self, x: T) -> T {
        (self.temperature * (self.lowest - x)).exp() / self.total
    }
}

#[cfg(test)]
mod tests {
    use super::{Loss, LossKind};

    const KINDS: [LossKind; 2] = [LossKind::Margin, LossKind::Softplus];

    fn value(loss: Loss, right: f64, wrong: &[f64]) -> (f64, f64, Vec<f64>) {
        let (mut right, mut wrong) = (right, wrong.to_vec());
        (loss.apply(1.0, &mut right, &mut wrong), right, wrong)
    }

    #[test]
    fn values_by_hand() {
        let margin = Loss { kind: LossKind::Margin, margin: 2.0, temperature: None };
        // 2 + 1 − 4 is below 0, 2 + 1 − 1.5 = 1.5; a mean over both.
        assert_eq!(value(margin, 1.0, &[4.0, 1.5]), (0.75, 0.5, vec![0.0, -0.5]));
        let soft = Loss { kind: LossKind::Softplus, margin: 0.0, temperature: None };
        let (loss, right, wrong) = value(soft, 0.0, &[0.0, 0.0]);
        assert!((loss - 2_f64.ln()).abs() < 1e-12);
        assert_eq!((right, wrong), (0.25, vec![-0.125, -0.125]));
        // Weights e⁰ and e^{−ln 3}: three quarters and one quarter.
        let adversarial = Loss { temperature: Some(3_f64.ln()), ..margin };
        let (loss, right, wrong) = value(adversarial, 1.0, &[1.0, 2.0]);
        assert!((loss - (0.75 * 2.0 + 0.25)).abs() < 1e-12 && (right - 1.0).abs() < 1e-12, "{loss} {right}");
        assert!((wrong[0] + 0.75).abs() < 1e-12 && (wrong[1] + 0.25).abs() < 1e-12, "{wrong:?}");
    }

    #[test]
    fn slopes_are_those_of_the_losses() {
        let (right, wrong, h) = (0.3, vec![-1.2, 0.4, 2.5, -0.1], 1e-6);
        for kind in KINDS {
            let loss = Loss { kind, margin: 1.0, temperature: None };
            let (_, slope, slopes) = value(loss, right, &wrong);
            let found = (value(loss, right + h, &wrong).0 - value(loss, right - h, &wrong).0) / (2.0 * h);
            assert!((slope - found).abs() < 1e-8, "{kind:?} {slope} {found}");
            for j in 0..wrong.len() {
                let moved = |by: f64| {
                    let mut wrong = wrong.clone();
                    wrong[j] += by;
                    value(loss, right, &wrong).0
                };
                let found = (moved(h) - moved(-h)) / (2.0 * h);
                assert!((slopes[j] - found).abs() < 1e-8, "{kind:?} {j} {} {found}", slopes[j]);
            }
        }
    }

    #[test]
    fn large_energies_stay_finite() {
        for kind in KINDS {
            for (right, temperature) in [(1e4_f32, None), (-1e4, Some(2.0))] {
                let (mut right, mut wrong) = (right, [-right, right, 0.0]);
                let loss = Loss { kind, margin: 1.0, temperature };
                let value = loss.apply(1.0, &mut right, &mut wrong);
                assert!(value.is_finite() && right.is_finite() && wrong.iter().all(|x| x.is_finite()));
            }
        }
    }
}
