//! One file per verb.

pub mod data;
pub mod models;
pub mod report;
pub mod run;
