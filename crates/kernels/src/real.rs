//! The number types of the kernels.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::memory::Pool;
use crate::simd::Vectors;

/// A floating-point number: `f32` in use, `f64` to check gradients.
///
/// [`Real::exp`], [`Real::tanh`] (relative error below 3e-7) and [`Real::sin_cos`] of `f32` are branch-free polynomials,
/// because calls into the mathematical library keep the compiler from vectorising a loop.
#[allow(clippy::return_self_not_must_use)] // A dropped result of arithmetic is a warning at the operators already.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + Sum
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Vectors
    + 'static
{
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// −∞
    const NEG_INFINITY: Self;

    /// The nearest number to `x`.
    fn from_f64(x: f64) -> Self;
    /// The number as `f64`, exactly.
    fn to_f64(self) -> f64;
    /// eˣ; 0 where that is below the normal numbers.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// log(1 + x).
    #[must_use]
    fn ln_1p(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Sine and cosine, both NaN for ±∞ and NaN. For `f32` the absolute error is below 5e-7 up to |x| = 1000 and
    /// below 1e-4 up to 20000; beyond that both stay in \[−1, 1\], without a meaning.
    fn sin_cos(self) -> (Self, Self);

    /// The kept buffers of this type.
    #[doc(hidden)]
    fn pool() -> &'static Pool<Self>;

    /// The larger of two numbers, none of them NaN.
    #[inline(always)]
    #[must_use]
    fn larger(self, other: Self) -> Self {
        if self > other { self } else { other }
    }

    /// 1 / (1 + e⁻ˣ)
    #[inline(always)]
    #[must_use]
    fn sigmoid(self) -> Self {
        Self::ONE / (Self::ONE + (-self).exp())
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const NEG_INFINITY: Self = f64::NEG_INFINITY;

    fn pool() -> &'static Pool<Self> {
        static POOL: Pool<f64> = Pool::new();
        &POOL
    }

    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    fn exp(self) -> Self {
        f64::exp(self)
    }
    fn ln(self) -> Self {
        f64::ln(self)
    }
    fn ln_1p(self) -> Self {
        f64::ln_1p(self)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    fn tanh(self) -> Self {
        f64::tanh(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    fn sin_cos(self) -> (Self, Self) {
        f64::sin_cos(self)
    }
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const NEG_INFINITY: Self = f32::NEG_INFINITY;

    fn pool() -> &'static Pool<Self> {
        static POOL: Pool<f32> = Pool::new();
        &POOL
    }

    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    /// Cephes' `expf`: x = n·ln 2 + r, a polynomial for eʳ, and 2ⁿ put together from its bits.
    #[inline(always)]
    fn exp(self) -> Self {
        const LOWEST: f32 = -87.336_54;
        const HIGHEST: f32 = 88.376_26;
        // Adding and subtracting 1.5·2²³ rounds to an integer without a call.
        const ROUND: f32 = 12_582_912.0;
        let x = if self < HIGHEST { self } else { HIGHEST };
        let x = if x > LOWEST { x } else { LOWEST };
        let shifted = x * std::f32::consts::LOG2_E + ROUND;
        let n = shifted - ROUND;
        let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
        let p = 1.987_569_1e-4;
        let p = p * r + 1.398_2e-3;
        let p = p * r + 8.333_452e-3;
        let p = p * r + 4.166_579_6e-2;
        let p = p * r + 1.666_666_5e-1;
        let p = p * r + 5.0e-1;
        let value = p * r * r + r + 1.0;
        let power = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
        let value = value * f32::from_bits(power);
        if self >= LOWEST {
            value
        } else if self < LOWEST {
            0.0
        } else {
            self
        }
    }

    #[inline(always)]
    fn ln(self) -> Self {
        f32::ln(self)
    }
    fn ln_1p(self) -> Self {
        f32::ln_1p(self)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }

    /// Near 0 an odd polynomial (no cancellation), elsewhere 1 − 2 / (e²ˣ + 1).
    #[inline(always)]
    fn tanh(self) -> Self {
        let size = self.abs();
        let square = self * self;
        let p = -5.704_988_7e-3;
        let p = p * square + 2.063_909e-2;
        let p = p * square - 5.373_971_6e-2;
        let p = p * square + 1.333_144_2e-1;
        let p = p * square - 3.333_328e-1;
        let small = p * square * self + self;
        let large = (1.0 - 2.0 / (Real::exp(2.0 * size) + 1.0)).copysign(self);
        if size < 0.625 { small } else { large }
    }

    #[inline(always)]
    fn abs(self) -> Self {
        f32::abs(self)
    }

    /// Cephes' `sinf` and `cosf`: x = n·π/2 + r, polynomials for the sine and cosine of r, exchanged and negated as the
    /// quadrant n says.
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        // As in `exp`.
        const ROUND: f32 = 12_582_912.0;
        // π/2 in three parts; the first two have so few bits that their products with n are exact.
        const HALF_PI: [f32; 3] = [1.570_312_5, 4.837_513e-4, 7.549_79e-8];
        let shifted = self * std::f32::consts::FRAC_2_PI + ROUND;
        let n = shifted - ROUND;
        let r = self - n * HALF_PI[0] - n * HALF_PI[1] - n * HALF_PI[2];
        // Does nothing up to 20000. Beyond, n gets inexact, and this keeps the polynomials from growing.
        let r = if r > 1.0 { 1.0 } else { r };
        let r = if r < -1.0 { -1.0 } else { r };
        let z = r * r;
        let sine = ((-1.951_529_6e-4 * z + 8.332_161e-3) * z - 1.666_665_5e-1) * z * r + r;
        let cosine = ((2.443_315_7e-5 * z - 1.388_731_6e-3) * z + 4.166_664_6e-2) * z * z - 0.5 * z + 1.0;
        // Of ROUND itself the two lowest bits are 0, so that those of `shifted` are n modulo 4.
        let quadrant = shifted.to_bits();
        let odd = quadrant & 1 != 0;
        let (s, c) = if odd { (cosine, sine) } else { (sine, cosine) };
        let negate = |x: f32, quadrant: u32| f32::from_bits(x.to_bits() ^ ((quadrant & 2) << 30));
        (negate(s, quadrant), negate(c, quadrant.wrapping_add(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::Real;

    #[test]
    fn polynomials_are_close_to_the_library() {
        for i in -8700..=8800 {
            let x = i as f32 / 100.0;
            let exact = f64::from(x).exp();
            assert!((f64::from(Real::exp(x)) / exact - 1.0).abs() < 3e-7, "exp({x})");
            let x = i as f32 / 1000.0;
            let exact = f64::from(x).tanh();
            assert!((f64::from(Real::tanh(x)) - exact).abs() <= 3e-7 * exact.abs(), "tanh({x})");
        }
        assert_eq!(Real::exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(Real::exp(-200.0_f32), 0.0);
        assert!(Real::exp(f32::NAN).is_nan());
        assert_eq!(Real::tanh(100.0_f32), 1.0);
        assert!(Real::sigmoid(-200.0_f32) < 1e-37);
    }

    #[test]
    fn sine_and_cosine_are_close_to_the_library() {
        let error = |x: f32| {
            let (s, c) = Real::sin_cos(x);
            let (sine, cosine) = f64::from(x).sin_cos();
            (f64::from(s) - sine).abs().max((f64::from(c) - cosine).abs())
        };
        for i in -1_000_000..=1_000_000 {
            let x = i as f32 / 1000.0;
            assert!(error(x) < 5e-7, "{x}: {}", error(x));
            let x = i as f32 / 50.0;
            assert!(error(x) < 1e-4, "{x}: {}", error(x));
        }
        assert_eq!(Real::sin_cos(0.0_f32), (0.0, 1.0));
        for x in [1e6, -1e10, 1e20, f32::MAX] {
            let (s, c) = Real::sin_cos(x);
            assert!(s.abs() <= 1.0 && c.abs() <= 1.0, "{x}: {s}, {c}");
        }
        for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let (s, c) = Real::sin_cos(x);
            assert!(s.is_nan() && c.is_nan(), "{x}: {s}, {c}");
        }
    }
}
