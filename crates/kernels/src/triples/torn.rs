//! Rows that several threads read and write at once, whole lines at a time.
//!
//! A row is a slice of atomic words of two numbers. What happens to it here is what relaxed loads and stores of its words
//! would do, in an order that nobody can rely on: a reader may see some words before and some after a write. The compiler
//! makes one instruction per word of that; these take four words with one, which is half of the time of a sample.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

/// How words are moved, chosen once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mover {
    /// One by one.
    Words,
    /// In vectors of four.
    #[cfg(target_arch = "x86_64")]
    Vectors,
}

impl Mover {
    /// The best that this processor has.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx") {
            return Self::Vectors;
        }
        Self::Words
    }

    /// Copies a row out. Rows are whole lines.
    #[inline(always)]
    pub fn load(self, words: &[AtomicU64], into: &mut [f32]) {
        assert!(into.len() == 2 * words.len() && words.len().is_multiple_of(8), "a row of whole lines");
        match self {
            Self::Words => {
                for (pair, word) in into.as_chunks_mut::<2>().0.iter_mut().zip(words) {
                    *pair = unpack(word.load(Ordering::Relaxed));
                }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Vectors => {
                // SAFETY: both are of the asserted length. The processor has AVX, or there would be no `Vectors`. The
                // instructions read each aligned word of eight bytes as a whole, as relaxed loads of the words would.
                unsafe { lines(words.as_ptr().cast(), into.as_mut_ptr().cast(), words.len() / 8) }
            }
        }
    }

    /// Copies a row back.
    #[inline(always)]
    pub fn store(self, words: &[AtomicU64], from: &[f32]) {
        assert!(from.len() == 2 * words.len() && words.len().is_multiple_of(8), "a row of whole lines");
        match self {
            Self::Words => {
                for (word, &pair) in words.iter().zip(from.as_chunks::<2>().0) {
                    word.store(pack(pair), Ordering::Relaxed);
                }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Vectors => {
                // SAFETY: as above; atomic words may be written through a shared reference, and each is written as a whole.
                unsafe { lines(from.as_ptr().cast(), words.as_ptr().cast_mut().cast(), words.len() / 8) }
            }
        }
    }
}

/// Copies lines of 64 bytes.
///
/// # Safety
/// The processor has AVX; both places have so many lines, and are either atomic words or not shared with anybody.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn lines(from: *const u8, into: *mut u8, count: usize) {
    for line in 0..count {
        let (from, into) = (from.wrapping_add(64 * line), into.wrapping_add(64 * line));
        // SAFETY: within both places, see above.
        unsafe {
            std::arch::asm!(
                "vmovups ymm0, [{from}]",
                "vmovups ymm1, [{from} + 32]",
                "vmovups [{into}], ymm0",
                "vmovups [{into} + 32], ymm1",
                from = in(reg) from,
                into = in(reg) into,
                out("xmm0") _,
                out("xmm1") _,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[inline(always)]
pub(super) fn pack([a, b]: [f32; 2]) -> u64 {
    u64::from(a.to_bits()) | u64::from(b.to_bits()) << 32
}

#[inline(always)]
pub(super) fn unpack(word: u64) -> [f32; 2] {
    [f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_move_the_same() {
        let row: Vec<f32> = (0..48).map(|x| 0.25 * x as f32 - 3.0).collect();
        for mover in [Mover::Words, Mover::best()] {
            let words: Vec<AtomicU64> = (0..24).map(|_| AtomicU64::new(7)).collect();
            mover.store(&words[..16], &row[..32]);
            assert!(
                words[16..].iter().all(|word| word.load(Ordering::Relaxed) == 7),
                "{mover:?} writes beyond"
            );
            let mut back = [9.0; 48];
            mover.load(&words[..16], &mut back[..32]);
            assert_eq!((&back[..32], &back[32..]), (&row[..32], [9.0; 16].as_slice()), "{mover:?}");
            let pairs: Vec<f32> =
                words[..16].iter().flat_map(|word| unpack(word.load(Ordering::Relaxed))).collect();
            assert_eq!(pairs, row[..32], "{mover:?}");
        }
    }

    #[test]
    fn a_word_is_never_half_of_one_and_half_of_another() {
        let words: Vec<AtomicU64> = (0..8).map(|_| AtomicU64::new(0)).collect();
        let mover = Mover::best();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..20_000).for_each(|i| mover.store(&words, &[(i % 1000) as f32; 16])));
            let mut seen = [0.0; 16];
            for _ in 0..20_000 {
                mover.load(&words, &mut seen);
                assert!(seen.as_chunks::<2>().0.iter().all(|[a, b]| a == b), "{seen:?}");
            }
        });
    }
}
