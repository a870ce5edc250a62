//! Rows that several threads read and write without locks.
//!
//! A row is a slice of atomic words of two numbers. Copying a row means relaxed loads or stores of its words in any order: a
//! reader may see some words before and some after a write. The compiler emits one instruction per word; here one instruction
//! copies four words, which halves the time of a sample.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

use super::table::{CACHE_LINE, LINE};

/// How rows are copied; chosen once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowCopier {
    /// One by one.
    Words,
    /// In vectors of four.
    #[cfg(target_arch = "x86_64")]
    Vectors,
}

impl RowCopier {
    /// The fastest that this processor supports.
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
/// The processor has AVX; both places have `count` lines, and are either atomic words or not shared.
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

/// The numbers of a table as atomic pairs, aligned to a cache line.
#[derive(Debug)]
pub(super) struct AtomicNumbers {
    /// One line more than needed, for the alignment.
    words: Vec<AtomicU64>,
    start: usize,
}

impl AtomicNumbers {
    pub fn new(numbers: impl ExactSizeIterator<Item = [f32; 2]>) -> Self {
        let count = numbers.len();
        let mut words: Vec<AtomicU64> = Vec::with_capacity(count + LINE / 2);
        let start = words.as_ptr().align_offset(CACHE_LINE).min(LINE / 2);
        words.resize_with(start, AtomicU64::default);
        words.extend(numbers.map(|pair| AtomicU64::new(pack(pair))));
        Self { words, start }
    }

    #[inline(always)]
    pub fn all(&self) -> &[AtomicU64] {
        &self.words[self.start..]
    }

    pub fn numbers(&self) -> Vec<f32> {
        self.all().iter().flat_map(|word| unpack(word.load(Ordering::Relaxed))).collect()
    }

    pub fn replace(&self, numbers: &[f32]) {
        assert_eq!(2 * self.all().len(), numbers.len(), "numbers of a table");
        for (word, &pair) in self.all().iter().zip(numbers.as_chunks::<2>().0) {
            word.store(pack(pair), Ordering::Relaxed);
        }
    }
}

#[inline(always)]
fn pack([a, b]: [f32; 2]) -> u64 {
    u64::from(a.to_bits()) | u64::from(b.to_bits()) << 32
}

#[inline(always)]
fn unpack(word: u64) -> [f32; 2] {
    [f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_vectors_copy_the_same() {
        let row: Vec<f32> = (0..48).map(|x| 0.25 * x as f32 - 3.0).collect();
        for copier in [RowCopier::Words, RowCopier::best()] {
            let words: Vec<AtomicU64> = (0..24).map(|_| AtomicU64::new(7)).collect();
            copier.store(&words[..16], &row[..32]);
            assert!(
                words[16..].iter().all(|word| word.load(Ordering::Relaxed) == 7),
                "{copier:?} writes beyond"
            );
            let mut back = [9.0; 48];
            copier.load(&words[..16], &mut back[..32]);
            assert_eq!((&back[..32], &back[32..]), (&row[..32], [9.0; 16].as_slice()), "{copier:?}");
            let pairs: Vec<f32> =
                words[..16].iter().flat_map(|word| unpack(word.load(Ordering::Relaxed))).collect();
            assert_eq!(pairs, row[..32], "{copier:?}");
        }
    }

    #[test]
    fn words_are_written_as_a_whole() {
        let words: Vec<AtomicU64> = (0..8).map(|_| AtomicU64::new(0)).collect();
        let copier = RowCopier::best();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..20_000).for_each(|i| copier.store(&words, &[(i % 1000) as f32; 16])));
            let mut seen = [0.0; 16];
            for _ in 0..20_000 {
                copier.load(&words, &mut seen);
                assert!(seen.as_chunks::<2>().0.iter().all(|[a, b]| a == b), "{seen:?}");
            }
        });
    }
}
