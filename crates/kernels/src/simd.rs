//! Vectors of the widest size of the processor, for loops that the compiler does not vectorise well.
//!
//! Everything here must be compiled into the function that [`pulp::Arch::dispatch`] calls: `#[inline(always)]`, no
//! closures, no functions of arrays that take closures.

use std::ops::{Add, Div, Mul, Neg, Sub};

use pulp::Simd;

use crate::Real;

/// No processor has vectors of more numbers.
pub(crate) const MOST_LANES: usize = 64;

/// A number type that processors have vectors of.
pub trait Vectors: Sized {
    type Vector<S: Simd>: Copy;

    /// Whole vectors of a slice, and the rest.
    fn split_all<S: Simd>(x: &[Self]) -> (&[Self::Vector<S>], &[Self]);
    fn split_mut_all<S: Simd>(x: &mut [Self]) -> (&mut [Self::Vector<S>], &mut [Self]);
    /// Fewer numbers than a vector has, and zeros.
    fn load_all<S: Simd>(simd: S, x: &[Self]) -> Self::Vector<S>;
    fn store_all<S: Simd>(simd: S, x: &mut [Self], value: Self::Vector<S>);
    fn splat_all<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    fn add_all<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn sub_all<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn mul_all<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn div_all<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn max_all<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    fn mul_add_all<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    fn neg_all<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    fn abs_all<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    fn sqrt_all<S: Simd>(simd: S, a: Self::Vector<S>) -> Self::Vector<S>;
    /// Where a > b the one, elsewhere the other.
    fn select_all<S: Simd>(
        simd: S,
        greater: [Self::Vector<S>; 2],
        one: Self::Vector<S>,
        other: Self::Vector<S>,
    ) -> Self::Vector<S>;
    fn sum_all<S: Simd>(simd: S, a: Self::Vector<S>) -> Self;
}

macro_rules! vectors {
    ($number:ty, $vector:ident, $split:ident, $split_mut:ident, $load:ident, $store:ident, $splat:ident, $sum:ident,
     $greater:ident, $select:ident, $mul_add:ident,
     binary: $($binary:ident = $wide:ident),*; unary: $($unary:ident = $wide_unary:ident),*) => {
        impl Vectors for $number {
            type Vector<S: Simd> = S::$vector;

            #[inline(always)]
            fn split_all<S: Simd>(x: &[Self]) -> (&[S::$vector], &[Self]) {
                S::$split(x)
            }
            #[inline(always)]
            fn split_mut_all<S: Simd>(x: &mut [Self]) -> (&mut [S::$vector], &mut [Self]) {
                S::$split_mut(x)
            }
            #[inline(always)]
            fn load_all<S: Simd>(simd: S, x: &[Self]) -> S::$vector {
                simd.$load(x)
            }
            #[inline(always)]
            fn store_all<S: Simd>(simd: S, x: &mut [Self], value: S::$vector) {
                simd.$store(x, value);
            }
            #[inline(always)]
            fn splat_all<S: Simd>(simd: S, x: Self) -> S::$vector {
                simd.$splat(x)
            }
            $(#[inline(always)]
            fn $binary<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$wide(a, b)
            })*
            #[inline(always)]
            fn mul_add_all<S: Simd>(simd: S, a: S::$vector, b: S::$vector, c: S::$vector) -> S::$vector {
                simd.$mul_add(a, b, c)
            }
            $(#[inline(always)]
            fn $unary<S: Simd>(simd: S, a: S::$vector) -> S::$vector {
                simd.$wide_unary(a)
            })*
            #[inline(always)]
            fn select_all<S: Simd>(
                simd: S,
                [a, b]: [S::$vector; 2],
                one: S::$vector,
                other: S::$vector,
            ) -> S::$vector {
                simd.$select(simd.$greater(a, b), one, other)
            }
            #[inline(always)]
            fn sum_all<S: Simd>(simd: S, a: S::$vector) -> Self {
                simd.$sum(a)
            }
        }
    };
}

