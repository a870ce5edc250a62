//! Applying one rule: for every entity that the body reaches, the latest start of a fitting chain.
//!
//! Chains are never enumerated. From variable to variable, only the useful part is kept: for the first variable its times; for
//! the second the pairs (time of arrival, best start) that no other pair dominates. Of the last fact only its latest time
//! matters, because a later one admits every chain that an earlier one does.

use std::sync::{Arc, Mutex, PoisonError};

use quadcast_core::{DirectedRelation, EntityId, Rule, Step};
use rustc_hash::FxHashMap;

use super::settings::LONGEST;
use super::window::Window;

/// Most hits in a cache, 8 bytes each.
const MOST_HITS: usize = 1 << 26;

/// A rule as it is applied.
#[derive(Clone, Debug)]
pub(super) struct Applicable {
    /// Position in the list of all rules.
    pub number: u32,
    pub body: Vec<DirectedRelation>,
    /// For each variable the first one with the same entity.
    bindings: [usize; LONGEST + 1],
    /// `rule_support / body_support`.
    pub confidence: f64,
}

/// An entity that a rule reaches, and the latest step at which a fitting chain starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit {
    pub answer: EntityId,
    pub begins: Step,
}

/// Buffers that are kept from rule to rule.
pub(super) struct Scratch {
    /// One past the latest start, by entity; 0 for entities that were not reached.
    best: Vec<u32>,
    /// Entities that were reached.
    reached: Vec<EntityId>,
    /// Arrivals at the middle variable, by entity: (time of arrival, best start).
    arrivals: Vec<Vec<(Step, Step)>>,
    /// Entities with arrivals.
    middles: Vec<EntityId>,
}

impl Scratch {
    pub fn new(entities: usize) -> Self {
        Self { best: vec![0; entities], reached: Vec::new(), arrivals: Vec::new(), middles: Vec::new() }
    }

    /// Size of the entity id space that the buffers are made for.
    pub fn entities(&self) -> usize {
        self.best.len()
    }

    fn reach(&mut self, answer: EntityId, begins: Step) {
        let best = &mut self.best[answer.index()];
        if *best == 0 {
            self.reached.push(answer);
        }
        *best = (*best).max(begins.0 + 1);
    }

    /// Moves the reached entities to `hits`.
    fn take(&mut self, hits: &mut Vec<Hit>) {
        for answer in self.reached.drain(..) {
            let best = std::mem::take(&mut self.best[answer.index()]);
            hits.push(Hit { answer, begins: Step(best - 1) });
        }
    }
}

impl Applicable {
    /// The rule with its number.
    pub fn new(number: u32, rule: &Rule) -> Self {
        let mut bindings = [0, 1, 2, 3];
        for (slot, binding) in bindings.iter_mut().zip(rule.bindings()) {
            *slot = binding;
        }
        let confidence = f64::from(rule.rule_support) / f64::from(rule.body_support);
        Self { number, body: rule.body.clone(), bindings, confidence }
    }

    /// Whether `entity` may stand at `position`, given the entities before it.
    pub fn fits(&self, position: usize, entity: EntityId, before: &[EntityId]) -> bool {
        before.get(self.bindings[position]).is_none_or(|bound| *bound == entity)
    }

    /// Entities that the body reaches from `start`, in no particular order.
    pub fn hits(&self, window: &Window, start: EntityId, scratch: &mut Scratch, hits: &mut Vec<Hit>) {
        hits.clear();
        match *self.body.as_slice() {
            [only] => {
                let targets = window.targets(only, start).iter();
                let fitting = targets.filter(|target| self.fits(1, target.answer, &[start]));
                hits.extend(fitting.map(|target| Hit { answer: target.answer, begins: target.latest }));
            }
            [first, last] => self.two(window, start, first, last, scratch),
            [first, middle, last] => {
                if self.bindings[3] == 1 {
                    self.three_returning(window, start, [first, middle, last], scratch);
                } else {
                    self.three(window, start, [first, middle, last], scratch);
                }
            }
            _ => {}
        }
        scratch.take(hits);
    }

    fn two(
        &self,
        window: &Window,
        start: EntityId,
        first: DirectedRelation,
        last: DirectedRelation,
        scratch: &mut Scratch,
    ) {
        for (middle, begins) in window.timed(first, start) {
            let before = [start, middle.answer];
            if !self.fits(1, middle.answer, &before[..1]) {
                continue;
            }
            for end in window.targets(last, middle.answer) {
                if self.fits(2, end.answer, &before)
                    && let Some(begin) = latest_until(begins, end.latest)
                {
                    scratch.reach(end.answer, begin);
                }
            }
        }
    }

