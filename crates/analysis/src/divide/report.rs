//! What was done, as it stands in `division.json`. Nothing in it depends on the folder or on the hour, so that the same
//! seed gives the same bytes.

use quadcast_core::{Calendar, Detection, Fingerprint, Splits};
use serde::Serialize;

use super::leakage::DivisionLeakage;
use super::options::{DivisionMethod, HeldOut};
use quadcast_data::Format;

/// A division and what it was made from.
#[derive(Clone, Debug, Serialize)]
pub struct DivisionReport {
    /// Version of this document.
    pub schema: u32,
    /// Version of the program.
    pub version: &'static str,
    /// By which rule.
    pub method: DivisionMethod,
    /// Seed of the draws; nothing is drawn if time decides.
    pub seed: Option<u64>,
    /// Shares that were asked for.
    pub held_out: HeldOut,
    /// What was divided.
    pub source: DivisionSource,
    /// Layout of the files.
    pub layout: Format,
    /// What integer times stand for, where the files hold such times and it is known.
    pub calendar: Option<Calendar>,
    /// Different facts.
    pub facts: usize,
    /// Rows of the source that repeat a fact, in the same split or in another.
    pub repetitions: usize,
    /// Facts of each split.
    pub splits: Splits<usize>,
    /// First and last time of each split.
    pub periods: Option<Splits<[String; 2]>>,
    /// Which relations mirror each other.
    pub lists: Option<ListReport>,
    /// What was kept together and drawn, by kind.
    pub strata: Vec<StratumReport>,
    /// What train gave away about test in the source.
    pub before: DivisionLeakage,
    /// What it gives away now.
    pub after: DivisionLeakage,
}

/// The dataset that was divided.
#[derive(Clone, Debug, Serialize)]
pub struct DivisionSource {
    /// Name for people.
    pub name: String,
    /// The catalogue entry that it equals.
    pub variant: Option<&'static str>,
    /// Content hash.
    pub fingerprint: Fingerprint,
    /// Size of the entity id space.
    pub entities: usize,
    /// Size of the relation id space.
    pub relations: usize,
    /// Rows of each split.
    pub splits: Splits<usize>,
}

/// Relations that mirror each other, by name.
#[derive(Clone, Debug, Serialize)]
pub struct ListReport {
    /// Where they come from.
    pub origin: String,
    /// How they were found, if they were.
    pub detection: Option<Detection>,
    /// Relations that mirror themselves.
    pub symmetric: Vec<String>,
    /// Pairs that mirror each other.
    pub inverse: Vec<[String; 2]>,
}

/// Units of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StratumReport {
    /// `symmetric`, `inverse`, `single`, or `all` where every fact stands for itself.
    pub name: &'static str,
    /// Units.
    pub units: usize,
    /// Facts in them.
    pub facts: usize,
    /// Facts of the largest unit.
    pub largest: usize,
    /// Units of each split.
    pub splits: Splits<usize>,
}
