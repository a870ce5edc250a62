//! The kinds of evidence, what they are called and how grave they are.

use serde::Serialize;

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

const TIMED: [Evidence; 20] = [
    Exact,
    InValid,
    Symmetric,
    Inverse,
    Parallel,
    Mirror,
    Reversed,
    OtherRelation,
    SymmetricAnyTime,
    InverseAnyTime,
    MirrorAnyTime,
    ReversedAnyTime,
    PairSeen,
    Near(1),
    Near(3),
    Near(7),
    Near(30),
    Previous,
    Earlier,
    Seen,
];
const LATER: [Evidence; 12] = [
    Earlier,
    Previous,
    Near(1),
    Near(3),
    Near(7),
    Near(30),
    Seen,
    SymmetricAnyTime,
    InverseAnyTime,
    MirrorAnyTime,
    ReversedAnyTime,
    PairSeen,
];
const TIMELESS: [Evidence; 8] =
    [Exact, InValid, Symmetric, Inverse, Parallel, Mirror, Reversed, OtherRelation];
const OVER_INTERVALS: [Evidence; 14] = [
    Exact,
    InValid,
    Symmetric,
    Inverse,
    Parallel,
    Mirror,
    Reversed,
    OtherRelation,
    SymmetricAnyTime,
    InverseAnyTime,
    MirrorAnyTime,
    ReversedAnyTime,
    PairSeen,
    Seen,
];

impl Evidence {
    /// What can be found in a dataset of a kind.
    pub const fn of(kind: SplitKind) -> &'static [Self] {
        match kind {
            SplitKind::Completion | SplitKind::Mixed => &TIMED,
            SplitKind::Forecasting => &LATER,
            SplitKind::Static | SplitKind::Evolving => &TIMELESS,
            SplitKind::Intervals => &OVER_INTERVALS,
        }
    }

    /// Its name in JSON.
    pub fn id(self) -> String {
        let id = match self {
            Exact => "duplicate",
            InValid => "duplicate-in-valid",
            Symmetric => "symmetric",
            Inverse => "inverse",
            Parallel => "parallel",
            Mirror => "mirror",
            Reversed => "reversed-pair",
            OtherRelation => "other-relation",
            SymmetricAnyTime => "symmetric-any-time",
            InverseAnyTime => "inverse-any-time",
            MirrorAnyTime => "mirror-any-time",
            ReversedAnyTime => "reversed-pair-any-time",
            PairSeen => "pair-seen",
            Near(units) => return format!("near-duplicate-{units}"),
            Previous => "triple-previous",
            Earlier => "triple-earlier",
            Seen => "triple-seen",
        };
        id.to_owned()
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

    /// What train holds, in words. `distance` names a number of units of time.
    pub fn words(self, kind: SplitKind, distance: &dyn Fn(u64) -> String) -> String {
        let (at, any) = match kind {
            SplitKind::Completion | SplitKind::Mixed => (", t", " at any time"),
            SplitKind::Forecasting => (", t", " earlier"),
            SplitKind::Static | SplitKind::Evolving => ("", ""),
            SplitKind::Intervals => (", i", " in any interval"),
        };
        match self {
            Exact => format!("(s, p, o{at}), the fact itself"),
            InValid => format!("(s, p, o{at}), the fact itself, in valid"),
            Symmetric => format!("(o, p, s{at}), p symmetric"),
            Inverse => format!("(o, q, s{at}), q inverse to p"),
            Parallel => format!("(s, q, o{at}), q parallel to p"),
            Mirror => format!("(o, p, s{at}), whatever p"),
            Reversed => format!("(o, any relation, s{at})"),
            OtherRelation => format!("(s, another relation, o{at})"),
            SymmetricAnyTime => format!("(o, p, s){any}, p symmetric over time"),
            InverseAnyTime => format!("(o, q, s){any}, q inverse to p over time"),
            MirrorAnyTime => format!("(o, p, s){any}"),
            ReversedAnyTime => format!("(o, any relation, s){any}"),
            PairSeen => format!("any relation between s and o{any}"),
            Near(units) => {
                let other = if kind == SplitKind::Forecasting { "earlier" } else { "at another time" };
                format!("(s, p, o) {other}, at most {} away", distance(units))
            }
            Previous if kind == SplitKind::Forecasting => "(s, p, o) one time stamp before".to_owned(),
            Previous => format!("(s, p, o) {} before", distance(1)),
            Earlier if kind == SplitKind::Forecasting => "(s, p, o) earlier, in any split".to_owned(),
            Earlier => "(s, p, o) earlier".to_owned(),
            Seen if kind == SplitKind::Forecasting => "(s, p, o) in train".to_owned(),
            Seen => format!("(s, p, o){any}"),
        }
    }
}
