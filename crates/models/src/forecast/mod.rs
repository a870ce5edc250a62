//! Forecasting models.

pub mod cen;
pub mod cygnet;
mod popularity;
pub mod recurrency;
pub mod regcn;
mod snapshot_network;
mod snapshots;
pub(crate) mod state;
pub mod tlogic;
