//! Opening data for a run: finding, reading, and telling which task its splits are made for.

use std::path::Path;

use quadcast_analysis::{CompileOptions, as_single_step, compile, unroll};
use quadcast_core::{Dataset, EvolvingDataset, Facts, Fingerprint, IntervalUse, Progress, Split, Task};
use quadcast_data::{
    Content, FaultPolicy, Format, Hold, LoadOptions, Loaded, OperationStream, fingerprint, load, locate,
    operations_of, read_operations,
};

use crate::RunError;

/// Share of the held-out facts that must not be later than train for a split to be taken for a random one.
const RANDOM: f64 = 0.9;

/// Finds and reads a dataset.
pub fn open(data: &str, options: LoadOptions) -> Result<Loaded, RunError> {
    Ok(load(&locate(data)?, &options)?)
}

/// Finds and reads a dataset, or a file of operations with steps and splits. Only an evolving graph can be a file.
pub(crate) fn open_any(
    place: &str,
    format: Option<Format>,
    task: Option<Task>,
    progress: &dyn Progress,
) -> Result<Opened, RunError> {
    let is_stream = task == Some(Task::Evolving) || (task.is_none() && place.contains(".qops"));
    if is_stream && Path::new(place).is_file() {
        let stream = read_operations(Path::new(place), FaultPolicy::Error)?;
        if stream.steps().is_none() || stream.splits().is_none() {
            return Err(RunError::input(format!(
                "{place} is a stream without steps and splits: make a benchmark of it with quadcast data compile"
            )));
        }
        return Ok(Opened::Graph(Graph::of_stream(&stream)?));
    }
    let loaded = open(place, LoadOptions { format, ..LoadOptions::default() })?;
    loaded.notes.iter().for_each(|note| progress.detail(note));
    Ok(Opened::Loaded(Box::new(loaded)))
}

/// Data that was read, before the task is known.
pub(crate) enum Opened {
    Loaded(Box<Loaded>),
    /// The graph of a stream of operations.
    Graph(Graph),
}

impl Opened {
    /// The task that the data is made for. A random split of facts with times is unmistakable, and the user is told; whatever
    /// else is wrong with the order of splits is an error of forecasting, which names the lines.
    pub fn task(&self, progress: &dyn Progress) -> Task {
        let unrolled;
        let splits = match self {
            Self::Graph(_) => return Task::Evolving,
            Self::Loaded(loaded) => match &loaded.content {
                Content::Evolving(_) | Content::Static(_) => return Task::Evolving,
                Content::Temporal(dataset) => &dataset.splits,
                Content::Intervals(intervals) => {
                    unrolled = unroll(intervals, IntervalUse::default());
                    &unrolled.splits
                }
            },
        };
        let last = splits.train.last_step();
        let inside = |facts: &Facts| {
            let inside = facts.iter().filter(|fact| Some(fact.step) <= last).count();
            inside as f64 >= RANDOM * facts.len().max(1) as f64
        };
        if inside(&splits.valid) && inside(&splits.test) {
            progress.remark("the splits share their times, so this is completion (--task says otherwise)");
            return Task::Completion;
        }
        Task::Forecasting
    }

    /// Facts with times for a task, and when facts with intervals are asked about, if they have intervals.
    pub fn timed(
        self,
        task: Task,
        asked: Option<IntervalUse>,
        progress: &dyn Progress,
    ) -> Result<TimedData, RunError> {
        let mut loaded = match self {
            Self::Loaded(loaded) => *loaded,
            Self::Graph(graph) => return Err(not_timed(&graph.dataset.name, "a stream of operations")),
        };
        let mut intervals = None;
        if let Content::Intervals(data) = &loaded.content {
            let asked = asked.unwrap_or_default();
            let dataset = unroll(data, asked);
            progress.detail(&format!(
                "Intervals are unrolled over the {} years that begin or end one; held-out facts are asked about at {}.",
                dataset.axis.len(),
                match asked {
                    IntervalUse::Start => "their first",
                    IntervalUse::Drawn => "one of theirs",
                    IntervalUse::Every => "each of theirs",
                }
            ));
            loaded.content = Content::Temporal(dataset);
            intervals = Some(asked);
        } else if asked.is_some() {
            return Err(RunError::input(
                "--intervals is for facts that hold over an interval; these have one time each",
            ));
        }
        let dataset = with_time(&loaded)?;
        if task == Task::Forecasting {
            in_order(&loaded, dataset)?;
        }
        let (fingerprint, variant) = (dataset.fingerprint(), loaded.variant.map(|variant| variant.name));
        let Content::Temporal(dataset) = loaded.content else {
            return Err(RunError::internal("facts with times are expected here"));
        };
        Ok(TimedData { dataset, fingerprint, variant, intervals })
    }

