//! The known facts, indexed for rule bodies: the targets of an entity and a relation, and their times.

use std::ops::Range;

use quadcast_core::{DirectedRelation, Direction, EntityId, History, HistoryKey, Query, Step};
use rustc_hash::FxHashMap;

/// One side of a fact; the order is the order of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    relation: DirectedRelation,
    known: EntityId,
    answer: EntityId,
    step: Step,
}

/// An entity at the other end of a relation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// The entity.
    pub answer: EntityId,
    /// The last time.
    pub latest: Step,
    /// Start of all the times in [`Window::steps`].
    start: u32,
}

/// Facts of the last `width` time units before a ceiling, by (relation, known entity), then by answer in order.
#[derive(Default)]
pub(super) struct Window {
    key: Option<HistoryKey>,
    width: u32,
    entries: Vec<Entry>,
    groups: FxHashMap<u64, (u32, u32)>,
    /// Targets of all groups, and one past the last that holds the end of its times.
    targets: Vec<Target>,
    /// Distinct steps of each target in order.
    steps: Vec<Step>,
}

impl Window {
    /// Moves the window to the end of a history. Returns whether it shows the same facts as before.
    pub fn follow(&mut self, history: &History<'_>, width: u32) -> bool {
        if self.key == Some(history.key()) && self.width == width {
            return true;
        }
        let (axis, ceiling) = (history.axis(), history.ceiling());
        let from = match width {
            0 => Step(0),
            // Ordinals follow the steps, so the first step inside is found by bisection.
            width => {
                let oldest = axis.ordinal(ceiling) - i64::from(width);
                let (mut low, mut high) = (0, ceiling.0);
                while low < high {
                    let middle = u32::midpoint(low, high);
                    if axis.ordinal(Step(middle)) < oldest { low = middle + 1 } else { high = middle }
                }
                Step(low)
            }
        };
        let known = self.key.filter(|key| key.follows_in(history.key()) && self.width == width);
        let unseen = if let Some(key) = known {
            self.entries.retain(|entry| entry.step >= from);
            key.ceiling().max(from)
        } else {
            self.entries.clear();
            from
        };
        let relations = history.relations();
        for fact in history.snapshots_from(unseen).flatten() {
            for direction in Direction::BOTH {
                let (query, answer) = Query::hide(fact, direction);
                let (relation, known, step) = (query.directed(relations), query.known, fact.step);
                self.entries.push(Entry { relation, known, answer, step });
            }
        }
        // The old entries are sorted already, which makes the sort fast.
        self.entries.sort();
        (self.key, self.width) = (Some(history.key()), width);
        self.group();
        false
    }

    fn group(&mut self) {
        self.groups.clear();
        self.targets.clear();
        self.steps.clear();
        let mut open: Option<(u64, u32)> = None;
        let mut previous: Option<Entry> = None;
        for &entry in &self.entries {
            let key = group_key(entry.relation, entry.known);
            if open.map(|(key, _)| key) != Some(key) {
                let start = self.targets.len() as u32;
                if let Some((key, first)) = open.replace((key, start)) {
                    self.groups.insert(key, (first, start));
                }
                previous = None;
            }
            match self.targets.last_mut() {
                Some(target) if previous.is_some_and(|p| p.answer == entry.answer) => {
                    if target.latest == entry.step {
                        continue;
                    }
                    target.latest = entry.step;
                }
                _ => {
                    let start = self.steps.len() as u32;
                    self.targets.push(Target { answer: entry.answer, latest: entry.step, start });
                }
            }
            self.steps.push(entry.step);
            previous = Some(entry);
        }
        if let Some((key, first)) = open {
            self.groups.insert(key, (first, self.targets.len() as u32));
        }
        let end = self.steps.len() as u32;
        self.targets.push(Target { answer: EntityId(0), latest: Step(0), start: end });
    }

    /// The range of the targets of a relation from an entity.
    fn range(&self, relation: DirectedRelation, known: EntityId) -> Range<usize> {
        let group = self.groups.get(&group_key(relation, known));
        group.map_or(0..0, |&(start, end)| start as usize..end as usize)
    }

    /// The times of the target of this number.
    fn times_of(&self, i: usize) -> &[Step] {
        &self.steps[self.targets[i].start as usize..self.targets[i + 1].start as usize]
    }

    /// The targets of a relation from an entity, in order of ids.
    pub fn targets(&self, relation: DirectedRelation, known: EntityId) -> &[Target] {
        &self.targets[self.range(relation, known)]
    }

    /// Targets with their times, in order of ids.
    pub fn timed(
        &self,
        relation: DirectedRelation,
        known: EntityId,
    ) -> impl Iterator<Item = (&Target, &[Step])> + '_ {
        self.range(relation, known).map(|i| (&self.targets[i], self.times_of(i)))
    }

    /// All times at which `answer` was a target of the relation from an entity.
    pub fn times(&self, relation: DirectedRelation, known: EntityId, answer: EntityId) -> &[Step] {
        let range = self.range(relation, known);
        let found = self.targets[range.clone()].binary_search_by_key(&answer, |target| target.answer);
        found.map_or(&[], |i| self.times_of(range.start + i))
    }
}

const fn group_key(relation: DirectedRelation, known: EntityId) -> u64 {
    (relation.0 as u64) << 32 | known.0 as u64
}
