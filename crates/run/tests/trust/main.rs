//! What is believed of a run folder and of the files that a run is made from, and what is not.

mod complete;
mod damaged;
mod interrupted;
#[path = "../common/plans.rs"]
mod plans;
mod support;
mod user_files;
