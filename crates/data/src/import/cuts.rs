//! Where time is cut: between steps, as near to the shares wanted as possible.

use super::options::Shares;

/// The steps with which valid and test begin, from where each step begins among `facts` sorted facts. Every split gets
/// at least one step; `None` if there are too few for that.
pub fn cuts(begins: &[usize], facts: usize, shares: Shares) -> Option<[usize; 2]> {
    let steps = begins.len();
    if steps < 3 {
        return None;
    }
    // The border that leaves nearly `share` of the facts before it; of two equally near ones the earlier.
    let nearest = |share: f64, from: usize, to: usize| {
        let target = share * facts as f64;
        let distance = |border: usize| (begins[border] as f64 - target).abs();
        (from..=to)
            .reduce(|best, next| if distance(next) < distance(best) { next } else { best })
            .unwrap_or(from)
    };
    let valid = nearest(shares.train, 1, steps - 2);
    let test = nearest(shares.train + shares.valid, valid + 1, steps - 1);
    Some([valid, test])
}
