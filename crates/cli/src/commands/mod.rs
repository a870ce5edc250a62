//! One file per verb.

pub mod data;
pub mod fetch;
pub mod import;
pub mod models;
pub mod run;
