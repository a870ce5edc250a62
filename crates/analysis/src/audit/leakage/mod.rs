//! Leakage: what train tells about a test fact that a model should have had to work out.
//!
//! Each kind of evidence is a question about one test fact (s, p, o, t). [`Search`](search::Search) answers it with the
//! fact that gives the answer away; a tally counts, by relation and with examples. Findings are remarks and warnings: a
//! published benchmark is what it is. They fail only where the caller sets a limit.

mod evidence;
mod measure;
mod outcome;
mod search;
mod tally;

pub(super) use measure::leakage;

pub use evidence::SplitKind;
pub use outcome::{
    ClassCount, Leakage, LeakageCheck, LeakageExample, LeakageOptions, LeakingRelation, NamedFact,
    ReferenceScore, UnseenInTest,
};
