//! The hashed values of the side-by-side baseline `torch_steps.py`: the same in both programs.

fn hash(seed: u64, i: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ i.wrapping_mul(0xD1B5_4A32_D192_ED03);
    z ^= z >> 32;
    z = z.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^= z >> 29;
    z = z.wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 32)
}

/// Numbers in (−a, a).
pub fn uniform(seed: u64, n: usize, a: f32) -> Vec<f32> {
    let u = |i| (hash(seed, i) >> 40) as f32 / (1 << 24) as f32;
    (0..n as u64).map(|i| (2.0 * u(i) - 1.0) * a).collect()
}

/// Integers below a bound.
pub fn integers(seed: u64, n: usize, below: usize) -> Vec<u32> {
    (0..n as u64).map(|i| ((hash(seed, i) >> 33) % below as u64) as u32).collect()
}
