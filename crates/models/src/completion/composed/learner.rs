//! One training step: from questions to the gradients of all tables.

use quadcast_core::Run;
use quadcast_kernels::Real;
use quadcast_kernels::compare::{self, Comparison};
use quadcast_kernels::dropout::Mask;
use quadcast_kernels::memory::{Buffer, take};

use super::composition::{Composition, Forward, Questions};
use super::encoders::Places;
use super::losses::Loss;
use super::penalties::{Moduli, TablePenalty, penalise_rows};
use super::plan::{Question, draw};
use super::scorers::Side;
use super::settings::{Config, SamplerName, ScorerName};
use super::tables::{Gradients, Kind};

/// The settings of training steps.
#[derive(Clone)]
pub(crate) struct Learner {
    config: Config,
    loss: Loss,
    moduli: Moduli,
    penalties: [TablePenalty; 3],
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
}

impl Learner {
    pub fn new(config: &Config) -> Self {
        let moduli = Moduli { complex: config.is_complex() };
        let penalty = |kind, name, weight| TablePenalty { kind, name, weight, moduli };
        Self {
            loss: Loss { name: config.loss, margin: config.margin, temperature: config.temperature },
            moduli,
            penalties: [
                penalty(Kind::Entity, config.row_penalty(config.entity_penalty), config.entity_weight),
                penalty(Kind::Relation, config.row_penalty(config.relation_penalty), config.relation_weight),
                penalty(Kind::Time, config.time_penalty, config.time_weight),
            ],
            config: config.clone(),
        }
    }

    /// Adds the gradients of a step; returns the loss. `index` names the random streams of the step.
    pub fn gradients<T: Real>(
        &self,
        model: &Composition<T>,
        entities: usize,
        blocks: &[Vec<Question>],
        run: &Run,
        index: u64,
        into: &mut Gradients<T>,
    ) -> f64 {
        let count = blocks.iter().map(Vec::len).sum::<usize>().max(1);
        let share = 1.0 / count as f64;
        let mut negatives = run.stream("negatives", index);
        let mut masks = run.stream("dropout", index);
        let mut total = 0.0;
        for side in [Side::Tails, Side::Heads] {
            let own =
                blocks.iter().filter(|block| block.first().is_some_and(|question| question.side == side));
            let batch = self.batch(side, own, entities, &mut negatives);
            if batch.answers.is_empty() {
                continue;
            }
            let mask = (self.config.dropout > 0.0).then(|| {
                let d = model.parts.scorer.width();
                Mask::draw(&mut masks, self.config.dropout, batch.answers.len() * d)
            });
            let weights = mask.map(|mask| model.weights_of_both(self.weights(&mask)));
            total += self.compare(model, &batch, weights.as_deref(), share, into);
            total += self.penalise(model, &batch, share, into);
        }
        for penalty in &self.penalties {
            total += penalty.apply(&model.tables, into);
        }
        total
    }

    fn weights<T: Real>(&self, mask: &Mask) -> Vec<T> {
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
        entities: usize,
        stream: &mut impl rand::Rng,
    ) -> Batch {
        let mut batch =
            Batch { side, questions: Questions::default(), answers: Vec::new(), blocks: Vec::new() };
        for block in blocks {
            let from = batch.answers.len();
            for question in block {
                batch.questions.push(question.known, question.relation, question.time);
                batch.answers.push(question.answer);
            }
            let candidates = match self.config.sampler {
                SamplerName::All => (0..entities as u32).collect(),
                _ => draw(stream, block, entities, self.config.negatives),
            };
            batch.blocks.push(Block { rows: from..batch.answers.len(), candidates });
        }
        batch
    }

