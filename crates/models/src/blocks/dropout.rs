//! Dropout masks from named streams.

use quadcast_kernels::dropout::Mask;
use rand_chacha::ChaCha8Rng;

/// The random stream of masks in training, `None` when scoring.
pub type Training<'a> = Option<&'a mut ChaCha8Rng>;

/// A mask for `len` numbers, 0 with this probability and else 1 / (1 − p); `None` if nothing is dropped.
pub fn mask(training: Training, probability: f64, len: usize) -> Option<Mask> {
    let stream = training.filter(|_| probability > 0.0)?;
    Some(Mask::draw(stream, probability, len))
}

#[cfg(test)]
mod tests {
    use super::mask;
    use quadcast_core::stream;

    #[test]
    fn masks_come_from_the_stream_and_only_in_training() {
        assert_eq!(mask(None, 0.5, 10), None);
        assert_eq!(mask(Some(&mut stream(1, "dropout", 0)), 0.0, 10), None);
        let mut stream = stream(1, "dropout", 0);
        let mut draw = || mask(Some(&mut stream), 0.25, 10_000).unwrap().values::<f32>();
        let a = draw();
        let kept = a.iter().filter(|&&x| x != 0.0).count();
        assert!((7_300..7_700).contains(&kept), "{kept}");
        assert!(a.iter().all(|&x| x == 0.0 || (x - 4.0 / 3.0).abs() < 1e-6));
        assert_ne!(a, draw(), "the stream moves on");
    }
}
