//! Forecasting models.

pub mod cen;
pub mod cygnet;
mod popularity;
mod questions;
pub mod recurrency;
pub mod regcn;
mod snapshot_encoder;
mod snapshots;
pub(crate) mod state;
pub mod tlogic;
mod trainer;
