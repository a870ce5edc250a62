//! External models: the list of queries they answer, and the score files they answer with.
//!
//! A [`QueryList`] numbers the distinct queries of a split and gives each a key, a hash of dataset, split and query. A
//! [`ScoreFile`] holds scores by row of that list, dense (`.npy`, `.npz`) or sparse (`.csv`, `.parquet`), and hands
//! them out by query: only the evaluator ranks. Keys in the file prove that its rows are those of the list. A [`RankFile`] is the
//! exception, for those who kept ranks only.

mod csv;
mod dense;
mod error;
mod file;
mod lines;
mod list;
mod numpy;
#[cfg(feature = "parquet")]
mod parquet;
mod ranks;
mod sparse;

pub use error::ScoreFileError;
pub use file::{OpenOptions, ScoreFile};
pub use list::{QueryList, Written, write_entities};
pub use ranks::{GoldAnswer, RankCounts, RankFile};
