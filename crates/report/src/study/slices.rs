//! Results by relation and by how often an entity occurs.

use std::collections::{BTreeMap, HashMap};

use quadcast_core::{Direction, EntityId, Filter};
use quadcast_eval::{RankedQuery, Tally};

use super::Group;
use crate::LoadedRun;

/// Relations in a table: more do not fit a reader's patience.
const RELATIONS: usize = 20;

/// Bins of frequency at most.
const BINS: usize = 6;

/// One row: a part of the queries with a mean reciprocal rank per run.
pub(crate) struct Slice {
    pub name: String,
    pub queries: u64,
    /// By run and then by column; `None` where a run has no such queries.
    pub mrr: Vec<Vec<Option<f64>>>,
}

/// The relations with most queries, each with the object and the subject direction; and how many there are in all.
pub(crate) fn relations(group: &Group<'_>) -> (Vec<Slice>, usize) {
    let mut queries: BTreeMap<u32, (String, u64)> = BTreeMap::new();
    let Some(first) = group.members.first() else { return (Vec::new(), 0) };
    for row in &first.run.record.by_relation {
        queries.entry(row.id).or_insert_with(|| (row.relation.clone(), 0)).1 += row.part.queries;
    }
    let total = queries.len();
    let mut order: Vec<(u32, (String, u64))> = queries.into_iter().collect();
    order.sort_by_key(|(id, (_, queries))| (std::cmp::Reverse(*queries), *id));
    let value = |run: &LoadedRun, id: u32, direction: Direction| {
        let mut rows = run.record.by_relation.iter();
        let row = rows.find(|row| row.id == id && row.direction == direction.word())?;
        Some(row.part.metrics.mrr)
    };
    let slice = |(id, (name, queries)): (u32, (String, u64))| {
        let runs = group.members.iter();
        let mrr = runs.map(|m| Direction::BOTH.map(|d| value(m.run, id, d)).to_vec()).collect();
        Slice { name, queries, mrr }
    };
    (order.into_iter().take(RELATIONS).map(slice).collect(), total)
}

/// Results by the number of test facts that name an entity of the query, time-aware filter.
pub(crate) fn frequencies(group: &Group<'_>, entity: impl Fn(&RankedQuery) -> EntityId) -> Vec<Slice> {
    let Some(first) = group.members.first() else { return Vec::new() };
    let counts = facts_by_entity(&first.run.ranks);
    let most = counts.values().copied().max().unwrap_or(1);
    let bins = bins(most);
    let place = |row: &RankedQuery| {
        let count = counts.get(&entity(row)).copied().unwrap_or(0);
        bins.iter().rposition(|&low| low <= count).unwrap_or(0)
    };
    let tallies = |run: &LoadedRun| run.counting().group(&run.ranks, Filter::Time, place);
    let runs: Vec<BTreeMap<usize, Tally>> = group.members.iter().map(|m| tallies(m.run)).collect();
    let slice = |(i, &low): (usize, &u64)| {
        let high = bins.get(i + 1).map_or(most, |next| next - 1);
        let name = if low == high { low.to_string() } else { format!("{low} – {high}") };
        let value = |bins: &BTreeMap<usize, Tally>| Some(bins.get(&i)?.metrics()?.mrr);
        let mrr = runs.iter().map(|bins| vec![value(bins)]).collect();
        Slice { name, queries: runs[0].get(&i).map_or(0, |tally| tally.queries), mrr }
    };
    bins.iter().enumerate().map(slice).filter(|slice| slice.queries > 0).collect()
}

/// How many test facts name each entity: the object direction holds every fact once.
fn facts_by_entity(ranks: &[RankedQuery]) -> HashMap<EntityId, u64> {
    let mut counts = HashMap::new();
    for row in ranks.iter().filter(|row| row.query.direction == Direction::Object) {
        *counts.entry(row.query.known).or_insert(0) += 1;
        if row.gold != row.query.known {
            *counts.entry(row.gold).or_insert(0) += 1;
        }
    }
    counts
}

/// Lower ends of bins that grow by a constant factor, the smallest that needs few bins.
fn bins(most: u64) -> Vec<u64> {
    for factor in 2.. {
        let lows: Vec<u64> = std::iter::successors(Some(1_u64), |low| low.checked_mul(factor))
            .take_while(|&l| l <= most)
            .collect();
        if lows.len() <= BINS {
            return lows;
        }
    }
    unreachable!("a large enough factor leaves one bin")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{RELATION, run};
    use crate::study::Study;

    #[test]
    fn bins_cover_everything() {
        assert_eq!(bins(1), [1]);
        assert_eq!(bins(9), [1, 2, 4, 8]);
        assert_eq!(bins(1000), [1, 4, 16, 64, 256]);
        assert!(bins(u64::MAX).len() <= BINS);
    }

    #[test]
    fn slices_add_up() {
        let runs = [run("a", |i| i % 3), run("b", |_| 0)];
        let options = crate::Options::default();
        let study = Study::new(&runs, &options);
        let group = &study.sections[0].groups[0];
        let (relations, total) = relations(group);
        assert_eq!((relations.len(), total), (2, 2));
        assert_eq!(relations[0].name, RELATION);
        let golds = frequencies(group, |row| row.gold);
        for slices in [&relations, &golds] {
            assert_eq!(slices.iter().map(|slice| slice.queries).sum::<u64>(), 96);
        }
        let mean: f64 =
            golds.iter().map(|slice| slice.queries as f64 * slice.mrr[1][0].expect("queries")).sum::<f64>();
        assert!((mean / 96.0 - group.members[1].run.outcome(Filter::Time).metrics.mrr).abs() < 1e-12);
    }
}
