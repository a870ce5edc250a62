//! Steps of ordinary differential equations.

use burn::tensor::Tensor;

/// One step of length `h` of the Runge–Kutta method of order 4 in its 3/8 form, for y' = f(y).
pub fn runge_kutta_step(y: Tensor<2>, h: f64, mut f: impl FnMut(Tensor<2>) -> Tensor<2>) -> Tensor<2> {
    let k1 = f(y.clone());
    let k2 = f(y.clone() + k1.clone() * (h / 3.0));
    let k3 = f(y.clone() + (k2.clone() - k1.clone() * (1.0 / 3.0)) * h);
    let k4 = f(y.clone() + (k1.clone() - k2.clone() + k3.clone()) * h);
    y + (k1 + (k2 + k3) * 3.0 + k4) * (h / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{DType, Device, TensorData};

    /// y' = y·A with A = [[0, 1], [−1, 0]] turns: after time t, (cos t, sin t).
    fn error(steps: u32) -> f64 {
        let device = Device::flex();
        let of = |values: [f64; 4], rows: usize| {
            let data = TensorData::new(values[..2 * rows].to_vec(), [rows, 2]);
            Tensor::<2>::from_data(data, (&device, DType::F64))
        };
        let turn = of([0.0, 1.0, -1.0, 0.0], 2);
        let mut y = of([1.0, 0.0, 0.0, 0.0], 1);
        for _ in 0..steps {
            y = runge_kutta_step(y, 1.0 / f64::from(steps), |y| y.matmul(turn.clone()));
        }
        let y = y.into_data().try_to_vec::<f64>().unwrap();
        (y[0] - 1_f64.cos()).hypot(y[1] - 1_f64.sin())
    }

    #[test]
    fn half_the_step_has_a_sixteenth_of_the_error() {
        let ratio = error(4) / error(8);
        assert!((14.0..18.0).contains(&ratio), "{ratio}");
    }
}
