//! Downloading published datasets into the user's cache: resumed where it broke off, checked against SHA-256, from
//! the first mirror that answers.

mod dataset;
mod error;
mod transfer;

pub use dataset::{FetchOptions, FetchReport, Fetched, cache_folder, fetch};
pub use error::{Cause, FetchError, Mirror};
