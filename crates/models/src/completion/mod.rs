//! Completion models.

pub mod naive_rules;
