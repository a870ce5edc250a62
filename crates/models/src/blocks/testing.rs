//! Checks of fused operations, for their tests.

use burn::tensor::{Device, Tensor};
use quadcast_core::stream;

use super::{AnyTensor, Fused, Initial, Parameter, Parameters, floats};

/// An array of normal numbers from a stream of this name.
pub fn random(name: &str, shape: &[usize]) -> (Vec<f32>, Vec<usize>) {
    let len = shape.iter().product();
    (Initial::Normal(1.0).draw(len, &mut stream(7, name, 0)), shape.to_vec())
}

/// Checks that an operation and its gradients are the same as composed from burn's operations, that its gradient
/// predicts a small change of its output up to a thousandth, and that one thread and two give the same bits.
pub fn check<O: Fused<N>, const N: usize>(
    op: impl Fn() -> O + Send + Sync,
    inputs: &[(Vec<f32>, Vec<usize>); N],
) {
    let one = in_threads(1, || run(&op, inputs, super::fused::apply));
    let two = in_threads(2, || run(&op, inputs, super::fused::apply));
    assert_eq!(one, two, "one thread and two");
    let composed = run(&op, inputs, |op, x| op.composed(x));
    close("output", &one.0, &composed.0);
    for (i, (gradient, composed)) in one.1.iter().zip(&composed.1).enumerate() {
        close(&format!("gradient of input {i}"), gradient, composed);
    }
    predicts_change(&op, inputs, &one.1);
}

/// Central difference of the composed operation, in numbers of 64 bits, along the gradient of each input.
fn predicts_change<O: Fused<N>, const N: usize>(
    op: &impl Fn() -> O,
    inputs: &[(Vec<f32>, Vec<usize>); N],
    gradients: &[Vec<f32>],
) {
    for (i, gradient) in gradients.iter().enumerate() {
        let length = length(gradient);
        if length < 1e-5 {
            continue;
        }
        let value = |step: f64| {
            let leaves: [AnyTensor; N] = std::array::from_fn(|j| {
                let (values, shape) = &inputs[j];
                let mut values: Vec<f64> = values.iter().copied().map(f64::from).collect();
                if i == j {
                    values.iter_mut().zip(gradient).for_each(|(x, &g)| *x += step * f64::from(g) / length);
                }
                AnyTensor::wide(values, shape, &Device::flex()).into_leaf()
            });
            let output = op().composed(leaves).flat();
            let weights = random("weights of outputs", &[output.dims()[0]]);
            (output.clone() * floats(weights.0, [weights.1[0]], &output)).sum().into_scalar::<f64>()
        };
        let slope = (value(STEP) - value(-STEP)) / (2.0 * STEP);
        assert!((slope / length - 1.0).abs() < 1e-3, "input {i}: slope {slope} instead of {length}");
    }
}

/// Small enough that a kink of a function rarely lies within it, and large against the rounding of 64 bits.
const STEP: f64 = 1e-6;

fn length(gradient: &[f32]) -> f64 {
    gradient.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt()
}

/// Outputs and gradients of the inputs for Σ output·weight with fixed random weights.
type Run = (Vec<f32>, Vec<Vec<f32>>);

fn run<O: Fused<N>, const N: usize>(
    op: &impl Fn() -> O,
    inputs: &[(Vec<f32>, Vec<usize>); N],
    apply: impl FnOnce(O, [AnyTensor; N]) -> AnyTensor,
) -> Run {
    let device = Device::flex();
    let leaves =
        inputs.each_ref().map(|(values, shape)| AnyTensor::new(values.clone(), shape, &device).into_leaf());
    let output = apply(op(), leaves.clone());
    let weights = random("weights of outputs", &output.shape());
    let loss = (output.clone().flat() * AnyTensor::new(weights.0, &weights.1, &device).flat()).sum();
    let mut gradients = loss.backward();
    let gradients = leaves.map(|leaf| {
        let len = leaf.shape().iter().product();
        let gradient = leaf.unranked().grad_remove(&mut gradients);
        gradient.map_or_else(|| vec![0.0; len], |gradient| AnyTensor::from(gradient).into_values())
    });
    (output.into_values(), gradients.into())
}

/// Checks the gradient of a whole network, parameter by parameter: the loss, composed in numbers of 64 bits, changes
/// along it as it says, up to a thousandth.
pub fn gradients_predict_the_loss<N>(
    network: &mut N,
    parameters: impl Fn(&mut N) -> &mut Parameters,
    loss: impl Fn(&N) -> Tensor<1>,
) {
    let gradients = {
        let loss = loss(network);
        parameters(network).backward(&loss)
    };
    let names: Vec<(Parameter, String)> =
        parameters(network).names().map(|(parameter, name)| (parameter, name.to_owned())).collect();
    let values: Vec<Vec<f64>> = names
        .iter()
        .map(|(parameter, _)| parameters(network).values(*parameter).iter().copied().map(f64::from).collect())
        .collect();
    parameters(network).widen();
    let (mut checked, mut all) = (0, 0);
    for ((parameter, name), old) in names.iter().zip(values) {
        let Some(gradient) = gradients.values(*parameter) else { continue };
        all += 1;
        let length = length(&gradient);
        // A bias before a normalisation has none.
        if length < 1e-5 {
            continue;
        }
        let mut at = |step: f64| {
            let moved = old.iter().zip(&gradient).map(|(x, &g)| x + step * f64::from(g) / length).collect();
            parameters(network).set_wide(*parameter, moved);
            loss(network).into_scalar::<f64>()
        };
        let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        parameters(network).set_wide(*parameter, old);
        assert!((slope / length - 1.0).abs() < 1e-3, "{name}: slope {slope} instead of {length}");
        checked += 1;
    }
    assert!(2 * checked > all, "{checked} of {all} parameters checked");
}

/// In a pool of this many threads.
pub fn in_threads<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}

/// Equal up to 1e-4 of the largest number, or to the rounding of what cancels out: a bias before a
/// normalisation has the gradient 0.
pub fn close(what: &str, a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len(), "lengths of {what}");
    let size = b.iter().fold(0.0_f32, |size, x| size.max(x.abs()));
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= 1e-4 * size + 1e-6, "{what} at {i}: {a} instead of {b}, largest {size}");
    }
}
