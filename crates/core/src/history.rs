//! History views: every fact before a ceiling, and nothing else.
//!
//! The evaluator builds a [`HistoryIndex`] from the splits that a phase may use and hands out [`History`] views of
//! it. All reads of a view pass [`History::admit`], the only place where the ceiling is checked. The index notes the
//! latest step of which a fact was read, which is the evidence that a setting was kept.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rayon::slice::ParallelSliceMut;
use rustc_hash::FxHashMap;

use crate::{
    DirectedRelation, Direction, EntityId, Facts, LeakError, Names, Quad, Query, RelationId, Snapshot, Step,
    TimeAxis, Vocabulary,
};

/// One past answer to a question: `answer` stood on the other side at `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Event {
    /// When.
    pub step: Step,
    /// Who.
    pub answer: EntityId,
}

/// A fact as one of its entities sees it: at `step` it stood in `relation` to `other`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// When.
    pub step: Step,
    /// How, read from the entity.
    pub relation: DirectedRelation,
    /// Who.
    pub other: EntityId,
}

/// Edges of both directions by entity, each entity's in order of (step, relation, other).
#[derive(Debug)]
struct EdgeLists {
    starts: Vec<usize>,
    edges: Vec<Edge>,
}

impl EdgeLists {
    fn new(facts: &Facts, entities: usize, relations: usize) -> Self {
        let sides = |fact: Quad| {
            Direction::BOTH.map(|direction| {
                let (query, other) = Query::hide(fact, direction);
                (query.known, Edge { step: fact.step, relation: query.directed(relations), other })
            })
        };
        let mut starts = vec![0; entities + 1];
        for (entity, _) in facts.iter().flat_map(sides) {
            starts[entity.index() + 1] += 1;
        }
        for entity in 0..entities {
            starts[entity + 1] += starts[entity];
        }
        let unset = Edge { step: Step(0), relation: DirectedRelation(0), other: EntityId(0) };
        let mut edges = vec![unset; 2 * facts.len()];
        let mut next = starts.clone();
        for (entity, edge) in facts.iter().flat_map(sides) {
            edges[next[entity.index()]] = edge;
            next[entity.index()] += 1;
        }
        for entity in 0..entities {
            edges[starts[entity]..starts[entity + 1]].sort_unstable();
        }
        Self { starts, edges }
    }

    #[inline]
    fn of(&self, entity: EntityId) -> &[Edge] {
        match self.starts.get(entity.index()..entity.index() + 2) {
            Some(ends) => &self.edges[ends[0]..ends[1]],
            None => &[],
        }
    }
}

/// Names the facts that a view shows: equal keys, equal facts. What a model derives from a view it may keep for views
/// of the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HistoryKey {
    index: u64,
    ceiling: Step,
}

impl HistoryKey {
    /// The first step that is out of reach.
    pub fn ceiling(self) -> Step {
        self.ceiling
    }

    /// Whether the view of `later` shows all facts of this one, and perhaps newer ones.
    pub fn follows_in(self, later: Self) -> bool {
        self.index == later.index && self.ceiling <= later.ceiling
    }
}

/// How many indexes this process has built.
static BUILT: AtomicU64 = AtomicU64::new(0);

/// Facts with indexes, built once. Models only ever see it through a [`History`].
#[derive(Debug)]
pub struct HistoryIndex {
    /// Distinguishes the indexes of one process.
    number: u64,
    axis: TimeAxis,
    entities: usize,
    relations: usize,
    facts: Facts,
    /// Start of each (directed relation, known) group in `events`, plus the end of the last.
    group_starts: Vec<usize>,
    groups: FxHashMap<u64, u32>,
    /// Events of both directions, by group, each group in order of (step, answer).
    events: Vec<Event>,
    /// Steps at which each relation occurs, in order.
    relation_steps: Vec<Vec<Step>>,
    /// Names, where they are known.
    names: Option<Vocabulary>,
    /// Built when a model first asks for it: few do, and it is as large as the facts.
    edges: OnceLock<EdgeLists>,
    /// One past the latest step that was read.
    latest_read: AtomicU32,
}

