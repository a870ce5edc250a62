//! What an audit says.

use quadcast_core::{Check, Verdict};
use serde::Serialize;

use super::leakage::Leakage;

/// Collects findings; the gravest decides the verdict.
pub(super) struct Findings {
    verdict: Verdict,
    evidence: Vec<String>,
    advice: Vec<String>,
}

impl Findings {
    pub fn new() -> Self {
        Self { verdict: Verdict::Pass, evidence: Vec::new(), advice: Vec::new() }
    }

    pub fn skip(reason: &str) -> Self {
        Self {
            verdict: Verdict::Skip,
            evidence: vec![format!("not applicable: {reason}")],
            advice: Vec::new(),
        }
    }

    /// States a fact without judging it.
    pub fn note(&mut self, evidence: impl Into<String>) {
        self.evidence.push(evidence.into());
    }

    pub fn warn(&mut self, evidence: impl Into<String>) {
        self.add(Verdict::Warn, evidence);
    }

    pub fn fail(&mut self, evidence: impl Into<String>) {
        self.add(Verdict::Fail, evidence);
    }

    pub fn advise(&mut self, advice: impl Into<String>) {
        self.advice.push(advice.into());
    }

    fn add(&mut self, verdict: Verdict, evidence: impl Into<String>) {
        self.verdict = self.verdict.max(verdict);
        self.evidence.push(evidence.into());
    }

    pub fn into_check(self, id: &'static str, question: &'static str) -> Check {
        let advice = (!self.advice.is_empty()).then(|| self.advice.join("; "));
        Check { id, question, verdict: self.verdict, evidence: self.evidence.join("; "), advice }
    }
}

/// The answers to all questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// Name of the dataset.
    pub dataset: String,
    /// The checks in order.
    pub checks: Vec<Check>,
    /// What train tells about the test split.
    pub leakage: Leakage,
}

impl Audit {
    /// The gravest verdict.
    pub fn worst(&self) -> Verdict {
        let checks = self.checks.iter().map(|check| check.verdict);
        checks.chain([self.leakage.verdict]).max().unwrap_or(Verdict::Skip)
    }
}