    /// Third variable free, or bound to the start or to the middle.
    fn three(
        &self,
        window: &Window,
        start: EntityId,
        [first, middle, last]: [DirectedRelation; 3],
        scratch: &mut Scratch,
    ) {
        if scratch.arrivals.is_empty() {
            scratch.arrivals.resize_with(scratch.best.len(), Vec::new);
        }
        for (one, begins) in window.timed(first, start) {
            let before = [start, one.answer];
            if !self.fits(1, one.answer, &before[..1]) {
                continue;
            }
            for (two, times) in window.timed(middle, one.answer) {
                if !self.fits(2, two.answer, &before) || two.latest < begins[0] {
                    continue;
                }
                let arrivals = &mut scratch.arrivals[two.answer.index()];
                if arrivals.is_empty() {
                    scratch.middles.push(two.answer);
                }
                improvements(begins, times, |arrival, begin| arrivals.push((arrival, begin)));
            }
        }
        let mut middles = std::mem::take(&mut scratch.middles);
        for two in middles.drain(..) {
            let mut arrivals = std::mem::take(&mut scratch.arrivals[two.index()]);
            keep_best(&mut arrivals);
            let (earliest, newest) = (arrivals[0].0, arrivals[arrivals.len() - 1]);
            for end in window.targets(last, two) {
                let fits = match self.bindings[3] {
                    0 => end.answer == start,
                    2 => end.answer == two,
                    _ => true,
                };
                if !fits || end.latest < earliest {
                    continue;
                }
                let begin = if end.latest >= newest.0 {
                    newest.1
                } else {
                    arrivals[arrivals.partition_point(|arrival| arrival.0 <= end.latest) - 1].1
                };
                scratch.reach(end.answer, begin);
            }
            arrivals.clear();
            scratch.arrivals[two.index()] = arrivals;
        }
        scratch.middles = middles;
    }

    /// The last variable is bound to the second one, so its entity must be kept along the chain.
    fn three_returning(
        &self,
        window: &Window,
        start: EntityId,
        [first, middle, last]: [DirectedRelation; 3],
        scratch: &mut Scratch,
    ) {
        for (one, begins) in window.timed(first, start) {
            let before = [start, one.answer];
            if !self.fits(1, one.answer, &before[..1]) {
                continue;
            }
            for (two, times) in window.timed(middle, one.answer) {
                if !self.fits(2, two.answer, &before) {
                    continue;
                }
                let Some(&end) = window.times(last, two.answer, one.answer).last() else { continue };
                let mut best = None;
                improvements(begins, times, |arrival, begin| {
                    if arrival <= end {
                        best = Some(begin);
                    }
                });
                if let Some(begin) = best {
                    scratch.reach(one.answer, begin);
                }
            }
        }
    }
}

/// The latest of some times in order that is not after `end`.
fn latest_until(times: &[Step], end: Step) -> Option<Step> {
    match times {
        [.., last] if *last <= end => Some(*last),
        _ => times[..times.partition_point(|time| *time <= end)].last().copied(),
    }
}

/// For starts and arrivals in order: each arrival that allows a later start than all arrivals before it.
fn improvements(begins: &[Step], arrivals: &[Step], mut report: impl FnMut(Step, Step)) {
    let mut used = 0;
    let mut from = 0;
    while used < begins.len() {
        // The next arrival that admits an unused start.
        from += arrivals[from..].partition_point(|arrival| *arrival < begins[used]);
        let Some(&arrival) = arrivals.get(from) else { return };
        used += begins[used..].partition_point(|begin| *begin <= arrival);
        report(arrival, begins[used - 1]);
    }
}

/// Sorts arrivals and drops those that are dominated by an earlier arrival with as late a start.
fn keep_best(arrivals: &mut Vec<(Step, Step)>) {
    if arrivals.len() < 2 {
        return;
    }
    arrivals.sort_unstable();
    let mut best: Option<Step> = None;
    let mut kept = 0;
    for i in 0..arrivals.len() {
        let (arrival, begin) = arrivals[i];
        if best.is_some_and(|best| begin <= best) {
            continue;
        }
        best = Some(begin);
        // Of arrivals at the same time only the last, which has the latest start.
        if kept > 0 && arrivals[kept - 1].0 == arrival {
            kept -= 1;
        }
        arrivals[kept] = (arrival, begin);
        kept += 1;
    }
    arrivals.truncate(kept);
}

/// The hits of the first rules of a relation, from one entity.
pub(super) type Trail = Vec<Arc<[Hit]>>;

/// Hits of rules, kept while the known facts stay the same: in multi-step, every step repeats the same questions, and only the
/// elapsed time differs.
#[derive(Default)]
pub(super) struct HitCache(Mutex<CachedTrails>);

#[derive(Default)]
struct CachedTrails {
    trails: FxHashMap<(DirectedRelation, EntityId), Trail>,
    hits: usize,
}

impl HitCache {
    /// The cached trail of a question.
    pub fn recall(&self, relation: DirectedRelation, known: EntityId) -> Trail {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.trails.get(&(relation, known)).cloned().unwrap_or_default()
    }

    /// Stores a trail if it is longer than the cached one and there is room.
    pub fn keep(&self, relation: DirectedRelation, known: EntityId, trail: Trail) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let old = entries.trails.get(&(relation, known)).map_or(0, Vec::len);
        let new: usize = trail.iter().skip(old).map(|hits| hits.len() + 1).sum();
        if trail.len() > old && entries.hits + new <= MOST_HITS {
            entries.hits += new;
            entries.trails.insert((relation, known), trail);
        }
    }
}
