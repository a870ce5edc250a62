//! The list of candidates in which published results were ranked, slip included.
//!
//! The loop that filled the list went forward by two at a time. Slot 0 holds the answer. An odd slot `i` holds the candidate at
//! position `i - 1` of the ascending list, one further from the answer on if the answer stands at an even position; at an odd one
//! the loop never meets it. Even slots hold what they were made with, entity 0. So half of the candidates never compete, and
//! entity 0 competes in place of them. Whether a slot is left out as another true answer is asked of the candidate that should
//! be in it: slot `i` of a right list holds position `i - 1` before the answer and `i` behind it.
//!
//! Published ranks count what is strictly better: they are those of optimistic ties. Another slip put the ids of
//! relations into the beginning of the list; on `WikidataEvolve` the same ids stand there anyway, and it is not repeated.

use quadcast_core::{EntityId, ScoreError, ScoreRow};

use crate::candidates::CandidateList;
use crate::{Rank, Ranks, Truth};

/// Ranks in published lists. Holds the scores of one row at a time, in one form for all rows.
#[derive(Default)]
pub(crate) struct PublishedRanker {
    values: Vec<f64>,
    listed: Vec<bool>,
}

impl PublishedRanker {
    /// Ranks each gold answer of a row; answers are given by place.
    pub fn rank(
        &mut self,
        row: ScoreRow<'_>,
        golds: &[EntityId],
        truth: Truth<'_>,
        candidates: &CandidateList,
        mut out: impl FnMut(EntityId, Ranks),
    ) -> Result<(), ScoreError> {
        self.read(row, candidates)?;
        let first = candidates.asked.len() - candidates.ids().len();
        for &gold in golds {
            let column = first + gold.index();
            let reached = match row {
                ScoreRow::Dense(_) => true,
                ScoreRow::Sparse { background, .. } => {
                    self.listed[column] || background.reaches(EntityId(column as u32))
                }
            };
            let slots = Slots { scores: &self.values[first..], zero: self.values[0], answer: gold.index() };
            out(gold, slots.rank(truth, reached));
        }
        Ok(())
    }

    /// Reads a row; refuses what a ranker of right lists refuses.
    fn read(&mut self, row: ScoreRow<'_>, candidates: &CandidateList) -> Result<(), ScoreError> {
        let count = candidates.asked.len();
        row.check_length(count)?;
        self.values.clear();
        self.listed.clear();
        self.listed.resize(count, false);
        match row {
            ScoreRow::Dense(scores) => self.values.extend(scores.iter().map(|&score| f64::from(score))),
            ScoreRow::Sparse { ids, scores, background } => {
                self.values.extend((0..count as u32).map(|column| background.score(EntityId(column))));
                for (&id, &score) in ids.iter().zip(scores) {
                    let Some(column) = candidates.column(id) else { continue };
                    if std::mem::replace(&mut self.listed[column], true) {
                        return Err(ScoreError::repeated(id));
                    }
                    self.values[column] = score;
                }
            }
        }
        Ok(())
    }
}

/// The filled list.
struct Slots<'a> {
    /// Of the candidates, ascending.
    scores: &'a [f64],
    /// Of entity 0.
    zero: f64,
    /// Position of the answer.
    answer: usize,
}

