//! The checklist of a fair comparison: one question, one verdict, what it rests on.

use serde::Serialize;

use crate::words;

words! {
    /// Outcome of a check, ordered by gravity.
    pub enum Verdict {
        /// The question makes no sense for this kind of data.
        Skip = "skip",
        /// Nothing to object.
        Pass = "pass",
        /// What was seen of it neither supports nor refutes it.
        NotKnown = "not known",
        /// Usable, but readers of the results must know.
        Warn = "warn",
        /// Results would not mean what they seem to mean.
        Fail = "fail",
    }
}

/// One question of the checklist and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its id in the checklist, such as `D1`.
    pub id: &'static str,
    /// What is asked.
    pub question: &'static str,
    /// The answer.
    pub verdict: Verdict,
    /// What the answer rests on.
    pub evidence: String,
    /// What to do about it.
    pub advice: Option<String>,
}
