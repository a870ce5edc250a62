//! Masks for inverted dropout: 0 with probability p, else 1 / (1 − p).

use rand::RngCore;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::Real;
use crate::parallel::{for_rows, vectorised};

/// Numbers per task; each uses 16 bits of the stream.
const BLOCK: usize = 1 << 14;

/// A dropout mask, one byte per number: masks are read several times, and memory bandwidth is the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Mask {
    kept: Vec<u8>,
    scale: f64,
}

impl Mask {
    /// Draws a mask for `len` numbers and moves the stream on, to the same place for any number of threads.
    ///
    /// The probability is rounded to a multiple of 2⁻¹⁶; the scale is that of the rounded one.
    pub fn draw(stream: &mut ChaCha8Rng, probability: f64, len: usize) -> Self {
        assert!((0.0..1.0).contains(&probability), "dropout probability {probability} is not in [0, 1)");
        let dropped = (probability * 65536.0).round().min(65535.0) as u16;
        let start = stream.get_word_pos();
        let from = stream.clone();
        let mut kept = vec![0_u8; len];
        kept.par_chunks_mut(BLOCK).enumerate().for_each(|(i, kept)| {
            let mut stream = from.clone();
            stream.set_word_pos(start + (i * BLOCK / 2) as u128);
            let mut bytes = vec![0_u8; kept.len() * 2];
            stream.fill_bytes(&mut bytes);
            vectorised(
                #[inline(always)]
                || {
                    for (kept, bytes) in kept.iter_mut().zip(bytes.as_chunks::<2>().0) {
                        *kept = u8::from(u16::from_le_bytes(*bytes) >= dropped);
                    }
                },
            );
        });
        stream.set_word_pos(start + len.div_ceil(2) as u128);
        Self { kept, scale: 65536.0 / (65536.0 - f64::from(dropped)) }
    }

    /// A mask that keeps the numbers whose byte is 1 and drops those whose byte is 0.
    pub fn new(kept: Vec<u8>, scale: f64) -> Self {
        assert!(kept.iter().all(|&kept| kept <= 1), "a mask of bytes 0 and 1");
        Self { kept, scale }
    }

    /// Multiplies numbers by the part of the mask that starts at `first`.
    #[inline(always)]
    pub(crate) fn apply<T: Real>(&self, first: usize, x: &mut [T]) {
        let scale = T::from_f64(self.scale);
        for (x, &kept) in x.iter_mut().zip(&self.kept[first..]) {
            *x *= if kept == 0 { T::ZERO } else { scale };
        }
    }

    /// Multiplies all numbers by the mask, which is as long as they are.
    pub fn apply_to<T: Real>(&self, x: &mut [T]) {
        assert_eq!(x.len(), self.kept.len(), "a mask of one byte per number");
        for_rows(
            x,
            1,
            #[inline(always)]
            |first, part| self.apply(first, part),
        );
    }

    /// The factors of the numbers.
    pub fn values<T: Real>(&self) -> Vec<T> {
        let scale = T::from_f64(self.scale);
        self.kept.iter().map(|&kept| if kept == 0 { T::ZERO } else { scale }).collect()
    }
}
