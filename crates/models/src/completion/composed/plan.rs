//! Which questions form a training step, and their candidates.
//!
//! Questions are grouped into blocks. The questions of a block share their candidates; where candidates change with time, they
//! also share the time, so that candidates are computed once per block. A step consists of some blocks.

use quadcast_core::{DirectedRelation, Direction, History, Run, Step};
use rand::Rng;
use rand::seq::SliceRandom;

use super::scorers::Side;
use super::settings::{Config, SamplerName};

/// A training question with its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub side: Side,
    pub known: u32,
    pub relation: u32,
    pub time: u32,
    pub answer: u32,
}

/// All questions of an epoch and how they are grouped.
pub(crate) struct EpochPlan {
    questions: Vec<Question>,
    /// Times from which each question draws one in every epoch, if it does: those of question i are
    /// `times.1[times.0[i]..times.0[i + 1]]`.
    times: Option<(Vec<usize>, Vec<u32>)>,
    /// Ranges of questions that can share a block.
    families: Vec<std::ops::Range<usize>>,
    /// Largest block.
    group: usize,
    blocks_per_batch: usize,
    /// Steps of an epoch.
    pub batches: usize,
    /// Blocks of the current epoch.
    blocks: Vec<Vec<Question>>,
}

impl EpochPlan {
    /// The questions that the known facts answer. `changes`: whether candidates change with time.
    pub fn new(known: &History<'_>, config: &Config, changes: bool) -> Self {
        let mut questions = Vec::new();
        for snapshot in known.snapshots_from(Step(0)) {
            for fact in snapshot.iter() {
                questions.extend(questions_of(known.relations(), config, fact));
            }
        }
        let times = config.draw_times.then(|| merge_times(&mut questions));
        // A stable sort: within a family, questions keep the order of facts.
        questions.sort_by_key(|question| (question.side, if changes { question.time } else { 0 }));
        let mut families: Vec<std::ops::Range<usize>> = Vec::new();
        for (i, question) in questions.iter().enumerate() {
            let same = |first: usize| {
                let other: &Question = &questions[first];
                other.side == question.side && (!changes || other.time == question.time)
            };
            match families.last_mut() {
                Some(family) if same(family.start) => family.end = i + 1,
                _ => families.push(i..i + 1),
            }
        }
        let group = match config.sampler {
            SamplerName::All if !changes => config.batch,
            SamplerName::All | SamplerName::Shared => config.group,
            SamplerName::Independent => 1,
        };
        let blocks: usize = families.iter().map(|family| family.len().div_ceil(group)).sum();
        let mean = questions.len() as f64 / blocks.max(1) as f64;
        let blocks_per_batch = ((config.batch as f64 / mean.max(1.0)).round() as usize).max(1);
        let batches = blocks.div_ceil(blocks_per_batch);
        Self { questions, times, families, group, blocks_per_batch, batches, blocks: Vec::new() }
    }

    /// Draws the blocks of an epoch.
    pub fn shuffle(&mut self, run: &Run, epoch: u32) {
        let mut stream = run.stream("order of questions", u64::from(epoch));
        self.blocks.clear();
        for family in &self.families {
            let mut own = self.questions[family.clone()].to_vec();
            if let Some((starts, times)) = &self.times {
                for (i, question) in family.clone().zip(&mut own) {
                    question.time = times[stream.random_range(starts[i]..starts[i + 1])];
                }
            }
            own.shuffle(&mut stream);
            // Blocks of nearly the same size instead of full ones and a rest.
            let count = own.len().div_ceil(self.group);
            for i in 0..count {
                self.blocks.push(own[i * own.len() / count..(i + 1) * own.len() / count].to_vec());
            }
        }
        self.blocks.shuffle(&mut stream);
    }

    /// The blocks of one step.
    pub fn batch(&self, batch: usize) -> &[Vec<Question>] {
        let from = batch * self.blocks_per_batch;
        &self.blocks[from..(from + self.blocks_per_batch).min(self.blocks.len())]
    }
}

/// Merges questions that differ in time only; returns where the times of each start, and the times. Families do not depend on
/// time here, so that the sort into families keeps the order.
fn merge_times(questions: &mut Vec<Question>) -> (Vec<usize>, Vec<u32>) {
    let triple = |question: &Question| (question.side, question.known, question.relation, question.answer);
    questions.sort_unstable_by_key(|question| (triple(question), question.time));
    let (mut starts, mut times) = (Vec::new(), Vec::with_capacity(questions.len()));
    for same in questions.chunk_by(|a, b| triple(a) == triple(b)) {
        starts.push(times.len());
        times.extend(same.iter().map(|question| question.time));
    }
    starts.push(times.len());
    questions.dedup_by_key(|question| triple(question));
    (starts, times)
}

/// The questions that one fact answers.
fn questions_of(relations: usize, config: &Config, fact: quadcast_core::Quad) -> Vec<Question> {
    let directed = |direction| DirectedRelation::new(fact.relation, direction, relations).0;
    let (subject, object, time) = (fact.subject.0, fact.object.0, fact.step.0);
    let tails = |known, relation, answer| Question { side: Side::Tails, known, relation, time, answer };
    let heads = |known, relation, answer| Question { side: Side::Heads, known, relation, time, answer };
    let (own, reciprocal) = (directed(Direction::Object), directed(Direction::Subject));
    if !config.asks_subjects_directly() {
        return vec![tails(subject, own, object), tails(object, reciprocal, subject)];
    }
    let mut questions = vec![tails(subject, own, object), heads(object, own, subject)];
    if config.reciprocal {
        questions.extend([tails(object, reciprocal, subject), heads(subject, reciprocal, object)]);
    }
    questions
}

/// Candidates drawn for a block: uniform over all entities. A single question never draws its own answer.
pub(crate) fn draw(stream: &mut impl Rng, block: &[Question], entities: usize, count: usize) -> Vec<u32> {
    let entities = entities as u32;
    match block {
        [only] if entities > 1 => {
            (0..count).map(|_| (only.answer + stream.random_range(1..entities)) % entities).collect()
        }
        _ => (0..count).map(|_| stream.random_range(0..entities)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merged_question_draws_one_of_its_times() {
        let ask = |known, answer, time| Question { side: Side::Tails, known, relation: 0, time, answer };
        let mut questions = vec![ask(1, 2, 5), ask(0, 2, 7), ask(1, 2, 3), ask(1, 3, 3)];
        let times = merge_times(&mut questions);
        assert_eq!(times, (vec![0, 1, 3, 4], vec![7, 3, 5, 3]));
        let mut plan = EpochPlan {
            families: std::iter::once(0..questions.len()).collect(),
            questions,
            times: Some(times),
            group: 10,
            blocks_per_batch: 1,
            batches: 1,
            blocks: Vec::new(),
        };
        let mut drawn = std::collections::BTreeSet::new();
        for epoch in 0..40 {
            plan.shuffle(&Run::silent(1), epoch);
            assert_eq!(plan.batch(0)[0].len(), 3);
            drawn.extend(
                plan.batch(0)[0].iter().map(|question| (question.known, question.answer, question.time)),
            );
        }
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [(0, 2, 7), (1, 2, 3), (1, 2, 5), (1, 3, 3)]);
    }
}
