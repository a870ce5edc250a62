//! The checklist of a fair comparison: one question, one verdict, what it rests on.

use serde::Serialize;

/// Outcome of a check, ordered by gravity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The question makes no sense for this kind of data.
    Skip,
    /// Nothing to object.
    Pass,
    /// Usable, but readers of the results must know.
    Warn,
    /// Results would not mean what they seem to mean.
    Fail,
}

impl Verdict {
    /// The word used in text.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
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
