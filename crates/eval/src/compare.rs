//! Paired comparison of two evaluations that asked the same questions. Differences are taken per question, so what
//! makes a question easy or hard for everybody cancels out. Both statements rest on the blocks that the intervals of a
//! single run rest on.

use quadcast_core::{Filter, Protocol, stream};
use rand::Rng;
use serde::{Serialize, Serializer};

use crate::{BlockBootstrap, ByMetric, Counting, EvalError, Interval, RankedQuery, Unit};

/// Sign patterns that are drawn when there are too many to try all of them.
const DRAWS: u32 = 9_999;

/// Up to this many blocks, all sign patterns are tried (16 384).
const MOST_EXACT_BLOCKS: usize = 14;

/// Blocks of which signs are flipped at most; where there are more units, neighbours are put together.
const MOST_BLOCKS: usize = 1_000;

/// Sums that differ by less than this share of what was added up are equal: additions are rounded.
const ROUNDING: f64 = 1e-12;

/// Sums of the four metrics over the queries of one unit, and how many queries these are.
type UnitSums = ([f64; 4], u64);

/// One metric of two runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The first run.
    pub first: f64,
    /// The second run.
    pub second: f64,
    /// Second minus first.
    pub difference: f64,
    /// 95 % interval of the difference; absent with fewer than two steps.
    pub ci95: Option<Interval>,
    /// How often a difference at least as large, in either direction, would come about if the two runs were
    /// exchangeable.
    pub p: f64,
}

impl Difference {
    /// Whether interval and p-value both speak against chance at the 5 % level.
    pub fn is_clear(&self) -> bool {
        self.p < 0.05 && self.ci95.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }
}

/// How p-values come about: the signs of block differences are flipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SignFlips {
    /// Blocks of neighbouring units.
    pub blocks: usize,
    /// Sign patterns that were tried.
    pub patterns: u32,
    /// Whether these are all there are.
    pub exact: bool,
}

impl SignFlips {
    fn new(blocks: usize) -> Self {
        let exact = blocks <= MOST_EXACT_BLOCKS;
        Self { blocks, patterns: if exact { 1 << blocks } else { DRAWS }, exact }
    }

    /// Two-sided p-values of the sums over blocks. Drawn patterns count the observed one too, so that no p-value is
    /// zero; the same patterns serve all metrics.
    fn p_values<const N: usize>(&self, blocks: &[[f64; N]], seed: u64) -> [f64; N] {
        let total = |sign: &mut dyn FnMut(usize) -> bool| {
            let mut sums = [0.0; N];
            for (i, block) in blocks.iter().enumerate() {
                let flipped = sign(i);
                sums.iter_mut().zip(block).for_each(|(sum, d)| *sum += if flipped { -d } else { *d });
            }
            sums
        };
        let observed = total(&mut |_| false);
        let slack: [f64; N] =
            std::array::from_fn(|n| ROUNDING * blocks.iter().map(|b| b[n].abs()).sum::<f64>());
        let mut extreme = [0_u32; N];
        let mut random = stream(seed, "sign flips", 0);
        for pattern in 0..self.patterns {
            let sums = if self.exact {
                total(&mut |i| pattern >> i & 1 == 1)
            } else {
                total(&mut |_| random.random())
            };
            for n in 0..N {
                extreme[n] += u32::from(sums[n].abs() >= observed[n].abs() - slack[n]);
            }
        }
        let own = u32::from(!self.exact);
        extreme.map(|count| f64::from(count + own) / f64::from(self.patterns + own))
    }
}

/// Everything that is reported about a pair of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Differences by filter, in the order of [`Filter::ALL`].
    #[serde(rename = "differences", serialize_with = "by_word")]
    pub filters: [ByMetric<Difference>; 3],
    /// Questions with their gold answers.
    pub queries: u64,
    /// How the intervals came about.
    pub bootstrap: BlockBootstrap,
    /// How the p-values came about.
    pub permutation: SignFlips,
}

