//! The distance between a head moved by a relation and a tail: the energy of `TransE`, and the last part of the energies of its
//! descendants.

use super::energy::{Ends, Energy, Question, RowView, Slopes};
use super::table::{LINE, Layout, Segment, TablesView, fold, padded};
use crate::Real;

/// How a distance is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// Σ |u|
    L1,
    /// √Σ u²
    L2,
}

/// ‖a·x + b·y − c·z‖ for rows x, y, z of whole lines and numbers a, b, c.
#[inline(always)]
pub fn distance<T: Real>(norm: Norm, [x, y, z]: [&[T]; 3], [a, b, c]: [T; 3]) -> T {
    // Two instances, so that L1 has no latency of a square root.
    match norm {
        Norm::L1 => sum::<T, false>([x, y, z], [a, b, c]),
        Norm::L2 => sum::<T, true>([x, y, z], [a, b, c]).sqrt(),
    }
}

/// Σ |a·x + b·y − c·z|, or Σ (a·x + b·y − c·z)² if `SQUARES`.
#[inline(always)]
fn sum<T: Real, const SQUARES: bool>([x, y, z]: [&[T]; 3], [a, b, c]: [T; 3]) -> T {
    let mut lanes = [T::ZERO; LINE];
    let rows = x.as_chunks::<LINE>().0.iter().zip(y.as_chunks::<LINE>().0).zip(z.as_chunks::<LINE>().0);
    for ((x, y), z) in rows {
        for l in 0..LINE {
            let u = a * x[l] + b * y[l] - c * z[l];
            lanes[l] += if SQUARES { u * u } else { u.abs() };
        }
    }
    fold(lanes)
}

/// Adds `factor` times the slopes of [`distance`] along a·x, b·y and c·z. `distance` is its value.
#[inline(always)]
pub fn distance_slopes<T: Real>(
    (norm, distance): (Norm, T),
    [x, y, z]: [&[T]; 3],
    [a, b, c]: [T; 3],
    factor: T,
    [dx, dy, dz]: [&mut [T]; 3],
) {
    let scale = match norm {
        Norm::L1 => factor,
        Norm::L2 if distance > T::ZERO => factor / distance,
        Norm::L2 => T::ZERO,
    };
    let rows = x.as_chunks::<LINE>().0.iter().zip(y.as_chunks::<LINE>().0).zip(z.as_chunks::<LINE>().0);
    let slopes = dx.as_chunks_mut::<LINE>().0.iter_mut().zip(dy.as_chunks_mut::<LINE>().0);
    for (((x, y), z), ((dx, dy), dz)) in rows.zip(slopes.zip(dz.as_chunks_mut::<LINE>().0)) {
        for l in 0..LINE {
            let u = a * x[l] + b * y[l] - c * z[l];
            let above = if u > T::ZERO { scale } else { T::ZERO };
            let below = if u < T::ZERO { scale } else { T::ZERO };
            let g = if norm == Norm::L1 { above - below } else { scale * u };
            dx[l] += g;
            dy[l] += g;
            dz[l] -= g;
        }
    }
}

/// d = ‖ĥ + r̂ − t̂‖, of rows divided by their lengths, or of unchanged rows.
#[derive(Clone, Copy, Debug)]
pub struct Translation {
    /// Numbers of a row.
    pub dimension: usize,
    /// How the distance is measured.
    pub norm: Norm,
    /// Whether rows are divided by their lengths.
    pub unit: bool,
}

impl Translation {
    fn layout(&self, name: &'static str) -> Layout {
        Layout(vec![Segment { name, width: self.dimension, unit: self.unit }])
    }

