//! What is said of datasets: statistics, audit, leakage, patterns, catalogue, divisions and comparisons.

#![allow(clippy::unwrap_used)]

mod audit;
mod catalogue;
mod division;
mod info;
mod leakage;
mod patterns;
