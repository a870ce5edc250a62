//! One file per verb.

pub mod data;
pub mod forecast;
pub mod models;
pub mod report;
pub mod run;
pub mod synth;
