//! Masks for inverted dropout: 0 with probability p, else 1 / (1 − p).

use rand::RngCore;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::Real;
use crate::parallel::vectorised;

/// Numbers per task; each uses 16 bits of the stream.
const BLOCK: usize = 1 << 14;

/// Fills `mask` from the stream and moves the stream on, to the same place for any number of threads.
///
/// The probability is rounded to a multiple of 2⁻¹⁶; the scale is that of the rounded one.
pub fn fill<T: Real>(stream: &mut ChaCha8Rng, probability: f64, mask: &mut [T]) {
    assert!((0.0..1.0).contains(&probability), "dropout probability {probability} is not in [0, 1)");
    let dropped = (probability * 65536.0).round().min(65535.0) as u16;
    let scale = T::from_f64(65536.0 / (65536.0 - f64::from(dropped)));
    let start = stream.get_word_pos();
    let from = stream.clone();
    mask.par_chunks_mut(BLOCK).enumerate().for_each(|(i, mask)| {
        let mut stream = from.clone();
        stream.set_word_pos(start + (i * BLOCK / 2) as u128);
        let mut bytes = vec![0_u8; mask.len() * 2];
        stream.fill_bytes(&mut bytes);
        vectorised(
            #[inline(always)]
            || {
                // A copy: see the graph layer.
                let (dropped, scale) = (dropped, scale);
                for (mask, bytes) in mask.iter_mut().zip(bytes.as_chunks::<2>().0) {
                    *mask = if u16::from_le_bytes(*bytes) < dropped { T::ZERO } else { scale };
                }
            },
        );
    });
    stream.set_word_pos(start + mask.len().div_ceil(2) as u128);
}
