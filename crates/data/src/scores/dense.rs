//! Dense scores on disk. Rows are read when they are asked for, a few at a time, so that the size of the file does not
//! matter.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::ScoreFileError;
use super::numpy::Header;

/// Bytes that are read in one go, if a row is not longer.
const READ: usize = 1 << 22;

/// An array of scores: one row per query, one column per entity.
#[derive(Debug)]
pub(super) struct Dense {
    file: Mutex<File>,
    path: PathBuf,
    /// Where the first row starts.
    start: u64,
    columns: usize,
    /// Bytes of a score: 2 in half precision, 4 in single precision.
    width: usize,
    /// How a score is stored, in words.
    pub kind: &'static str,
    not_a_number: AtomicU64,
    first_bad: AtomicUsize,
}

impl Dense {
    /// Scores in `file`, whose array starts at `start` and is `length` bytes long, header included.
    pub fn new(
        path: &Path,
        file: File,
        header: &Header,
        (start, length): (u64, u64),
        shape: [usize; 2],
    ) -> Result<Self, ScoreFileError> {
        const TYPES: &str = "<f4 or <f2 (float32 or float16, little-endian); save scores.astype(\"<f4\")";
        let (width, kind) = match header.kind.as_str() {
            "<f2" => (2, "float16"),
            "<f4" => (4, "float32"),
            _ => return Err(header.wrong_type(path, "scores", TYPES)),
        };
        header.check(path, "scores", (&shape, width), length)?;
        Ok(Self {
            file: Mutex::new(file),
            path: path.to_owned(),
            start: start + header.length,
            columns: shape[1],
            width,
            kind,
            not_a_number: AtomicU64::new(0),
            first_bad: AtomicUsize::new(usize::MAX),
        })
    }

    /// Hands over the rows from `first` on, one after the other.
    pub fn rows<E: From<ScoreFileError>>(
        &self,
        first: usize,
        count: usize,
        mut take: impl FnMut(usize, &[f32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let width = self.columns * self.width;
        let at_once = (READ / width.max(1)).clamp(1, count.max(1));
        let (mut bytes, mut scores) = (vec![0; at_once * width], Vec::with_capacity(self.columns));
        for start in (0..count).step_by(at_once) {
            let bytes = &mut bytes[..width * at_once.min(count - start)];
            self.read((first + start) as u64 * width as u64, bytes)
                .map_err(|error| ScoreFileError::read(&self.path, &error))?;
            for (i, row) in bytes.chunks_exact(width).enumerate() {
                scores.clear();
                self.decode(row, &mut scores);
                self.look_for_bad(first + start + i, &scores);
                take(start + i, &scores)?;
            }
        }
        Ok(())
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        // A thread that panicked left the file at some position; every read seeks first.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.start + offset))?;
        file.read_exact(bytes)
    }

    fn decode(&self, row: &[u8], scores: &mut Vec<f32>) {
        if self.width == 4 {
            let (numbers, _) = row.as_chunks::<4>();
            scores.extend(numbers.iter().map(|&number| f32::from_le_bytes(number)));
        } else {
            let (numbers, _) = row.as_chunks::<2>();
            scores.extend(numbers.iter().map(|&number| from_half(u16::from_le_bytes(number))));
        }
    }

    fn look_for_bad(&self, row: usize, scores: &[f32]) {
        let count = scores.iter().filter(|score| score.is_nan()).count() as u64;
        if count > 0 {
            self.not_a_number.fetch_add(count, Ordering::Relaxed);
            self.first_bad.fetch_min(row, Ordering::Relaxed);
        }
    }

    /// An error if a row that was handed over held something that is not a number.
    pub fn check(&self) -> Result<(), ScoreFileError> {
        match self.not_a_number.load(Ordering::Relaxed) {
            0 => Ok(()),
            count => {
                let first = self.first_bad.load(Ordering::Relaxed);
                Err(ScoreFileError::not_a_number(&self.path, count, first))
            }
        }
    }
}

/// The value of a half-precision number: sign, 5 bits of exponent (bias 15), 10 bits of fraction.
fn from_half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10 & 31), u32::from(bits & 1023));
    match exponent {
        // Zero and subnormal numbers: the fraction in units of 2^-24, exact in single precision.
        0 => f32::from_bits(sign | (fraction as f32 * 2_f32.powi(-24)).to_bits()),
        31 => f32::from_bits(sign | 0xff << 23 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 127 - 15) << 23 | fraction << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves() {
        let cases = [
            (0x0000, 0.0),
            (0x8000, -0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 6.097_555e-5),
            (0x0400, 6.103_515_6e-5),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, value) in cases {
            assert_eq!(from_half(bits).to_bits(), f32::to_bits(value), "{bits:04x}");
        }
        assert!(from_half(0x7e00).is_nan() && from_half(0xfc01).is_nan());
    }
}
