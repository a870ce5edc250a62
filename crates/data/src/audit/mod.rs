//! The audit: is this dataset fit to compare models on?
//!
//! The checks D1 to D5 are the dataset part of the published checklist for fair evaluation. Each has a verdict, the
//! evidence for it and, where something can be done, advice. All numbers come from [`info()`](crate::info()).

mod check;
mod identity;
mod order;
mod run;
mod separation;
mod shape;

pub use check::Audit;
pub use run::audit;
