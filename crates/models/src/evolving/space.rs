//! What models with one embedding space define (energy, queries, candidates), and the distance that several of them share.

use quadcast_core::Direction;
use quadcast_kernels::Real;
use quadcast_kernels::compare::Likeness;
use quadcast_kernels::triples::{
    Energy, LINE, Norm, RowView, Segment, distance, distance_slopes, dot, padded, unit_slopes,
};

use super::settings::Config;
use crate::blocks::Initial;
use crate::config::ConfigError;

/// What the rows of candidates depend on, besides the entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depends {
    /// Nothing: they are computed once for all questions.
    Nothing,
    /// The relation: they are computed for each relation.
    Relation,
}

/// An energy, and how it becomes comparisons of questions with candidates: its negative is
/// `likeness(query(known, relation), candidate(entity, relation))`, for both sides.
///
/// To add a model: implement this and [`Energy`] in a new file, give it a name with [`Named`], and list
/// it in the registry and in `unused_settings`.
pub(crate) trait Space: Energy<f32> + Clone + Send + Sync + 'static {
    /// Which of the settings [`MODEL_SPECIFIC`](super::unused_settings::MODEL_SPECIFIC) it reads.
    const READS: &'static [&'static str] = &[];

    /// The model of a configuration.
    fn new(config: &Config) -> Self;

    /// Refuses a configuration whose energies would not be finite.
    fn check(_config: &Config) -> Result<(), ConfigError> {
        Ok(())
    }

    /// How rows are compared.
    fn likeness(&self) -> Likeness;

    /// Length of a compared row.
    fn width(&self) -> usize;

    /// What the candidates depend on.
    fn depends(&self) -> Depends {
        Depends::Nothing
    }

    /// `out[width]` = the row of a question.
    fn query(
        &self,
        known: RowView<'_, f32>,
        relation: RowView<'_, f32>,
        direction: Direction,
        out: &mut [f32],
    );

    /// `out[width]` = the row of a candidate.
    fn candidate(&self, entity: RowView<'_, f32>, relation: RowView<'_, f32>, out: &mut [f32]);

    /// Initial values of a segment, if they differ from those of the configuration.
    fn initial(&self, _segment: &Segment) -> Option<InitialRows> {
        None
    }

    /// Adds to `out` the position of an entity (its first segment, of unit length) that would make a triple plausible whose other
    /// end is `known`. Returns whether the model supports this.
    fn guess(
        &self,
        _known: RowView<'_, f32>,
        _relation: RowView<'_, f32>,
        _direction: Direction,
        _out: &mut [f32],
    ) -> bool {
        false
    }
}

/// A space with a model name and its published settings.
pub(crate) trait Named: 'static {
    type Space: Space;
    const NAME: &'static str;
    const ALIASES: &'static [&'static str] = &[];
    const ABOUT: &'static str;
    const PAPER: &'static str;
    const SOURCE: &'static str;
    /// The model whose defaults this one changes.
    const BASE: Option<&'static str> = Some("transe");

    /// The published settings.
    fn config() -> Config;
}

/// Initial values of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InitialRows {
    /// Drawn.
    Drawn(Initial),
    /// Identity matrices with this many columns.
    Diagonal(usize),
}

/// Lower bound of lengths that are divided by.
const SHORTEST: f64 = 1e-12;

/// The distance of `TransE` between projected ends, shared by its descendants: ‖n(h⊥) + r − n(t⊥)‖ with n(x) = x/‖x‖, or n(x) = x.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProjectedDistance {
    pub norm: Norm,
    /// Whether projections are divided by their lengths.
    pub unit: bool,
    /// Numbers of a projection.
    pub width: usize,
}

/// Values shared by energy and slopes: the projections, the slopes along them, their scales and the distance.
pub(super) struct Projections<'a, T> {
    pub head: &'a mut [T],
    pub tail: &'a mut [T],
    pub head_slope: &'a mut [T],
    pub tail_slope: &'a mut [T],
    numbers: &'a mut [T],
}

impl ProjectedDistance {
    /// Numbers of [`Projections`].
    pub fn scratch(&self) -> usize {
        4 * padded(self.width) + LINE
    }

    #[inline(always)]
    pub fn projections<'a, T: Real>(&self, scratch: &'a mut [T]) -> Projections<'a, T> {
        let width = padded(self.width);
        let (head, rest) = scratch.split_at_mut(width);
        let (tail, rest) = rest.split_at_mut(width);
        let (head_slope, rest) = rest.split_at_mut(width);
        let (tail_slope, numbers) = rest.split_at_mut(width);
        Projections { head, tail, head_slope, tail_slope, numbers }
    }

    #[inline(always)]
    fn scale<T: Real>(&self, x: &[T]) -> T {
        if self.unit { T::ONE / dot(x, x).sqrt().larger(T::from_f64(SHORTEST)) } else { T::ONE }
    }

    /// The energy of ends whose projections are own.
    #[inline(always)]
    pub fn energy<T: Real>(&self, own: &mut Projections<'_, T>, relation: &[T], scale: T) -> T {
        let (a, c) = (self.scale(own.head), self.scale(own.tail));
        let d = distance(self.norm, [own.head, relation, own.tail], [a, scale, c]);
        own.numbers[..3].copy_from_slice(&[d, a, c]);
        d
    }

    /// Sets the slopes along the projections; those along the relation are added.
    #[inline(always)]
    pub fn slopes<T: Real>(
        &self,
        own: &mut Projections<'_, T>,
        (relation, scale): (&[T], T),
        factor: T,
        relation_slope: &mut [T],
    ) {
        let [d, a, c] = [own.numbers[0], own.numbers[1], own.numbers[2]];
        own.head_slope.fill(T::ZERO);
        own.tail_slope.fill(T::ZERO);
        let into = [&mut *own.head_slope, relation_slope, &mut *own.tail_slope];
        distance_slopes((self.norm, d), [&*own.head, relation, &*own.tail], [a, scale, c], factor, into);
        if self.unit {
            unit_slopes(own.head, a, own.head_slope);
            unit_slopes(own.tail, c, own.tail_slope);
        }
    }
}