    /// The data as an evolving graph.
    pub fn graph(self) -> Result<Graph, RunError> {
        match self {
            Self::Graph(graph) => Ok(graph),
            Self::Loaded(loaded) => {
                Graph::of_content(loaded.content, loaded.variant.map(|variant| variant.name))
            }
        }
    }
}

/// Facts with times, ready to be judged on.
pub(crate) struct TimedData {
    pub dataset: Dataset,
    pub fingerprint: Fingerprint,
    pub variant: Option<&'static str>,
    pub intervals: Option<IntervalUse>,
}

/// The dataset, if it is one that forecasting can use.
pub fn forecasting_dataset(loaded: &Loaded) -> Result<&Dataset, RunError> {
    let dataset = with_time(loaded)?;
    in_order(loaded, dataset).map(|()| dataset)
}

/// The dataset, if its facts have times.
fn with_time(loaded: &Loaded) -> Result<&Dataset, RunError> {
    let kind = match &loaded.content {
        Content::Temporal(dataset) => return Ok(dataset),
        Content::Static(_) => "a graph without time",
        Content::Intervals(_) => "a set of facts with validity intervals",
        Content::Evolving(_) => "a graph that changes by insertions and deletions",
    };
    Err(not_timed(loaded.content.name(), kind))
}

fn not_timed(name: &str, kind: &str) -> RunError {
    RunError::input(format!(
        "{name} is {kind}; a model of forecasting or completion needs facts with time stamps (see quadcast data info)"
    ))
}

/// An error unless the splits follow each other in time; it names the lines.
fn in_order(loaded: &Loaded, dataset: &Dataset) -> Result<(), RunError> {
    for pair in Split::ALL.windows(2) {
        let (earlier, later) = (dataset.splits.get(pair[0]), dataset.splits.get(pair[1]));
        let (Some(last), Some(first)) = (earlier.last_step(), later.first_step()) else { continue };
        if first < last {
            let place = |split: Split, latest: bool| {
                let source = loaded.sources.as_ref().map(|sources| sources.get(split));
                let line = source.and_then(|s| if latest { s.latest_at } else { s.earliest_at });
                let file = source.map(|s| s.path.display().to_string()).unwrap_or_default();
                format!("{file}:{}", line.unwrap_or_default())
            };
            return Err(RunError::input(format!(
                "{} is not a forecasting dataset, {} starts before {} ends:\n  {} is dated {}\n  {} is dated {}\n\
                 expected splits that follow each other in time; a random split is for completion: \
                 quadcast run --task completion. quadcast data audit says more",
                dataset.name,
                pair[1],
                pair[0],
                place(pair[1], false),
                dataset.axis.label(first),
                place(pair[0], true),
                dataset.axis.label(last),
            )));
        }
    }
    Ok(())
}

/// An evolving graph.
pub(crate) struct Graph {
    pub dataset: EvolvingDataset,
    /// Content hash of what was read.
    pub fingerprint: Fingerprint,
    /// Catalogue variant that the content equals.
    pub variant: Option<&'static str>,
}

impl Graph {
    fn of_content(content: Content, variant: Option<&'static str>) -> Result<Self, RunError> {
        let refuse = |name: &str, kind: &str| {
            Err(RunError::input(format!(
                "{name} has facts with {kind}, not triples that come and go: make a benchmark of it with \
                 quadcast data compile"
            )))
        };
        let fingerprint = fingerprint(&content);
        let dataset = match content {
            Content::Evolving(data) => data,
            Content::Static(data) => as_single_step(data),
            Content::Temporal(data) => return refuse(&data.name, "times"),
            Content::Intervals(data) => return refuse(&data.name, "intervals"),
        };
        Ok(Self { dataset, fingerprint, variant })
    }

    /// The graph of a stream: its steps, splits and ids as they are.
    pub fn of_stream(stream: &OperationStream) -> Result<Self, RunError> {
        let compiled = compile(stream, &CompileOptions::as_given())?;
        Self::of_content(Content::Evolving(compiled.dataset), None)
    }

    /// All operations of the graph, with its names, steps and splits.
    pub fn into_stream(self) -> Result<OperationStream, RunError> {
        Ok(operations_of(&Content::Evolving(self.dataset), Hold::default(), FaultPolicy::Drop)?)
    }
}
