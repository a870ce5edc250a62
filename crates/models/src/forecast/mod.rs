//! Forecasting models.

pub mod cen;
pub mod cygnet;
pub mod herald;
mod popularity;
pub mod recurrency;
pub mod regcn;
mod removal;
pub mod renet;
mod snapshot_network;
mod snapshots;
pub(crate) mod state;
pub mod tango;
pub mod tlogic;
