//! Everything that was ever true, to be asked about.

use quadcast_core::Triple;
use rayon::prelude::*;

/// A set of triples: per head, its relations and tails in order. Building it sorts millions of short lists instead of one
/// long one.
#[derive(Debug, Default)]
pub(super) struct Ever {
    /// `pairs[starts[h]..starts[h + 1]]` belong to head `h`.
    starts: Vec<usize>,
    pairs: Vec<u64>,
}

const fn pair(triple: Triple) -> u64 {
    (triple.relation.0 as u64) << 32 | triple.object.0 as u64
}

impl Ever {
    /// The set of these triples, whose heads are below `entities`.
    pub(super) fn new(triples: impl Iterator<Item = Triple> + Clone, entities: usize) -> Self {
        let mut starts = vec![0; entities + 1];
        triples.clone().for_each(|triple| starts[triple.subject.index() + 1] += 1);
        for head in 0..entities {
            starts[head + 1] += starts[head];
        }
        let mut next = starts.clone();
        let mut pairs = vec![0; starts[entities]];
        for triple in triples {
            let place = &mut next[triple.subject.index()];
            pairs[*place] = pair(triple);
            *place += 1;
        }
        let mut lists = Vec::with_capacity(entities);
        let mut rest = pairs.as_mut_slice();
        for head in 0..entities {
            let (list, later) = rest.split_at_mut(starts[head + 1] - starts[head]);
            lists.push(list);
            rest = later;
        }
        lists.into_par_iter().for_each(<[u64]>::sort_unstable);
        Self { starts, pairs }
    }

    /// Whether a triple was true at some time.
    pub(super) fn has(&self, triple: Triple) -> bool {
        match self.starts.get(triple.subject.index()..triple.subject.index() + 2) {
            Some(ends) => self.pairs[ends[0]..ends[1]].binary_search(&pair(triple)).is_ok(),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_it_is_found() {
        let triples =
            [Triple::new(2, 7, 0), Triple::new(0, 7, 2), Triple::new(2, 1, 9), Triple::new(2, 7, 3)];
        let ever = Ever::new(triples.into_iter(), 3);
        assert!(triples.iter().all(|&triple| ever.has(triple)));
        for absent in [Triple::new(1, 7, 0), Triple::new(2, 7, 2), Triple::new(3, 7, 0), Triple::new(0, 2, 7)]
        {
            assert!(!ever.has(absent));
        }
        assert!(!Ever::default().has(triples[0]));
    }
}
