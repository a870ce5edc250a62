//! Models that keep one space for the whole graph: what they differ in.

use quadcast_core::Direction;
use quadcast_kernels::compare::Likeness;
use quadcast_kernels::triples::{Energy, Row, Segment};

use super::settings::Config;
use crate::blocks::Initial;
use crate::config::ConfigError;

/// What the rows of candidates depend on, beside the entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depends {
    /// Nothing: they are made once for all questions.
    Nothing,
    /// The relation: they are made for the questions of one relation.
    Relation,
}

/// An energy, and how it becomes comparisons of questions with candidates: its negative is
/// `likeness(query(known, relation), candidate(entity, relation))`, for both sides.
///
/// To add a model: implement this and [`Energy`] in a file of its own, give it a name with [`Named`], and list
/// it in the registry and among the readers of settings.
pub(crate) trait Space: Energy<f32> + Clone + Send + Sync + 'static {
    /// Which of the settings [`OF_SOME`](super::readers::OF_SOME) it reads.
    const READS: &'static [&'static str] = &[];

    /// The model of a configuration.
    fn new(config: &Config) -> Self;

    /// Refuses a configuration with which energies would be no numbers.
    fn check(_config: &Config) -> Result<(), ConfigError> {
        Ok(())
    }

    /// How rows are compared.
    fn likeness(&self) -> Likeness;

    /// Numbers that are compared.
    fn width(&self) -> usize;

    /// What candidates depend on.
    fn depends(&self) -> Depends {
        Depends::Nothing
    }

    /// `out[width]` = the row of a question.
    fn query(&self, known: Row<'_, f32>, relation: Row<'_, f32>, direction: Direction, out: &mut [f32]);

    /// `out[width]` = the row of a candidate.
    fn candidate(&self, entity: Row<'_, f32>, relation: Row<'_, f32>, out: &mut [f32]);

    /// Initial values of a segment, if they are not those of the configuration.
    fn initial(&self, _segment: &Segment) -> Option<First> {
        None
    }

    /// Where an entity should be for a triple to be plausible whose other end is `known`: added to `out`, as the numbers of
    /// its first segment, of unit length. Returns whether the model can tell.
    fn guess(
        &self,
        _known: Row<'_, f32>,
        _relation: Row<'_, f32>,
        _direction: Direction,
        _out: &mut [f32],
    ) -> bool {
        false
    }
}

/// A space with the settings it was published with.
pub(crate) trait Named: 'static {
    type Space: Space;
    const NAME: &'static str;
    const ALIASES: &'static [&'static str] = &[];
    const ABOUT: &'static str;
    const PAPER: &'static str;
    const SOURCE: &'static str;

    /// The published settings.
    fn config() -> Config;
}

/// Initial values of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum First {
    /// Drawn.
    Drawn(Initial),
    /// Matrices of so many columns with ones on the diagonal.
    Diagonal(usize),
}
