//! Random draws that depend on a key and a sample number only.

/// Draws of one sample.
///
/// A batch needs tens of thousands of draws on several threads. The named streams of the project are cryptographic and too slow for
/// this: they give the key of a batch, and `SplitMix64`, a hash of key and counter that passes the usual statistical tests, gives
/// the draws. Every sample has its own start, so draws do not depend on threads.
#[derive(Clone, Debug)]
pub struct Draws(u64);

/// The odd number nearest to 2⁶⁴ divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Draws {
    /// The draws of a sample under the key of its batch.
    #[inline(always)]
    pub fn new(key: u64, sample: u64) -> Self {
        // Mixed, so that the counters of neighbouring samples do not overlap.
        Self(mix(key ^ mix(sample.wrapping_add(GOLDEN))))
    }

    /// 64 random bits.
    #[inline(always)]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number below `bound`, which must not be 0. The error against a uniform distribution is below `bound` / 2⁶⁴.
    #[inline(always)]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// A number ≥ 0 and < 1.
    #[inline(always)]
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

#[inline(always)]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::Draws;

    #[test]
    fn draws_are_even_and_named() {
        let mut counts = [0_u32; 10];
        for sample in 0..20_000 {
            let mut draws = Draws::new(7, sample);
            counts[draws.below(10)] += 1;
            counts[draws.below(10)] += 1;
            assert!((0.0..1.0).contains(&draws.share()));
        }
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 4000.0).powi(2) / 4000.0).sum();
        assert!(chi < 27.9, "{chi}: 1 in 1000 for 9 degrees of freedom");
        assert_eq!(Draws::new(7, 3).bits(), Draws::new(7, 3).bits());
        assert_ne!(Draws::new(7, 3).bits(), Draws::new(8, 3).bits());
        assert_ne!(Draws::new(7, 3).bits(), Draws::new(7, 4).bits());
    }
}