vectors!(f32, f32s, as_simd_f32s, as_mut_simd_f32s, partial_load_f32s, partial_store_f32s, splat_f32s, reduce_sum_f32s,
    greater_than_f32s, select_f32s, mul_add_e_f32s,
    binary: add_all = add_f32s, sub_all = sub_f32s, mul_all = mul_f32s, div_all = div_f32s, max_all = max_f32s;
    unary: neg_all = neg_f32s, abs_all = abs_f32s, sqrt_all = sqrt_f32s);
vectors!(f64, f64s, as_simd_f64s, as_mut_simd_f64s, partial_load_f64s, partial_store_f64s, splat_f64s, reduce_sum_f64s,
    greater_than_f64s, select_f64s, mul_add_e_f64s,
    binary: add_all = add_f64s, sub_all = sub_f64s, mul_all = mul_f64s, div_all = div_f64s, max_all = max_f64s;
    unary: neg_all = neg_f64s, abs_all = abs_f64s, sqrt_all = sqrt_f64s);

/// A vector in formulas.
pub(crate) trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// `x` in every lane.
    fn constant(self, x: f64) -> Self;
    /// `self + a·b`
    fn plus_product(self, a: Self, b: Self) -> Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    /// The larger of two numbers.
    fn larger(self, other: Self) -> Self;
    /// `one` where this is above `bound`, elsewhere `other`.
    fn if_above(self, bound: Self, one: Self, other: Self) -> Self;
}

/// A vector of the width `S`.
#[derive(Clone, Copy)]
pub(crate) struct Pack<S: Simd, T: Real> {
    simd: S,
    pub x: T::Vector<S>,
}

impl<S: Simd, T: Real> Pack<S, T> {
    #[inline(always)]
    pub fn new(simd: S, x: T::Vector<S>) -> Self {
        Self { simd, x }
    }

    /// `x` in every lane.
    #[inline(always)]
    pub fn splat(simd: S, x: T) -> Self {
        Self { simd, x: T::splat_all(simd, x) }
    }

    /// At most a vector of numbers, and zeros.
    #[inline(always)]
    pub fn load(simd: S, x: &[T]) -> Self {
        // Loading a part of a vector is a call, and often nothing is missing.
        if let ([whole], _) = T::split_all::<S>(x) {
            return Self { simd, x: *whole };
        }
        Self { simd, x: T::load_all(simd, x) }
    }

    /// As many lanes as `x` has numbers.
    #[inline(always)]
    pub fn store(self, x: &mut [T]) {
        if let ([whole], _) = T::split_mut_all::<S>(x) {
            *whole = self.x;
        } else {
            T::store_all(self.simd, x, self.x);
        }
    }

    /// Sum of the lanes.
    #[inline(always)]
    pub fn sum(self) -> T {
        T::sum_all(self.simd, self.x)
    }
}

impl<S: Simd, T: Real> Lanes for Pack<S, T> {
    #[inline(always)]
    fn constant(self, x: f64) -> Self {
        Self::splat(self.simd, T::from_f64(x))
    }
    #[inline(always)]
    fn plus_product(self, a: Self, b: Self) -> Self {
        Self { x: T::mul_add_all(self.simd, a.x, b.x, self.x), ..self }
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self { x: T::abs_all(self.simd, self.x), ..self }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self { x: T::sqrt_all(self.simd, self.x), ..self }
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        Self { x: T::max_all(self.simd, self.x, other.x), ..self }
    }
    #[inline(always)]
    fn if_above(self, bound: Self, one: Self, other: Self) -> Self {
        Self { x: T::select_all(self.simd, [self.x, bound.x], one.x, other.x), ..self }
    }
}

macro_rules! operators {
    ($($trait:ident $name:ident $wide:ident),*) => {
        $(impl<S: Simd, T: Real> $trait for Pack<S, T> {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Self { x: T::$wide(self.simd, self.x, other.x), ..self }
            }
        })*
    };
}

operators!(Add add add_all, Sub sub sub_all, Mul mul mul_all, Div div div_all);

impl<S: Simd, T: Real> Neg for Pack<S, T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { x: T::neg_all(self.simd, self.x), ..self }
    }
}
