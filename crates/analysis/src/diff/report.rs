//! The answer: what is common, what is not, where common facts moved, and how things were aligned.

use std::path::PathBuf;

use quadcast_core::{Fingerprint, Splits};
use serde::Serialize;

/// How two datasets, A and B, differ.
#[derive(Clone, Debug, Serialize)]
pub struct DiffReport {
    /// The first dataset.
    pub a: DiffSide,
    /// The second dataset.
    pub b: DiffSide,
    /// How entities were aligned.
    pub entities: NameMatch,
    /// How relations were aligned.
    pub relations: NameMatch,
    /// How times were aligned; `None` without time.
    pub time: Option<TimeMatch>,
    /// Facts in both.
    pub common: usize,
    /// Where common facts stand: by the split of A, then by the split of B.
    pub moved: Splits<Splits<usize>>,
    /// Facts of A that B does not have, by the split of A.
    pub only_a: Splits<usize>,
    /// Facts of B that A does not have, by the split of B.
    pub only_b: Splits<usize>,
    /// Some facts that only one of them has.
    pub examples: DiffExamples,
    /// Whether both have the same facts.
    pub same_facts: bool,
    /// Whether they have the same facts in the same splits.
    pub same_splits: bool,
    /// The answer in one sentence.
    pub verdict: String,
}

/// One of two datasets.
#[derive(Clone, Debug, Serialize)]
pub struct DiffSide {
    /// The folder.
    pub path: PathBuf,
    /// Name for people.
    pub name: String,
    /// The catalogue entry that it equals.
    pub variant: Option<&'static str>,
    /// Content hash, which depends on ids and splits.
    pub fingerprint: Fingerprint,
    /// Different facts.
    pub facts: usize,
    /// Rows that repeat a fact, in the same split or in another.
    pub repetitions: usize,
    /// Different facts by split; a fact in several counts in the first.
    pub splits: Splits<usize>,
}

/// How the ids of one kind were aligned.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NameMatch {
    /// By name; by id where one of the datasets has no names.
    pub by_name: bool,
    /// Names that are spelt alike, or equal ids.
    pub exact: usize,
    /// Names that are alike but for spelling.
    pub respelt: usize,
    /// What was different in them.
    pub spelling: Spelling,
    /// Names that facts of A use and that B does not have.
    pub only_a: Unmatched,
    /// Names that facts of B use and that A does not have.
    pub only_b: Unmatched,
}

/// In how many names a difference of spelling was overlooked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spelling {
    /// A blank in one, an underscore in the other.
    pub blanks: usize,
    /// A no-break space (U+00A0) in one of them or both.
    pub no_break_spaces: usize,
    /// Quotes as in CSV.
    pub quotes: usize,
}

/// Names without a counterpart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unmatched {
    /// How many.
    pub count: usize,
    /// The first of them.
    pub examples: Vec<String>,
}

/// How times were aligned.
#[derive(Clone, Debug, Serialize)]
pub struct TimeMatch {
    /// `calendar`, `number`, `offset` or `interval`.
    pub by: &'static str,
    /// The same in a sentence.
    pub note: String,
    /// Times of A.
    pub a: usize,
    /// Times of B.
    pub b: usize,
    /// Times in both.
    pub common: usize,
}

/// Some facts that only one dataset has, in words.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DiffExamples {
    /// Of A.
    pub only_a: Vec<String>,
    /// Of B.
    pub only_b: Vec<String>,
}
