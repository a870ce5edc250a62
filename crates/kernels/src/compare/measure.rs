//! The term of one component in a score, and its derivatives.

use std::marker::PhantomData;

use crate::Real;
use crate::simd::Lanes;

/// Smallest divisor of a gradient through a root: at distance 0 the gradient is 0.
const GUARD: f64 = 1e-12;

/// Score = −Σⱼ wⱼ·term(qⱼ, cⱼ), or −√Σ if [`Measure::ROOT`]. A component has Q numbers in a query and C in a candidate.
pub(super) trait Measure<const Q: usize, const C: usize>: Send + Sync {
    /// Whether a root is taken of the sum. Slopes are then halves of derivatives, so that those of the root are slopes
    /// divided by it.
    const ROOT: bool = false;

    /// Whether the sums of the rows of both sides are to be taken from a sum without weights.
    const SPLITS: bool = false;

    fn term<V: Lanes>(q: [V; Q], c: [V; C]) -> V;
    /// Adds a term to a sum without weights, or only its mixed part, if the parts of single sides are added separately.
    #[inline(always)]
    fn add_shared<V: Lanes>(sum: V, q: [V; Q], c: [V; C]) -> V {
        sum + Self::term(q, c)
    }
    /// Derivative of a term by the numbers of the query.
    fn query_slope<V: Lanes>(q: [V; Q], c: [V; C]) -> [V; Q];
    /// Derivative of a term by the numbers of the candidate.
    fn candidate_slope<V: Lanes>(q: [V; Q], c: [V; C]) -> [V; C];

    /// From the sum of the terms.
    #[inline(always)]
    fn score<T: Real>(sum: T) -> T {
        if Self::ROOT { -sum.sqrt() } else { -sum }
    }

    /// The factor of the slopes, from the score and the gradient of the loss with respect to it.
    #[inline(always)]
    fn factor<T: Real>(score: T, gradient: T) -> T {
        if Self::ROOT { -gradient / (-score).larger(T::from_f64(GUARD)) } else { -gradient }
    }

    /// `sum + factor·slope`
    #[inline(always)]
    fn add_query_slope<V: Lanes>(sum: [V; Q], factor: V, q: [V; Q], c: [V; C]) -> [V; Q] {
        plus_products(sum, factor, Self::query_slope(q, c))
    }

    /// `sum + factor·slope`
    #[inline(always)]
    fn add_candidate_slope<V: Lanes>(sum: [V; C], factor: V, q: [V; Q], c: [V; C]) -> [V; C] {
        plus_products(sum, factor, Self::candidate_slope(q, c))
    }
}

#[inline(always)]
fn plus_products<V: Lanes, const P: usize>(mut sum: [V; P], factor: V, slope: [V; P]) -> [V; P] {
    for p in 0..P {
        sum[p] = sum[p].plus_product(factor, slope[p]);
    }
    sum
}

/// Which derivative: that of its own side A, which has the other side B.
pub(super) trait Slope<const A: usize, const B: usize>: Send + Sync {
    /// `sum + factor·slope`
    fn add<V: Lanes>(sum: [V; A], factor: V, own: [V; A], other: [V; B]) -> [V; A];
}

pub(super) struct OfQuery<M>(PhantomData<M>);
pub(super) struct OfCandidate<M>(PhantomData<M>);

impl<M: Measure<Q, C>, const Q: usize, const C: usize> Slope<Q, C> for OfQuery<M> {
    #[inline(always)]
    fn add<V: Lanes>(sum: [V; Q], factor: V, own: [V; Q], other: [V; C]) -> [V; Q] {
        M::add_query_slope(sum, factor, own, other)
    }
}

impl<M: Measure<Q, C>, const Q: usize, const C: usize> Slope<C, Q> for OfCandidate<M> {
    #[inline(always)]
    fn add<V: Lanes>(sum: [V; C], factor: V, own: [V; C], other: [V; Q]) -> [V; C] {
        M::add_candidate_slope(sum, factor, other, own)
    }
}

pub(super) struct Dot;

impl Measure<1, 1> for Dot {
    #[inline(always)]
    fn term<V: Lanes>([q]: [V; 1], [c]: [V; 1]) -> V {
        -(q * c)
    }
    #[inline(always)]
    fn query_slope<V: Lanes>(_: [V; 1], [c]: [V; 1]) -> [V; 1] {
        [-c]
    }
    #[inline(always)]
    fn candidate_slope<V: Lanes>([q]: [V; 1], _: [V; 1]) -> [V; 1] {
        [-q]
    }
}

pub(super) struct L1;

/// `sum + factor·sign(a − b)`, where the sign of 0 is 0. A comparison and an addition for each sign take fewer
/// instructions than finding the sign and multiplying.
#[inline(always)]
fn plus_signed<V: Lanes>(sum: V, factor: V, a: V, b: V) -> V {
    let sum = a.if_above(b, sum + factor, sum);
    b.if_above(a, sum - factor, sum)
}

