//! Looks for all evidence in a dataset.

use quadcast_core::{
    Dataset, Detection, EntityId, IntervalDataset, Quad, RelationId, StaticGraph, Step, Verdict, Vocabulary,
};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::classes::{ClassCount, classes};
use super::evidence::{Evidence, Grade, SplitKind};
use super::evolving;
use super::outcome::{Leakage, LeakageCheck, LeakageOptions, UnseenInTest};
use super::search::{Search, Sources};
use super::tally::{Head, Naming, Tally, Totals};
use crate::index::{NumberedIntervals, at_once};
use crate::info::{Details, Info, Novelty, Share, Unseen, inside_train, time_span};
use crate::patterns::NamedMirrors;
use quadcast_data::{Content, Loaded};

/// From this share of test time stamps inside the time range of train on, the division was made at random.
const INTERPOLATION: f64 = 0.5;
/// How many time stamps are named as examples.
const EXAMPLES: usize = 5;

/// Looks for everything that train tells about the test split.
pub(in crate::audit) fn leakage(loaded: &Loaded, info: &Info, options: &LeakageOptions) -> Leakage {
    let mut found = match &loaded.content {
        Content::Temporal(data) => temporal(data, &options.detection),
        Content::Static(data) => graph(data, &options.detection),
        Content::Intervals(data) => intervals(data, &options.detection),
        Content::Evolving(data) => evolving::evolving(data, &options.detection),
    };
    match &info.details {
        Details::Temporal(part) => {
            let stamps = found.unseen.take().and_then(|unseen| unseen.time_stamps);
            found.unseen = Some(unseen(&part.entity_novelty, &part.relation_novelty, stamps));
            found.identical = Some(part.shared_quadruples.clone());
        }
        Details::Static(part) => {
            found.unseen = Some(unseen(&part.entity_novelty, &part.relation_novelty, None));
            found.identical = Some(part.shared_triples.clone());
        }
        Details::Intervals(part) => {
            found.unseen = Some(unseen(&part.entity_novelty, &part.relation_novelty, None));
        }
        Details::Evolving(_) => {}
    }
    found.judge(options.max_leakage);
    found
}

impl Leakage {
    /// Sets the limit and the gravest verdict.
    fn judge(&mut self, max_leakage: Option<f64>) {
        self.max_leakage = max_leakage;
        let worst = self.checks.iter().map(|check| check.verdict).max().unwrap_or(Verdict::Pass);
        let exceeded = max_leakage.is_some_and(|limit| self.leaked.share > limit);
        self.verdict = if exceeded { Verdict::Fail } else { worst };
    }
}

fn unseen(entities: &Novelty, relations: &Novelty, time_stamps: Option<Unseen>) -> UnseenInTest {
    UnseenInTest {
        entities: entities.unseen_in_train.clone(),
        relations: relations.unseen_in_train.clone(),
        time_stamps,
    }
}

fn temporal(data: &Dataset, detection: &Detection) -> Leakage {
    let inside = inside_train(data);
    let later = data
        .splits
        .train
        .last_step()
        .zip(data.splits.test.first_step())
        .is_none_or(|(last, first)| last < first);
    let kind = match later {
        true => SplitKind::Forecasting,
        false if inside >= INTERPOLATION => SplitKind::Completion,
        false => SplitKind::Mixed,
    };
    let inside_words =
        format!("{:.0} % of the test time stamps lie inside the time range of train", 100.0 * inside);
    let about = match kind {
        SplitKind::Forecasting => {
            "the test facts lie after train in time, so train cannot hold facts of the same \
                                   time; what is counted is how much is known from earlier facts of any split"
                .to_owned()
        }
        SplitKind::Mixed => format!("train and test overlap in time: {inside_words}"),
        _ => format!("the facts were divided at random: {inside_words}"),
    };
    let test: Vec<Quad> = data.splits.test.iter().collect();
    let label = |step: Step| Some(data.axis.label(step));
    let distance = |units: u64| time_span(data.axis.calendar().unit, data.axis.granularity() * units as i64);
    let part = Part {
        kind,
        test: &test,
        distance: &distance,
        naming: Naming { vocabulary: &data.vocabulary, time: &label },
    };
    let sources = Sources {
        train: data.splits.train.iter().collect(),
        valid: data.splits.valid.iter().collect(),
        test: &test,
        relations: data.relations(),
        axis: Some(&data.axis),
    };
    let mut found = part.look(sources, detection, about);
    found.test_time_stamps_inside_train = Some(inside);
    if kind != SplitKind::Forecasting {
        let stamps = Some(unseen_time_stamps(data));
        let none = Unseen::default();
        found.unseen = Some(UnseenInTest { entities: none.clone(), relations: none, time_stamps: stamps });
    }
    found
}

fn unseen_time_stamps(data: &Dataset) -> Unseen {
    let test = &data.splits.test;
    let new: Vec<Step> =
        test.occupied().filter(|&step| data.splits.train.snapshot(step).is_empty()).collect();
    Unseen {
        ids: new.len(),
        test_facts: new.iter().map(|&step| test.snapshot(step).len()).sum(),
        examples: new.iter().take(EXAMPLES).map(|&step| data.axis.label(step)).collect(),
    }
}

