//! Temporal embeddings, one per file.

pub(crate) mod diachronic;
pub(crate) mod fused;
pub(crate) mod hyperplane;
pub(crate) mod plain;
pub(crate) mod rotation;
pub(crate) mod series;
pub(crate) mod signs;
pub(crate) mod still;
pub(crate) mod windows;
