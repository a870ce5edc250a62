//! How an entity or a relation becomes a row of numbers at some time.

use quadcast_kernels::Real;

use super::tables::{Gradients, TableId, Tables};

/// Who is asked for, and when: one id and one time per row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'a> {
    pub ids: &'a [u32],
    pub times: &'a [u32],
}

impl Places<'_> {
    pub fn len(&self) -> usize {
        self.ids.len()
    }
}

/// Makes rows from ids and times, and brings the gradients of such rows back to the tables they were made from.
///
/// To add one: implement this in a file of its own, and name it in `assemble`.
pub(crate) trait Encoder<T: Real>: Send + Sync {
    /// Length of a row.
    fn width(&self) -> usize;

    /// Whether the row of an id changes with time.
    fn depends_on_time(&self) -> bool;

    /// `out[places, width]` = the rows.
    fn encode(&self, tables: &Tables<T>, places: Places<'_>, out: &mut [T]);

    /// Adds the gradients of the tables for `gradient[places, width]`.
    fn backward(&self, tables: &Tables<T>, places: Places<'_>, gradient: &[T], into: &mut Gradients<T>);

    /// The table whose rows are the rows of this encoder, if they are nothing else.
    fn table(&self) -> Option<TableId> {
        None
    }

    /// The factors that a penalty on the rows in use sees: the row itself, unless it is a sum of several.
    fn factors(&self) -> Vec<&dyn Encoder<T>>;
}

/// The different values of a list, ascending, and where each member of the list stands among them.
pub(crate) fn distinct(list: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut values = list.to_vec();
    values.sort_unstable();
    values.dedup();
    let places = list.iter().map(|x| values.partition_point(|value| value < x) as u32).collect();
    (values, places)
}
