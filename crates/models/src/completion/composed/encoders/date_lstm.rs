//! TA: an LSTM cell reads the relation and then the seven tokens of the date; its last state is the row.
//!
//! `[i f o g] = W_x·x + b_x + W_h·h + b_h`, `c ← σ(f) ⊙ c + σ(i) ⊙ g`, `h ← σ(o) ⊙ c`: as in the published code the candidate
//! and the output pass through no tanh. Each distinct pair of relation and time is computed once.
//!
//! Parameters: rows·d + 32·d + 2·(4d² + 4d). (The published code holds d² + d more, which it never uses.)

use std::sync::Arc;

use quadcast_kernels::matrix::{Form, Size, multiply, multiply_add};
use quadcast_kernels::memory::{Buffer, take};
use quadcast_kernels::{Real, rows, segment};

use super::{Encoder, Places, Plain, zeros};
use crate::completion::composed::tables::{Gradients, TableId, Tables};
use crate::completion::composed::times::{TOKENS, Times};

pub(crate) struct DateLstm {
    pub base: Plain,
    pub tokens: TableId,
    /// `W_x` and `W_h`, `[4d, d]`.
    pub weights: [TableId; 2],
    /// `b_x` and `b_h`, `[4d]`.
    pub biases: [TableId; 2],
    pub times: Arc<Times>,
}

/// Inputs of the cell: the relation and seven tokens.
const INPUTS: usize = 8;

/// Different pairs of id and time, and which of them each place has.
struct Pairs {
    ids: Vec<u32>,
    times: Vec<u32>,
    which: Vec<u32>,
}

impl Pairs {
    fn of(places: Places<'_>) -> Self {
        let pair = |i: usize| (places.ids[i], places.times[i]);
        let mut pairs: Vec<(u32, u32)> = (0..places.len()).map(pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let which = (0..places.len()).map(|i| pairs.partition_point(|&other| other < pair(i)) as u32);
        let which = which.collect();
        let (ids, times) = pairs.into_iter().unzip();
        Self { ids, times, which }
    }

    fn len(&self) -> usize {
        self.ids.len()
    }
}

/// Results of the forward pass that the backward pass needs, per input.
struct Read<T: Real> {
    /// σ(i), σ(f), σ(o), g: `[pairs, 4d]`.
    gates: Vec<Buffer<T>>,
    /// c and h after each input, `[pairs, d]`; the first is the zero before all.
    cells: Vec<Buffer<T>>,
    states: Vec<Buffer<T>>,
}

impl DateLstm {
    /// The tokens that the pairs read at an input (1 to 7).
    fn token_ids(&self, pairs: &Pairs, input: usize) -> Vec<u32> {
        pairs.times.iter().map(|&time| u32::from(self.times.tokens[time as usize][input - 1])).collect()
    }

    /// `W_x·x` for the rows of a matrix.
    fn mapped<T: Real>(&self, tables: &Tables<T>, x: &[T]) -> Buffer<T> {
        let d = self.base.width;
        let mut out = take(x.len() / d * 4 * d);
        let size = Size { m: x.len() / d, n: 4 * d, k: d };
        multiply(Form::RightTransposed, size, x, tables.values(self.weights[0]), &mut out);
        out
    }

    fn read<T: Real>(&self, tables: &Tables<T>, pairs: &Pairs) -> Read<T> {
        let (m, d) = (pairs.len(), self.base.width);
        let mut read = Read { gates: Vec::new(), cells: vec![zeros(m * d)], states: vec![zeros(m * d)] };
        let mut relations = take(m * d);
        segment::gather(&pairs.ids, tables.values(self.base.table), d, &mut relations);
        let mut relations = Some(self.mapped(tables, &relations));
        let tokens = self.mapped(tables, tables.values(self.tokens));
        let [bx, bh] = self.biases.map(|id| tables.values(id));
        for input in 0..INPUTS {
            let mut gates = relations.take().unwrap_or_else(|| {
                let mut gates = take(m * 4 * d);
                segment::gather(&self.token_ids(pairs, input), &tokens, 4 * d, &mut gates);
                gates
            });
            let size = Size { m, n: 4 * d, k: d };
            let (h, c) = (&read.states[input], &read.cells[input]);
            multiply_add(Form::RightTransposed, size, h, tables.values(self.weights[1]), &mut gates);
            rows::for_each_row(
                &mut gates,
                4 * d,
                #[inline(always)]
                |_, row| {
                    for (j, x) in row.iter_mut().enumerate() {
                        let sum = *x + bx[j] + bh[j];
                        *x = if j < 3 * d { sum.sigmoid() } else { sum };
                    }
                },
            );
            let (mut next_c, mut next_h) = (take(m * d), take(m * d));
            rows::for_each_row(
                &mut next_c,
                d,
                #[inline(always)]
                |i, row| {
                    let g = &gates[i * 4 * d..][..4 * d];
                    for j in 0..d {
                        row[j] = g[d + j] * c[i * d + j] + g[j] * g[3 * d + j];
                    }
                },
            );
            rows::for_each_row(
                &mut next_h,
                d,
                #[inline(always)]
                |i, row| {
                    let o = &gates[i * 4 * d + 2 * d..][..d];
                    row.iter_mut().zip(o).zip(&next_c[i * d..]).for_each(|((h, &o), &c)| *h = o * c);
                },
            );
            read.gates.push(gates);
            read.cells.push(next_c);
            read.states.push(next_h);
        }
        read
    }

