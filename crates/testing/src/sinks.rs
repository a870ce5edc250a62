//! Score sinks for tests and benches.

use std::collections::BTreeMap;
use std::hint::black_box;

use quadcast_core::{EntityId, ScoreError, ScoreRow, ScoreSink};

/// Keeps every row with one score per candidate, whether it arrives dense or sparse.
#[derive(Clone, Debug)]
pub struct Collected {
    candidates: Vec<EntityId>,
    rows: BTreeMap<usize, Vec<f64>>,
    listed: BTreeMap<usize, Vec<(u32, f64)>>,
    /// The only form that rows may have.
    form: Option<&'static str>,
}

impl Collected {
    /// All entities are candidates.
    pub fn new(entities: usize) -> Self {
        Self::among(&(0..entities as u32).map(EntityId).collect::<Vec<_>>())
    }

    /// These entities are candidates. Dense rows have one score for each of them, in this order.
    pub fn among(candidates: &[EntityId]) -> Self {
        Self { candidates: candidates.to_vec(), rows: BTreeMap::new(), listed: BTreeMap::new(), form: None }
    }

    /// Rows must be sparse.
    #[must_use]
    pub fn sparse(self) -> Self {
        Self { form: Some("sparse"), ..self }
    }

    /// Rows must be dense.
    #[must_use]
    pub fn dense(self) -> Self {
        Self { form: Some("dense"), ..self }
    }

    /// The scores for the query at `index`.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.rows[&index]
    }

    /// All rows in the order of their queries.
    pub fn into_rows(self) -> Vec<Vec<f64>> {
        self.rows.into_values().collect()
    }

    /// Candidates and scores that a sparse row listed explicitly.
    pub fn listed(&self, index: usize) -> &[(u32, f64)] {
        self.listed.get(&index).expect("the row is sparse")
    }
}

impl ScoreSink for Collected {
    fn accept(&mut self, index: usize, row: ScoreRow<'_>) -> Result<(), ScoreError> {
        let form = if matches!(row, ScoreRow::Dense(_)) { "dense" } else { "sparse" };
        assert!(self.form.is_none_or(|only| only == form), "the row is {form}");
        let row = match row {
            ScoreRow::Dense(scores) => {
                assert_eq!(scores.len(), self.candidates.len(), "a dense row has a score per candidate");
                scores.iter().copied().map(f64::from).collect()
            }
            ScoreRow::Sparse { ids, scores, background } => {
                let listed: BTreeMap<EntityId, f64> =
                    ids.iter().copied().zip(scores.iter().copied()).collect();
                let score = |id| listed.get(id).copied().unwrap_or_else(|| background.score(*id));
                let row = self.candidates.iter().map(score).collect();
                let pairs = ids.iter().map(|id| id.0).zip(scores.iter().copied()).collect();
                self.listed.insert(index, pairs);
                row
            }
        };
        let earlier = self.rows.insert(index, row);
        assert!(earlier.is_none(), "query {index} was answered twice");
        Ok(())
    }
}

/// Discards the scores: for benches.
#[derive(Clone, Copy, Debug)]
pub struct Discarded;

impl ScoreSink for Discarded {
    fn accept(&mut self, _: usize, row: ScoreRow<'_>) -> Result<(), ScoreError> {
        black_box(&row);
        Ok(())
    }
}
