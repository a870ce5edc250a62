//! TNT: a relation is the sum of a part that changes with time and one that does not, `r ⊙ t_τ + r₀`.
//!
//! Parameters: those of both parts. A penalty on the rows in use sees the two parts apart, as the paper has it.

use quadcast_kernels::{Real, memory, rows};

use super::super::encoder::{Encoder, Places};
use super::super::tables::{Gradients, Tables};
use super::fused::Fused;
use super::plain::Plain;

pub(crate) struct WithStillPart {
    pub moving: Fused,
    pub still: Plain,
}

impl<T: Real> Encoder<T> for WithStillPart {
    fn width(&self) -> usize {
        self.still.width
    }

    fn depends_on_time(&self) -> bool {
        true
    }

    fn encode(&self, tables: &Tables<T>, places: Places<'_>, out: &mut [T]) {
        self.moving.encode(tables, places, out);
        let mut still = memory::take(out.len());
        self.still.encode(tables, places, &mut still);
        let width = self.still.width;
        rows::for_each_row(
            out,
            width,
            #[inline(always)]
            |i, row| row.iter_mut().zip(&still[i * width..]).for_each(|(x, &y)| *x += y),
        );
    }

    fn backward(&self, tables: &Tables<T>, places: Places<'_>, gradient: &[T], into: &mut Gradients<T>) {
        self.moving.backward(tables, places, gradient, into);
        self.still.backward(tables, places, gradient, into);
    }

    fn factors(&self) -> Vec<&dyn Encoder<T>> {
        vec![&self.moving, &self.still]
    }
}
