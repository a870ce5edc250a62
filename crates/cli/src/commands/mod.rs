//! The verbs.

pub mod compare;
pub mod compile;
pub mod convert;
pub mod data;
pub mod demo;
pub mod evaluate;
pub mod forecast;
pub mod import;
pub mod models;
pub mod report;
pub mod rules;
pub mod run;
pub mod split;
pub mod synth;
pub mod verify;
