//! Forecasting models.

pub mod recurrency;
