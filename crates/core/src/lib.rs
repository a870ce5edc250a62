//! Core shapes of Quadcast: facts, ids, the time axis, datasets, history views, queries, score rows, model
//! traits, the protocol and named random streams. No file access and no models live here; every other
//! crate depends on this one.
//!
//! The one idea behind the crate: *the evaluator owns the clock*. A model is handed a [`History`] that ends
//! before the query; gold answers and filters never reach it.

mod check;
mod completer;
mod dataset;
mod error;
mod evolving;
mod evolving_model;
mod facts;
mod forecaster;
mod history;
mod ids;
mod intervals;
mod patterns;
mod protocol;
mod published_patterns;
mod query;
mod random;
mod rule;
mod run;
mod score;
mod task;
mod time;
mod vocabulary;

pub use check::{Check, Verdict};
pub use completer::{Completer, Completing};
pub use dataset::{Dataset, Fingerprint, Split, Splits, StaticGraph, TypeConstraints};
pub use error::{LeakError, ModelError, ScoreError};
pub use evolving::{
    CategoryKind, CategoryTriples, EvolvingDataset, EvolvingStep, SplitTriples, TripleOperation,
};
pub use evolving_model::{EvolvingModel, GraphSizes, GraphUpdate, GraphValidation, GraphView, LinkScore};
pub use facts::{Facts, Snapshot};
pub use forecaster::{
    Capabilities, Contribution, Evidence, Explanation, Forecaster, Rehearsal, SavedModel, SelectionScore,
    Tensors, Validation, ValidationReport, Weighing,
};
pub use history::{Edge, Event, History, HistoryIndex, HistoryKey};
pub use ids::{EntityId, Quad, RelationId, Step, Triple};
pub use intervals::{IntervalDataset, IntervalFact, PartialDate};
pub use patterns::{Companions, Detection, Mirrors, PatternCounts, Shares};
pub use protocol::{
    Candidates, Duplicates, Filter, IntervalUse, Procedure, Protocol, SelectionFilter, Setting, TiePolicy,
    ValidationUse,
};
pub use published_patterns::{PublishedLists, published_lists};
pub use query::{DirectedRelation, Direction, Query};
pub use random::stream;
pub use rule::{FiredRule, Rule};
pub use run::{Cancellation, Checkpoints, NoCheckpoints, Progress, Run, Silent};
pub use score::{Background, Constant, ScoreRow, ScoreSink};
pub use task::Task;
pub use time::{Calendar, TimeAxis, TimeUnit};
pub use vocabulary::{Names, Vocabulary};
