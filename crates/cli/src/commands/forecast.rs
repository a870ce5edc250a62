//! `quadcast forecast`: who will stand on the other side, and why?

pub mod answers;
mod batch;
mod growing;
mod hole;
mod question;
mod rule_text;
mod text;
mod triple;

use std::path::PathBuf;

use clap::Args;
use quadcast_core::HistoryIndex;
use quadcast_report::Forecast;

use crate::commands::evolve::trained::TrainedGraph;
use crate::failure::Failure;
use crate::output::Output;
use crate::trained::{Trained, expect_run};
use answers::{Asker, answer};
use question::{Asked, Question};

const EXAMPLES: &str = "Examples:
  quadcast forecast runs/recurrency-harbour-single-step-1 --subject 'Grey Heron' --relation 'docks at'
  quadcast forecast RUN --subject 'Ines Dorrit' --relation meets --at 2031-08-03 --top 5 --explain
  quadcast forecast RUN --object 'Harbour Council' --relation addresses
  quadcast forecast RUN --queries questions.csv --out answers.csv
  quadcast forecast RUN --subject A --object B --at 2014-05-13       (which relation? completion)
  quadcast forecast RUN --subject A --relation R --object B          (when? completion)
  quadcast forecast RUN --subject A --relation R --object B          (is it true? changing graphs)

A file of questions is CSV with a header: subject, relation, object, at. Leave the side that is asked for
empty; an empty at means the time after the last one in the data.";

/// What to ask.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The folder of a complete run
    pub run: PathBuf,
    /// The known subject; without --object, the object is asked for
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// The known object; without --subject, the subject is asked for
    #[arg(long, value_name = "NAME")]
    pub object: Option<String>,
    /// The relation; with both sides and a time known, it may be what is asked for
    #[arg(long, value_name = "NAME")]
    pub relation: Option<String>,
    /// The date or time asked about [default: the time after the last fact]
    ///
    /// Forecasters use facts before it only. Completion models use all that they know, and need a time of their data.
    #[arg(long, value_name = "DATE")]
    pub at: Option<String>,
    /// How many answers
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Show the past facts or the rules that each answer rests on
    #[arg(long)]
    pub explain: bool,
    /// A CSV file of questions: subject, relation, object, at
    #[arg(long, value_name = "FILE", conflicts_with_all = ["subject", "object", "relation", "at"])]
    pub queries: Option<PathBuf>,
    /// Where the answers to a file of questions go: .csv or .json [default: standard output]
    #[arg(long, value_name = "FILE", requires = "queries")]
    pub out: Option<PathBuf>,
    /// Where the dataset lies, if it has moved since the run
    #[arg(long, value_name = "PATH|NAME")]
    pub data: Option<String>,
}

pub fn execute(options: &Options, output: &Output) -> Result<(), Failure> {
    expect_run(&options.run)?;
    let data = options.data.as_deref();
    if let (Some(subject), Some(object)) = (&options.subject, &options.object) {
        return match TrainedGraph::open(&options.run, data, output)? {
            Some(trained) => triple::execute(trained, options, (subject, object), output),
            None => hole::execute(options, (subject, object), output),
        };
    }
    if options.queries.is_none()
        && (options.relation.is_none() || (options.subject.is_none() && options.object.is_none()))
    {
        return Err(Failure::input(
            "what is the question? Give --relation and either --subject or --object, or a file with --queries",
        ));
    }
    let asked = match &options.queries {
        Some(file) => batch::read(file)?,
        None => vec![Asked {
            place: None,
            subject: options.subject.clone(),
            relation: options.relation.clone().unwrap_or_default(),
            object: options.object.clone(),
            at: options.at.clone(),
        }],
    };
    let forecasts = if let Some(trained) = TrainedGraph::open(&options.run, data, output)? {
        growing::answers(trained, &asked, options)?
    } else {
        let mut trained = Trained::open(&options.run, data)?;
        let index = trained.history();
        ask_all(&mut trained, &index, &asked, options)?
    };
    match &forecasts[..] {
        [forecast] if options.queries.is_none() => output.result(forecast, || text::forecast(forecast)),
        all => batch::write(all, options.out.as_deref(), output),
    }
}

/// Answers in the order of the questions. Questions about the same time are asked together, so that a model prepares
/// for each time once.
fn ask_all(
    trained: &mut Trained,
    index: &HistoryIndex,
    asked: &[Asked],
    options: &Options,
) -> Result<Vec<Forecast>, Failure> {
    let question = |asked: &Asked| {
        let question = Question::new(asked, &trained.dataset)?;
        match trained.objection(question.query.step) {
            Some(why) => Err(asked.refuse(&why)),
            None => Ok(question),
        }
    };
    let questions: Vec<Question> = asked.iter().map(question).collect::<Result<_, _>>()?;
    let mut order: Vec<usize> = (0..questions.len()).collect();
    order.sort_by_key(|&i| questions[i].query.step);
    let mut forecasts: Vec<Option<Forecast>> = vec![None; questions.len()];
    let mut prepared = None;
    for i in order {
        let question = &questions[i];
        let history = trained.view(index, question.query.step);
        if prepared != Some(question.query.step) {
            trained.model.begin(question.query.step, &history).map_err(Failure::internal)?;
            prepared = Some(question.query.step);
        }
        let asker =
            Asker { name: trained.entry.name, model: trained.model.as_ref(), dataset: &trained.dataset };
        forecasts[i] = Some(answer(asker, &history, &question.query, options.top, options.explain)?);
    }
    Ok(forecasts.into_iter().flatten().collect())
}
