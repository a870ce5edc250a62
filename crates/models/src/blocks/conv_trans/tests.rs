use super::*;
use crate::blocks::testing::{check, close, random};
use burn::tensor::Device;
use quadcast_core::stream;
use std::sync::Mutex;

const D: usize = 5;
const K: usize = 3;

fn inputs(b: usize) -> [(Vec<f32>, Vec<usize>); 11] {
    let shapes: [&[usize]; 11] =
        [&[b, 2, D], &[K, 2, 3], &[K], &[D, K * D], &[D], &[2], &[2], &[K], &[K], &[D], &[D]];
    let mut number = 0;
    shapes.map(|shape| {
        number += 1;
        random(&format!("input {number}"), shape)
    })
}

fn running() -> [[SharedBuffer; 2]; 3] {
    [2, K, D].map(|channels| [vec![0.25; channels], vec![1.5; channels]].map(|x| Arc::new(Mutex::new(x))))
}

fn trunk(b: usize, train: bool, dropout: bool, row_weights: Option<Arc<[f32]>>) -> Trunk {
    let mut stream = stream(1, "dropout", 0);
    let masks = [2 * D, K * D, D].map(|len| mask(dropout.then_some(&mut stream), 0.2, b * len));
    Trunk { masks, running: running(), train, row_weights }
}

#[test]
fn pairs_within_a_matrix_are_pairs_of_rows() {
    let device = Device::flex().autodiff();
    let matrix = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], &device).require_grad();
    let (first, second) = ([2, 0, 2], [1, 0, 0]);
    let gradients = |pairs: Tensor<3>| {
        let weights = Tensor::<3>::from_floats(
            [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], [[9.0, 1.0], [2.0, 3.0]]],
            &device,
        );
        let values = pairs.clone().into_data();
        let gradient = matrix.grad(&(pairs * weights).sum().backward()).expect("a gradient").into_data();
        (values, gradient)
    };
    let apart = pair_rows(matrix.clone(), first, matrix.clone(), second);
    assert_eq!(gradients(pair_rows_within(matrix.clone(), &first, &second)), gradients(apart));
}

#[test]
fn trunk_and_its_gradients() {
    check(|| trunk(7, false, false, None), &inputs(7));
    check(|| trunk(7, true, false, None), &inputs(7));
    check(|| trunk(7, true, true, None), &inputs(7));
}

#[test]
fn one_row_is_not_normalised_at_the_end() {
    check(|| trunk(1, true, false, None), &inputs(1));
}

#[test]
fn rows_count_by_their_weight() {
    let weights: Arc<[f32]> = Arc::from([1.0, 2.0, 1.0, 3.0, 1.0]);
    check(|| trunk(5, true, false, Some(weights.clone())), &inputs(5));
}

#[test]
fn running_estimates_move_alike() {
    let device = Device::flex();
    let tensors = || inputs(7).map(|(values, shape)| AnyTensor::new(values, &shape, &device));
    let (a, b) = (trunk(7, true, false, None), trunk(7, true, false, None));
    let (kept_a, kept_b) = (a.running.clone(), b.running.clone());
    fused::<_, 11, 2>(a, tensors());
    b.composed(tensors());
    for (a, b) in kept_a.iter().flatten().zip(kept_b.iter().flatten()) {
        close("running estimate", &a.lock().unwrap(), &b.lock().unwrap());
        assert_ne!(a.lock().unwrap()[0], 0.25);
    }
}

#[test]
fn pairs_and_their_gradients() {
    let (first, second): (Arc<[u32]>, Arc<[u32]>) = (Arc::from([3, 0, 3]), Arc::from([1, 1, 0]));
    let inputs = [random("a", &[4, D]), random("b", &[2, D])];
    check(|| PairRows { first: first.clone(), second: second.clone() }, &inputs);
}

#[test]
fn a_stored_block_scores_the_same() {
    let config = ConvTransConfig { d: D, channels: K, dropout: 0.2 };
    let build = |seed| {
        let mut parameters = Parameters::new(seed, &Device::flex());
        let block = config.init("decoder", &mut parameters);
        (parameters, block)
    };
    let (a, block) = build(1);
    let x = || AnyTensor::new(random("x", &[7, 2, D]).0, &[7, 2, D], a.device()).tensor::<3>();
    block.forward(&a, x(), Some(&mut stream(1, "dropout", 0)), None);
    let (mut b, _) = build(2);
    b.load_bytes(&a.to_bytes().unwrap()).unwrap();
    let score = |parameters: &Parameters| {
        AnyTensor::from(block.forward(&parameters.frozen(), x(), None, None)).into_values()
    };
    assert_eq!(score(&a), score(&b));
}
