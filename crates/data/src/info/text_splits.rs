//! Statistics in words: datasets in three splits.

use quadcast_core::{Splits, TimeUnit};

use super::block::Block;
use super::completion::CompletionInfo;
use super::counting::SharedBySplits;
use super::graph::StaticInfo;
use super::intervals::IntervalsInfo;
use super::recurrency::Recurrency;
use super::temporal::{SplitOrder, TemporalInfo};
use super::text::{novelty, share};
use super::time::TimeInfo;

/// How many widths of gaps are listed; the JSON document has all.
const SHOWN_WIDTHS: usize = 8;

pub(super) fn temporal(block: &mut Block, info: &TemporalInfo) {
    block.heading("Splits");
    let range = |pick: fn(&super::time::SplitRange) -> &String| -> Vec<String> {
        info.time
            .ranges
            .iter()
            .map(|(_, range)| range.as_ref().map_or_else(|| "-".to_owned(), |r| pick(r).clone()))
            .collect()
    };
    block.table(
        &titles(),
        &[
            ("facts", cells(&info.facts)),
            ("time stamps", cells(&info.time_stamps)),
            ("first", range(|range| &range.first)),
            ("last", range(|range| &range.last)),
            ("repeated rows", cells(&info.duplicates)),
            ("self loops", cells(&info.self_loops)),
        ],
    );
    block.row("order in time", order(info.split_order));
    block.row("quadruples in two splits", &shared(&info.shared_quadruples));
    block.row("time stamps in two splits", &shared_times(info));
    time(block, info);
    block.heading("What the test split brings");
    novelty(block, "entities", &info.entity_novelty);
    novelty(block, "relations", &info.relation_novelty);
    recurrency(block, info);
    if let Some(completion) = &info.completion {
        completion_rows(block, completion);
    }
}

fn time(block: &mut Block, info: &TemporalInfo) {
    let time = &info.time;
    block.heading("Time");
    block.row("span", &format!("{} to {}", time.first, time.last));
    block.row("steps", &format!("{} of {}", time.steps, width(time.unit, time.granularity)));
    block.row("gaps", &gaps(time));
    let per = &info.facts_per_time_stamp;
    block.row("facts per time stamp", &format!("{:.1} on average, {} to {}", per.mean, per.min, per.max));
}

fn recurrency(block: &mut Block, info: &TemporalInfo) {
    block.heading("How much of the test split repeats");
    let rows = |block: &mut Block, recurrency: &Recurrency| {
        block.row("seen at any earlier time", &share(&recurrency.earlier));
        block.row("seen one time stamp before", &share(&recurrency.previous));
        block.row("in train or valid", &share(&recurrency.in_train_and_valid));
        block.row("in train", &share(&recurrency.in_train));
    };
    rows(block, &info.recurrency);
    if info.duplicates.test > 0 {
        let left = info.recurrency_without_duplicates.test_facts;
        block.heading(&format!("The same without repeated rows ({left} test facts)"));
        rows(block, &info.recurrency_without_duplicates);
    }
    block.heading("True answers per test query, on average");
    let answers = &info.answers;
    let mean = |a: f64| format!("{a:.2}");
    block.table(
        &["same time".to_owned(), "any time".to_owned()],
        &[
            ("objects", vec![mean(answers.objects.time_aware), mean(answers.objects.any_time)]),
            ("subjects", vec![mean(answers.subjects.time_aware), mean(answers.subjects.any_time)]),
        ],
    );
}

fn completion_rows(block: &mut Block, info: &CompletionInfo) {
    block.heading("What train gives away of a test fact (s, r, o, t)");
    block.row("(s, r, o) at any time", &share(&info.in_train_at_any_time));
    block.row("(s, r, o) earlier", &share(&info.in_train_earlier));
    block.row("(s, r, o) one step before", &share(&info.in_train_one_before));
    block.row("(s, r, o) one before or after", &share(&info.in_train_one_before_or_after));
    block.row("(o, r, s) at t", &share(&info.mirrored_in_train));
    block.row("(o, any relation, s) at t", &share(&info.reversed_pair_in_train));
}

