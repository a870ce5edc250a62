//! Whole training steps against the baseline `torch_steps.py`.
//!
//! The expected losses are those of `PyTorch` 2.15 on a CPU: in the script, `run(step,3,15,"W1")` (and "W2") was
//! replaced by `print(", ".join(f"{step():.6f}" for _ in range(13)))`, and it was called as
//! `python torch_steps.py w1` and `python torch_steps.py w2`.

#![allow(clippy::unreadable_literal, clippy::excessive_precision)] // As the script prints them.

#[path = "common/steps.rs"]
mod steps;

const W1: [f32; 13] = [
    8.871769, 8.866846, 8.861921, 8.856982, 8.852025, 8.847039, 8.842012, 8.836938, 8.831800, 8.826590,
    8.821296, 8.815907, 8.810406,
];
const W2: [f32; 13] = [
    8.871802, 8.870665, 8.866652, 8.856591, 8.834118, 8.787694, 8.697491, 8.532660, 8.264907, 7.970462,
    7.737804, 7.329892, 7.040307,
];

fn compare(expected: &[f32], mut step: impl FnMut() -> f32) {
    for (i, &expected) in expected.iter().enumerate() {
        let loss = step();
        assert!((loss - expected).abs() < 1e-4, "step {i}: loss {loss}, expected {expected}");
    }
}

#[test]
fn bilinear_step_has_the_losses_of_torch() {
    let mut step = steps::BilinearStep::new();
    compare(&W1, || step.step());
}

#[test]
fn graph_step_has_the_losses_of_torch() {
    let mut step = steps::GraphStep::new();
    compare(&W2, || step.step());
}
