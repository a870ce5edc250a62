//! Downloading published datasets into the user's cache: resumed where it broke off, checked against SHA-256, from
//! the first mirror that answers.

mod cache;
mod dataset;
mod error;
mod transfer;

pub use cache::cache_folder;
pub use dataset::{FetchOptions, FetchReport, Fetched, fetch};
pub use error::{Cause, FetchError, Mirror};
