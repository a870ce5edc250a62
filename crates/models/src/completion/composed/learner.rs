//! One training step: from questions to the gradients of all tables.

use quadcast_core::Run;
use quadcast_kernels::Real;
use quadcast_kernels::compare::{self, Comparison};
use quadcast_kernels::dropout::Mask;

use super::composition::{Composition, Forward, Questions};
use super::encoders::{Places, zeros};
use super::losses::loss;
use super::penalties::{TablePenalty, penalise_rows};
use super::plan::{Question, draw};
use super::scorers::Side;
use super::settings::{Config, SamplerName, ScorerName};
use super::tables::{Gradients, Kind};

/// A model that is to learn.
pub(crate) struct Learner<'a, T: Real> {
    pub config: &'a Config,
    pub model: &'a Composition<T>,
    pub entities: usize,
}

/// Questions of a step that share their candidates.
struct Block {
    rows: std::ops::Range<usize>,
    candidates: Vec<u32>,
}

/// The questions of a step whose candidates are of one side.
struct Batch {
    side: Side,
    questions: Questions,
    answers: Vec<u32>,
    blocks: Vec<Block>,
    /// Share of a question in the loss of the step.
    share: f64,
}

impl<T: Real> Learner<'_, T> {
    /// Adds the gradients of a step; returns the loss. `index` names the random streams of the step.
    pub fn gradients(&self, blocks: &[Vec<Question>], run: &Run, index: u64, into: &mut Gradients<T>) -> f64 {
        let model = self.model;
        let count = blocks.iter().map(Vec::len).sum::<usize>().max(1);
        let share = 1.0 / count as f64;
        let mut negatives = run.stream("negatives", index);
        let mut masks = run.stream("dropout", index);
        let mut total = 0.0;
        for side in [Side::Tails, Side::Heads] {
            let own =
                blocks.iter().filter(|block| block.first().is_some_and(|question| question.side == side));
            let batch = self.batch(side, own, share, &mut negatives);
            if batch.answers.is_empty() {
                continue;
            }
            let mask = (self.config.dropout > 0.0).then(|| {
                Mask::draw(&mut masks, self.config.dropout, batch.answers.len() * model.parts.width)
            });
            let weights = mask.map(|mask| model.weights_of_both(self.weights(&mask)));
            total += self.compare(&batch, weights.as_deref(), into);
            total += self.penalise(&batch, into);
        }
        let config = self.config;
        for (kind, name, weight) in [
            (Kind::Entity, config.row_penalty(config.entity_penalty), config.entity_weight),
            (Kind::Relation, config.row_penalty(config.relation_penalty), config.relation_weight),
            (Kind::Time, config.time_penalty, config.time_weight),
        ] {
            let penalty = TablePenalty { kind, name, weight, complex: config.is_complex() };
            total += penalty.apply(&model.tables, into);
        }
        total
    }

    fn weights(&self, mask: &Mask) -> Vec<T> {
        let mut weights = mask.values::<T>();
        if !self.config.dropout_scaled {
            weights.iter_mut().for_each(|x| *x = if *x == T::ZERO { T::ZERO } else { T::ONE });
        }
        weights
    }

    fn batch<'a>(
        &self,
        side: Side,
        blocks: impl Iterator<Item = &'a Vec<Question>>,
        share: f64,
        stream: &mut impl rand::Rng,
    ) -> Batch {
        let (questions, answers) = (Questions::default(), Vec::new());
        let mut batch = Batch { side, questions, answers, blocks: Vec::new(), share };
        for block in blocks {
            let from = batch.answers.len();
            for question in block {
                batch.questions.push(question.known, question.relation, question.time);
                batch.answers.push(question.answer);
            }
            let candidates = match self.config.sampler {
                SamplerName::All => (0..self.entities as u32).collect(),
                _ => draw(stream, block, self.entities, self.config.negatives),
            };
            batch.blocks.push(Block { rows: from..batch.answers.len(), candidates });
        }
        batch
    }

    /// Scores, losses and gradients of all blocks.
    fn compare(&self, batch: &Batch, weights: Option<&[T]>, into: &mut Gradients<T>) -> f64 {
        let model = self.model;
        let forward = model.queries(batch.side, &batch.questions);
        let mut d_queries = zeros(forward.queries.len());
        let answers = Places { ids: &batch.answers, times: &batch.questions.times };
        let own = (self.config.sampler != SamplerName::All).then(|| model.candidates(batch.side, answers));
        let mut d_own = own.as_ref().map(|own| zeros::<T>(own.len()));
        let mut total = 0.0;
        for block in &batch.blocks {
            let slices = Slices { forward: &forward, own: own.as_deref(), weights };
            let own_gradient = d_own.as_deref_mut();
            total += self.block(batch, block, &slices, (&mut d_queries, own_gradient), into);
        }
        if let Some(gradient) = &d_own {
            model.candidates_backward(batch.side, answers, gradient, into);
        }
        model.queries_backward(&batch.questions, &forward, &d_queries, into);
        batch.share * total
    }

    fn block(
        &self,
        batch: &Batch,
        block: &Block,
        slices: &Slices<'_, T>,
        (d_queries, d_own): (&mut [T], Option<&mut [T]>),
        into: &mut Gradients<T>,
    ) -> f64 {
        let model = self.model;
        let (qw, cw, d) = (model.query_width(), model.candidate_width(), model.width());
        let rows = block.rows.clone();
        // With all entities as candidates, the table itself holds the rows: nothing to copy.
        let table = model.candidate_table(batch.side).filter(|_| self.config.sampler == SamplerName::All);
        let times = vec![batch.questions.times[rows.start]; block.candidates.len()];
        let places = Places { ids: &block.candidates, times: &times };
        let made = table.is_none().then(|| model.candidates(batch.side, places));
        let mut d_made = made.as_ref().map(|made| zeros(made.len()));
        let comparison = Comparison {
            likeness: model.parts.likeness,
            queries: &slices.forward.queries[rows.start * qw..rows.end * qw],
            candidates: table.map_or(made.as_deref().unwrap_or_default(), |table| model.tables.values(table)),
            own: slices.own.map(|own| &own[rows.start * cw..rows.end * cw]),
            weights: slices.weights.map(|weights| &weights[rows.start * d..rows.end * d]),
            d,
        };
        let mut gradients = compare::Gradients {
            queries: &mut d_queries[rows.start * qw..rows.end * qw],
            candidates: match (table, &mut d_made) {
                (Some(table), _) => into.of_mut(table),
                (None, made) => made.as_deref_mut().unwrap_or_default(),
            },
            own: d_own.map(|own| &mut own[rows.start * cw..rows.end * cw]),
        };
        let answers = &batch.answers[rows];
        let total = compare::train(
            &comparison,
            #[inline(always)]
            |row, own, scores| self.row(batch.share, block, answers[row], own, scores),
            &mut gradients,
        );
        if let Some(gradient) = &d_made {
            model.candidates_backward(batch.side, places, gradient, into);
        }
        total
    }

    /// Loss of one question; similarities are replaced by their gradients.
    #[inline(always)]
    fn row(&self, share: f64, block: &Block, answer: u32, own: &mut T, scores: &mut [T]) -> f64 {
        let scale = self.model.scale();
        let (factor, offset) = (T::from_f64(scale), T::from_f64(self.config.offset));
        if factor != T::ONE || offset != T::ZERO {
            scores.iter_mut().for_each(|x| *x = *x * factor + offset);
        }
        let all = self.config.sampler == SamplerName::All;
        let mut right = if all { scores[answer as usize] } else { *own * factor + offset };
        if all {
            scores[answer as usize] = T::NEG_INFINITY;
        } else {
            // A sampled candidate that is the answer does not count.
            for (score, &id) in scores.iter_mut().zip(&block.candidates) {
                *score = if id == answer { T::NEG_INFINITY } else { *score };
            }
        }
        let loss = loss(self.config, T::from_f64(scale * share), &mut right, scores);
        if all {
            scores[answer as usize] = right;
        } else {
            *own = right;
        }
        loss
    }

    /// Penalty on the rows in use.
    fn penalise(&self, batch: &Batch, into: &mut Gradients<T>) -> f64 {
        let (model, weight) = (self.model, self.config.factor_weight * batch.share);
        if weight == 0.0 {
            return 0.0;
        }
        let (times, complex) = (&batch.questions.times, self.config.is_complex());
        let entities = weight * self.config.factor_entities;
        // The relations of RotatE are phases: their factors e^{iθ} have modulus 1 for any size of θ.
        let relations = if self.config.scorer == ScorerName::RotatE { 0.0 } else { weight };
        let parts = [
            (model.encoder(batch.side), &batch.questions.known, entities),
            (&*model.parts.relation, &batch.questions.relations, relations),
            (model.encoder(batch.side.other()), &batch.answers, entities),
        ];
        let parts = parts.into_iter().filter(|&(_, _, weight)| weight > 0.0);
        parts
            .map(|(encoder, ids, weight)| {
                let places = Places { ids, times };
                penalise_rows(encoder, &model.tables, places, complex, weight, into)
            })
            .sum()
    }
}

/// The arrays of a batch of which blocks use slices.
struct Slices<'a, T: Real> {
    forward: &'a Forward<T>,
    own: Option<&'a [T]>,
    weights: Option<&'a [T]>,
}
