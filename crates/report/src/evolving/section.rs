//! Runs on changing graphs in sections: side by side stands what may be compared.

use quadcast_eval::evolving::{EvolvingOutcome, Present};

use super::labels::labels;
use super::{AskedAbout, EvolvingRecord};

/// A run with results and what it is called.
pub(crate) struct Run<'a> {
    pub record: &'a EvolvingRecord,
    pub outcome: &'a EvolvingOutcome,
    pub label: String,
}

/// Runs that can be compared: same data, same protocol, same questions. There is at least one.
pub(crate) struct Section<'a> {
    pub runs: Vec<Run<'a>>,
}

/// The sections in the order of their first runs. Runs without results are passed over.
pub(crate) fn sections(records: &[EvolvingRecord]) -> Vec<Section<'_>> {
    let mut groups: Vec<Vec<&EvolvingRecord>> = Vec::new();
    for record in records.iter().filter(|record| record.outcome.is_some()) {
        match groups.iter_mut().find(|group| comparable(group[0], record)) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    groups.iter().map(|group| Section { runs: named(group) }).collect()
}

/// Whether the numbers of two runs may stand side by side. An update is judged at its own step only, so that its means are
/// others than those of a run on the same graph.
fn comparable(a: &EvolvingRecord, b: &EvolvingRecord) -> bool {
    a.dataset.fingerprint == b.dataset.fingerprint
        && a.protocol == b.protocol
        && a.asked == b.asked
        && a.update.is_some() == b.update.is_some()
}

fn named<'a>(records: &[&'a EvolvingRecord]) -> Vec<Run<'a>> {
    let named = records.iter().zip(labels(records));
    named
        .filter_map(|(&record, label)| Some(Run { record, outcome: record.outcome.as_ref()?, label }))
        .collect()
}

impl Section<'_> {
    /// The first record: what all runs share stands in it.
    pub fn first(&self) -> &EvolvingRecord {
        self.runs[0].record
    }

    /// What the section is about.
    pub fn title(&self) -> &str {
        &self.first().dataset.name
    }

    /// What was asked, among whom, and how ties count.
    pub fn protocol(&self) -> String {
        let first = self.first();
        let who = match first.protocol.candidates {
            Present::Now => "entities that are present at the step",
            Present::Seen => "entities that were present at the step or before",
            Present::All => "all entities",
        };
        let compat = if first.protocol.compat {
            ". Compat: as published, artefacts included: procedures other than static are ranked in a list with entity 0 in \
             every other slot, and parallel universes are asked for single triples with tail and relation swapped"
        } else {
            ""
        };
        let asked = first.asked.map_or("all that are held out or a sample, not recorded", AskedAbout::words);
        let ties = first.protocol.ties.word();
        format!("Test triples: {asked}. Candidates: {who}. Ties: {ties}{compat}.")
    }
}
