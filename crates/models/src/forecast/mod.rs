//! Forecasting models.

mod asked;
pub mod cen;
pub mod cygnet;
mod popularity;
mod reader;
pub mod recurrency;
pub mod regcn;
mod removal;
mod snapshots;
pub(crate) mod state;
pub mod tlogic;
mod trainer;
