//! Making a stream operation by operation, with the checks that keep it well-formed.

use std::collections::hash_map::Entry;

use quadcast_core::{Split, Triple, Vocabulary};
use rustc_hash::FxHashMap;

use super::stream::{Dropped, FaultPolicy, NumberedOperation, OperationStream, StreamClock};

/// Why an operation cannot follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An insertion of a present triple.
    Present,
    /// A deletion of an absent triple.
    Absent,
    /// A time before the last one, which is given.
    Backwards(i64),
}

/// A stream in the making.
#[derive(Default)]
pub struct StreamBuilder {
    pub(crate) stream: OperationStream,
    policy: FaultPolicy,
    numbers: FxHashMap<Triple, u32>,
    present: Vec<bool>,
}

impl StreamBuilder {
    /// An empty stream.
    pub fn new(name: String, clock: StreamClock, policy: FaultPolicy) -> Self {
        let stream = OperationStream { name, clock, ..OperationStream::default() };
        Self { stream, policy, ..Self::default() }
    }

    /// Goes on where a stream ended. What follows has no times, so that only the order of operations is left.
    pub fn resume(mut stream: OperationStream, policy: FaultPolicy) -> Self {
        let numbers = stream.triples.iter().copied().zip(0..).collect();
        let mut present = vec![false; stream.triples.len()];
        for entry in &stream.entries {
            present[entry.triple()] = entry.insert();
        }
        stream.clock = StreamClock::Order;
        stream.moments = (0..stream.entries.len() as i64).collect();
        Self { stream, policy, numbers, present }
    }

    /// Number of operations taken so far.
    pub fn len(&self) -> usize {
        self.stream.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether nothing was offered so far, not even an operation that was left out.
    pub(crate) fn is_untouched(&self) -> bool {
        self.is_empty() && self.stream.dropped == Dropped::default()
    }

    /// Adds an operation. On the clock of an order the time is its place, and `moment` is not looked at.
    pub fn push(&mut self, triple: Triple, insert: bool, moment: i64) -> Result<(), Fault> {
        let moment = if self.stream.clock == StreamClock::Order { self.len() as i64 } else { moment };
        if let Some(&last) = self.stream.moments.last()
            && moment < last
        {
            return Err(Fault::Backwards(last));
        }
        if triple.subject == triple.object {
            self.stream.dropped.reflexive += 1;
            return Ok(());
        }
        let number = match self.numbers.entry(triple) {
            Entry::Occupied(known) if self.present[*known.get() as usize] == insert => {
                return self.fault(insert);
            }
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if !insert => return self.fault(insert),
            Entry::Vacant(place) => {
                self.stream.triples.push(triple);
                self.present.push(false);
                *place.insert(self.stream.triples.len() as u32 - 1)
            }
        };
        self.present[number as usize] = insert;
        self.stream.entries.push(NumberedOperation::new(number, insert));
        self.stream.moments.push(moment);
        Ok(())
    }

    fn fault(&mut self, insert: bool) -> Result<(), Fault> {
        if self.policy == FaultPolicy::Error {
            return Err(if insert { Fault::Present } else { Fault::Absent });
        }
        let dropped = &mut self.stream.dropped;
        *(if insert { &mut dropped.void_inserts } else { &mut dropped.void_deletes }) += 1;
        Ok(())
    }

    /// Whether a triple is in the graph now.
    pub fn is_present(&self, triple: &Triple) -> bool {
        self.numbers.get(triple).is_some_and(|&number| self.present[number as usize])
    }

    /// The source's step ends here.
    pub fn end_step(&mut self) {
        let end = self.len();
        self.stream.step_ends.get_or_insert_default().push(end);
    }

    /// The stream. `split` says which split a triple belongs to, where the source knows.
    pub fn finish(
        mut self,
        vocabulary: Vocabulary,
        split: Option<&dyn Fn(&Triple) -> Split>,
    ) -> OperationStream {
        self.stream.vocabulary = vocabulary;
        self.stream.splits = split.map(|split| self.stream.triples.iter().map(split).collect());
        self.stream
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Triple = Triple::new(0, 0, 1);
    const B: Triple = Triple::new(1, 0, 0);

    #[test]
    fn operations_alternate_and_begin_with_an_insertion() {
        let mut strict = StreamBuilder::new(String::new(), StreamClock::Number, FaultPolicy::Error);
        assert_eq!(strict.push(A, false, 3), Err(Fault::Absent));
        assert_eq!(strict.push(A, true, 3), Ok(()));
        assert_eq!(strict.push(A, true, 3), Err(Fault::Present));
        assert_eq!(strict.push(B, true, 2), Err(Fault::Backwards(3)));
        assert_eq!(strict.push(A, false, 3), Ok(()));
        assert_eq!(strict.push(A, true, 9), Ok(()));
        assert_eq!(strict.finish(Vocabulary::default(), None).moments, [3, 3, 9]);
    }

    #[test]
    fn what_is_dropped_is_counted() {
        let mut mild = StreamBuilder::new(String::new(), StreamClock::Order, FaultPolicy::Drop);
        for (triple, insert) in
            [(B, false), (A, true), (A, true), (Triple::new(2, 0, 2), true), (A, false), (A, false)]
        {
            assert_eq!(mild.push(triple, insert, 0), Ok(()));
        }
        let stream = mild.finish(Vocabulary::default(), None);
        assert_eq!(stream.dropped, Dropped { void_inserts: 1, void_deletes: 2, reflexive: 1 });
        assert_eq!((stream.len(), stream.triples(), stream.moments.as_slice()), (2, &[A][..], &[0, 1][..]));
    }
}
