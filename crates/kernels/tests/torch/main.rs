//! Whole training steps against the baseline `torch_steps.py`.
//!
//! The expected losses are those of `PyTorch` 2.15 on a CPU: in the script, `run(step,3,15,"W1")` was replaced by
//! `print(", ".join(f"{step():.6f}" for _ in range(13)))`, and it was called as `python torch_steps.py w1`. For whole
//! epochs of triples, `run(epoch,1,3,…)` was replaced by the same with `epoch()` and `range(4)`, called as
//! `python torch_steps.py w3`.

#![allow(clippy::unreadable_literal, clippy::excessive_precision)] // As the script prints them.

mod epochs;
mod steps;

const W1: [f32; 13] = [
    8.871769, 8.866846, 8.861921, 8.856982, 8.852025, 8.847039, 8.842012, 8.836938, 8.831800, 8.826590,
    8.821296, 8.815907, 8.810406,
];
#[test]
fn bilinear_step_has_the_losses_of_torch() {
    let mut step = steps::BilinearStep::new();
    for (i, expected) in W1.into_iter().enumerate() {
        let loss = step.step();
        assert!((loss - expected).abs() < 1e-4, "step {i}: loss {loss}, expected {expected}");
    }
}

const W3: [f64; 4] = [1.105774, 0.488097, 0.181601, 0.062905];

#[test]
fn an_epoch_of_triples_has_the_losses_of_torch() {
    let epochs = epochs::Epochs::new();
    let mut epoch = epochs.exact();
    for (i, expected) in W3.into_iter().enumerate() {
        let loss = epoch();
        // Sums in another order: dense and sparse gradients of the script itself differ by as much in the last epoch.
        assert!((loss - expected).abs() < 2e-3, "epoch {i}: loss {loss}, expected {expected}");
    }
}

#[test]
fn an_epoch_of_triples_learns_as_much_without_locks() {
    let epochs = epochs::Epochs::new();
    let mut epoch = epochs.lock_free();
    let losses: Vec<f64> = W3.iter().map(|_| epoch()).collect();
    // A step per sample is a little ahead of a step per batch.
    assert!(losses.iter().zip(W3).all(|(loss, exact)| *loss < 1.05 * exact), "{losses:?}");
}
