//! What to compile and how.

use serde::Serialize;

use crate::HeldOut;
use quadcast_data::FaultPolicy;

/// A time at which an interval begins, and how it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Border {
    /// The time, on the clock of the stream.
    pub moment: i64,
    /// The time as people wrote it, for messages.
    #[serde(skip)]
    pub text: String,
}

/// How the stream is cut into intervals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalRule {
    /// So many intervals with equal numbers of operations.
    Operations(usize),
    /// So many intervals of equal length in time.
    Time(usize),
    /// A new interval begins at each of these times.
    Borders(Vec<Border>),
    /// Intervals of so many operations; the last one may be shorter.
    Size(usize),
    /// The steps of the source.
    Steps,
}

/// Which operation stands for an odd number of them in one interval. They have the same sign; only the time differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeptOperation {
    /// The first one.
    #[default]
    First,
    /// The last one, as the published code did.
    Last,
}

/// How operations of the same time are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationOrder {
    /// By the numbers of head, tail and relation.
    #[default]
    Numeric,
    /// By their texts, as the published code did.
    Lexical,
}

/// How rare entities and relations are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrequencyRule {
    /// Entities first, then relations in what is left.
    #[default]
    Sequential,
    /// Both at once, counted before anything is removed.
    Joint,
    /// Entities and relations in turn until nothing is rare any more.
    Fixpoint,
    /// Nothing is removed.
    Off,
}

/// The frequency filter: whatever occurs in a snapshot must occur often enough in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FrequencyFilter {
    /// In which order.
    pub rule: FrequencyRule,
    /// Triples that an entity needs in every snapshot that has it.
    pub min_entity: u32,
    /// Triples that a relation needs in every snapshot that has it.
    pub min_relation: u32,
}

impl FrequencyFilter {
    /// No filter; the thresholds are those of the published benchmark.
    pub const OFF: Self = Self { rule: FrequencyRule::Off, min_entity: 15, min_relation: 70 };
}

impl Default for FrequencyFilter {
    /// That of the published benchmark.
    fn default() -> Self {
        Self { rule: FrequencyRule::Sequential, ..Self::OFF }
    }
}

/// How triples are divided. A triple stays in its split for good, also when it is deleted and comes back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitRule {
    /// Drawn when it appears first, with these shares held out.
    Drawn(HeldOut),
    /// By a hash of its names, so that it has the same split in every stream and under every other option. The shares are
    /// kept in the mean only.
    Hashed(HeldOut),
    /// As the source says.
    Given,
}

/// How entities and relations are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdRule {
    /// In order of first appearance in the updates, head before tail.
    #[default]
    Appearance,
    /// As the source numbers them, also those that do not occur.
    Source,
}

/// The layouts that a compiled benchmark can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BenchmarkLayout {
    /// `WikidataEvolve`: everything.
    #[default]
    WikidataEvolve,
    /// DKGE: a whole graph per snapshot, ids of its own.
    Snapshots,
    /// LKGE: new facts per snapshot; deletions are lost.
    Lkge,
}

impl BenchmarkLayout {
    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::WikidataEvolve => "wikidata-evolve",
            Self::Snapshots => "snapshots",
            Self::Lkge => "lkge",
        }
    }
}

/// Everything that decides what comes out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CompileOptions {
    /// How the stream is cut.
    pub intervals: IntervalRule,
    /// Which operation stands for an odd number of them.
    pub keep: KeptOperation,
    /// How operations of the same time are ordered.
    pub order: OperationOrder,
    /// What is too rare.
    pub filter: FrequencyFilter,
    /// How triples are divided.
    pub split: SplitRule,
    /// Whether held-out triples with an element that training lacks are moved to training when they are drawn.
    pub cover_train: bool,
    /// How entities and relations are numbered.
    pub ids: IdRule,
    /// Evaluation triples that are ranked per step and split; all, if there is no number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<usize>,
    /// Seed of every draw.
    pub seed: u64,
    /// What happened to operations that contradict the graph, when the stream was read.
    pub policy: FaultPolicy,
    /// Whether examples and the order of updates are those of the published code.
    pub compat: bool,
}

impl Default for CompileOptions {
    /// The published benchmark: four intervals, 90/5/5, samples of 6000.
    fn default() -> Self {
        Self {
            intervals: IntervalRule::Operations(4),
            keep: KeptOperation::First,
            order: OperationOrder::Numeric,
            filter: FrequencyFilter::default(),
            split: SplitRule::Drawn(HeldOut::TWENTIETHS),
            cover_train: false,
            ids: IdRule::Appearance,
            sample: Some(6000),
            seed: 1,
            policy: FaultPolicy::Error,
            compat: false,
        }
    }
}

impl CompileOptions {
    /// Steps, splits and ids of the source, and no filter: nothing is left to decide.
    pub fn as_given() -> Self {
        Self {
            intervals: IntervalRule::Steps,
            filter: FrequencyFilter::OFF,
            split: SplitRule::Given,
            ids: IdRule::Source,
            ..Self::default()
        }
    }
}
