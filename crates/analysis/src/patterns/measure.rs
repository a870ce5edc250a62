//! Counts and detects, and orders relations for people.

use quadcast_core::{Detection, Mirrors, PatternCounts, RelationId, Shares};
use quadcast_data::{Content, Loaded};
use serde::Serialize;

use super::relation::{NamedMirrors, Partner, RelationPatterns, distances, partners};
use crate::index::{FactIndex, SplitFacts};
use crate::info::{kind, time_span};

/// From this share on, in both directions, a pattern is worth a look.
const NOTICEABLE: f64 = 0.1;

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

    /// Relations that are noticeably mirrored by themselves or, mutually, by another, the strongest first and partners
    /// side by side.
    pub fn noticeable(&self) -> Vec<RelationId> {
        let worth = |row: &&RelationPatterns| row.supported && row.strength().any_time >= NOTICEABLE;
        let rows: Vec<&RelationPatterns> = self.relations.iter().filter(worth).collect();
        let mut order: Vec<RelationId> = Vec::with_capacity(rows.len());
        for row in &rows {
            // Beside it, the partner that mirrors it better than it mirrors itself.
            let least = NOTICEABLE.max(row.symmetric.any_time);
            let partner = row.inverse.as_ref().filter(|partner| partner.mutual().any_time >= least);
            let partner = partner.filter(|partner| rows.iter().any(|other| other.id == partner.id));
            for id in [Some(row.id), partner.map(|partner| partner.id)].into_iter().flatten() {
                if !order.contains(&id) {
                    order.push(id);
                }
            }
        }
        order
    }
}

/// Counts the patterns of a dataset.
pub fn patterns(loaded: &Loaded, options: &PatternOptions) -> Patterns {
    let (data, detection) = (SplitFacts::of(&loaded.content), options.detection);
    let mut facts = data.splits.train.clone();
    if options.all {
        facts.extend(data.splits.valid.iter().chain(&data.splits.test));
    }
    let (counts, index) = rayon::join(
        || PatternCounts::of(facts.iter().copied(), data.relations(&facts)),
        || FactIndex::of(facts.iter().copied()),
    );
    let at_once = Mirrors::detect(&counts, &detection, true);
    let at_any_time = Mirrors::detect(&counts, &detection, false);
    let mirrored = |p, q| counts.mirrored(p, q);
    let parallel = |p, q| counts.parallel(p, q);
    let nothing = Mirrors::default();
    let inverses = partners(&counts.mirrored_pairs(), counts.relations(), mirrored, [&at_once, &at_any_time]);
    let parallels = partners(&counts.parallel_pairs(), counts.relations(), parallel, [&nothing; 2]);
    let distances = distances(&index, &counts, &inverses, &data.times);
    let names = &data.vocabulary.relations;
    let partner = |p, q: RelationId, shares: &dyn Fn(RelationId, RelationId) -> Shares, lags| Partner {
        id: q,
        relation: names.name(q.0).into_owned(),
        forwards: shares(p, q),
        backwards: shares(q, p),
        lags,
    };
    let axis = data.times.axis();
    let timed = |lags| axis.map(|_| lags);
    let describe = |place: usize| {
        let (p, found) = (RelationId(place as u32), distances[place]);
        let facts = counts.facts(p);
        RelationPatterns {
            id: p,
            relation: names.name(p.0).into_owned(),
            facts,
            supported: facts >= detection.min_support,
            symmetric: mirrored(p, p),
            symmetric_lags: timed(found.symmetric),
            inverse: inverses[place].map(|q| partner(p, q, &mirrored, timed(found.inverse))),
            parallel: parallels[place].map(|q| partner(p, q, &parallel, None)),
            repeated: found.repeated.found() as f64 / facts.max(1) as f64,
            repeated_lags: timed(found.repeated),
        }
    };
    let used = (0..counts.relations()).filter(|&place| counts.facts(RelationId(place as u32)) > 0);
    let mut relations: Vec<RelationPatterns> = used.map(describe).collect();
    strongest_first(&mut relations);
    Patterns {
        dataset: loaded.content.name().to_owned(),
        kind: kind(&loaded.content),
        counted: counted(&loaded.content, options.all),
        facts: relations.iter().map(|row| row.facts).sum(),
        self_loops: index.facts().filter(|fact| fact.subject == fact.object).count() as u64,
        detection,
        lag_unit: axis.map(|axis| time_span(axis.calendar().unit, axis.granularity())),
        same_time: NamedMirrors::of(&counts, names, &at_once, |shares| shares.same_time),
        any_time: NamedMirrors::of(&counts, names, &at_any_time, |shares| shares.any_time),
        without_facts: counts.relations() - relations.len(),
        relations,
        counts,
    }
}

/// The counted facts in words.
fn counted(content: &Content, all: bool) -> String {
    let Content::Evolving(data) = content else {
        return if all { "all splits" } else { "train" }.to_owned();
    };
    let label = data.steps.last().map_or("none", |step| step.label.as_str());
    format!("{} of the last step, {label}", if all { "the graph" } else { "train" })
}

/// Orders relations for people: those with enough facts first, then by strength, then by size.
fn strongest_first(relations: &mut [RelationPatterns]) {
    relations.sort_by(|a, b| {
        let (strong, stronger) = (a.strength(), b.strength());
        b.supported
            .cmp(&a.supported)
            .then(stronger.same_time.total_cmp(&strong.same_time))
            .then(stronger.any_time.total_cmp(&strong.any_time))
            .then(b.repeated.total_cmp(&a.repeated))
            .then(b.facts.cmp(&a.facts))
            .then(a.id.cmp(&b.id))
    });
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
