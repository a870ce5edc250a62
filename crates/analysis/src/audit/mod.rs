//! The audit: is this dataset fit to compare models on?
//!
//! The checks D1 to D5 are the dataset part of the published checklist for fair evaluation. Each has a verdict, the
//! evidence for it and, where something can be done, advice. All their numbers come from [`info()`](crate::info()).
//! Beside them stands what train tells about the test split: [`Leakage`].

mod check;
mod identity;
mod leakage;
mod order;
mod separation;
mod shape;

pub use check::{Audit, audit, audit_with};
pub use leakage::{
    ClassCount, Leakage, LeakageCheck, LeakageExample, LeakageOptions, LeakingRelation, NamedFact,
    ReferenceScore, SplitKind, UnseenInTest,
};
