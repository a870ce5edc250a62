//! Completion models.

pub mod composed;
pub mod naive_rules;
pub mod recipes;
