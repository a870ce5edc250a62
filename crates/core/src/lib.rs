//! Core shapes of Quadcast: facts, ids, the time axis, datasets, history views, queries, score rows, model
//! traits, the protocol and named random streams. No file access and no models live here; every other
//! crate depends on this one.
//!
//! The one idea behind the crate: *the evaluator owns the clock*. A model is handed a [`History`] that ends
//! before the query; correct answers and filters never reach it.

mod check;
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
mod rule;
mod run;
mod score;
mod time;
mod vocabulary;
mod word_enums;

pub use check::{Check, Verdict};
pub use dataset::{Dataset, Fingerprint, Split, Splits, StaticGraph, TypeConstraints};
pub use error::{LeakError, ModelError, ScoreError};
pub use evolving::{
    CategoryKind, CategoryTriples, EvolvingDataset, EvolvingStep, SplitTriples, TripleOperation,
};
pub use evolving_model::{EvolvingModel, GraphSizes, GraphUpdate, GraphValidation, GraphView};
pub use facts::{Facts, Snapshot};
pub use forecaster::{
    Capabilities, Contribution, Evidence, Explanation, Forecaster, LinkScore, Rehearsal, SavedModel,
    SimulatedFact, Tensors, Validation, ValidationReport, Weighing,
};
pub use history::{Edge, Event, History, HistoryIndex, HistoryKey};
pub use ids::{EntityId, Quad, RelationId, Step, Triple};
pub use intervals::{IntervalDataset, IntervalFact, PartialDate};
pub use patterns::{Detection, Mirrors, PatternCounts, Shares};
pub use protocol::{
    Candidates, Duplicates, Filter, IntervalUse, Leak, Procedure, Protocol, SelectionFilter, Setting, Task,
    TiePolicy, ValidationUse,
};
pub use published_patterns::{PublishedLists, published_lists};
pub use query::{DirectedRelation, Direction, Query};
pub use rule::{AgePoint, CurvePoint, FiredRule, ListedRule, Rule, RuleCurve, SmoothCurve};
pub use run::{Cancellation, Checkpoints, NoCheckpoints, Progress, Run, Silent, stream};
pub use score::{Background, Constant, ScoreRow, ScoreSink};
pub use time::{Calendar, TimeAxis, TimeUnit};
pub use vocabulary::{Names, Vocabulary};
