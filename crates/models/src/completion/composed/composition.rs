//! A composed model: queries and candidates from its parts, and their gradients.
//!
//! With an inverse half a score is `½(φ(s, p, o) + φ(o, p⁻¹, s))`. Both halves are sums over components, so their
//! queries are concatenated, and so are the candidates: one comparison of twice the width.

use std::sync::Arc;

use quadcast_kernels::compare::Likeness;
use quadcast_kernels::memory::{Buffer, take};
use quadcast_kernels::{Real, rows};

use super::assemble::{Parts, assemble};
use super::encoders::{Encoder, Places};
use super::scorers::{Known, KnownGradients, Side};
use super::settings::Config;
use super::tables::{Gradients, TableId, Tables};
use super::times::Times;
use crate::forecast::state::Shape;

/// The known parts of questions, one row each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Questions {
    pub known: Vec<u32>,
    /// Reciprocal relations follow after all relations.
    pub relations: Vec<u32>,
    pub times: Vec<u32>,
}

impl Questions {
    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn push(&mut self, known: u32, relation: u32, time: u32) {
        self.known.push(known);
        self.relations.push(relation);
        self.times.push(time);
    }

    fn known(&self) -> Places<'_> {
        Places { ids: &self.known, times: &self.times }
    }
}

/// A model: its parameters and its parts.
pub(crate) struct Composition<T: Real> {
    pub tables: Tables<T>,
    pub parts: Parts<T>,
    inverse: bool,
    relations: u32,
}

/// Queries and the rows that they were made of, one or two halves.
pub(crate) struct Forward<T: Real> {
    /// `[b, query width]`
    pub queries: Buffer<T>,
    halves: Vec<Half<T>>,
}

struct Half<T: Real> {
    side: Side,
    relations: Vec<u32>,
    entity: Buffer<T>,
    relation: Buffer<T>,
}

impl<T: Real> Composition<T> {
    /// A model with its initial numbers.
    #[cfg(test)]
    pub fn new(config: &Config, sizes: Shape, times: Arc<Times>, seed: u64) -> Self {
        let mut model = Self::outline(config, sizes, times, seed);
        model.tables.draw();
        model
    }

    /// A model without numbers: its size is known before it takes memory. Its tables must be drawn.
    pub fn outline(config: &Config, sizes: Shape, times: Arc<Times>, seed: u64) -> Self {
        let mut tables = Tables::new(seed);
        let parts = assemble(config, sizes, times, &mut tables);
        Self { tables, parts, inverse: config.has_inverse_half(), relations: sizes.relations as u32 }
    }

    /// Width of a comparison, both halves together.
    pub fn width(&self) -> usize {
        self.parts.width * self.halves()
    }

    fn halves(&self) -> usize {
        if self.inverse { 2 } else { 1 }
    }

    /// The factor from a similarity to a score: the mean of the halves.
    pub fn scale(&self) -> f64 {
        1.0 / self.halves() as f64
    }

    pub fn query_width(&self) -> usize {
        self.parts.likeness.query_width(self.width())
    }

    pub fn candidate_width(&self) -> usize {
        self.parts.likeness.candidate_width(self.width())
    }

    /// Whether candidates of this side change with time.
    pub fn candidates_change(&self, side: Side) -> bool {
        self.encoder(side.other()).depends_on_time() || (self.inverse && self.encoder(side).depends_on_time())
    }

    /// The encoder of the known entity when candidates are of this side.
    pub fn encoder(&self, side: Side) -> &dyn Encoder<T> {
        match side {
            Side::Tails => &*self.parts.head,
            Side::Heads => &*self.parts.tail,
        }
    }

    fn reciprocal(&self, relation: u32) -> u32 {
        if relation < self.relations { relation + self.relations } else { relation - self.relations }
    }

    /// The queries of some questions whose candidates are of one side.
    pub fn queries(&self, side: Side, questions: &Questions) -> Forward<T> {
        let mut halves = vec![self.half(side, questions, questions.relations.clone())];
        if self.inverse {
            let reciprocal = questions.relations.iter().map(|&relation| self.reciprocal(relation)).collect();
            halves.push(self.half(side.other(), questions, reciprocal));
        }
        let scorer = &*self.parts.scorer;
        let width = self.parts.likeness.query_width(self.parts.width);
        let mut queries: Vec<Buffer<T>> = Vec::new();
        for half in &halves {
            let mut out = take(questions.len() * width);
            scorer.query(self.known(half), &mut out);
            queries.push(out);
        }
        Forward { queries: join(queries, self.piece(), width), halves }
    }

    fn half(&self, side: Side, questions: &Questions, relations: Vec<u32>) -> Half<T> {
        let encoder = self.encoder(side);
        let mut entity = take(questions.len() * encoder.width());
        encoder.encode(&self.tables, questions.known(), &mut entity);
        let coder = &*self.parts.relation;
        let mut relation = take(questions.len() * coder.width());
        let places = Places { ids: &relations, times: &questions.times };
        coder.encode(&self.tables, places, &mut relation);
        Half { side, relations, entity, relation }
    }

