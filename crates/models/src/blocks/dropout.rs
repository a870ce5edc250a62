//! Dropout, with masks from named streams.

use burn::tensor::Tensor;
use quadcast_kernels::dropout::Mask;
use quadcast_kernels::memory::take;
use rand_chacha::ChaCha8Rng;

use super::embedding::floats;
use super::{AnyTensor, Fused, Input, Output, Returned, fused};

/// The random stream of masks in training, `None` when scoring.
pub type Training<'a> = Option<&'a mut ChaCha8Rng>;

/// A mask for `len` numbers, 0 with this probability and else 1 / (1 − p); `None` if nothing is dropped.
pub fn mask(training: Training, probability: f64, len: usize) -> Option<Mask> {
    let stream = training.filter(|_| probability > 0.0)?;
    Some(Mask::draw(stream, probability, len))
}

/// Drops each number with this probability in training, and scales the others up.
pub fn dropout(x: Tensor<2>, probability: f64, training: Training) -> Tensor<2> {
    match mask(training, probability, x.dims().iter().product()) {
        Some(mask) => fused(Dropped { mask }, [x.into()]),
        None => x,
    }
}

struct Dropped {
    mask: Mask,
}

impl Fused<1> for Dropped {
    type ForwardState = ();

    const SETS: [bool; 1] = [true];

    fn forward(&self, [x]: [Input; 1], _tape: bool) -> (Output, ()) {
        let mut out = take(x.values.len()).into_vec();
        out.copy_from_slice(x.values);
        self.mask.apply_to(&mut out);
        (Output::new(out, x.shape), ())
    }

    fn backward(self, _: [Input; 1], (): (), returned: Returned, [dx]: &mut [Vec<f32>; 1]) {
        dx.copy_from_slice(returned.gradient);
        self.mask.apply_to(dx);
    }

    fn composed(&self, [x]: [AnyTensor; 1]) -> AnyTensor {
        let x = x.tensor::<2>();
        (x.clone() * floats(self.mask.values(), x.dims(), &x)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};
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

    #[test]
    fn dropped_numbers_and_their_gradients() {
        let mask = mask(Some(&mut stream(1, "dropout", 0)), 0.5, 20).unwrap();
        check(|| Dropped { mask: mask.clone() }, &[random("x", &[5, 4])]);
    }
}