    /// Gradient of the gates' sums at an input from those of h and c after it; dc becomes that of c before it.
    fn gates_backward<T: Real>(&self, read: &Read<T>, input: usize, dh: &[T], dc: &mut [T]) -> Buffer<T> {
        let d = self.base.width;
        let (gates, before, after) = (&read.gates[input], &read.cells[input], &read.cells[input + 1]);
        rows::for_each_row(
            dc,
            d,
            #[inline(always)]
            |i, row| {
                let o = &gates[i * 4 * d + 2 * d..][..d];
                row.iter_mut().zip(o).zip(&dh[i * d..]).for_each(|((dc, &o), &dh)| *dc += dh * o);
            },
        );
        let mut sums = take(dc.len() * 4);
        let whole = &*dc;
        rows::for_each_row(
            &mut sums,
            4 * d,
            #[inline(always)]
            |r, row| {
                let gate = &gates[r * 4 * d..][..4 * d];
                for j in 0..d {
                    let (i, f, o, g) = (gate[j], gate[d + j], gate[2 * d + j], gate[3 * d + j]);
                    let (dc, dh) = (whole[r * d + j], dh[r * d + j]);
                    row[j] = dc * g * i * (T::ONE - i);
                    row[d + j] = dc * before[r * d + j] * f * (T::ONE - f);
                    row[2 * d + j] = dh * after[r * d + j] * o * (T::ONE - o);
                    row[3 * d + j] = dc * i;
                }
            },
        );
        rows::for_each_row(
            dc,
            d,
            #[inline(always)]
            |i, row| {
                let f = &gates[i * 4 * d + d..][..d];
                row.iter_mut().zip(f).for_each(|(dc, &f)| *dc *= f);
            },
        );
        sums
    }
}

impl<T: Real> Encoder<T> for DateLstm {
    fn width(&self) -> usize {
        self.base.width
    }

    fn encode(&self, tables: &Tables<T>, places: Places<'_>, out: &mut [T]) {
        let pairs = Pairs::of(places);
        let read = self.read(tables, &pairs);
        segment::gather(&pairs.which, &read.states[INPUTS], self.base.width, out);
    }

    fn backward(&self, tables: &Tables<T>, places: Places<'_>, gradient: &[T], into: &mut Gradients<T>) {
        let pairs = Pairs::of(places);
        let read = self.read(tables, &pairs);
        let (m, d) = (pairs.len(), self.base.width);
        let (mut dh, mut dc) = (vec![T::ZERO; m * d], vec![T::ZERO; m * d]);
        rows::add_at(&pairs.which, gradient, d, &mut dh);
        let mut d_tokens = vec![T::ZERO; TOKENS * 4 * d];
        let down = Size { m, n: d, k: 4 * d };
        for input in (0..INPUTS).rev() {
            let sums = self.gates_backward(&read, input, &dh, &mut dc);
            let weights = Size { m: 4 * d, n: d, k: m };
            multiply_add(
                Form::LeftTransposed,
                weights,
                &sums,
                &read.states[input],
                into.of_mut(self.weights[1]),
            );
            multiply(Form::Plain, down, &sums, tables.values(self.weights[1]), &mut dh);
            let mut total = vec![T::ZERO; 4 * d];
            rows::add_at(&vec![0; m], &sums, 4 * d, &mut total);
            self.biases.iter().for_each(|&bias| into.add_at(bias, &[0], &total));
            if input == 0 {
                self.input_backward(tables, &self.base, &pairs.ids, &sums, into);
            } else {
                rows::add_at(&self.token_ids(&pairs, input), &sums, 4 * d, &mut d_tokens);
            }
        }
        let all: Vec<u32> = (0..TOKENS as u32).collect();
        let tokens = Plain { table: self.tokens, width: d };
        self.input_backward(tables, &tokens, &all, &d_tokens, into);
    }
}

impl DateLstm {
    /// Gradients of `W_x` and of the rows it was applied to.
    fn input_backward<T: Real>(
        &self,
        tables: &Tables<T>,
        inputs: &Plain,
        ids: &[u32],
        sums: &[T],
        into: &mut Gradients<T>,
    ) {
        let (m, d) = (ids.len(), inputs.width);
        let mut x = take(m * d);
        segment::gather(ids, tables.values(inputs.table), d, &mut x);
        let size = Size { m: 4 * d, n: d, k: m };
        multiply_add(Form::LeftTransposed, size, sums, &x, into.of_mut(self.weights[0]));
        let down = Size { m, n: d, k: 4 * d };
        multiply(Form::Plain, down, sums, tables.values(self.weights[0]), &mut x);
        into.add_at(inputs.table, ids, &x);
    }
}
