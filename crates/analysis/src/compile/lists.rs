//! What the stages share: the elements of a triple by kind, lists in one array, and the set of all triples ever true.

use quadcast_core::Triple;
use rayon::prelude::*;

/// Index of what is kept per kind of element.
pub(super) const ENTITIES: usize = 0;
pub(super) const RELATIONS: usize = 1;

/// The elements of a triple: kind and id.
pub(super) const fn elements(triple: Triple) -> [(usize, usize); 3] {
    [
        (ENTITIES, triple.subject.index()),
        (ENTITIES, triple.object.index()),
        (RELATIONS, triple.relation.index()),
    ]
}

/// Lists of different lengths in one array.
#[derive(Debug, Default)]
pub(super) struct Lists<T> {
    /// `items[starts[l]..starts[l + 1]]` belong to list `l`.
    starts: Vec<usize>,
    items: Vec<T>,
}

impl<T: Copy + Default> Lists<T> {
    /// The items of every list, in the order in which they come.
    pub(super) fn new(lists: usize, items: impl Iterator<Item = (usize, T)> + Clone) -> Self {
        let mut starts = vec![0; lists + 1];
        items.clone().for_each(|(list, _)| starts[list + 1] += 1);
        for list in 0..lists {
            starts[list + 1] += starts[list];
        }
        let mut next = starts.clone();
        let mut filled = vec![T::default(); starts[lists]];
        for (list, item) in items {
            filled[next[list]] = item;
            next[list] += 1;
        }
        Self { starts, items: filled }
    }

    pub(super) fn of(&self, list: usize) -> &[T] {
        &self.items[self.starts[list]..self.starts[list + 1]]
    }
}

/// A set of triples: per head, its relations and tails in order. Building it sorts millions of short lists instead of one
/// long one.
#[derive(Debug, Default)]
pub(super) struct EverTrue(Lists<u64>);

const fn pair(triple: Triple) -> u64 {
    (triple.relation.0 as u64) << 32 | triple.object.0 as u64
}

impl EverTrue {
    /// The set of these triples, whose heads are below `entities`.
    pub(super) fn new(triples: impl Iterator<Item = Triple> + Clone, entities: usize) -> Self {
        let mut lists = Lists::new(entities, triples.map(|triple| (triple.subject.index(), pair(triple))));
        let mut by_head = Vec::with_capacity(entities);
        let mut rest = lists.items.as_mut_slice();
        for ends in lists.starts.windows(2) {
            let (list, later) = rest.split_at_mut(ends[1] - ends[0]);
            by_head.push(list);
            rest = later;
        }
        by_head.into_par_iter().for_each(<[u64]>::sort_unstable);
        Self(lists)
    }

    /// Whether a triple was true at some time.
    pub(super) fn has(&self, triple: Triple) -> bool {
        let head = triple.subject.index();
        head + 1 < self.0.starts.len() && self.0.of(head).binary_search(&pair(triple)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_it_is_found() {
        let t = Triple::new;
        let triples = [t(2, 7, 0), t(0, 7, 2), t(2, 1, 9), t(2, 7, 3)];
        let ever = EverTrue::new(triples.into_iter(), 3);
        assert!(triples.iter().all(|&triple| ever.has(triple)));
        assert!(![t(1, 7, 0), t(2, 7, 2), t(3, 7, 0), t(0, 2, 7)].iter().any(|&absent| ever.has(absent)));
        assert!(!EverTrue::default().has(triples[0]));
    }
}
