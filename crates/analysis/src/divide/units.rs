//! What must stay together: the connected components of the graph that joins facts with their mirrors.

use std::ops::Range;

use quadcast_core::Quad;

use super::patterns::Partners;

/// The kinds of units, which are divided separately so that each split gets its part of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stratum {
    /// Held together by a symmetric relation, among others maybe. A fact of an entity with itself mirrors itself.
    Symmetric,
    /// Held together by inverse relations alone.
    Inverse,
    /// Facts without a mirror.
    Single,
}

impl Stratum {
    pub(super) const ALL: [Self; 3] = [Self::Symmetric, Self::Inverse, Self::Single];

    /// The word in reports and in the names of random streams.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Symmetric => "symmetric",
            Self::Inverse => "inverse",
            Self::Single => "single",
        }
    }
}

/// Facts in groups.
pub(super) struct Units {
    /// Indices of facts, those of a unit next to each other.
    members: Vec<u32>,
    units: Vec<(Stratum, Range<usize>)>,
}

impl Units {
    /// Finds the components among sorted, different facts. Units are in the order of their first facts.
    pub(super) fn of(facts: &[Quad], partners: &Partners) -> Self {
        let mut parents: Vec<u32> = (0..facts.len() as u32).collect();
        let mut strata = vec![Stratum::Single; facts.len()];
        for (index, &fact) in facts.iter().enumerate() {
            for mirror in partners.of(fact) {
                let Ok(other) = facts.binary_search(&mirror) else { continue };
                if mirror.relation == fact.relation {
                    strata[index] = Stratum::Symmetric;
                } else if strata[index] == Stratum::Single {
                    strata[index] = Stratum::Inverse;
                }
                let (a, b) = (root(&mut parents, index as u32), root(&mut parents, other as u32));
                // The smaller index is the root, so that the order of units does not depend on how they were joined.
                parents[a.max(b) as usize] = a.min(b);
            }
        }
        let roots: Vec<u32> = (0..facts.len() as u32).map(|index| root(&mut parents, index)).collect();
        let mut members: Vec<u32> = (0..facts.len() as u32).collect();
        members.sort_by_key(|&index| roots[index as usize]);
        let mut start = 0;
        let mut units = Vec::new();
        for unit in members.chunk_by(|&a, &b| roots[a as usize] == roots[b as usize]) {
            let of = |wanted| unit.iter().any(|&index| strata[index as usize] == wanted);
            let stratum = Stratum::ALL.into_iter().find(|&stratum| of(stratum)).unwrap_or(Stratum::Single);
            units.push((stratum, start..start + unit.len()));
            start += unit.len();
        }
        Self { members, units }
    }

    /// The units of a stratum, each as indices of facts.
    pub(super) fn stratum(&self, wanted: Stratum) -> Vec<&[u32]> {
        let of_it = self.units.iter().filter(|(stratum, _)| *stratum == wanted);
        of_it.map(|(_, range)| &self.members[range.clone()]).collect()
    }
}

/// The root of a component; paths are halved on the way.
fn root(parents: &mut [u32], mut index: u32) -> u32 {
    while parents[index as usize] != index {
        let above = parents[parents[index as usize] as usize];
        parents[index as usize] = above;
        index = above;
    }
    index
}

#[cfg(test)]
mod tests {
    use quadcast_core::RelationId;

    use super::*;

    #[test]
    fn mirrors_make_units() {
        // Relation 0 is symmetric, 1 and 2 are inverse to each other, 3 to 1 as well.
        let r = RelationId;
        let partners = Partners::new(&[r(0)], &[(r(1), r(2)), (r(3), r(1))], 5);
        let mut facts = vec![
            Quad::new(0, 0, 1, 5), // A with the next
            Quad::new(1, 0, 0, 5),
            Quad::new(0, 0, 1, 6), // no mirror at that time
            Quad::new(2, 0, 2, 5), // mirrors itself
            Quad::new(0, 1, 1, 5), // B with the next two
            Quad::new(1, 2, 0, 5),
            Quad::new(1, 3, 0, 5),
            Quad::new(1, 3, 0, 6), // no partner of relation 1 at that time
            Quad::new(4, 4, 5, 5), // no pattern
        ];
        facts.sort_unstable();
        let units = Units::of(&facts, &partners);
        let named = |stratum| {
            let mut found: Vec<Vec<(u32, u32)>> = units
                .stratum(stratum)
                .into_iter()
                .map(|unit| {
                    unit.iter().map(|&i| (facts[i as usize].relation.0, facts[i as usize].step.0)).collect()
                })
                .collect();
            found.sort();
            found
        };
        assert_eq!(named(Stratum::Symmetric), [vec![(0, 5)], vec![(0, 5), (0, 5)]]);
        assert_eq!(named(Stratum::Inverse), [vec![(1, 5), (2, 5), (3, 5)]]);
        assert_eq!(named(Stratum::Single), [vec![(0, 6)], vec![(3, 6)], vec![(4, 5)]]);
    }

    #[test]
    fn a_symmetric_link_decides_the_stratum() {
        let r = RelationId;
        let partners = Partners::new(&[r(0)], &[(r(0), r(1))], 2);
        let mut facts = vec![Quad::new(0, 0, 1, 0), Quad::new(1, 0, 0, 0), Quad::new(1, 1, 0, 0)];
        facts.sort_unstable();
        let units = Units::of(&facts, &partners);
        assert_eq!(units.stratum(Stratum::Symmetric), [&[0, 1, 2]]);
    }
}
