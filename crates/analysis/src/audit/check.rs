//! Runs all checks, and what they say.

use quadcast_core::{Check, Verdict};
use quadcast_data::Loaded;
use serde::Serialize;

use super::leakage::{Leakage, LeakageOptions, leakage};
use super::{identity, order, separation, shape};
use crate::info;

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
        let evidence = vec![format!("not applicable: {reason}")];
        Self { verdict: Verdict::Skip, evidence, advice: Vec::new() }
    }

    /// States a fact without judging it.
    pub fn note(&mut self, evidence: impl Into<String>) {
        self.evidence.push(evidence.into());
    }

    pub fn warn(&mut self, evidence: impl Into<String>) {
        self.verdict = self.verdict.max(Verdict::Warn);
        self.note(evidence);
    }

    pub fn fail(&mut self, evidence: impl Into<String>) {
        self.verdict = self.verdict.max(Verdict::Fail);
        self.note(evidence);
    }

    pub fn advise(&mut self, advice: impl Into<String>) {
        self.advice.push(advice.into());
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

/// Answers the dataset questions of the checklist for fair evaluation, and measures leakage.
pub fn audit(loaded: &Loaded) -> Audit {
    audit_with(loaded, &LeakageOptions::default())
}

/// The same, with a say in what counts as a pattern and how much leakage is too much.
pub fn audit_with(loaded: &Loaded, options: &LeakageOptions) -> Audit {
    let info = info(loaded);
    let checks = vec![
        identity::known_variant(&info).into_check("D1", "Is it a known dataset version?"),
        order::ordered(loaded, &info)
            .into_check("D2", "Are the splits ordered in time, without a shared time stamp?"),
        separation::validation(&info)
            .into_check("D3", "Does a validation set exist that differs from the test set?"),
        identity::ids(&info).into_check("D4", "Are the ids in range, used and known from training?"),
        shape::uniform(&info).into_check("D5", "Are there duplicates, self loops or gaps in time?"),
    ];
    let leakage = leakage(loaded, &info, options);
    Audit { dataset: info.name, checks, leakage }
}
