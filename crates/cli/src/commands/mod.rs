//! One file per verb.

pub mod compare;
pub mod data;
pub mod models;
pub mod run;
