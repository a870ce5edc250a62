//! One file per verb.

pub mod data;
pub mod models;
pub mod run;
pub mod synth;