impl Measure<1, 1> for L1 {
    const SPLITS: bool = true;

    #[inline(always)]
    fn term<V: Lanes>([q]: [V; 1], [c]: [V; 1]) -> V {
        (q - c).abs()
    }
    /// |q − c| = 2·max(q, c) − q − c. A comparison and a product that is added run in different units of many processors, where
    /// two additions have to share one.
    #[inline(always)]
    fn add_shared<V: Lanes>(sum: V, [q]: [V; 1], [c]: [V; 1]) -> V {
        sum.plus_product(sum.constant(2.0), q.larger(c))
    }
    #[inline(always)]
    fn query_slope<V: Lanes>([q]: [V; 1], [c]: [V; 1]) -> [V; 1] {
        [plus_signed(q.constant(0.0), q.constant(1.0), q, c)]
    }
    #[inline(always)]
    fn candidate_slope<V: Lanes>(q: [V; 1], c: [V; 1]) -> [V; 1] {
        Self::query_slope(c, q)
    }
    #[inline(always)]
    fn add_query_slope<V: Lanes>([sum]: [V; 1], factor: V, [q]: [V; 1], [c]: [V; 1]) -> [V; 1] {
        [plus_signed(sum, factor, q, c)]
    }
    #[inline(always)]
    fn add_candidate_slope<V: Lanes>([sum]: [V; 1], factor: V, [q]: [V; 1], [c]: [V; 1]) -> [V; 1] {
        [plus_signed(sum, factor, c, q)]
    }
}

pub(super) struct L2;

impl Measure<1, 1> for L2 {
    const ROOT: bool = true;

    #[inline(always)]
    fn term<V: Lanes>([q]: [V; 1], [c]: [V; 1]) -> V {
        (q - c) * (q - c)
    }
    #[inline(always)]
    fn query_slope<V: Lanes>([q]: [V; 1], [c]: [V; 1]) -> [V; 1] {
        [q - c]
    }
    #[inline(always)]
    fn candidate_slope<V: Lanes>([q]: [V; 1], [c]: [V; 1]) -> [V; 1] {
        [c - q]
    }
}

/// Numbers are the real and the imaginary part.
pub(super) struct Modulus;

impl Measure<2, 2> for Modulus {
    #[inline(always)]
    fn term<V: Lanes>(q: [V; 2], c: [V; 2]) -> V {
        let [re, im] = [q[0] - c[0], q[1] - c[1]];
        (re * re).plus_product(im, im).sqrt()
    }
    #[inline(always)]
    fn query_slope<V: Lanes>(q: [V; 2], c: [V; 2]) -> [V; 2] {
        let [re, im] = [q[0] - c[0], q[1] - c[1]];
        let size = (re * re).plus_product(im, im).sqrt();
        let over = re.constant(1.0) / size.larger(re.constant(GUARD));
        [re * over, im * over]
    }
    #[inline(always)]
    fn candidate_slope<V: Lanes>(q: [V; 2], c: [V; 2]) -> [V; 2] {
        Self::query_slope(c, q)
    }
}

/// Numbers are m, v, w of the query and μ, v' of the candidate. With both divergences over one denominator, and the 2d
/// shared out over the components, a term is ¼·((V − w)² + u²·(V + w)) / (V·w): one division, and no cancellation where
/// the distributions are equal.
pub(super) struct Gaussian;

impl Gaussian {
    /// u, V and w.
    #[inline(always)]
    fn numbers<V: Lanes>(q: [V; 3], c: [V; 2]) -> [V; 3] {
        [q[0] - c[0], q[1] + c[1], q[2]]
    }

    /// Derivatives by u, V and w.
    #[inline(always)]
    fn slopes<V: Lanes>([u, v, w]: [V; 3]) -> [V; 3] {
        let quarter = u.constant(0.25);
        let over = u.constant(1.0) / (v * w);
        let (over_v, over_w) = (over * w, over * v);
        [
            u.constant(0.5) * u * (over_v + over_w),
            quarter * (over_w - (w + u * u) * over_v * over_v),
            quarter * (over_v - (v + u * u) * over_w * over_w),
        ]
    }
}

impl Measure<3, 2> for Gaussian {
    #[inline(always)]
    fn term<V: Lanes>(q: [V; 3], c: [V; 2]) -> V {
        let [u, v, w] = Self::numbers(q, c);
        u.constant(0.25) * ((v - w) * (v - w) + u * u * (v + w)) / (v * w)
    }
    #[inline(always)]
    fn query_slope<V: Lanes>(q: [V; 3], c: [V; 2]) -> [V; 3] {
        Self::slopes(Self::numbers(q, c))
    }
    #[inline(always)]
    fn candidate_slope<V: Lanes>(q: [V; 3], c: [V; 2]) -> [V; 2] {
        let [u, v, _] = Self::slopes(Self::numbers(q, c));
        [-u, v]
    }
}
