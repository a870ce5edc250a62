//! Score files as models: the evaluator asks, the file answers.

use quadcast_core::{
    Capabilities, Constant, Forecaster, History, ModelError, Query, Run, SavedModel, ScoreRow, ScoreSink,
    Setting, Step, Task, Validation,
};
use quadcast_data::scores::{ScoreFile, ScoreFileError};

/// What is known of an external model. Its scores exist already: what it saw when it made them is declared, not enforced.
const DECLARED: Capabilities = Capabilities {
    inductive: true,
    ..Capabilities::new(Task::Forecasting, &[Setting::SingleStep, Setting::MultiStep, Setting::Online])
};

/// A score file that answers queries.
pub(crate) struct ScoreModel {
    file: ScoreFile,
    fault: Option<ScoreFileError>,
}

impl ScoreModel {
    /// The scores of a file.
    pub fn new(file: ScoreFile) -> Self {
        Self { file, fault: None }
    }

    /// What is wrong with the file, if that stopped it from answering.
    pub fn take_fault(&mut self) -> Option<ScoreFileError> {
        self.fault.take()
    }

    /// To be called when all rows were asked for: an error if one was missing or held something that is not a number.
    pub fn check(&self) -> Result<(), ScoreFileError> {
        self.file.check()
    }
}

/// Why rows could not be handed over.
enum Stopped {
    File(ScoreFileError),
    Sink(ModelError),
}

impl From<ScoreFileError> for Stopped {
    fn from(error: ScoreFileError) -> Self {
        Self::File(error)
    }
}

impl Forecaster for ScoreModel {
    fn capabilities(&self) -> Capabilities {
        DECLARED
    }

    fn fit(&mut self, _: &History<'_>, _: &dyn Validation, _: &Run) -> Result<(), ModelError> {
        Ok(())
    }

    fn begin(&mut self, step: Step, _: &History<'_>) -> Result<(), ModelError> {
        self.file.prepare(step).map_err(|fault| {
            let message = fault.to_string();
            self.fault = Some(fault);
            ModelError::Unsupported(message)
        })
    }

    fn score(&self, _: &History<'_>, queries: &[Query], sink: &mut dyn ScoreSink) -> Result<(), ModelError> {
        let mut accept = |place: usize, row: ScoreRow<'_>| {
            sink.accept(place, row).map_err(|error| Stopped::Sink(error.into()))
        };
        self.file.rows(queries, &mut accept).map_err(|stopped| match stopped {
            Stopped::File(error) => ModelError::Unsupported(error.to_string()),
            Stopped::Sink(error) => error,
        })
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        Err(ModelError::Unsupported("a score file holds no learned state".to_owned()))
    }

    fn load(&mut self, _: &SavedModel) -> Result<(), ModelError> {
        Err(ModelError::Unsupported("a score file takes no learned state".to_owned()))
    }
}

/// A model under which all candidates tie: its ties count the candidates that each filter leaves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AllTied;

impl Forecaster for AllTied {
    fn capabilities(&self) -> Capabilities {
        DECLARED
    }

    fn fit(&mut self, _: &History<'_>, _: &dyn Validation, _: &Run) -> Result<(), ModelError> {
        Ok(())
    }

    fn begin(&mut self, _: Step, _: &History<'_>) -> Result<(), ModelError> {
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        let background = Constant::unreached(history.entities());
        for i in 0..queries.len() {
            sink.accept(i, ScoreRow::Sparse { ids: &[], scores: &[], background: &background })?;
        }
        Ok(())
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        Err(ModelError::Unsupported("it holds no learned state".to_owned()))
    }

    fn load(&mut self, _: &SavedModel) -> Result<(), ModelError> {
        Err(ModelError::Unsupported("it takes no learned state".to_owned()))
    }
}
