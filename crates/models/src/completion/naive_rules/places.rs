//! The ranked list of answers to one question, with the rule of each.

use quadcast_core::EntityId;

/// One answer of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    pub answer: EntityId,
    /// The rule that gave it first.
    pub rule: u8,
    /// Facts that support it under that rule.
    pub facts: u32,
    /// Place in the list from 1; tied answers share their first place.
    pub place: u32,
}

/// Makes lists; buffers are reused between questions.
pub(super) struct Places {
    pub list: Vec<Placed>,
    /// By entity: the number of the last question that placed it.
    placed: Vec<u32>,
    question: u32,
    counts: Vec<u32>,
    met: Vec<EntityId>,
}

impl Places {
    pub fn new(entities: usize) -> Self {
        Self {
            list: Vec::new(),
            placed: vec![0; entities],
            question: 0,
            counts: vec![0; entities],
            met: Vec::new(),
        }
    }

    /// Starts the list of the next question.
    pub fn clear(&mut self) {
        self.list.clear();
        self.question += 1;
    }

    /// Appends answers that are not in the list yet, the most frequent first; `order` breaks ties, and without it they stay
    /// ties.
    pub fn append(&mut self, rule: u8, answers: impl Iterator<Item = EntityId>, order: Option<&[u32]>) {
        self.met.clear();
        for answer in answers {
            let count = &mut self.counts[answer.index()];
            if *count == 0 {
                self.met.push(answer);
            }
            *count += 1;
        }
        let mut counted: Vec<(EntityId, u32)> = self
            .met
            .iter()
            .map(|&answer| (answer, std::mem::take(&mut self.counts[answer.index()])))
            .collect();
        sort(&mut counted, order);
        self.append_sorted(rule, &counted, order.is_some());
    }

    /// As [`Places::append`], for answers with their counts that are in order already.
    pub fn append_sorted(&mut self, rule: u8, answers: &[(EntityId, u32)], apart: bool) {
        let first = self.list.len();
        for &(answer, facts) in answers {
            let placed = &mut self.placed[answer.index()];
            if *placed == self.question {
                continue;
            }
            *placed = self.question;
            let tied = self.list[first..].last().filter(|last| !apart && last.facts == facts);
            let place = tied.map_or(self.list.len() as u32 + 1, |last| last.place);
            self.list.push(Placed { answer, rule, facts, place });
        }
    }

    /// Appends the entities that are not in the list, in a given order.
    pub fn append_rest(&mut self, order: impl Iterator<Item = EntityId>) {
        for answer in order {
            let placed = &mut self.placed[answer.index()];
            if *placed != self.question {
                *placed = self.question;
                let place = self.list.len() as u32 + 1;
                self.list.push(Placed { answer, rule: 0, facts: 0, place });
            }
        }
    }
}

/// Sorts answers by their counts, the largest first, and equal ones by a given order or by id.
pub(super) fn sort(counted: &mut [(EntityId, u32)], order: Option<&[u32]>) {
    let rank = |answer: EntityId| order.map_or(answer.0, |order| order[answer.index()]);
    counted.sort_unstable_by_key(|&(answer, count)| (u32::MAX - count, rank(answer)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_on_paper() {
        let ids = |ids: &[u32]| ids.iter().copied().map(EntityId).collect::<Vec<_>>();
        let shown = |places: &Places| -> Vec<(u32, u8, u32)> {
            places.list.iter().map(|placed| (placed.answer.0, placed.rule, placed.place)).collect()
        };
        let mut places = Places::new(9);
        places.clear();
        places.append(1, ids(&[4, 2]).into_iter(), None);
        // 5 three times, 2 and 7 twice, 8 once; 2 has its place already.
        places.append(3, ids(&[5, 7, 2, 5, 8, 7, 5, 2]).into_iter(), None);
        assert_eq!(shown(&places), [(2, 1, 1), (4, 1, 1), (5, 3, 3), (7, 3, 4), (8, 3, 5)]);

        // Equal counts in the order of names: the larger id is first here.
        let order = [8, 7, 6, 5, 4, 3, 2, 1, 0];
        places.clear();
        places.append(1, ids(&[4, 2]).into_iter(), Some(&order));
        places.append_sorted(4, &[(EntityId(2), 5), (EntityId(1), 1), (EntityId(0), 1)], false);
        assert_eq!(shown(&places), [(4, 1, 1), (2, 1, 2), (1, 4, 3), (0, 4, 3)]);
        places.append_rest((0..5).map(EntityId));
        assert_eq!(shown(&places)[4..], [(3, 0, 5)]);
    }
}
