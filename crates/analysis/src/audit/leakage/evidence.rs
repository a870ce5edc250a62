//! The kinds of evidence, what they are called and how grave they are.

use serde::Serialize;

use crate::index::Times;
use crate::info::time_span;

/// How a dataset is divided, which decides what train can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitKind {
    /// Test facts lie among the training facts in time.
    Completion,
    /// Only a few test time stamps do.
    Mixed,
    /// Test facts lie after the training facts.
    Forecasting,
    /// Facts carry no time.
    Static,
    /// Facts hold over intervals.
    Intervals,
    /// A graph that changes in steps.
    Evolving,
}

impl SplitKind {
    /// The word used in text.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Completion => "completion",
            Self::Mixed => "mixed",
            Self::Forecasting => "forecasting",
            Self::Static => "static",
            Self::Intervals => "intervals",
            Self::Evolving => "evolving",
        }
    }
}

/// What may stand in train when (s, p, o, t) is a test fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The fact itself.
    Exact,
    /// The fact itself, in valid.
    InValid,
    /// (o, p, s, t), where p was detected as symmetric, at the same time or over time.
    Symmetric,
    /// (o, q, s, t), where q was detected as the inverse of p, at the same time or over time.
    Inverse,
    /// (s, q, o, t), where q was detected as parallel to p.
    Parallel,
    /// (o, p, s, t), whatever p.
    Mirror,
    /// (o, any, s, t).
    Reversed,
    /// (s, q, o, t), q not p.
    OtherRelation,
    /// (o, p, s) at some time, where p was detected as symmetric over time.
    SymmetricAnyTime,
    /// (o, q, s) at some time, where q was detected as the inverse of p over time.
    InverseAnyTime,
    /// (o, p, s) at some time, whatever p.
    MirrorAnyTime,
    /// (o, any, s) at some time.
    ReversedAnyTime,
    /// Any relation between the two, in any direction, at some time.
    PairSeen,
    /// (s, p, o) at another time, not further away than this.
    Near(u64),
    /// (s, p, o) one unit of time before.
    Previous,
    /// (s, p, o) at an earlier time.
    Earlier,
    /// (s, p, o) at some time.
    Seen,
}

/// What a finding means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Grade {
    /// It gives the answer away: worth a warning from the first fact on.
    Leak,
    /// It helps: worth a warning above this share.
    Hint(f64),
    /// It is in the nature of the data: worth knowing.
    Note,
}

/// Above this share of the test facts, evidence that only helps is worth a warning.
const HINT: f64 = 0.01;

use Evidence::{
    Earlier, Exact, InValid, Inverse, InverseAnyTime, Mirror, MirrorAnyTime, Near, OtherRelation, PairSeen,
    Parallel, Previous, Reversed, ReversedAnyTime, Seen, Symmetric, SymmetricAnyTime,
};

/// What can be found at the time of the fact.
const SAME_TIME: [Evidence; 8] =
    [Exact, InValid, Symmetric, Inverse, Parallel, Mirror, Reversed, OtherRelation];
/// What can be found at any time.
const ANY_TIME: [Evidence; 5] = [SymmetricAnyTime, InverseAnyTime, MirrorAnyTime, ReversedAnyTime, PairSeen];
const NEAR: [Evidence; 4] = [Near(1), Near(3), Near(7), Near(30)];

impl Evidence {
    /// What can be found in a dataset of a kind, in the order of reports.
    pub fn of(kind: SplitKind) -> Vec<Self> {
        match kind {
            SplitKind::Completion | SplitKind::Mixed => {
                [&SAME_TIME[..], &ANY_TIME, &NEAR, &[Previous, Earlier, Seen]].concat()
            }
            SplitKind::Forecasting => [&[Earlier, Previous][..], &NEAR, &[Seen], &ANY_TIME].concat(),
            SplitKind::Static | SplitKind::Evolving => SAME_TIME.to_vec(),
            SplitKind::Intervals => [&SAME_TIME[..], &ANY_TIME, &[Seen]].concat(),
        }
    }

    /// How grave it is. In a forecasting dataset all evidence is older than the question: history is no leak.
    pub const fn grade(self, kind: SplitKind) -> Grade {
        match self {
            _ if matches!(kind, SplitKind::Forecasting) => Grade::Note,
            Exact | Symmetric | Inverse | Parallel => Grade::Leak,
            InValid => Grade::Hint(0.0),
            Mirror | Reversed | OtherRelation | SymmetricAnyTime | InverseAnyTime => Grade::Hint(HINT),
            MirrorAnyTime | ReversedAnyTime | PairSeen | Near(_) | Previous | Earlier | Seen => Grade::Note,
        }
    }

    /// Its name in JSON, and what train holds, in words.
    pub fn words(self, kind: SplitKind, times: &Times<'_>) -> (String, String) {
        let distance = |units: u64| match times.axis() {
            Some(axis) => time_span(axis.calendar().unit, axis.granularity() * units as i64),
            None => String::new(),
        };
        let (at, any) = match kind {
            SplitKind::Completion | SplitKind::Mixed => (", t", " at any time"),
            SplitKind::Forecasting => (", t", " earlier"),
            SplitKind::Static | SplitKind::Evolving => ("", ""),
            SplitKind::Intervals => (", i", " in any interval"),
        };
        let forecasting = kind == SplitKind::Forecasting;
        let (id, holds) = match self {
            Exact => ("duplicate", format!("(s, p, o{at}), the fact itself")),
            InValid => ("duplicate-in-valid", format!("(s, p, o{at}), the fact itself, in valid")),
            Symmetric => ("symmetric", format!("(o, p, s{at}), p symmetric")),
            Inverse => ("inverse", format!("(o, q, s{at}), q inverse to p")),
            Parallel => ("parallel", format!("(s, q, o{at}), q parallel to p")),
            Mirror => ("mirror", format!("(o, p, s{at}), whatever p")),
            Reversed => ("reversed-pair", format!("(o, any relation, s{at})")),
            OtherRelation => ("other-relation", format!("(s, another relation, o{at})")),
            SymmetricAnyTime => ("symmetric-any-time", format!("(o, p, s){any}, p symmetric over time")),
            InverseAnyTime => ("inverse-any-time", format!("(o, q, s){any}, q inverse to p over time")),
            MirrorAnyTime => ("mirror-any-time", format!("(o, p, s){any}")),
            ReversedAnyTime => ("reversed-pair-any-time", format!("(o, any relation, s){any}")),
            PairSeen => ("pair-seen", format!("any relation between s and o{any}")),
            Near(units) => {
                let other = if forecasting { "earlier" } else { "at another time" };
                let holds = format!("(s, p, o) {other}, at most {} away", distance(units));
                return (format!("near-duplicate-{units}"), holds);
            }
            Previous if forecasting => ("triple-previous", "(s, p, o) one time stamp before".to_owned()),
            Previous => ("triple-previous", format!("(s, p, o) {} before", distance(1))),
            Earlier if forecasting => ("triple-earlier", "(s, p, o) earlier, in any split".to_owned()),
            Earlier => ("triple-earlier", "(s, p, o) earlier".to_owned()),
            Seen if forecasting => ("triple-seen", "(s, p, o) in train".to_owned()),
            Seen => ("triple-seen", format!("(s, p, o){any}")),
        };
        (id.to_owned(), holds)
    }
}
