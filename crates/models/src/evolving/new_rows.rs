//! New rows: whether they fit into memory, their initial values, and the placement of new entities.

use quadcast_core::{Direction, GraphSizes, ModelError, Run, Triple};
use quadcast_kernels::triples::{Layout, Table, Tables};

use super::settings::Config;
use super::space::{InitialRows, Space};
use crate::blocks::Initial;
use crate::capacity::{NUMBER, TRAINED, check_settings};

/// Copies of every number while rows are made: the new rows, the old rows or a drawn segment, and a temporary copy.
const COPIES: f64 = 3.0;
/// Samples whose false triples are drawn together, over all parts of a batch.
const TOGETHER: f64 = 128.0;
/// Bytes of a false triple: its ids, the end that differs, and its energy.
const FALSE_TRIPLE: f64 = 20.0;

/// Numbers of the rows of a space, padding included.
pub(super) fn numbers<M: Space>(space: &M, sizes: GraphSizes) -> u128 {
    let of = |layout: Layout, rows: usize| layout.stride() as u128 * rows as u128;
    of(space.entity(), sizes.entities) + of(space.relation(), sizes.relations)
}

/// Refuses rows that cannot fit into free memory. Checked before rows are allocated: a failed allocation gives no message.
pub(super) fn check_rows<M: Space>(config: &Config, sizes: GraphSizes) -> Result<(), ModelError> {
    let GraphSizes { entities, relations } = sizes;
    let what = format!("the rows of {entities} entities and {relations} relations");
    check_settings(config, &what, |config| NUMBER * COPIES * numbers(&M::new(config), sizes) as f64)
}

/// Refuses a training that cannot fit into memory: rows with their gradients and moments, and the false triples of a step.
pub(super) fn check_training<M: Space>(config: &Config, sizes: GraphSizes) -> Result<(), ModelError> {
    let GraphSizes { entities, relations } = sizes;
    let what = format!("training with {entities} entities and {relations} relations");
    check_settings(config, &what, |config| {
        let space = M::new(config);
        let wrong = config.negatives as f64 + config.relation_negatives as f64;
        let each = if config.deterministic {
            TOGETHER * FALSE_TRIPLE
        } else {
            // Every thread copies the rows of the false triples of a sample.
            let row = 2.0 * space.entity().stride() as f64 + space.relation().stride() as f64;
            rayon::current_num_threads() as f64 * (NUMBER * row + FALSE_TRIPLE)
        };
        NUMBER * TRAINED * numbers(&space, sizes) as f64 + wrong * each
    })
}

/// Initial rows of an untrained model. The range of the values follows from the rows `present` at the first fit.
pub(super) fn tables<M: Space>(
    space: &M,
    config: &Config,
    (sizes, present): (GraphSizes, GraphSizes),
    run: &Run,
) -> Tables<f32> {
    let mut tables = Tables::new(space, sizes.entities, sizes.relations);
    let rows = if config.init_rows == 0 { present.entities } else { config.init_rows };
    fill(space, config, &mut tables.entities, rows, run);
    fill(space, config, &mut tables.relations, present.relations, run);
    tables
}

fn fill<M: Space>(space: &M, config: &Config, table: &mut Table<f32>, rows: usize, run: &Run) {
    let Layout(segments) = table.layout().clone();
    for (index, segment) in segments.iter().enumerate() {
        let usual = if config.epsilon > 0.0 {
            (config.margin + config.epsilon) / config.dimension as f64
        } else {
            (6.0 / (rows + segment.width) as f64).sqrt()
        };
        let numbers = match space.initial(segment).unwrap_or(InitialRows::Drawn(Initial::Uniform(usual))) {
            InitialRows::Drawn(initial) => {
                let mut stream = run.stream(&format!("initial {}", segment.name), 0);
                initial.draw(table.rows() * segment.width, &mut stream)
            }
            InitialRows::Diagonal(columns) => {
                let one = |place: usize| place / columns == place % columns;
                let matrix = (0..segment.width).map(|place| if one(place) { 1.0 } else { 0.0 });
                matrix.collect::<Vec<f32>>().repeat(table.rows())
            }
        };
        table.replace_segment(index, &numbers);
    }
}

/// Places untrained entities at the mean of the positions that their triples with trained entities suggest. Entities connected
/// to new entities only are placed in a second round; those without such triples keep their random rows. Placed rows get the
/// mean length of the trained ones, since the length decides how far a training step turns a row.
pub(super) fn place<M: Space>(space: &M, tables: &mut Tables<f32>, inserted: &[Triple], trained: &[bool]) {
    let Some(segment) = tables.entities.layout().0.first().copied() else { return };
    let mut known = trained.to_vec();
    let length = mean_length(tables, &known, segment.width);
    for _ in 0..2 {
        let mut sums: Vec<(u32, Vec<f32>)> = Vec::new();
        let mut places = vec![usize::MAX; known.len()];
        for triple in inserted {
            let ends = [(triple.subject, triple.object), (triple.object, triple.subject)];
            for ((from, to), direction) in ends.into_iter().zip(Direction::BOTH) {
                if !known[from.index()] || known[to.index()] {
                    continue;
                }
                if places[to.index()] == usize::MAX {
                    places[to.index()] = sums.len();
                    sums.push((to.0, vec![0.0; segment.width]));
                }
                let relation = tables.relations.row(triple.relation.0);
                let out = &mut sums[places[to.index()]].1;
                if !space.guess(tables.entities.row(from.0), relation, direction, out) {
                    return;
                }
            }
        }
        for (entity, mut sum) in sums {
            let size = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
            if size > 0.0 {
                sum.iter_mut().for_each(|x| *x *= length / size);
                tables.entities.set(entity, 0, &sum);
                known[entity as usize] = true;
            }
        }
    }
}

fn mean_length(tables: &Tables<f32>, known: &[bool], width: usize) -> f32 {
    let rows = (0..known.len() as u32).filter(|&row| known[row as usize]);
    let lengths = rows.map(|row| tables.entities.row(row).values[..width].iter().map(|x| x * x).sum::<f32>());
    let (total, count) =
        lengths.fold((0.0_f64, 0.0), |(t, n), square| (t + f64::from(square.sqrt()), n + 1.0));
    (total / f64::max(count, 1.0)) as f32
}

#[cfg(test)]
mod tests {
    use quadcast_core::GraphSizes;
    use quadcast_kernels::triples::{Norm, Translation};

    use super::numbers;

    #[test]
    fn numbers_are_counted_with_padding_and_do_not_overflow() {
        let space = |dimension| Translation { dimension, norm: Norm::L1, unit: true };
        assert_eq!(numbers(&space(20), GraphSizes { entities: 5, relations: 2 }), 7 * 32);
        let all = GraphSizes { entities: usize::MAX, relations: 0 };
        assert_eq!(numbers(&space(16), all), 16 * usize::MAX as u128);
    }
}
