//! The distance of `TransE` between projected ends, shared by its descendants: ‖n(h⊥) + r − n(t⊥)‖ with n(x) = x/‖x‖, or n(x) = x.

use quadcast_core::Direction;
use quadcast_kernels::Real;
use quadcast_kernels::compare::Likeness;
use quadcast_kernels::triples::{
    Ends, Energy, LINE, Layout, Norm, RowView, Segment, Slopes, SoftConstraint, distance, distance_slopes,
    dot, padded, unit_slopes,
};

use super::settings::Config;
use super::space::{InitialRows, Row, Space};
use super::transe::{likeness, translate};

/// How entities are projected by the second segment of a relation, its mapping.
///
/// Methods with numbers should be `#[inline(always)]`, as those of [`Energy`].
pub(crate) trait Projection: Clone + Send + Sync + 'static {
    /// As [`Space::READS`].
    const READS: &'static [&'static str];
    /// Whether projections are divided by their lengths even if rows are not.
    const ALWAYS_DIVIDED: bool = false;

    /// The projection of a configuration.
    fn new(config: &Config) -> Self;

    /// Numbers of a projection.
    fn width(&self) -> usize;

    /// Segments of the row of an entity.
    fn entity(&self) -> Layout;

    /// The second segment of the row of a relation.
    fn mapping(&self) -> Segment;

    /// As [`Energy::constraints`].
    fn constraints(&self) -> [Vec<SoftConstraint>; 2] {
        [Vec::new(), Vec::new()]
    }

    /// As [`Space::initial`].
    fn initial(&self, _segment: &Segment) -> Option<InitialRows> {
        None
    }

    /// `out` = the projection. It may be without padding.
    fn project<T: Real>(&self, entity: &[T], mapping: RowView<'_, T>, out: &mut [T]);

    /// Slopes along a projection become those along the entity and the mapping.
    fn back<T: Real>(
        &self,
        entity_and_mapping: (&[T], RowView<'_, T>),
        slope: &[T],
        entity_slope: &mut [T],
        mapping_slope: &mut [T],
    );
}

/// The space of a projection.
#[derive(Clone, Debug)]
pub(crate) struct Projected<P> {
    projection: P,
    norm: Norm,
    /// Whether the vectors of relations are divided by their lengths.
    unit: bool,
    /// Whether projections are divided by their lengths.
    divided: bool,
}

/// Lower bound of lengths that are divided by.
const SHORTEST: f64 = 1e-12;

/// Values shared by energy and slopes: the projections, the slopes along them, their scales and the distance.
struct Scratch<'a, T> {
    head: &'a mut [T],
    tail: &'a mut [T],
    head_slope: &'a mut [T],
    tail_slope: &'a mut [T],
    numbers: &'a mut [T],
}

impl<P: Projection> Projected<P> {
    #[inline(always)]
    fn scratch_parts<'a, T>(&self, scratch: &'a mut [T]) -> Scratch<'a, T> {
        let width = padded(self.projection.width());
        let (head, rest) = scratch.split_at_mut(width);
        let (tail, rest) = rest.split_at_mut(width);
        let (head_slope, rest) = rest.split_at_mut(width);
        let (tail_slope, numbers) = rest.split_at_mut(width);
        Scratch { head, tail, head_slope, tail_slope, numbers }
    }

    /// The vector of a relation with its scale, and the mapping.
    #[inline(always)]
    fn relation_parts<'a, T: Real>(&self, relation: RowView<'a, T>) -> (&'a [T], T, RowView<'a, T>) {
        let (vector, values) = relation.values.split_at(padded(self.projection.width()));
        let (own, scales) = relation.scales.split_at(usize::from(self.unit));
        (vector, own.first().copied().unwrap_or(T::ONE), RowView { values, scales })
    }

    #[inline(always)]
    fn scale<T: Real>(&self, x: &[T]) -> T {
        if self.divided { T::ONE / dot(x, x).sqrt().larger(T::from_f64(SHORTEST)) } else { T::ONE }
    }
}

impl<T: Real, P: Projection> Energy<T> for Projected<P> {
    fn entity(&self) -> Layout {
        self.projection.entity()
    }

    fn relation(&self) -> Layout {
        let vector = Segment { name: "relations", width: self.projection.width(), unit: self.unit };
        Layout(vec![vector, self.projection.mapping()])
    }

    fn constraints(&self) -> [Vec<SoftConstraint>; 2] {
        self.projection.constraints()
    }

    fn scratch(&self) -> usize {
        4 * padded(self.projection.width()) + LINE
    }

    #[inline(always)]
    fn energy(&self, ends: &Ends<'_, T>, scratch: &mut [T]) -> T {
        let (vector, scale, mapping) = self.relation_parts(ends.relation);
        let own = self.scratch_parts(scratch);
        self.projection.project(ends.head.values, mapping, own.head);
        self.projection.project(ends.tail.values, mapping, own.tail);
        let (a, c) = (self.scale(own.head), self.scale(own.tail));
        let d = distance(self.norm, [own.head, vector, own.tail], [a, scale, c]);
        own.numbers[..3].copy_from_slice(&[d, a, c]);
        d
    }

    #[inline(always)]
    fn slopes(&self, ends: &Ends<'_, T>, scratch: &mut [T], factor: T, slopes: &mut Slopes<'_, T>) {
        let (vector, scale, mapping) = self.relation_parts(ends.relation);
        let own = self.scratch_parts(scratch);
        let (vector_slope, mapping_slope) = slopes.relation.split_at_mut(padded(self.projection.width()));
        let [d, a, c] = [own.numbers[0], own.numbers[1], own.numbers[2]];
        own.head_slope.fill(T::ZERO);
        own.tail_slope.fill(T::ZERO);
        let into = [&mut *own.head_slope, vector_slope, &mut *own.tail_slope];
        distance_slopes((self.norm, d), [&*own.head, vector, &*own.tail], [a, scale, c], factor, into);
        if self.divided {
            unit_slopes(own.head, a, own.head_slope);
            unit_slopes(own.tail, c, own.tail_slope);
        }
        self.projection.back((ends.head.values, mapping), own.head_slope, slopes.head, mapping_slope);
        self.projection.back((ends.tail.values, mapping), own.tail_slope, slopes.tail, mapping_slope);
    }
}

impl<P: Projection> Space for Projected<P> {
    const READS: &'static [&'static str] = P::READS;
    const CANDIDATES_BY_RELATION: bool = true;

    fn new(config: &Config) -> Self {
        let (unit, norm) = (config.normalise, config.distance());
        Self { projection: P::new(config), norm, unit, divided: unit || P::ALWAYS_DIVIDED }
    }

    fn likeness(&self) -> Likeness {
        likeness(self.norm)
    }

    fn width(&self) -> usize {
        self.projection.width()
    }

    fn query(&self, known: Row<'_>, relation: Row<'_>, direction: Direction, out: &mut [f32]) {
        self.candidate(known, relation, out);
        translate(relation, self.unit, direction, out);
    }

    fn candidate(&self, entity: Row<'_>, relation: Row<'_>, out: &mut [f32]) {
        self.projection.project(entity.values, self.relation_parts(relation).2, out);
        if self.divided {
            let length = out.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
            out.iter_mut().for_each(|x| *x /= length);
        }
    }

    fn initial(&self, segment: &Segment) -> Option<InitialRows> {
        self.projection.initial(segment)
    }
}
