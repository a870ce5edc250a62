//! The journal of judged steps, with which an interrupted evaluation continues where it stopped.

use std::error::Error;

use quadcast_core::Step;

use crate::RankedQuery;

/// One judged step of the test period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedStep {
    /// Its questions with their ranks.
    pub ranked: Vec<RankedQuery>,
    /// The latest step whose facts the model had read when this one was judged.
    pub latest_read: Option<Step>,
}

/// Keeps judged steps. The evaluator itself touches no file.
pub trait Journal {
    /// Hands over the steps that an earlier evaluation of the same model has judged: the first ones of the test period,
    /// in order. Called once, before the first step.
    fn judged(&mut self) -> Vec<JudgedStep>;

    /// Drops all but the first steps, which these are, of those that [`Self::judged`] returned: the others are judged again.
    fn keep_first(&mut self, _steps: &[JudgedStep]) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }

    /// Takes one more step, which was judged just now. It may be kept together with later ones.
    fn note(&mut self, step: &JudgedStep) -> Result<(), Box<dyn Error + Send + Sync>>;

    /// Makes sure that every step that was noted is kept.
    fn flush(&mut self) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }
}

/// Keeps nothing.
pub struct Forgetful;

impl Journal for Forgetful {
    fn judged(&mut self) -> Vec<JudgedStep> {
        Vec::new()
    }

    fn note(&mut self, _: &JudgedStep) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }
}
