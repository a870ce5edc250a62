//! `quadcast forecast`: predict the missing part of a fact, and explain why.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use quadcast_report::{answer_text, answers_csv, graphs_csv, graphs_text, shown};
use quadcast_run::{
    AnswerOptions, Forecast, GraphOptions, PredictedGraph, Question, Session, read_questions,
    write_atomically,
};
use serde::Serialize;

use crate::output::{Failure, Output, print};

const EXAMPLES: &str = "Examples:
  quadcast forecast runs/herald-harbour-single-step-1 --subject 'Grey Heron' --relation 'docks at'
  quadcast forecast RUN --subject 'Ines Dorrit' --relation meets --at 2031-08-03 --top 5 --explain
  quadcast forecast RUN --object 'Harbour Council' --relation addresses
  quadcast forecast RUN --queries questions.csv --out answers.csv
  quadcast forecast RUN --graph --next 5 --out graphs.csv            (whole facts, step by step)
  quadcast forecast RUN --subject A --object B --at 2014-05-13       (which relation? completion)
  quadcast forecast RUN --subject A --relation R --object B          (when? completion)
  quadcast forecast RUN --subject A --relation R --object B          (is it true? evolving graphs)

A file of questions is CSV with a header: subject, relation, object, at. Leave the side that is asked for
empty; an empty at means the time after the last one in the data.";

/// What to ask.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group(ArgGroup::new("many").args(["queries", "graph"])))]
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
    /// Predict whole facts of the next steps, with probabilities
    ///
    /// A model that can simulate does; another one is asked about every subject and relation that acted in the last
    /// ten known steps. --at is the first step; facts before it are known.
    #[arg(long, conflicts_with_all = ["subject", "object", "relation", "queries", "explain"])]
    pub graph: bool,
    /// How many steps to predict
    #[arg(long, value_name = "STEPS", default_value_t = 1, requires = "graph")]
    pub next: usize,
    /// How many facts per step [default: twice as many as the last known steps have on average]
    #[arg(long, value_name = "N", requires = "graph")]
    pub facts: Option<usize>,
    /// Where answers or graphs go: .csv or .json [default: standard output]
    #[arg(long, value_name = "FILE", requires = "many")]
    pub out: Option<PathBuf>,
    /// CSV: put an apostrophe before names that a spreadsheet takes for formulas [default: exact names]
    #[arg(long, requires = "many")]
    pub spreadsheet: bool,
    /// Where the dataset is, if it has moved since the run
    #[arg(long, value_name = "PATH|NAME")]
    pub data: Option<String>,
}

pub fn execute(options: &Options, output: &Output) -> Result<(), Failure> {
    let both = options.subject.is_some() && options.object.is_some();
    let one = options.relation.is_some() && (options.subject.is_some() || options.object.is_some());
    if options.queries.is_none() && !options.graph && !both && !one {
        return Err(Failure::input(
            "what is the question? Give --relation and either --subject or --object, a file with --queries, or --graph",
        ));
    }
    let questions = options.queries.as_deref().map(|path| read_questions(path, shown(path.display())));
    let questions = questions.transpose()?;
    let mut session = Session::reopen(&options.run, options.data.as_deref(), output.run())?;
    if options.graph {
        let which = GraphOptions {
            at: options.at.clone(),
            steps: options.next,
            facts: options.facts,
            ..GraphOptions::default()
        };
        return write_graphs(&session.predict_graphs(&which)?, options, output);
    }
    let how = AnswerOptions { top: options.top, explain: options.explain };
    if let Some(questions) = questions {
        let forecasts = session.answer_all(&questions, how)?;
        return write_answers(&forecasts, options, output);
    }
    let question = Question {
        place: None,
        subject: options.subject.clone(),
        relation: options.relation.clone(),
        object: options.object.clone(),
        at: options.at.clone(),
    };
    let answered = session.answer(&question, how)?;
    output.result(&answered, || answer_text(&answered))
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "json")
}

/// Writes the answers: JSON if the file is called so or `--json` asks for it, CSV otherwise.
fn write_answers(forecasts: &[Forecast], options: &Options, output: &Output) -> Result<(), Failure> {
    let csv = || answers_csv(forecasts, options.spreadsheet);
    let Some(path) = &options.out else {
        return if output.json {
            output.result(&forecasts, String::new)
        } else {
            print(|out| out.write_all(csv().as_bytes()))
        };
    };
    write_file(path, &forecasts, csv)?;
    let answers: usize = forecasts.iter().map(|forecast| forecast.answers.len()).sum();
    let done = serde_json::json!({ "file": path, "questions": forecasts.len(), "answers": answers });
    output.result(&done, || {
        format!("{answers} answers to {} questions: {}\n", forecasts.len(), shown(path.display()))
    })
}

/// Writes predicted graphs: to a file, or as a table of the likeliest facts.
fn write_graphs(graphs: &[PredictedGraph], options: &Options, output: &Output) -> Result<(), Failure> {
    let Some(path) = &options.out else {
        return output.result(&graphs, || graphs_text(graphs));
    };
    write_file(path, &graphs, || graphs_csv(graphs, options.spreadsheet))?;
    let facts: usize = graphs.iter().map(|graph| graph.facts.len()).sum();
    let done = serde_json::json!({ "file": path, "graphs": graphs.len(), "facts": facts });
    output.result(&done, || {
        format!("{facts} facts in {} predicted graphs: {}\n", graphs.len(), shown(path.display()))
    })
}

/// A file in JSON if it is called so, in CSV otherwise.
fn write_file(path: &Path, document: &impl Serialize, csv: impl Fn() -> String) -> Result<(), Failure> {
    write_atomically(path, |out| {
        if is_json(path) {
            serde_json::to_writer_pretty(&mut *out, document)?;
            return writeln!(out);
        }
        out.write_all(csv().as_bytes())
    })?;
    Ok(())
}
