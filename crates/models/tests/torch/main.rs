//! A whole training step of blocks against the baseline `torch_steps.py`.
//!
//! The expected losses are those of `PyTorch` 2.15 on a CPU: in the script, `run(step,3,15,"W2")` was replaced by
//! `print(", ".join(f"{step():.6f}" for _ in range(13)))`, and it was called as `python torch_steps.py w2`.

mod graph_step;

const W2: [f32; 13] = [
    8.871_802, 8.870_665, 8.866_652, 8.856_591, 8.834_118, 8.787_694, 8.697_491, 8.532_66, 8.264_907,
    7.970_462, 7.737_804, 7.329_892, 7.040_307,
];

fn losses(threads: usize, steps: usize) -> Vec<f32> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
    pool.install(|| {
        let mut step = graph_step::GraphStep::new();
        (0..steps).map(|_| step.step()).collect()
    })
}

#[test]
fn losses_are_those_of_torch() {
    for (i, (loss, expected)) in losses(2, W2.len()).iter().zip(W2).enumerate() {
        assert!((loss - expected).abs() < 1e-4, "step {i}: loss {loss}, expected {expected}");
    }
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    assert_eq!(losses(1, 2), losses(2, 2));
}