fn graph(data: &StaticGraph, detection: &Detection) -> Leakage {
    let test: Vec<Quad> = data.splits.test.iter().map(at_once).collect();
    let part = Part {
        kind: SplitKind::Static,
        test: &test,
        distance: &|_| String::new(),
        naming: Naming { vocabulary: &data.vocabulary, time: &|_| None },
    };
    let sources = Sources {
        train: data.splits.train.iter().map(at_once).collect(),
        valid: data.splits.valid.iter().map(at_once).collect(),
        test: &test,
        relations: data.vocabulary.relations.len(),
        axis: None,
    };
    part.look(sources, detection, "the facts carry no time".to_owned())
}

fn intervals(data: &IntervalDataset, detection: &Detection) -> Leakage {
    let numbered = NumberedIntervals::of(data);
    let label = |step: Step| Some(numbered.label(step));
    let test = &numbered.splits.test;
    let part = Part {
        kind: SplitKind::Intervals,
        test,
        distance: &|_| String::new(),
        naming: Naming { vocabulary: &data.vocabulary, time: &label },
    };
    let sources = Sources {
        train: numbered.splits.train.clone(),
        valid: numbered.splits.valid.clone(),
        test,
        relations: data.vocabulary.relations.len(),
        axis: None,
    };
    let about = "facts hold over intervals i; of the same time are facts with the same interval";
    part.look(sources, detection, about.to_owned())
}

/// Test facts and how to speak about them.
pub(super) struct Part<'a> {
    pub kind: SplitKind,
    pub test: &'a [Quad],
    /// A number of units of time in words.
    pub distance: &'a (dyn Fn(u64) -> String + Sync),
    pub naming: Naming<'a>,
}

impl Part<'_> {
    /// Looks for all evidence of the kind.
    pub fn look(&self, sources: Sources<'_>, detection: &Detection, about: String) -> Leakage {
        let seen: FxHashSet<EntityId> =
            sources.train.iter().flat_map(|fact| [fact.subject, fact.object]).collect();
        let search = Search::new(self.kind, sources, detection);
        let (checks, (leaked, classes)) = rayon::join(
            || self.checks(&search),
            || (self.leaked(&search), classes(&search, self.test, &seen)),
        );
        self.outcome(&search, checks, leaked, classes, detection, about)
    }

    fn checks(&self, search: &Search<'_>) -> Vec<LeakageCheck> {
        let totals = Totals::of(self.test);
        let check = |&evidence: &Evidence| {
            let head =
                Head { id: evidence.id(), step: None, holds: evidence.words(self.kind, self.distance) };
            let tally = Tally::of(self.test, |fact| search.witness(evidence, fact));
            tally.check(head, evidence.grade(self.kind), &totals, &self.naming)
        };
        Evidence::of(self.kind).par_iter().map(check).collect()
    }

    /// Test facts that any evidence of the gravest kind gives away.
    fn leaked(&self, search: &Search<'_>) -> usize {
        let kinds = Evidence::of(self.kind).iter();
        let leaks: Vec<Evidence> =
            kinds.copied().filter(|evidence| evidence.grade(self.kind) == Grade::Leak).collect();
        let leaked = |fact: &&Quad| leaks.iter().any(|&leak| search.witness(leak, **fact).is_some());
        self.test.iter().filter(leaked).count()
    }

    fn outcome(
        &self,
        search: &Search<'_>,
        checks: Vec<LeakageCheck>,
        leaked: usize,
        classes: Vec<ClassCount>,
        detection: &Detection,
        about: String,
    ) -> Leakage {
        let names = &self.naming.vocabulary.relations;
        Leakage {
            split_kind: self.kind,
            about,
            test_time_stamps_inside_train: None,
            test_facts: self.test.len(),
            leaked: Share::of(leaked, self.test.len()),
            max_leakage: None,
            verdict: Verdict::Pass,
            classes,
            checks,
            unseen: None,
            identical: None,
            detection: *detection,
            same_time: NamedMirrors::of(&search.counts, names, &search.at_once, |shares| shares.same_time),
            any_time: NamedMirrors::of(&search.counts, names, &search.any_time, |shares| shares.any_time),
            parallel: parallel(&search.parallel, self.naming.vocabulary),
            scores: Vec::new(),
        }
    }
}

/// Parallel relations by name, each pair once if it holds in both directions.
fn parallel(partners: &[Vec<RelationId>], vocabulary: &Vocabulary) -> Vec<[String; 2]> {
    let mut pairs = Vec::new();
    for (p, others) in partners.iter().enumerate() {
        for q in others {
            let mutual = partners[q.index()].iter().any(|back| back.index() == p);
            if p < q.index() || !mutual {
                pairs.push([p as u32, q.0].map(|id| vocabulary.relations.name(id).into_owned()));
            }
        }
    }
    pairs
}
