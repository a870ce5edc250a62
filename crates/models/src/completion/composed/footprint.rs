//! How much memory training takes, from sizes alone.

use std::sync::Arc;

use super::composition::Composition;
use super::scorers::Side;
use super::settings::{Config, SamplerName, ScorerName};
use super::times::Times;
use crate::capacity::{DataSizes, NUMBER, TRAINED};
use crate::forecast::state::Shape;

/// Rows of candidates that are held at once: themselves and their gradients.
const CANDIDATE_COPIES: f64 = 2.0;
/// Rows of questions that are held at once: themselves and their gradients.
const QUESTION_COPIES: f64 = 2.0;

/// Bytes of the tables in training, and of one step.
pub(super) fn bytes(config: &Config, shape: Shape, times: &Arc<Times>, data: &DataSizes) -> f64 {
    let model = Composition::<f32>::outline(config, shape, times.clone(), 0);
    let tables = TRAINED * model.tables.estimate();
    // A fact is two questions or more.
    let questions = config.batch.min(data.facts.saturating_mul(2)) as f64;
    let all = config.sampler == SamplerName::All;
    let blocks = match config.sampler {
        SamplerName::All if !model.candidates_change(Side::Tails) => 1.0,
        SamplerName::All | SamplerName::Shared => (questions / config.group as f64).max(1.0),
        SamplerName::Independent => questions,
    };
    let candidates = if all { data.entities } else { config.negatives as f64 };
    let copied = !all || model.candidate_table(Side::Tails).is_none();
    let rows = if copied { CANDIDATE_COPIES * model.candidate_width() as f64 } else { 0.0 };
    // The ids of all blocks; rows, times and scores of one.
    let of_candidates = candidates * (blocks + rows + 2.0);
    let widths = [model.encoder(Side::Tails).width(), model.parts.relation.width(), model.query_width()];
    let matrix = if config.scorer == ScorerName::TuckER { (config.dimension as f64).powi(2) } else { 0.0 };
    let row = widths.iter().map(|&width| width as f64).sum::<f64>() + matrix;
    NUMBER * (tables + of_candidates + QUESTION_COPIES * questions * row)
}
