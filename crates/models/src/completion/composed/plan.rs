//! Which questions are trained on together, with which candidates.
//!
//! Questions come in blocks. The questions of a block share their candidates; where candidates change with time, they also
//! share the time, so that candidates are made once for all of them. A step is made of some blocks.

use quadcast_core::{DirectedRelation, Direction, History, Run, Step};
use rand::Rng;
use rand::seq::SliceRandom;

use super::scorer::Side;
use super::settings::{Config, SamplerName};

/// A question with its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub side: Side,
    pub known: u32,
    pub relation: u32,
    pub time: u32,
    pub answer: u32,
}

/// All questions of an epoch and how they are laid out.
pub(crate) struct Plan {
    questions: Vec<Asked>,
    /// Questions that can be in one block, as ranges.
    families: Vec<std::ops::Range<usize>>,
    /// Largest block.
    group: usize,
    blocks_per_batch: usize,
    /// Blocks of the current epoch.
    blocks: Vec<Vec<Asked>>,
}

impl Plan {
    /// The questions that the known facts answer. `changes` tells whether candidates change with time.
    pub fn new(known: &History<'_>, config: &Config, changes: bool) -> Self {
        let mut questions = Vec::new();
        for snapshot in known.snapshots_from(Step(0)) {
            for fact in snapshot.iter() {
                questions.extend(asked(known.relations(), config, fact));
            }
        }
        // A stable sort: within a family, questions keep the order of facts.
        questions.sort_by_key(|asked| (asked.side, if changes { asked.time } else { 0 }));
        let mut families: Vec<std::ops::Range<usize>> = Vec::new();
        for (i, asked) in questions.iter().enumerate() {
            let same = |first: usize| {
                let other: &Asked = &questions[first];
                other.side == asked.side && (!changes || other.time == asked.time)
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
        Self { questions, families, group, blocks_per_batch, blocks: Vec::new() }
    }

    /// Steps of an epoch.
    pub fn batches(&self) -> usize {
        let blocks: usize = self.families.iter().map(|family| family.len().div_ceil(self.group)).sum();
        blocks.div_ceil(self.blocks_per_batch)
    }

    /// Draws the blocks of an epoch.
    pub fn shuffle(&mut self, run: &Run, epoch: u32) {
        let mut stream = run.stream("order of questions", u64::from(epoch));
        self.blocks.clear();
        for family in &self.families {
            let mut own = self.questions[family.clone()].to_vec();
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
    pub fn batch(&self, batch: usize) -> &[Vec<Asked>] {
        let from = batch * self.blocks_per_batch;
        &self.blocks[from..(from + self.blocks_per_batch).min(self.blocks.len())]
    }
}

/// The questions that one fact answers.
fn asked(relations: usize, config: &Config, fact: quadcast_core::Quad) -> Vec<Asked> {
    let directed = |direction| DirectedRelation::new(fact.relation, direction, relations).0;
    let (subject, object, time) = (fact.subject.0, fact.object.0, fact.step.0);
    let tails = |known, relation, answer| Asked { side: Side::Tails, known, relation, time, answer };
    let heads = |known, relation, answer| Asked { side: Side::Heads, known, relation, time, answer };
    let (own, reciprocal) = (directed(Direction::Object), directed(Direction::Subject));
    if !config.asks_subjects_directly() {
        return vec![tails(subject, own, object), tails(object, reciprocal, subject)];
    }
    let mut questions = vec![tails(subject, own, object), heads(object, own, subject)];
    if config.has_reciprocals() {
        questions.extend([tails(object, reciprocal, subject), heads(subject, reciprocal, object)]);
    }
    questions
}

/// Candidates drawn for a block: uniform over all entities. A single question never draws its own answer.
pub(crate) fn draw(stream: &mut impl Rng, block: &[Asked], entities: usize, count: usize) -> Vec<u32> {
    let entities = entities as u32;
    match block {
        [only] if entities > 1 => {
            (0..count).map(|_| (only.answer + stream.random_range(1..entities)) % entities).collect()
        }
        _ => (0..count).map(|_| stream.random_range(0..entities)).collect(),
    }
}