impl HistoryIndex {
    /// Indexes the facts of the given parts of a dataset.
    pub fn new(axis: &TimeAxis, entities: usize, relations: usize, parts: &[&Facts]) -> Self {
        let facts = Facts::merged(parts, axis.len());

        let mut entries: Vec<(u64, Event)> = Vec::with_capacity(2 * facts.len());
        let mut relation_steps = vec![Vec::new(); relations];
        for fact in facts.iter() {
            for direction in Direction::BOTH {
                let (query, answer) = Query::hide(fact, direction);
                entries.push((
                    group_key(query.known, query.directed(relations)),
                    Event { step: fact.step, answer },
                ));
            }
            let steps: &mut Vec<Step> = &mut relation_steps[fact.relation.index()];
            if steps.last() != Some(&fact.step) {
                steps.push(fact.step);
            }
        }
        entries.par_sort_unstable();

        let mut groups = FxHashMap::default();
        let mut group_starts = Vec::new();
        let mut previous = None;
        for (i, &(key, _)) in entries.iter().enumerate() {
            if previous != Some(key) {
                groups.insert(key, group_starts.len() as u32);
                group_starts.push(i);
                previous = Some(key);
            }
        }
        group_starts.push(entries.len());
        let events = entries.into_iter().map(|(_, event)| event).collect();

        Self {
            number: BUILT.fetch_add(1, Ordering::Relaxed),
            axis: axis.clone(),
            entities,
            relations,
            facts,
            group_starts,
            groups,
            events,
            relation_steps,
            names: None,
            edges: OnceLock::new(),
            latest_read: AtomicU32::new(0),
        }
    }

    /// The same index, which also knows what entities and relations are called.
    #[must_use]
    pub fn with_names(mut self, vocabulary: &Vocabulary) -> Self {
        self.names = Some(vocabulary.clone());
        self
    }

    /// A view of every fact.
    pub fn whole(&self) -> History<'_> {
        self.before(Step(self.axis.len() as u32))
    }

    /// A view of every fact before `ceiling`.
    pub fn before(&self, ceiling: Step) -> History<'_> {
        History { index: self, ceiling }
    }

    /// Size of the entity id space.
    pub fn entities(&self) -> usize {
        self.entities
    }

    /// The facts, unrestricted. For the evaluator, which owns the index.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The latest step of which any view of this index has given out a fact.
    pub fn latest_read(&self) -> Option<Step> {
        self.latest_read.load(Ordering::Relaxed).checked_sub(1).map(Step)
    }

    /// All events of one question, in order of (step, answer), unrestricted. For the evaluator.
    #[inline]
    pub fn events(&self, known: EntityId, relation: DirectedRelation) -> &[Event] {
        match self.groups.get(&group_key(known, relation)) {
            Some(&group) => {
                let group = group as usize;
                &self.events[self.group_starts[group]..self.group_starts[group + 1]]
            }
            None => &[],
        }
    }

    #[inline]
    fn note_read(&self, step: Step) {
        // A plain load first keeps the cache line shared between threads in the common case.
        if self.latest_read.load(Ordering::Relaxed) <= step.0 {
            self.latest_read.fetch_max(step.0 + 1, Ordering::Relaxed);
        }
    }
}

const fn group_key(known: EntityId, relation: DirectedRelation) -> u64 {
    (relation.0 as u64) << 32 | known.0 as u64
}

/// Every fact before a ceiling.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    index: &'a HistoryIndex,
    ceiling: Step,
}

impl<'a> History<'a> {
    /// Names the facts that this view shows.
    pub fn key(&self) -> HistoryKey {
        HistoryKey { index: self.index.number, ceiling: self.ceiling }
    }

    /// The first step that is out of reach.
    pub fn ceiling(&self) -> Step {
        self.ceiling
    }

    /// Size of the entity id space.
    pub fn entities(&self) -> usize {
        self.index.entities
    }

    /// Number of original relations.
    pub fn relations(&self) -> usize {
        self.index.relations
    }

