//! What a generator knows about each fact: what caused it, and how likely it was.

/// One fact, in the order of the dataset (train, valid, test; within each by step, subject, relation, object).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruthRow {
    /// Bit `i` stands for cause `i` of [`Truth::labels`].
    pub(super) causes: u32,
    /// Probability of the fact right before its step, given everything earlier.
    pub probability: f64,
}

/// What a generator knows about each fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// Names of the causes.
    pub labels: Vec<String>,
    /// One row per fact.
    pub rows: Vec<TruthRow>,
}

impl Truth {
    /// The causes of one fact; several if more than one process fired.
    pub fn causes(&self, row: &TruthRow) -> String {
        let bits = row.causes;
        let named = self.labels.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
        named.map(|(_, label)| label.as_str()).collect::<Vec<_>>().join("+")
    }
}
