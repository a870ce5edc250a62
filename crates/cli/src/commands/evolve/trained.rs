//! A finished run on a changing graph opened again: its record, its graph and its model.

use std::path::Path;

use quadcast_core::EvolvingModel;
use quadcast_models::EvolvingEntry;
use quadcast_report::{EvolvingRecord, Status};

use super::asked::restore;
use super::file::EvolveFile;
use super::source::Graph;
use crate::commands::run::read_run_file;
use crate::failure::Failure;
use crate::model_files::read_evolving_model;
use crate::output::Output;

/// The file in which a version of a run keeps its graph.
pub const GRAPH_FILE: &str = "graph.qops";

/// A trained model of a changing graph, and the graph.
pub struct TrainedGraph {
    pub record: EvolvingRecord,
    pub file: EvolveFile,
    pub graph: Graph,
    pub entry: &'static EvolvingEntry,
    pub model: Box<dyn EvolvingModel>,
}

impl TrainedGraph {
    /// Opens a run folder; `None` if the run was on something else. `data` replaces the dataset's place, not its content.
    pub fn open(folder: &Path, data: Option<&str>, output: &Output) -> Result<Option<Self>, Failure> {
        let Some(record) = EvolvingRecord::read(folder)? else { return Ok(None) };
        if record.status != Status::Complete {
            return Err(Failure::input(format!(
                "{} holds a run that is not complete; run it again first",
                folder.display()
            )));
        }
        let file: EvolveFile = read_run_file(&folder.join("run.toml"))?;
        let own = folder.join(GRAPH_FILE);
        let own = own.is_file().then(|| own.to_string_lossy().into_owned());
        let place = data.or(own.as_deref()).or(file.data.as_deref()).unwrap_or(&record.dataset.name);
        let mut graph = Graph::open(place, file.format, output)?;
        // A stream is called as its file, its graph as the dataset that it began with.
        graph.dataset.name.clone_from(&record.dataset.name);
        let (expected, found) = (record.dataset.fingerprint, graph.content);
        if expected != found {
            return Err(Failure::input(format!(
                "{place} is not what the run was made on: expected fingerprint {expected}, found {found}. \
                 Name the right one with --data"
            )));
        }
        restore(folder, &mut graph.dataset)?;
        let (entry, model) = read_evolving_model(folder)?;
        Ok(Some(Self { record, file, graph, entry, model }))
    }
}
