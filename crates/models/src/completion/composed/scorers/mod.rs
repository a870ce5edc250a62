//! Score functions, one per file.

pub(crate) mod affine;
pub(crate) mod bilinear;
pub(crate) mod complex;
pub(crate) mod core;
pub(crate) mod diagonal;
pub(crate) mod gaussian;
pub(crate) mod phases;
pub(crate) mod translation;
