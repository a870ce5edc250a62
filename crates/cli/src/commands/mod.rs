//! One file per verb.

pub mod data;
pub mod import;
pub mod models;
pub mod run;
