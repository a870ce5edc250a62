//! Named random streams: every draw comes from a stream named by (seed, purpose, index), so that results do not
//! depend on the order in which threads get to draw.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// The random stream of one purpose and index under a seed.
pub fn stream(seed: u64, purpose: &str, index: u64) -> ChaCha8Rng {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    hash.update(index.to_le_bytes());
    hash.update(purpose.as_bytes());
    ChaCha8Rng::from_seed(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_are_named() {
        let draw = |seed, purpose, index| stream(seed, purpose, index).random::<u64>();
        assert_eq!(draw(1, "bootstrap", 0), draw(1, "bootstrap", 0));
        assert_ne!(draw(1, "bootstrap", 0), draw(1, "bootstrap", 1));
        assert_ne!(draw(1, "bootstrap", 0), draw(2, "bootstrap", 0));
        assert_ne!(draw(1, "bootstrap", 0), draw(1, "ties", 0));
    }
}
