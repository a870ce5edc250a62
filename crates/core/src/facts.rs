//! Facts as columns, sorted by step.

use std::ops::Range;

use crate::{EntityId, Quad, RelationId, Step};

/// Temporal facts in columns, sorted by (step, subject, relation, object). Duplicates are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    subjects: Vec<EntityId>,
    relations: Vec<RelationId>,
    objects: Vec<EntityId>,
    /// `offsets[t]..offsets[t + 1]` are the rows of step `t`.
    offsets: Vec<usize>,
}

impl Facts {
    /// Sorts the quads into columns. `steps` is the length of the time axis.
    ///
    /// # Panics
    /// If a quad lies beyond `steps`; readers take both from the same axis.
    pub fn new(mut quads: Vec<Quad>, steps: usize) -> Self {
        use rayon::slice::ParallelSliceMut;
        quads.par_sort_unstable();
        Self::of_sorted(&quads, steps)
    }

    fn of_sorted(quads: &[Quad], steps: usize) -> Self {
        assert!(quads.last().is_none_or(|q| q.step.index() < steps), "a quad lies beyond the time axis");
        let mut offsets = vec![0; steps + 1];
        for quad in quads {
            offsets[quad.step.index() + 1] += 1;
        }
        for t in 0..steps {
            offsets[t + 1] += offsets[t];
        }
        Self {
            subjects: quads.iter().map(|q| q.subject).collect(),
            relations: quads.iter().map(|q| q.relation).collect(),
            objects: quads.iter().map(|q| q.object).collect(),
            offsets,
        }
    }

    /// The facts of several parts together. Each part is sorted, which the sort makes use of.
    pub fn merged(parts: &[&Self], steps: usize) -> Self {
        match parts {
            [part] if part.steps() == steps => (*part).clone(),
            parts => {
                let mut quads: Vec<Quad> = parts.iter().flat_map(|facts| facts.iter()).collect();
                quads.sort();
                Self::of_sorted(&quads, steps)
            }
        }
    }

    /// Number of facts.
    pub fn len(&self) -> usize {
        self.subjects.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.subjects.is_empty()
    }

    /// Length of the time axis (also steps without facts).
    pub fn steps(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The facts of one step.
    #[inline]
    pub fn snapshot(&self, step: Step) -> Snapshot<'_> {
        let rows = match self.offsets.get(step.index()..step.index() + 2) {
            Some(ends) => ends[0]..ends[1],
            None => 0..0,
        };
        Snapshot { step, facts: self, rows }
    }

    /// All facts in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Quad> + '_ {
        (0..self.steps() as u32).flat_map(|t| self.snapshot(Step(t)).into_iter())
    }

    /// The steps that hold at least one fact, in order.
    #[inline]
    pub fn occupied(&self) -> impl DoubleEndedIterator<Item = Step> + '_ {
        (0..self.steps()).filter(|&t| self.offsets[t] < self.offsets[t + 1]).map(|t| Step(t as u32))
    }

    /// First step that holds a fact.
    pub fn first_step(&self) -> Option<Step> {
        self.occupied().next()
    }

    /// Last step that holds a fact.
    pub fn last_step(&self) -> Option<Step> {
        self.occupied().next_back()
    }
}

/// The facts of one step.
#[derive(Clone, Debug)]
pub struct Snapshot<'a> {
    /// The step.
    pub step: Step,
    facts: &'a Facts,
    rows: Range<usize>,
}

impl<'a> Snapshot<'a> {
    /// Number of facts.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the step holds no fact.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The facts, sorted by (subject, relation, object).
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Quad> + Clone + 'a {
        let (step, facts) = (self.step, self.facts);
        self.rows.clone().map(move |i| Quad {
            step,
            subject: facts.subjects[i],
            relation: facts.relations[i],
            object: facts.objects[i],
        })
    }
}

impl<'a> IntoIterator for Snapshot<'a> {
    type Item = Quad;
    type IntoIter = Box<dyn Iterator<Item = Quad> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_by_step_with_gaps() {
        let facts = Facts::new(vec![Quad::new(2, 0, 1, 3), Quad::new(0, 0, 1, 0), Quad::new(0, 0, 1, 3)], 5);
        assert_eq!(facts.snapshot(Step(3)).iter().map(|q| q.subject.0).collect::<Vec<_>>(), [0, 2]);
        assert!(facts.snapshot(Step(1)).is_empty());
        assert!(facts.snapshot(Step(99)).is_empty());
        assert_eq!(facts.first_step(), Some(Step(0)));
        assert_eq!(facts.last_step(), Some(Step(3)));
        assert_eq!(facts.iter().count(), 3);
    }
}
