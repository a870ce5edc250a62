//! What a caller may add to a report that the records do not hold.

use quadcast_core::{Check, Fingerprint, Setting};
use quadcast_eval::{Interval, Metrics};

/// A row to measure runs against that is not a run: the best score that is possible, or a published one.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The dataset it holds for.
    pub fingerprint: Fingerprint,
    /// The setting it holds for.
    pub setting: Setting,
    /// Its name in tables.
    pub name: String,
    /// Its results under the time-aware filter, as fractions.
    pub metrics: Metrics,
    /// 95 % interval of the mean reciprocal rank.
    pub interval: Option<Interval>,
}

/// What a report shows beside the runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Heading; by default made from the models and datasets.
    pub title: Option<String>,
    /// Rows that are not runs.
    pub references: Vec<Reference>,
    /// Checks of the data, made elsewhere.
    pub audit: Vec<Check>,
    /// Remarks for the reader, such as runs that were left out.
    pub notes: Vec<String>,
}