    fn known<'a>(&'a self, half: &'a Half<T>) -> Known<'a, T> {
        Known { tables: &self.tables, side: half.side, entity: &half.entity, relation: &half.relation }
    }

    /// Brings the gradient of queries back to the tables.
    pub fn queries_backward(
        &self,
        questions: &Questions,
        forward: &Forward<T>,
        gradient: &[T],
        into: &mut Gradients<T>,
    ) {
        let scorer = &*self.parts.scorer;
        let width = self.parts.likeness.query_width(self.parts.width);
        for (which, half) in forward.halves.iter().enumerate() {
            let own = part(gradient, which, forward.halves.len(), self.piece(), width);
            let mut entity = take(half.entity.len());
            let mut relation = take(half.relation.len());
            let out = KnownGradients { tables: into, entity: &mut entity, relation: &mut relation };
            scorer.backward(self.known(half), &own, out);
            self.encoder(half.side).backward(&self.tables, questions.known(), &entity, into);
            let places = Places { ids: &half.relations, times: &questions.times };
            self.parts.relation.backward(&self.tables, places, &relation, into);
        }
    }

    /// The table that holds the candidates of one side unchanged, if there is one.
    pub fn candidate_table(&self, side: Side) -> Option<TableId> {
        let as_they_are = !self.inverse && !self.parts.scorer.turns(side);
        self.encoder(side.other()).table().filter(|_| as_they_are)
    }

    /// Rows of candidates of one side.
    pub fn candidates(&self, side: Side, places: Places<'_>) -> Buffer<T> {
        let scorer = &*self.parts.scorer;
        let width = self.parts.likeness.candidate_width(self.parts.width);
        let mut halves = Vec::new();
        for side in self.sides(side) {
            let mut out = take(places.len() * width);
            self.encoder(side.other()).encode(&self.tables, places, &mut out);
            scorer.turn(side, &mut out);
            halves.push(out);
        }
        join(halves, self.piece(), width)
    }

    /// Adds the gradient of candidates to the gradients of the tables.
    pub fn candidates_backward(
        &self,
        side: Side,
        places: Places<'_>,
        gradient: &[T],
        into: &mut Gradients<T>,
    ) {
        let scorer = &*self.parts.scorer;
        let width = self.parts.likeness.candidate_width(self.parts.width);
        let sides = self.sides(side);
        for (which, &side) in sides.iter().enumerate() {
            let mut own = part(gradient, which, sides.len(), self.piece(), width);
            scorer.turn(side, &mut own);
            self.encoder(side.other()).backward(&self.tables, places, &own, into);
        }
    }

    /// Numbers of a row that belong together when halves are joined.
    fn piece(&self) -> usize {
        let d = self.parts.width;
        if self.parts.likeness == Likeness::Modulus { d / 2 } else { d }
    }

    /// Weights of the components of one half, `[b, d]`, for both.
    pub fn weights_of_both(&self, weights: Vec<T>) -> Vec<T> {
        if !self.inverse {
            return weights;
        }
        weights.chunks_exact(self.piece()).flat_map(|piece| [piece, piece].concat()).collect()
    }

    /// The side of the candidates in each half.
    fn sides(&self, side: Side) -> Vec<Side> {
        if self.inverse { vec![side, side.other()] } else { vec![side] }
    }
}

/// Joins the rows of two halves piece by piece, so that the pieces of a row (real and imaginary parts, means and variances) stay
/// pieces.
fn join<T: Real>(mut halves: Vec<Buffer<T>>, piece: usize, width: usize) -> Buffer<T> {
    if halves.len() == 1 {
        return halves.swap_remove(0);
    }
    let mut out = take(2 * halves[0].len());
    rows::for_each_row(
        &mut out,
        2 * width,
        #[inline(always)]
        |i, row| {
            for (p, both) in row.chunks_exact_mut(2 * piece).enumerate() {
                for (half, to) in halves.iter().zip(both.chunks_exact_mut(piece)) {
                    to.copy_from_slice(&half[i * width + p * piece..][..piece]);
                }
            }
        },
    );
    out
}

/// The rows of one of several halves.
fn part<T: Real>(joined: &[T], which: usize, halves: usize, piece: usize, width: usize) -> Buffer<T> {
    let mut out = take(joined.len() / halves);
    rows::for_each_row(
        &mut out,
        width,
        #[inline(always)]
        |i, row| {
            for (p, to) in row.chunks_exact_mut(piece).enumerate() {
                let from = (i * width + p * piece) * halves + which * piece;
                to.copy_from_slice(&joined[from..][..piece]);
            }
        },
    );
    out
}