impl Slots<'_> {
    /// The score of whoever is in a slot other than the first.
    fn held(&self, slot: usize) -> f64 {
        let score = if slot.is_multiple_of(2) {
            self.zero
        } else {
            let met = self.answer.is_multiple_of(2) && slot > self.answer;
            self.scores[slot - usize::from(!met)]
        };
        // As among right candidates: who has no number is last.
        if score.is_nan() { f64::NEG_INFINITY } else { score }
    }

    /// The slot that a candidate other than the answer should be in.
    fn meant_for(&self, position: usize) -> usize {
        position + usize::from(position < self.answer)
    }

    /// The ranks of the answer; true answers are given by place. Nobody ties before the answer, which is in the first slot.
    fn rank(&self, truth: Truth<'_>, reached: bool) -> Ranks {
        let own = self.scores[self.answer];
        let not_a_number = own.is_nan();
        let beats = |score: f64| not_a_number || score > own;
        let others = self.scores.len() - 1;
        let zeros = others as u32 / 2;
        let zero = self.held(2);
        let mut raw = Rank { greater: 0, tied: 1, tied_before: 0 };
        raw.greater += zeros * u32::from(beats(zero));
        raw.tied += zeros * u32::from(zero == own);
        for slot in (1..=others).step_by(2) {
            let score = self.held(slot);
            raw.greater += u32::from(beats(score));
            raw.tied += u32::from(score == own);
        }
        let without = |places: &[EntityId]| {
            let mut rank = raw;
            for place in places.iter().map(|place| place.index()).filter(|&place| place != self.answer) {
                let score = self.held(self.meant_for(place));
                rank.greater -= u32::from(beats(score));
                rank.tied -= u32::from(score == own);
            }
            rank
        };
        Ranks { time: without(truth.now), fixed: without(truth.ever), raw, reached, not_a_number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::ListKind;
    use proptest::prelude::*;
    use quadcast_core::{Constant, GraphSizes};

    /// The list filled and gone through slot by slot, in ids.
    struct Simulation<'a> {
        /// Candidates, ascending.
        present: &'a [u32],
        answer: u32,
        /// Score by id.
        scores: &'a [f64],
    }

    impl Simulation<'_> {
        /// Who is in each slot, by the loop that went forward by two.
        fn filled(&self) -> Vec<u32> {
            let mut slots = vec![0; self.present.len()];
            slots[0] = self.answer;
            let (mut slot, mut shift) = (1, 0);
            while slot < slots.len() {
                if self.present[slot - 1] == self.answer {
                    shift = 1;
                }
                slots[slot] = self.present[slot - 1 + shift];
                slot += 2;
            }
            slots
        }

        /// Who should be in each slot.
        fn right(&self) -> Vec<u32> {
            let others = self.present.iter().copied().filter(|&id| id != self.answer);
            std::iter::once(self.answer).chain(others).collect()
        }

        fn rank(&self, left_out: &[u32]) -> Rank {
            let own = self.scores[self.answer as usize];
            let mut rank = Rank { greater: 0, tied: 1, tied_before: 0 };
            for (held, meant) in self.filled().into_iter().zip(self.right()).skip(1) {
                if left_out.contains(&meant) {
                    continue;
                }
                let score = self.scores[held as usize];
                rank.greater += u32::from(score > own);
                rank.tied += u32::from(score == own);
            }
            rank
        }
    }

    #[test]
    fn on_paper() {
        let present = [0, 1, 2, 4, 5, 7, 8];
        let filled = |answer| Simulation { present: &present, answer, scores: &[] }.filled();
        // At an even position, 2: the entity behind the answer takes its place.
        assert_eq!(filled(2), [2, 0, 0, 4, 0, 7, 0]);
        // At an odd position, 3: nothing is shifted.
        assert_eq!(filled(4), [4, 0, 0, 2, 0, 5, 0]);
        // Scores rise with ids, the answer is 2. Better: 4 and 7, and never entity 0. The right list has 4, 5, 7 and 8.
        let scores: Vec<f64> = (0..9).map(f64::from).collect();
        let simulation = Simulation { present: &present, answer: 2, scores: &scores };
        assert_eq!(simulation.rank(&[]).greater, 2);
        // Slot 3 is meant for 4 and holds it. Slot 4 is meant for 5 and holds entity 0, which is no better.
        assert_eq!((simulation.rank(&[4]).greater, simulation.rank(&[5]).greater), (1, 2));
        // Scores fall with ids: entity 0 beats the answer in each of the three even slots, besides itself in slot 1.
        let scores: Vec<f64> = (0..9).map(|id| f64::from(-id)).collect();
        assert_eq!(Simulation { scores: &scores, ..simulation }.rank(&[]).greater, 4);
    }

    fn ids(list: &[u32]) -> Vec<EntityId> {
        list.iter().copied().map(EntityId).collect()
    }

    proptest! {
        #[test]
        fn ranks_are_those_of_the_list_gone_through_slot_by_slot(
            levels in prop::collection::vec(0_u8..4, 24),
            here in prop::collection::vec(any::<bool>(), 24),
            listed in prop::collection::vec(any::<bool>(), 24),
            truth in prop::collection::vec(0_u8..3, 24),
            answer in any::<prop::sample::Index>(),
        ) {
            let all = 0..24_u32;
            let present: Vec<u32> = all.clone().filter(|&id| here[id as usize] || id == 23).collect();
            let answer = present[answer.index(present.len())];
            // Entities that are not listed share the score 1 of the background.
            let score = |id: u32| if listed[id as usize] { f64::from(levels[id as usize]) } else { 1.0 };
            let scores: Vec<f64> = all.clone().map(score).collect();
            let true_from = |least: u8| -> Vec<u32> {
                present.iter().copied().filter(|&id| id == answer || truth[id as usize] >= least).collect()
            };
            let (now, ever) = (true_from(2), true_from(1));
            let simulation = Simulation { present: &present, answer, scores: &scores };
            let sizes = GraphSizes { entities: 24, relations: 1 };
            let candidates = CandidateList::new(ids(&present), ListKind::Published, sizes);
            let places = |list: &[u32]| -> Vec<EntityId> {
                list.iter().filter_map(|&id| candidates.place(EntityId(id))).collect()
            };
            let dense: Vec<f32> = candidates.asked.iter().map(|id| scores[id.index()] as f32).collect();
            let names: Vec<EntityId> = all.filter(|&id| listed[id as usize]).map(EntityId).collect();
            let own: Vec<f64> = names.iter().map(|id| scores[id.index()]).collect();
            let background = Constant { value: 1.0, entities: candidates.asked.len() };
            let rows = [
                ScoreRow::Dense(&dense),
                ScoreRow::Sparse { ids: &names, scores: &own, background: &background },
            ];
            let mut ranker = PublishedRanker::default();
            for row in rows {
                let (now_places, ever_places) = (places(&now), places(&ever));
                let truth = Truth { now: &now_places, ever: &ever_places };
                let mut found = None;
                ranker.rank(row, &places(&[answer]), truth, &candidates, |_, ranks| found = Some(ranks)).unwrap();
                let found = found.unwrap();
                prop_assert_eq!(found.raw, simulation.rank(&[]));
                prop_assert_eq!(found.time, simulation.rank(&now));
                prop_assert_eq!(found.fixed, simulation.rank(&ever));
                prop_assert!(found.reached);
            }
        }
    }

    #[test]
    fn malformed_rows_are_errors_and_no_number_is_last() {
        let sizes = GraphSizes { entities: 4, relations: 1 };
        let candidates = CandidateList::new(ids(&[1, 2, 3]), ListKind::Published, sizes);
        let mut ranker = PublishedRanker::default();
        let gold = ids(&[1]);
        let truth = ids(&[0, 1]);
        let truth = Truth { now: &truth, ever: &truth };
        let mut rank = |row: ScoreRow<'_>| {
            let mut found = None;
            ranker.rank(row, &gold, truth, &candidates, |_, ranks| found = Some(ranks)).map(|()| found)
        };
        let refused = |message: &str| Err(ScoreError(message.to_owned()));
        let short = "a dense row holds 1 scores, expected one per entity (4)";
        assert_eq!(rank(ScoreRow::Dense(&[1.0])), refused(short));
        let background = Constant::unreached(4);
        let twice = ids(&[2, 2]);
        let row = ScoreRow::Sparse { ids: &twice, scores: &[1.0, 1.0], background: &background };
        assert_eq!(rank(row), refused("a sparse row lists entity 2 twice"));
        let row = ScoreRow::Sparse { ids: &twice, scores: &[1.0], background: &background };
        assert_eq!(rank(row), refused("a sparse row lists 2 entities but 1 scores"));
        let other = ids(&[3]);
        let row = ScoreRow::Sparse { ids: &other, scores: &[1.0], background: &background };
        assert!(!rank(row).unwrap().unwrap().reached, "nothing is said of the answer");
        // The answer, entity 2, has no number: behind both others, or behind the one that is not left out.
        let found = rank(ScoreRow::Dense(&[0.0, 0.0, f32::NAN, 0.0])).unwrap().unwrap();
        assert!(found.not_a_number);
        assert_eq!((found.raw.greater, found.time.greater), (2, 1));
    }
}
