//! Whether rows fit into memory, asked before there are any: when an allocation fails it is too late for a message.
//!
//! A training asks by itself, and for more. By then its rows are made, and rows that cannot be made never get there.

use quadcast_core::{GraphSizes, ModelError};
use quadcast_kernels::triples::Layout;
use quadcast_train::check_memory;

use super::space::Space;

/// What there is of every number while rows are made: the rows, those that they were or a segment as it is drawn, and a copy
/// on its way from one to the other.
const COPIES: u128 = 3;

/// Numbers of the rows of a space, padding included.
pub(super) fn numbers<M: Space>(space: &M, sizes: GraphSizes) -> u128 {
    let of = |layout: Layout, rows: usize| layout.stride() as u128 * rows as u128;
    of(space.entity(), sizes.entities) + of(space.relation(), sizes.relations)
}

/// Refuses rows that cannot fit into what is free.
pub(super) fn check_rows<M: Space>(space: &M, sizes: GraphSizes) -> Result<(), ModelError> {
    let GraphSizes { entities, relations } = sizes;
    let what = format!("the rows of {entities} entities and {relations} relations");
    check_memory(COPIES * numbers(space, sizes), &what, "a smaller dimension")
}

#[cfg(test)]
mod tests {
    use quadcast_core::GraphSizes;
    use quadcast_kernels::triples::{Norm, Translation};

    use super::numbers;

    #[test]
    fn numbers_are_counted_with_their_padding_and_beyond_what_a_machine_can_hold() {
        let space = |dimension| Translation { dimension, norm: Norm::L1, unit: true };
        assert_eq!(numbers(&space(20), GraphSizes { entities: 5, relations: 2 }), 7 * 32);
        let all = GraphSizes { entities: usize::MAX, relations: 0 };
        assert_eq!(numbers(&space(16), all), 16 * usize::MAX as u128);
    }
}
