//! One value of a run beside a published one.
//!
//! Published ranks count what is strictly better. Records keep metrics under every tie policy, so those of optimistic ties are
//! taken, whatever the headline says. A record that does not keep them is compared only if its headline is optimistic itself.

use quadcast_core::{CategoryKind, Step, TiePolicy, words};
use quadcast_eval::evolving::StepResult;
use quadcast_eval::{FilterOutcome, Metrics};
use serde::{Deserialize, Serialize};

use super::published::Allowance;

/// What is compared. Categories are those of triples that were true once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedMeasure {
    /// Share of answers among the first ten, other true ones left out.
    Hits,
    /// Mean rank, other true answers left out.
    MeanRank,
    /// Share of answers among the first ten of all candidates.
    RawHits,
    /// Mean rank among all candidates.
    RawMeanRank,
    /// Accuracy of triple classification.
    Accuracy,
    /// Accuracy for deleted triples.
    Deleted,
    /// Accuracy for triples that were inserted again.
    Returned,
    /// Accuracy for triples that were inserted again and deleted again.
    DeletedAgain,
}

impl PublishedMeasure {
    /// What it is called in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hits => "H@10",
            Self::MeanRank => "MR",
            Self::RawHits => "raw H@10",
            Self::RawMeanRank => "raw MR",
            Self::Accuracy => "accuracy",
            Self::Deleted => "deleted",
            Self::Returned => "returned",
            Self::DeletedAgain => "deleted twice",
        }
    }

    /// Whether it is a mean rank, where less is better.
    pub const fn is_rank(self) -> bool {
        matches!(self, Self::MeanRank | Self::RawMeanRank)
    }

    /// A value as it is printed: whole ranks, two decimals of per cent.
    pub fn written(self, value: f64) -> String {
        if self.is_rank() { format!("{value:.0}") } else { format!("{value:.2}") }
    }

    /// What a step of a run has, rounded as it is printed: a verdict then never contradicts the numbers beside it. `ties` is the
    /// headline tie policy of the run.
    pub(super) fn of(self, step: &StepResult, ties: TiePolicy) -> Option<f64> {
        let filtered = || optimistic(&step.link.as_ref()?.filtered, ties);
        let raw = || optimistic(&step.link.as_ref()?.raw, ties);
        let past = |kind: CategoryKind| step.negative.as_ref()?.of(kind).accuracy();
        let share = match self {
            Self::MeanRank => return Some(filtered()?.mr.round()),
            Self::RawMeanRank => return Some(raw()?.mr.round()),
            Self::Hits => filtered()?.hits10,
            Self::RawHits => raw()?.hits10,
            Self::Accuracy => step.classification.as_ref()?.accuracy,
            Self::Deleted => past(CategoryKind::Deleted)?,
            Self::Returned => past(CategoryKind::Returned)?,
            Self::DeletedAgain => past(CategoryKind::DeletedAgain)?,
        };
        Some(hundredths(100.0 * share))
    }
}

words! {
    /// How a value does beside a published one, from best to worst.
    pub enum PublishedVerdict {
        /// Better than what would count as the same; where only worse values have a bound, better at all.
        Better = "better",
        /// The same, within what is allowed.
        Within = "within",
        /// Worse than what is allowed.
        Misses = "misses",
    }
}

/// One measure at one step. Mean ranks are whole numbers, everything else is per cent with two decimals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedLine {
    /// What is compared.
    pub measure: PublishedMeasure,
    /// The step, from 0.
    pub step: Step,
    /// Its name in the source.
    pub label: String,
    /// The value of the run.
    pub ours: f64,
    /// The published value.
    pub published: f64,
    /// How much larger the value of the run is.
    pub difference: f64,
    /// How far it may lie from the published one: per cent of that for mean ranks, points for everything else.
    pub allowed: f64,
    /// Whether only worse values have a bound.
    pub one_sided: bool,
    /// What comes of it.
    pub verdict: PublishedVerdict,
}

impl PublishedLine {
    /// From the value of the run and the published one.
    pub(super) fn new(
        measure: PublishedMeasure,
        result: &StepResult,
        values: [f64; 2],
        allowance: Allowance,
    ) -> Self {
        let [ours, published] = values;
        let (difference, verdict) = compared(measure, ours, published, allowance);
        Self {
            measure,
            step: result.step,
            label: result.label.clone(),
            ours,
            published,
            difference,
            allowed: if measure.is_rank() { allowance.mean_rank } else { allowance.points },
            one_sided: allowance.one_sided,
            verdict,
        }
    }

    /// What is allowed, in a few signs: a bound on both sides or on the worse one.
    pub fn allowed_words(&self) -> String {
        let (worse, unit) = if self.measure.is_rank() { ("≤ +", " %") } else { ("≥ -", "") };
        let sign = if self.one_sided { worse } else { "±" };
        format!("{sign}{}{unit}", self.allowed)
    }
}

fn optimistic(outcome: &FilterOutcome, ties: TiePolicy) -> Option<Metrics> {
    let kept = outcome.policy.get(TiePolicy::Optimistic.word()).copied();
    kept.or_else(|| (ties == TiePolicy::Optimistic).then_some(outcome.metrics))
}

/// The difference to the published value, and what to think of it.
fn compared(
    measure: PublishedMeasure,
    ours: f64,
    published: f64,
    allowance: Allowance,
) -> (f64, PublishedVerdict) {
    let difference = hundredths(ours - published);
    let (gain, allowed) = if measure.is_rank() {
        (-difference, published * allowance.mean_rank / 100.0)
    } else {
        (difference, allowance.points)
    };
    let better_beyond = if allowance.one_sided { 0.0 } else { allowed };
    let verdict = if gain > better_beyond {
        PublishedVerdict::Better
    } else if gain >= -allowed {
        PublishedVerdict::Within
    } else {
        PublishedVerdict::Misses
    };
    (difference, verdict)
}

fn hundredths(value: f64) -> f64 {
    (100.0 * value).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::PublishedVerdict::{Better, Misses, Within};
    use super::*;

    #[test]
    fn bounds_belong_to_what_is_allowed() {
        let both = Allowance { mean_rank: 10.0, points: 1.5, one_sided: false };
        let one = Allowance { mean_rank: 10.0, points: 1.0, one_sided: true };
        let verdict = |measure, ours, published, allowance| compared(measure, ours, published, allowance).1;
        for (ours, expected) in [(368.0, Better), (369.0, Within), (451.0, Within), (452.0, Misses)] {
            assert_eq!(verdict(PublishedMeasure::MeanRank, ours, 410.0, both), expected, "{ours}");
        }
        for (ours, expected) in [(38.99, Better), (38.98, Within), (35.98, Within), (35.97, Misses)] {
            assert_eq!(verdict(PublishedMeasure::Hits, ours, 37.48, both), expected, "{ours}");
        }
        for (ours, expected) in [(189.0, Better), (190.0, Within), (209.0, Within), (210.0, Misses)] {
            assert_eq!(verdict(PublishedMeasure::RawMeanRank, ours, 190.0, one), expected, "{ours}");
        }
        for (ours, expected) in [(91.61, Better), (91.6, Within), (90.6, Within), (90.59, Misses)] {
            assert_eq!(verdict(PublishedMeasure::Hits, ours, 91.6, one), expected, "{ours}");
        }
    }
}