    /// Scores, losses and gradients of all blocks.
    fn compare<T: Real>(
        &self,
        model: &Composition<T>,
        batch: &Batch,
        weights: Option<&[T]>,
        share: f64,
        into: &mut Gradients<T>,
    ) -> f64 {
        let forward = model.queries(batch.side, &batch.questions);
        let mut d_queries = zeros(forward.queries.len());
        let answers = Places { ids: &batch.answers, times: &batch.questions.times };
        let own = (self.config.sampler != SamplerName::All).then(|| model.candidates(batch.side, answers));
        let mut d_own = own.as_ref().map(|own| zeros::<T>(own.len()));
        let mut total = 0.0;
        for block in &batch.blocks {
            let slices = Slices { forward: &forward, own: own.as_deref(), weights };
            let own_gradient = d_own.as_deref_mut();
            total += self.block(model, batch, block, &slices, (&mut d_queries, own_gradient), share, into);
        }
        if let Some(gradient) = &d_own {
            model.candidates_backward(batch.side, answers, gradient, into);
        }
        model.queries_backward(&batch.questions, &forward, &d_queries, into);
        share * total
    }

    #[allow(clippy::too_many_arguments, reason = "the state of one loop, used in one place")]
    fn block<T: Real>(
        &self,
        model: &Composition<T>,
        batch: &Batch,
        block: &Block,
        slices: &Slices<'_, T>,
        (d_queries, d_own): (&mut [T], Option<&mut [T]>),
        share: f64,
        into: &mut Gradients<T>,
    ) -> f64 {
        let (qw, cw, d) = (model.query_width(), model.candidate_width(), model.width());
        let rows = block.rows.clone();
        // With all entities as candidates, the table itself holds the rows: nothing to copy.
        let table = model.candidate_table(batch.side).filter(|_| self.config.sampler == SamplerName::All);
        let times = vec![batch.questions.times[rows.start]; block.candidates.len()];
        let places = Places { ids: &block.candidates, times: &times };
        let made = table.is_none().then(|| model.candidates(batch.side, places));
        let mut d_made = made.as_ref().map(|made| zeros(made.len()));
        let comparison = Comparison {
            likeness: model.likeness(),
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
            |row, own, scores| self.row(model.scale(), share, block, answers[row], own, scores),
            &mut gradients,
        );
        if let Some(gradient) = &d_made {
            model.candidates_backward(batch.side, places, gradient, into);
        }
        total
    }

    /// Loss of one question; similarities are replaced by their gradients.
    #[inline(always)]
    fn row<T: Real>(
        &self,
        scale: f64,
        share: f64,
        block: &Block,
        answer: u32,
        own: &mut T,
        scores: &mut [T],
    ) -> f64 {
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
        let loss = self.loss.apply(T::from_f64(scale * share), &mut right, scores);
        if all {
            scores[answer as usize] = right;
        } else {
            *own = right;
        }
        loss
    }

    /// Penalty on the rows in use.
    fn penalise<T: Real>(
        &self,
        model: &Composition<T>,
        batch: &Batch,
        share: f64,
        into: &mut Gradients<T>,
    ) -> f64 {
        let weight = self.config.factor_weight * share;
        if weight == 0.0 {
            return 0.0;
        }
        let times = &batch.questions.times;
        let (known, asked) = match batch.side {
            Side::Tails => (&model.parts.head, &model.parts.tail),
            Side::Heads => (&model.parts.tail, &model.parts.head),
        };
        let entities = weight * self.config.factor_entities;
        // The relations of RotatE are phases: their factors e^{iθ} have modulus 1 for any size of θ.
        let relations = if self.config.scorer == ScorerName::RotatE { 0.0 } else { weight };
        let parts = [
            (known, &batch.questions.known, entities),
            (&model.parts.relation, &batch.questions.relations, relations),
            (asked, &batch.answers, entities),
        ];
        let parts = parts.into_iter().filter(|&(_, _, weight)| weight > 0.0);
        parts
            .map(|(encoder, ids, weight)| {
                let places = Places { ids, times };
                penalise_rows(&**encoder, &model.tables, places, self.moduli, weight, into)
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

fn zeros<T: Real>(len: usize) -> Buffer<T> {
    let mut buffer = take(len);
    buffer.fill(T::ZERO);
    buffer
}