pub(super) fn graph(block: &mut Block, info: &StaticInfo) {
    block.heading("Splits");
    let rows = [
        ("facts", cells(&info.facts)),
        ("repeated rows", cells(&info.duplicates)),
        ("self loops", cells(&info.self_loops)),
    ];
    block.table(&titles(), &rows);
    block.row("triples in two splits", &shared(&info.shared_triples));
    block.row("type constraints", if info.type_constraints { "listed" } else { "none" });
    block.heading("What the test split brings");
    novelty(block, "entities", &info.entity_novelty);
    novelty(block, "relations", &info.relation_novelty);
    block.row("reversed pair in train", &share(&info.reversed_pair_in_train));
}

pub(super) fn intervals(block: &mut Block, info: &IntervalsInfo) {
    block.heading("Splits");
    let rows = [
        ("facts", cells(&info.facts)),
        ("repeated rows", cells(&info.duplicates)),
        ("self loops", cells(&info.self_loops)),
    ];
    block.table(&titles(), &rows);
    if let Some(rows) = info.unsplit_rows {
        block.row("facts before the split", &rows.to_string());
    }
    block.heading(&format!("Intervals of all {} facts", info.rows));
    if let Some(years) = info.years {
        block.row("years", &format!("{} to {}", years.first, years.last));
    }
    let open = |count: usize, coarse: usize| match coarse {
        0 => count.to_string(),
        _ => format!("{count}, of which {coarse} with some digits of the year known"),
    };
    block.row("start unknown", &open(info.open_start, info.coarse_start));
    block.row("end unknown", &open(info.open_end, info.coarse_end));
    block.row("both unknown", &info.open_both.to_string());
    block.row("start and end in the same year", &info.same_year.to_string());
    block.row("end before start", &info.end_before_start.to_string());
    let several = match info.several_intervals {
        0 => "none".to_owned(),
        count => format!("{count}, up to {} intervals each", info.most_intervals),
    };
    block.row("triples with several intervals", &several);
    block.heading("What the test split brings");
    novelty(block, "entities", &info.entity_novelty);
    novelty(block, "relations", &info.relation_novelty);
    block.row("in train, other interval", &info.test_in_train_with_other_interval.to_string());
    block.row("in train, same interval", &info.test_in_train.to_string());
}

fn titles() -> Vec<String> {
    ["train", "valid", "test"].map(str::to_owned).to_vec()
}

fn cells(counts: &Splits<usize>) -> Vec<String> {
    counts.iter().map(|(_, count)| count.to_string()).collect()
}

fn order(order: SplitOrder) -> &'static str {
    match order {
        SplitOrder::Ordered => "train before valid before test: for forecasting",
        SplitOrder::SharedBorder => "train, valid, test, with a time stamp shared at a border",
        SplitOrder::Interleaved => "the splits interleave: for completion, not for forecasting",
    }
}

fn shared(shared: &SharedBySplits<usize>) -> String {
    let pairs = [
        ("train and valid", shared.train_valid),
        ("train and test", shared.train_test),
        ("valid and test", shared.valid_test),
    ];
    let words: Vec<String> = pairs
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(pair, count)| format!("{count} in {pair}"))
        .collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn shared_times(info: &TemporalInfo) -> String {
    let (counts, examples) = (&info.shared_time_stamps, &info.shared_time_stamp_examples);
    let pairs = [
        ("train and valid", counts.train_valid, &examples.train_valid),
        ("train and test", counts.train_test, &examples.train_test),
        ("valid and test", counts.valid_test, &examples.valid_test),
    ];
    let words = pairs.iter().filter(|(_, count, _)| *count > 0).map(|(pair, count, examples)| {
        let more = if *count > examples.len() { ", ..." } else { "" };
        format!("{count} in {pair} ({}{more})", examples.join(", "))
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { "none".to_owned() } else { words.join("; ") }
}

fn gaps(time: &TimeInfo) -> String {
    if time.gaps == 0 {
        return "none".to_owned();
    }
    let widths: Vec<String> = time
        .gap_widths
        .iter()
        .take(SHOWN_WIDTHS)
        .map(|gap| format!("{} x {}", gap.count, width(time.unit, gap.width)))
        .collect();
    let more = if time.gap_widths.len() > SHOWN_WIDTHS { ", ..." } else { "" };
    let first = &time.first_gaps[0];
    format!("{}{more}; the first after {}, until {}", widths.join(", "), first.after, first.before)
}

/// A distance in time in words. Hours that make up whole days are days.
pub(crate) fn width(unit: TimeUnit, units: i64) -> String {
    let (number, unit) = match unit {
        TimeUnit::Hour if units % 24 == 0 => (units / 24, TimeUnit::Day),
        unit => (units, unit),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {}{plural}", unit.word())
}
