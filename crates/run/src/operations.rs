//! Operations from wherever they come: a file of them, an evolving graph, or facts with time stamps that hold for a while.

use std::path::PathBuf;

use quadcast_core::Progress;
use quadcast_data::{
    Content, FaultPolicy, Hold, LoadOptions, OperationStream, StreamFormat, operations_of, read_operations,
    stream_format, with_numbers_as_ids,
};

use crate::error::one_line;
use crate::{RunError, open};

/// Where operations come from, and how they are read.
///
/// ```
/// use quadcast_core::Silent;
/// use quadcast_data::{FaultPolicy, Hold};
/// use quadcast_run::OperationSource;
///
/// # fn main() -> Result<(), quadcast_run::RunError> {
/// # let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/harbour");
/// let source = OperationSource { place: data.into(), policy: FaultPolicy::Error, hold: Some(Hold::Steps(30)) };
/// let stream = source.read(&Silent)?;
/// assert!(stream.len() > stream.triples().len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct OperationSource {
    /// A file of operations, or a dataset: a folder, or a name to be found in `$QUADCAST_DATA` or the cache.
    pub place: PathBuf,
    /// What happens to insertions of present triples and deletions of absent ones.
    pub policy: FaultPolicy,
    /// How long a fact with a time stamp holds. Only for such facts; by default one step.
    pub hold: Option<Hold>,
}

impl OperationSource {
    /// Reads the operations.
    pub fn read(&self, progress: &dyn Progress) -> Result<OperationStream, RunError> {
        if self.place.is_file() {
            self.refuse_hold("a stream of operations")?;
            return Ok(read_operations(&self.place, self.policy)?);
        }
        let contradictory = self.policy == FaultPolicy::Drop;
        let loaded =
            open(&self.place.to_string_lossy(), LoadOptions { contradictory, ..LoadOptions::default() })?;
        loaded.notes.iter().for_each(|note| progress.detail(note));
        if matches!(loaded.content, Content::Evolving(_)) {
            self.refuse_hold("a graph that changes by insertions and deletions")?;
        }
        Ok(operations_of(&loaded.content, self.hold.unwrap_or_default(), self.policy)?)
    }

    /// Reads the operations with the ids of their source. A text has numbers, which are ids if most of them occur.
    pub fn read_with_ids(&self, progress: &dyn Progress) -> Result<OperationStream, RunError> {
        let text = self.place.is_file() && stream_format(&self.place)? == StreamFormat::Text;
        let stream = self.read(progress)?;
        Ok(if text { with_numbers_as_ids(stream)? } else { stream })
    }

    /// Deletions that are listed leave nothing to be said about how long a triple holds.
    fn refuse_hold(&self, kind: &str) -> Result<(), RunError> {
        match self.hold {
            Some(_) => Err(RunError::input(format!(
                "--hold is for facts with time stamps; {} is {kind}, which says itself when a triple goes: leave \
                 --hold out",
                one_line(self.place.display())
            ))),
            None => Ok(()),
        }
    }
}
