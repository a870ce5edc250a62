//! One file per verb.

pub mod compare;
pub mod data;
pub mod evaluate;
pub mod export;
pub mod models;
pub mod run;
