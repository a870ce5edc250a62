//! Counts and detects.

use quadcast_core::{Detection, Mirrors, Names, PatternCounts, RelationId, Shares};
use serde::Serialize;

use super::named::NamedMirrors;
use super::order::strongest_first;
use super::relation::{Partner, RelationPatterns, Walked, partners, walk};
use super::scope::Scope;
use crate::index::FactIndex;
use crate::info::time_span;
use quadcast_data::Loaded;

/// What to count, and when shares make a pattern.
#[derive(Clone, Copy, Debug, Default)]
pub struct PatternOptions {
    /// When shares make a pattern.
    pub detection: Detection,
    /// Count all splits, not only train.
    pub all: bool,
}

/// The patterns of a dataset. The names of the fields are the JSON names and are kept stable.
#[derive(Clone, Debug, Serialize)]
pub struct Patterns {
    /// Name of the dataset.
    pub dataset: String,
    /// `temporal`, `static`, `intervals` or `evolving`.
    pub kind: &'static str,
    /// Which facts were counted, in words.
    pub counted: String,
    /// Facts, each once, without those of an entity with itself.
    pub facts: u64,
    /// Facts of an entity with itself: they mirror themselves and are left out.
    pub self_loops: u64,
    /// When shares make a pattern.
    pub detection: Detection,
    /// One unit of a distance in time, in words; none without an order in time.
    pub lag_unit: Option<String>,
    /// Patterns at the same time: *static* in the literature.
    pub same_time: NamedMirrors,
    /// Patterns at any time: *dynamic* in the literature.
    pub any_time: NamedMirrors,
    /// Relations that have facts, the strongest patterns first.
    pub relations: Vec<RelationPatterns>,
    /// Relations of the vocabulary that have no fact here.
    pub without_facts: usize,
    #[serde(skip)]
    counts: PatternCounts,
}

impl Patterns {
    /// Shares of the facts (s, p, o) that come with (o, q, s).
    pub fn mirrored(&self, p: RelationId, q: RelationId) -> Shares {
        self.counts.mirrored(p, q)
    }

    /// Whether "at the same time" and "at any time" differ.
    pub fn has_time(&self) -> bool {
        matches!(self.kind, "temporal" | "intervals")
    }
}

/// Counts the patterns of a dataset.
pub fn patterns(loaded: &Loaded, options: &PatternOptions) -> Patterns {
    let scope = Scope::of(&loaded.content, options.all);
    let detection = options.detection;
    let (counts, index) = rayon::join(
        || PatternCounts::of(scope.facts.iter().copied(), scope.relations()),
        || FactIndex::of(scope.facts.iter().copied()),
    );
    let at_once = Mirrors::detect(&counts, &detection, true);
    let at_any_time = Mirrors::detect(&counts, &detection, false);
    let detected = [&at_once, &at_any_time];
    let inverse =
        partners(&counts.mirrored_pairs(), counts.relations(), |p, q| counts.mirrored(p, q), detected);
    let nothing = Mirrors::default();
    let parallel =
        partners(&counts.parallel_pairs(), counts.relations(), |p, q| counts.parallel(p, q), [&nothing; 2]);
    let walked = walk(&index, &counts, &inverse, scope.axis);
    let names = &scope.vocabulary.relations;
    let describe = Describe { counts: &counts, names, detection, lags: scope.axis.is_some() };
    let used = (0..counts.relations()).filter(|&p| counts.facts(RelationId(p as u32)) > 0);
    let mut relations: Vec<RelationPatterns> =
        used.map(|p| describe.relation(RelationId(p as u32), inverse[p], parallel[p], &walked[p])).collect();
    strongest_first(&mut relations);
    Patterns {
        dataset: loaded.content.name().to_owned(),
        kind: scope.kind,
        facts: relations.iter().map(|row| row.facts).sum(),
        self_loops: index.facts().filter(|fact| fact.subject == fact.object).count() as u64,
        detection,
        lag_unit: scope.axis.map(|axis| time_span(axis.calendar().unit, axis.granularity())),
        same_time: NamedMirrors::of(&counts, names, &at_once, |shares| shares.same_time),
        any_time: NamedMirrors::of(&counts, names, &at_any_time, |shares| shares.any_time),
        without_facts: counts.relations() - relations.len(),
        relations,
        counted: scope.words,
        counts,
    }
}

/// The relations that go with each relation at the same time, as strongly as the detection asks; in both directions if
/// it asks for that.
pub(crate) fn parallel_partners(counts: &PatternCounts, detection: &Detection) -> Vec<Vec<RelationId>> {
    let mut found = vec![Vec::new(); counts.relations()];
    let enough = |p, q| counts.parallel(p, q).same_time > detection.threshold;
    let supported = |relation| counts.facts(relation) >= detection.min_support;
    for (p, q) in counts.parallel_pairs() {
        if supported(p) && supported(q) && enough(p, q) && (!detection.mutual || enough(q, p)) {
            found[p.index()].push(q);
        }
    }
    found
}

/// Puts numbers and names together.
struct Describe<'a> {
    counts: &'a PatternCounts,
    names: &'a Names,
    detection: Detection,
    /// Whether distances in time mean something.
    lags: bool,
}

impl Describe<'_> {
    fn name(&self, relation: RelationId) -> String {
        self.names.name(relation.0).into_owned()
    }

    fn relation(
        &self,
        p: RelationId,
        inverse: Option<RelationId>,
        parallel: Option<RelationId>,
        walked: &Walked,
    ) -> RelationPatterns {
        let facts = self.counts.facts(p);
        let partner = |q: RelationId, shares: &dyn Fn(RelationId, RelationId) -> Shares, lags| Partner {
            id: q,
            relation: self.name(q),
            forwards: shares(p, q),
            backwards: shares(q, p),
            lags,
        };
        let lags = |lags| self.lags.then_some(lags);
        RelationPatterns {
            id: p,
            relation: self.name(p),
            facts,
            supported: facts >= self.detection.min_support,
            symmetric: self.counts.mirrored(p, p),
            symmetric_lags: lags(walked.symmetric),
            inverse: inverse.map(|q| partner(q, &|p, q| self.counts.mirrored(p, q), lags(walked.inverse))),
            parallel: parallel.map(|q| partner(q, &|p, q| self.counts.parallel(p, q), None)),
            repeated: walked.repeated.found() as f64 / facts.max(1) as f64,
            repeated_lags: lags(walked.repeated),
        }
    }
}