impl Comparison {
    /// Compares two evaluations of one dataset under one protocol. Each run breaks random ties with its own seed.
    pub fn new(
        runs: [&[RankedQuery]; 2],
        candidates: usize,
        protocol: &Protocol,
        seeds: [u64; 2],
    ) -> Result<Self, EvalError> {
        paired(runs)?;
        let counting = seeds.map(|seed| Counting::new(candidates, protocol.ties, seed));
        let unit = Unit::of(protocol.task);
        let units = |filter: Filter| -> [Vec<UnitSums>; 2] {
            [0, 1].map(|run| {
                let tallies = counting[run].group(runs[run], filter, |q| unit.key(q));
                tallies.into_values().map(|tally| (tally.sums(), tally.queries)).collect()
            })
        };
        let by_filter = Filter::ALL.map(units);
        let bootstrap = BlockBootstrap::new(unit, by_filter[0][0].len());
        let block = bootstrap.block.max(bootstrap.units.div_ceil(MOST_BLOCKS));
        let permutation = SignFlips::new(bootstrap.units.div_ceil(block));
        Ok(Self {
            filters: by_filter.map(|[first, second]| {
                differences(&first, &second, &bootstrap, (permutation, block), seeds[0])
            }),
            queries: runs[0].len() as u64,
            bootstrap,
            permutation,
        })
    }
}

/// One value per filter, under the word of the filter.
fn by_word<S: Serializer>(filters: &[ByMetric<Difference>; 3], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(Filter::ALL.map(Filter::word).into_iter().zip(filters))
}

/// Both runs answer the same questions, in the same order.
fn paired([first, second]: [&[RankedQuery]; 2]) -> Result<(), EvalError> {
    if first.is_empty() || first.len() != second.len() {
        return Err(EvalError::Unpaired(format!(
            "the first answers {} queries, the second {}",
            first.len(),
            second.len()
        )));
    }
    match first.iter().zip(second).position(|(a, b)| (a.query, a.gold) != (b.query, b.gold)) {
        None => Ok(()),
        Some(index) => {
            Err(EvalError::Unpaired(format!("they differ from row {} of their rank files on", index + 1)))
        }
    }
}

fn differences(
    first: &[UnitSums],
    second: &[UnitSums],
    bootstrap: &BlockBootstrap,
    (permutation, block): (SignFlips, usize),
    seed: u64,
) -> ByMetric<Difference> {
    let steps: Vec<UnitSums> = first
        .iter()
        .zip(second)
        .map(|((a, queries), (b, _))| (std::array::from_fn(|n| b[n] - a[n]), *queries))
        .collect();
    let queries = steps.iter().map(|(_, queries)| queries).sum::<u64>() as f64;
    let mean = |steps: &[UnitSums], n: usize| steps.iter().map(|(sums, _)| sums[n]).sum::<f64>() / queries;
    let intervals = bootstrap.intervals(&steps, seed);
    let blocks: Vec<[f64; 4]> = steps
        .chunks(block)
        .map(|block| std::array::from_fn(|n| block.iter().map(|(sums, _)| sums[n]).sum()))
        .collect();
    let p = permutation.p_values(&blocks, seed);
    let metric = |n: usize| Difference {
        first: mean(first, n),
        second: mean(second, n),
        difference: mean(&steps, n),
        ci95: intervals.map(|all| all[n]),
        p: p[n],
    };
    [0, 1, 2, 3].map(metric).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_blocks_on_paper() {
        // Sums of 8 sign patterns of (3, 2, -1): 4, -2, 0, -6 and their opposites. At least 4 in size: ±4, ±6.
        let flips = SignFlips::new(3);
        assert_eq!(flips, SignFlips { blocks: 3, patterns: 8, exact: true });
        assert_eq!(flips.p_values(&[[3.0], [2.0], [-1.0]], 1), [0.5]);
        // All blocks on one side: the observed pattern and its opposite.
        assert_eq!(flips.p_values(&[[3.0, -1.0], [2.0, -1.0], [1.0, -1.0]], 1), [0.25, 0.25]);
    }

    #[test]
    fn no_difference_has_p_one() {
        assert_eq!(SignFlips::new(1).p_values(&[[0.5]], 1), [1.0]);
        assert_eq!(SignFlips::new(30).p_values(&[[0.0]; 30], 1), [1.0]);
    }

    #[test]
    fn drawn_patterns_agree_with_all_patterns() {
        let blocks: Vec<[f64; 1]> = (0..14).map(|i| [f64::from(i % 5) - 1.4]).collect();
        let exact = SignFlips::new(14).p_values(&blocks, 1)[0];
        let drawn = SignFlips { blocks: 14, patterns: DRAWS, exact: false }.p_values(&blocks, 1)[0];
        assert!((exact - drawn).abs() < 0.02, "{exact} {drawn}");
        let least = SignFlips::new(40).p_values(&[[1.0]; 40], 1)[0];
        assert_eq!(least, 1.0 / f64::from(DRAWS + 1));
    }
}
