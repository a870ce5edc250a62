//! Forecasting models.

mod popularity;
pub mod recurrency;
pub mod tlogic;
