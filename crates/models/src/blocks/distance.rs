//! How far parameters are from where they were.

use std::sync::Arc;

use burn::tensor::Tensor;

use super::{AnyTensor, Fused, Input, Output, Returned, floats, fused};

/// `‖x − from‖₂` over all numbers; at distance 0 the gradient is 0.
pub fn distance(x: AnyTensor, from: Arc<[f32]>) -> Tensor<1> {
    fused(Distance { from }, [x])
}

struct Distance {
    from: Arc<[f32]>,
}

impl Fused<1> for Distance {
    type Kept = ();

    fn forward(&self, [x]: [Input; 1], _: bool) -> (Output, ()) {
        assert_eq!(x.values.len(), self.from.len(), "distance between arrays of one size");
        let square = |(a, b): (&f32, &f32)| f64::from(a - b).powi(2);
        let sum: f64 = x.values.iter().zip(&*self.from).map(square).sum();
        (Output::new(vec![sum.sqrt() as f32], &[1]), ())
    }

    fn backward(self, [x]: [Input; 1], (): (), returned: Returned, [dx]: &mut [Vec<f32>; 1]) {
        if returned.values[0] == 0.0 {
            return;
        }
        let scale = returned.gradient[0] / returned.values[0];
        for ((dx, x), from) in dx.iter_mut().zip(x.values).zip(&*self.from) {
            *dx += scale * (x - from);
        }
    }

    fn composed(&self, [x]: [AnyTensor; 1]) -> AnyTensor {
        let x = x.flat();
        let from = floats(self.from.to_vec(), [self.from.len()], &x);
        // The smallest number keeps the root of 0 from having an endless slope.
        ((x - from).powi_scalar(2).sum() + f32::MIN_POSITIVE).sqrt().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};
    use burn::tensor::Device;

    #[test]
    fn distance_and_its_gradient() {
        let from: Arc<[f32]> = random("from", &[3, 4]).0.into();
        check(|| Distance { from: Arc::clone(&from) }, &[random("x", &[3, 4])]);
    }

    #[test]
    fn at_distance_zero_nothing_pulls() {
        let x = AnyTensor::new(vec![1.0, 2.0], &[2], &Device::flex()).into_leaf();
        let gradients = distance(x.clone(), Arc::from([1.0, 2.0])).backward();
        let gradient = x.unranked().grad(&gradients).unwrap();
        assert_eq!(AnyTensor::from(gradient).into_values(), [0.0, 0.0]);
    }
}