    /// The time axis (times are not facts: it also knows the steps to come).
    pub fn axis(&self) -> &'a TimeAxis {
        &self.index.axis
    }

    /// What entities are called, where it is known (names are not facts: all are known from the start).
    pub fn entity_names(&self) -> Option<&'a Names> {
        self.index.names.as_ref().map(|names| &names.entities)
    }

    /// What relations are called, where it is known.
    pub fn relation_names(&self) -> Option<&'a Names> {
        self.index.names.as_ref().map(|names| &names.relations)
    }

    /// The facts of one step, or a leak error if it is not in the past.
    #[inline]
    pub fn snapshot(&self, step: Step) -> Result<Snapshot<'a>, LeakError> {
        self.admit(step)?;
        let snapshot = self.index.facts.snapshot(step);
        if !snapshot.is_empty() {
            self.index.note_read(step);
        }
        Ok(snapshot)
    }

    /// The facts of the steps `from..ceiling`, in order.
    #[inline]
    pub fn snapshots_from(&self, from: Step) -> impl Iterator<Item = Snapshot<'a>> + use<'a> {
        let (view, end) = (*self, self.ceiling.0.min(self.index.facts.steps() as u32));
        (from.0..end).filter_map(move |t| view.snapshot(Step(t)).ok())
    }

    /// A view that ends earlier, or a leak error if it would end later.
    #[inline]
    pub fn until(&self, ceiling: Step) -> Result<Self, LeakError> {
        if let Some(last) = ceiling.0.checked_sub(1) {
            self.admit(Step(last))?;
        }
        Ok(Self { index: self.index, ceiling })
    }

    /// Past answers to the question (known, relation, ?), in order of (step, answer).
    #[inline]
    pub fn answers(&self, known: EntityId, relation: DirectedRelation) -> &'a [Event] {
        let events = self.index.events(known, relation);
        self.past(events, |event| event.step)
    }

    /// Past facts that an entity takes part in, in order of (step, relation, other).
    #[inline]
    pub fn edges(&self, entity: EntityId) -> &'a [Edge] {
        let index = self.index;
        let lists = index.edges.get_or_init(|| EdgeLists::new(&index.facts, index.entities, index.relations));
        self.past(lists.of(entity), |edge| edge.step)
    }

    /// Past steps at which the relation occurs, in order.
    #[inline]
    pub fn relation_steps(&self, relation: RelationId) -> &'a [Step] {
        match self.index.relation_steps.get(relation.index()) {
            Some(steps) => self.past(steps, |&step| step),
            None => &[],
        }
    }

    /// The part of a chronological list that lies before the ceiling.
    #[inline]
    fn past<T>(&self, items: &'a [T], step: impl Fn(&T) -> Step) -> &'a [T] {
        let items = &items[..items.partition_point(|item| step(item) < self.ceiling)];
        if let Some(last) = items.last() {
            debug_assert!(self.admit(step(last)).is_ok(), "the list is in time order");
            self.index.note_read(step(last));
        }
        items
    }

    /// The one place where the ceiling is checked.
    #[inline]
    fn admit(&self, step: Step) -> Result<(), LeakError> {
        if step >= self.ceiling {
            return Err(LeakError { asked: step, ceiling: self.ceiling });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Calendar;

    fn index(quads: Vec<Quad>) -> HistoryIndex {
        let axis = TimeAxis::new((0..6).collect(), Calendar::UNKNOWN);
        let facts = Facts::new(quads, axis.len());
        HistoryIndex::new(&axis, 10, 2, &[&facts])
    }

    #[test]
    fn a_read_at_or_above_the_ceiling_is_a_typed_error() {
        let index = index(vec![Quad::new(0, 0, 1, 2), Quad::new(0, 0, 2, 3)]);
        let history = index.before(Step(3));
        assert_eq!(history.snapshot(Step(2)).map(|s| s.len()), Ok(1));
        let leak = LeakError { asked: Step(3), ceiling: Step(3) };
        assert_eq!(history.snapshot(Step(3)).err(), Some(leak));
        assert_eq!(history.until(Step(4)).err(), Some(leak));
        assert_eq!(history.until(Step(0)).map(|h| h.ceiling()), Ok(Step(0)));
        assert_eq!(index.latest_read(), Some(Step(2)));
    }

    #[test]
    fn an_empty_step_counts_as_nothing_read() {
        let index = index(vec![Quad::new(0, 0, 1, 2)]);
        assert_eq!(index.before(Step(5)).snapshots_from(Step(0)).map(|s| s.len()).sum::<usize>(), 1);
        assert_eq!(index.latest_read(), Some(Step(2)));
    }

    #[test]
    fn groups_hold_both_directions_and_end_before_the_ceiling() {
        let index = index(vec![
            Quad::new(0, 1, 5, 4),
            Quad::new(0, 1, 6, 1),
            Quad::new(0, 1, 5, 1),
            Quad::new(0, 0, 7, 0),
        ]);
        let object = DirectedRelation::new(RelationId(1), Direction::Object, 2);
        let subject = DirectedRelation::new(RelationId(1), Direction::Subject, 2);
        let answers = |ceiling, known, relation| -> Vec<(u32, u32)> {
            let history = index.before(Step(ceiling));
            history.answers(EntityId(known), relation).iter().map(|e| (e.step.0, e.answer.0)).collect()
        };
        assert_eq!(answers(6, 0, object), [(1, 5), (1, 6), (4, 5)]);
        assert_eq!(answers(4, 0, object), [(1, 5), (1, 6)]);
        assert_eq!(answers(6, 5, subject), [(1, 0), (4, 0)]);
        assert!(answers(6, 9, object).is_empty());
        assert_eq!(index.before(Step(4)).relation_steps(RelationId(1)), [Step(1)]);
        let edges = |ceiling, entity| -> Vec<(u32, u32, u32)> {
            let edges = index.before(Step(ceiling)).edges(EntityId(entity));
            edges.iter().map(|e| (e.step.0, e.relation.0, e.other.0)).collect()
        };
        assert_eq!(edges(6, 0), [(0, 0, 7), (1, 1, 5), (1, 1, 6), (4, 1, 5)]);
        assert_eq!(edges(4, 5), [(1, 3, 0)]);
        assert!(edges(6, 99).is_empty());
    }
}
