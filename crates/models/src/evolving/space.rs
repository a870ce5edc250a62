//! What models with one embedding space define: energy, queries and candidates.

use quadcast_core::Direction;
use quadcast_kernels::compare::Likeness;
use quadcast_kernels::triples::{Energy, Layout, RowView, Segment};

use super::settings::Config;
use crate::blocks::Initial;
use crate::config::ConfigError;

/// The row of an entity or a relation in a model.
pub(crate) type Row<'a> = RowView<'a, f32>;

/// An energy, and how it becomes comparisons of questions with candidates: its negative is
/// `likeness(query(known, relation), candidate(entity, relation))`, for both sides.
///
/// To add a model: implement this and [`Energy`] in a new file with its registry entry, and list it in the registry and in
/// `unused_settings`.
pub(crate) trait Space: Energy<f32> + Clone + Send + Sync + 'static {
    /// Which of the settings [`MODEL_SPECIFIC`](super::unused_settings::MODEL_SPECIFIC) it reads.
    const READS: &'static [&'static str] = &[];
    /// Whether candidates are computed for each relation; otherwise once for all questions.
    const CANDIDATES_BY_RELATION: bool = false;

    /// The model of a configuration.
    fn new(config: &Config) -> Self;

    /// Refuses a configuration whose energies would not be finite.
    fn check(_config: &Config) -> Result<(), ConfigError> {
        Ok(())
    }

    /// How rows are compared.
    fn likeness(&self) -> Likeness {
        Likeness::Dot
    }

    /// Length of a compared row.
    fn width(&self) -> usize {
        self.entity().width()
    }

    /// `out[width]` = the row of a question.
    fn query(&self, known: Row<'_>, relation: Row<'_>, direction: Direction, out: &mut [f32]);

    /// `out[width]` = the row of a candidate; by default the numbers of the entity, which must be one segment.
    fn candidate(&self, entity: Row<'_>, _relation: Row<'_>, out: &mut [f32]) {
        out.copy_from_slice(&entity.values[..out.len()]);
    }

    /// Initial values of a segment, if they differ from those of the configuration.
    fn initial(&self, _segment: &Segment) -> Option<InitialRows> {
        None
    }

    /// Adds to `out` the position of an entity (its first segment, of unit length) that would make a triple plausible whose other
    /// end is `known`. Returns whether the model supports this.
    fn guess(&self, _known: Row<'_>, _relation: Row<'_>, _direction: Direction, _out: &mut [f32]) -> bool {
        false
    }
}

/// A layout of segments that are not divided by their lengths, from their names and widths.
pub(super) fn undivided(segments: &[(&'static str, usize)]) -> Layout {
    Layout(segments.iter().map(|&(name, width)| Segment { name, width, unit: false }).collect())
}

/// Initial values of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InitialRows {
    /// Drawn.
    Drawn(Initial),
    /// Identity matrices with this many columns.
    Diagonal(usize),
}