    #[inline(always)]
    fn parts<'a, T: Real>(&self, ends: &Ends<'a, T>) -> ([&'a [T]; 3], [T; 3]) {
        let width = padded(self.dimension);
        let rows = [ends.head, ends.relation, ends.tail];
        let scales = rows.map(|row| if self.unit { row.scales[0] } else { T::ONE });
        (rows.map(|row| &row.values[..width]), scales)
    }

    /// `f(entity, energy)` for all entities, added up in the order of [`distance`].
    #[inline(always)]
    fn each<T: Real, const SQUARES: bool, const TAILS: bool>(
        &self,
        tables: &TablesView<'_, T>,
        question: Question,
        mut f: impl FnMut(u32, T),
    ) {
        let width = padded(self.dimension);
        let scale = |row: &RowView<'_, T>| if self.unit { row.scales[0] } else { T::ONE };
        let known = tables.entities.row(question.known);
        let relation = tables.relations.row(question.relation);
        let (a, b) = (scale(&known), scale(&relation));
        // For tails: a·x + b·y. For heads: b·y, and c·z.
        let (mut first, mut last) = (vec![T::ZERO; width], vec![T::ZERO; width]);
        for l in 0..width {
            let (x, y) = (a * known.values[l], b * relation.values[l]);
            (first[l], last[l]) = if TAILS { (x + y, T::ZERO) } else { (y, x) };
        }
        let (first, last) = (first.as_chunks::<LINE>().0, last.as_chunks::<LINE>().0);
        for entity in 0..tables.entities.rows() as u32 {
            let answer = tables.entities.row(entity);
            let own = scale(&answer);
            let mut lanes = [T::ZERO; LINE];
            let rows = answer.values[..width].as_chunks::<LINE>().0.iter().zip(first).zip(last);
            for ((answer, first), last) in rows {
                for l in 0..LINE {
                    let u =
                        if TAILS { first[l] - own * answer[l] } else { own * answer[l] + first[l] - last[l] };
                    lanes[l] += if SQUARES { u * u } else { u.abs() };
                }
            }
            let total = fold(lanes);
            f(entity, if SQUARES { total.sqrt() } else { total });
        }
    }
}

impl<T: Real> Energy<T> for Translation {
    fn entity(&self) -> Layout {
        self.layout("entities")
    }

    fn relation(&self) -> Layout {
        self.layout("relations")
    }

    fn scratch(&self) -> usize {
        1
    }

    #[inline(always)]
    fn energy(&self, ends: &Ends<'_, T>, scratch: &mut [T]) -> T {
        let (rows, scales) = self.parts(ends);
        scratch[0] = distance(self.norm, rows, scales);
        scratch[0]
    }

    /// Computes the part of the known entity and the relation once for all answers.
    #[inline(always)]
    fn answers(&self, tables: &TablesView<'_, T>, question: Question, _: &mut [T], f: impl FnMut(u32, T)) {
        match (self.norm, question.tails) {
            (Norm::L1, true) => self.each::<T, false, true>(tables, question, f),
            (Norm::L1, false) => self.each::<T, false, false>(tables, question, f),
            (Norm::L2, true) => self.each::<T, true, true>(tables, question, f),
            (Norm::L2, false) => self.each::<T, true, false>(tables, question, f),
        }
    }

    #[inline(always)]
    fn slopes(&self, ends: &Ends<'_, T>, scratch: &mut [T], factor: T, slopes: &mut Slopes<'_, T>) {
        let (rows, scales) = self.parts(ends);
        let into = [&mut *slopes.head, &mut *slopes.relation, &mut *slopes.tail];
        distance_slopes((self.norm, scratch[0]), rows, scales, factor, into);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Tables, for_each_answer};
    use super::*;

    #[test]
    fn answers_have_the_energies_of_their_triples() {
        for (norm, unit, dimension) in [(Norm::L1, true, 20), (Norm::L2, true, 16), (Norm::L1, false, 33)] {
            let energy = Translation { dimension, norm, unit };
            let mut tables: Tables<f32> = Tables::new(&energy, 9, 2);
            let number = |row: u32, l: usize| ((row as usize * 31 + l * 17) % 23) as f32 / 7.0 - 1.5;
            for row in 0..9 {
                tables.entities.set(row, 0, &(0..dimension).map(|l| number(row, l)).collect::<Vec<f32>>());
            }
            for row in 0..2 {
                tables.relations.set(
                    row,
                    0,
                    &(0..dimension).map(|l| number(row + 40, l)).collect::<Vec<f32>>(),
                );
            }
            let (view, mut scratch) = (tables.view(), [0.0]);
            for tails in [true, false] {
                let mut asked = Vec::new();
                let question = Question { known: 3, relation: 1, tails };
                for_each_answer(&energy, &view, question, &mut scratch, |entity, own| {
                    asked.push((entity, own));
                });
                let (known, relation) = (view.entities.row(3), view.relations.row(1));
                let right: Vec<(u32, f32)> = (0..9)
                    .map(|entity| {
                        let answer = view.entities.row(entity);
                        let (head, tail) = if tails { (known, answer) } else { (answer, known) };
                        (entity, energy.energy(&Ends { head, relation, tail }, &mut [0.0]))
                    })
                    .collect();
                assert_eq!(asked, right, "{energy:?}, tails: {tails}");
            }
        }
    }
}
