//! Golden values on the real data: filters, directions, ties, splits and step modes at once.
//!
//! Runs where the datasets are: `$QUADCAST_DATA`, or `shared/data` beside the project. Says so when they are not.

mod measure;

use measure::measure;
use quadcast_core::{Dataset, Filter, Setting};
use quadcast_eval::Metrics;
use quadcast_testing::real;

/// Absolute points that a golden value may be missed by.
const TOLERANCE: f64 = 0.02;

/// Expected MRR, H@1, H@3, H@10; optimistic MRR; mean MRR and H@1; pessimistic MRR; ordinal MRR and H@10; MR.
type Golden = ([f64; 4], f64, [f64; 2], f64, [f64; 2], f64);

fn check(dataset: &Dataset, setting: Setting, settings: &[&str], golden: Golden) {
    let outcome = measure("recurrency", settings, dataset, setting, 1);
    let time = outcome.filter(Filter::Time);
    let policy = |name: &str| -> Metrics { time.policy[name] };
    let m = time.metrics;
    let (expected, optimistic, mean, pessimistic, ordinal, mr) = golden;
    let pairs = [
        ("MRR", m.mrr, expected[0]),
        ("H@1", m.hits1, expected[1]),
        ("H@3", m.hits3, expected[2]),
        ("H@10", m.hits10, expected[3]),
        ("optimistic MRR", policy("optimistic").mrr, optimistic),
        ("mean MRR", policy("mean").mrr, mean[0]),
        ("mean H@1", policy("mean").hits1, mean[1]),
        ("pessimistic MRR", policy("pessimistic").mrr, pessimistic),
        ("ordinal MRR", policy("ordinal").mrr, ordinal[0]),
        ("ordinal H@10", policy("ordinal").hits10, ordinal[1]),
    ];
    let mut missed = Vec::new();
    for (name, value, golden) in pairs {
        if (100.0 * value - golden).abs() > TOLERANCE {
            missed.push(format!("{name} {:.3} instead of {golden}", 100.0 * value));
        }
    }
    if (m.mr - mr).abs() > 0.1 {
        missed.push(format!("MR {:.2} instead of {mr}", m.mr));
    }
    assert!(missed.is_empty(), "{} {settings:?} {}: {missed:?}", dataset.name, setting.word());
}

const COUNTING: &[&str] = &["variant=strict", "lambda=0"];
const DECAYING: &[&str] = &["variant=strict", "lambda=0.1"];
const LATEST: &[&str] = &["variant=strict", "lambda=1.0001"];
const RELAXED: &[&str] = &["variant=relaxed"];
const COMBINED: &[&str] = &["lambda=0.1", "alpha=0.999"];

#[test]
fn icews14_single_step() {
    let Some(data) = real::temporal("forecasting/ICEWS14") else { return };
    let single = |settings, golden| check(&data, Setting::SingleStep, settings, golden);
    single(COUNTING, ([34.14, 27.54, 38.32, 46.62], 60.62, [33.51, 25.74], 32.31, [36.18, 50.66], 1702.6));
    single(DECAYING, ([35.42, 28.82, 39.64, 47.68], 59.53, [35.35, 28.67], 35.28, [37.01, 51.38], 1702.1));
    single(LATEST, ([34.91, 28.13, 39.36, 47.56], 59.14, [34.81, 27.80], 34.66, [36.52, 51.28], 1702.2));
    single(RELAXED, ([14.41, 7.48, 15.96, 28.54], 14.97, [14.35, 7.31], 14.14, [14.53, 28.72], 803.4));
    single(COMBINED, ([35.20, 27.81, 38.86, 48.64], 35.56, [35.18, 27.74], 35.10, [35.30, 48.79], 765.5));
}

#[test]
fn icews14_multi_step() {
    let Some(data) = real::temporal("forecasting/ICEWS14") else { return };
    let multi = |settings, golden| check(&data, Setting::MultiStep, settings, golden);
    multi(DECAYING, ([27.19, 20.99, 30.94, 39.10], 54.72, [27.13, 20.93], 27.10, [29.18, 44.08], 1988.3));
    multi(RELAXED, ([14.14, 7.43, 15.61, 27.84], 14.72, [14.07, 7.24], 13.88, [14.28, 28.16], 893.0));
}

#[test]
fn yago_single_step() {
    let Some(data) = real::temporal("forecasting/YAGO") else { return };
    let single = |settings, golden| check(&data, Setting::SingleStep, settings, golden);
    single(COUNTING, ([81.66, 76.85, 84.86, 90.90], 86.27, [81.37, 75.71], 80.75, [81.61, 90.88], 388.2));
    single(DECAYING, ([85.67, 82.26, 88.12, 92.26], 89.40, [85.62, 82.00], 85.51, [85.67, 92.27], 387.7));
    single(LATEST, ([90.68, 88.82, 92.60, 92.73], 94.49, [90.60, 88.37], 90.44, [90.68, 92.74], 387.4));
    single(RELAXED, ([5.15, 1.84, 4.89, 10.68], 5.46, [5.11, 1.75], 5.02, [5.16, 10.69], 482.2));
    single(COMBINED, ([85.83, 82.33, 88.28, 92.53], 85.84, [85.83, 82.32], 85.82, [85.83, 92.52], 152.5));
}

#[test]
fn yago_multi_step() {
    let Some(data) = real::temporal("forecasting/YAGO") else { return };
    let multi = |settings, golden| check(&data, Setting::MultiStep, settings, golden);
    multi(LATEST, ([81.49, 79.20, 83.92, 84.20], 89.66, [81.34, 78.44], 81.04, [81.44, 84.20], 840.9));
    multi(COMBINED, ([78.18, 74.72, 80.76, 84.16], 78.21, [78.18, 74.69], 78.16, [78.19, 84.16], 325.3));
}
