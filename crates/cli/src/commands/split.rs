//! `quadcast data split`: divide a dataset anew.

use std::path::{Path, PathBuf};

use clap::Args;
use quadcast_analysis::{DivideOptions, DivisionMethod, HeldOut, PatternSource, divide};
use quadcast_core::{Detection, Mirrors, Names, PublishedLists, RelationId, published_lists};
use quadcast_data::write::free_folder;
use quadcast_data::{Content, Loaded};
use quadcast_report::{division_text, shown};
use quadcast_run::{MirrorLists, lookup};
use serde_json::json;

use super::data::open_source;
use crate::arguments::{Source, Words, one_of};
use crate::output::{Failure, Output};

/// Shown after the help.
pub const EXAMPLES: &str = "Examples:
  quadcast data split examples/harbour --method leakage-free --out tmp-harbour
  quadcast data split examples/harbour --method chronological --valid 0.15 --test 0.15 --out tmp-later
  quadcast data split completion/icews14 --method leakage-free --lists icews14 --out tmp-rr
  quadcast data split D --method leakage-free --symmetric meets --inverse 'hosts=visits' --out tmp-d

The folder holds the facts of all splits, each once, in their new splits, with the names, ids and dates of
the source, and division.json, which says how they were divided.";

/// What to divide and how.
#[derive(Debug, Args)]
pub struct SplitArguments {
    #[command(flatten)]
    pub source: Source,
    /// By which rule
    #[arg(long, value_parser = one_of(METHODS))]
    pub method: DivisionMethod,
    /// The folder to be made
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Share of the validation facts
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    pub valid: f64,
    /// Share of the test facts
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    pub test: f64,
    /// Seed of the draw; the same seed gives the same files [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// leakage-free: the share of mirrored facts above which relations mirror each other [default: 0.5]
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["symmetric", "inverse", "lists"])]
    pub threshold: Option<f64>,
    /// leakage-free: relations with fewer facts mirror nothing [default: 20]
    #[arg(long, value_name = "N", conflicts_with_all = ["symmetric", "inverse", "lists"])]
    pub min_support: Option<u64>,
    /// leakage-free: a relation that mirrors itself, instead of detection; may be repeated
    #[arg(long, value_name = "NAME")]
    pub symmetric: Vec<String>,
    /// leakage-free: relations that mirror each other, instead of detection; may be repeated
    #[arg(long, value_name = "NAME=NAME")]
    pub inverse: Vec<String>,
    /// leakage-free: published lists (icews14, icews05-15) or a file {"symmetric": […], "inverse": [[…, …]]};
    /// a division.json will do
    #[arg(long, value_name = "NAME|FILE")]
    pub lists: Option<String>,
}

const METHODS: Words<DivisionMethod> = &[
    ("random", DivisionMethod::Random, "Every fact for itself, shuffled"),
    ("chronological", DivisionMethod::Chronological, "By time; splits never share a step"),
    (
        "leakage-free",
        DivisionMethod::LeakageFree,
        "Facts that mirror each other at the same time stay together, shuffled",
    ),
];

pub fn execute(arguments: &SplitArguments, output: &Output) -> Result<(), Failure> {
    let method = arguments.method;
    refuse_idle(arguments, method)?;
    let held_out = HeldOut::new(arguments.valid, arguments.test).map_err(Failure::input)?;
    let detection = detection(arguments)?;
    free_folder(&arguments.out)?;
    let source = open_source(&arguments.source)?;
    source.notes.iter().for_each(|note| output.detail(note));
    let patterns = match given(arguments, relations(&source))? {
        Some(given) => given,
        None => PatternSource::Detected(detection),
    };
    let seed = arguments.seed.unwrap_or(1);
    let division = divide(&source, &DivideOptions { method, held_out, seed, patterns })?;
    division.write(&arguments.out)?;
    let mut document = serde_json::to_value(&division.report).map_err(Failure::internal)?;
    document["folder"] = json!(arguments.out);
    output.result(&document, || division_text(&division.report, &arguments.out))
}

/// Options that would do nothing are refused.
fn refuse_idle(arguments: &SplitArguments, method: DivisionMethod) -> Result<(), Failure> {
    let idle = |option: &str, why: &str| {
        Err(Failure::input(format!("{option} has no effect with --method {}: {why}", method.word())))
    };
    if method == DivisionMethod::Chronological && arguments.seed.is_some() {
        return idle("--seed", "time decides, nothing is drawn");
    }
    let given = [
        ("--threshold", arguments.threshold.is_some()),
        ("--min-support", arguments.min_support.is_some()),
        ("--symmetric", !arguments.symmetric.is_empty()),
        ("--inverse", !arguments.inverse.is_empty()),
        ("--lists", arguments.lists.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) if method != DivisionMethod::LeakageFree => {
            idle(option, "facts are not kept together; use --method leakage-free")
        }
        _ => Ok(()),
    }
}

fn detection(arguments: &SplitArguments) -> Result<Detection, Failure> {
    let default = Detection::default();
    let threshold = arguments.threshold.unwrap_or(default.threshold);
    if !(0.0..1.0).contains(&threshold) {
        return Err(Failure::input(format!("--threshold {threshold}: expected a share from 0 to below 1")));
    }
    Ok(Detection { threshold, min_support: arguments.min_support.unwrap_or(default.min_support), ..default })
}

/// The relation names of a dataset.
fn relations(loaded: &Loaded) -> &Names {
    match &loaded.content {
        Content::Temporal(data) => &data.vocabulary.relations,
        Content::Static(data) => &data.vocabulary.relations,
        Content::Intervals(data) => &data.vocabulary.relations,
        Content::Evolving(data) => &data.vocabulary.relations,
    }
}

/// The lists of the command line, if there are any.
fn given(arguments: &SplitArguments, relations: &Names) -> Result<Option<PatternSource>, Failure> {
    let (symmetric, inverse) = (&arguments.symmetric, &arguments.inverse);
    if symmetric.is_empty() && inverse.is_empty() && arguments.lists.is_none() {
        return Ok(None);
    }
    let mut mirrors = Mirrors::default();
    let mut origins = Vec::new();
    if let Some(lists) = &arguments.lists {
        let (found, origin) = listed(lists, relations)?;
        mirrors = found;
        origins.push(origin);
    }
    for name in symmetric {
        mirrors.symmetric.push(relation(relations, name, "--symmetric")?);
    }
    for pair in inverse {
        mirrors.inverse.push(inverse_pair(pair, relations)?);
    }
    if !symmetric.is_empty() || !inverse.is_empty() {
        origins.push("given by name".to_owned());
    }
    Ok(Some(PatternSource::Given { mirrors, origin: origins.join(", and ") }))
}

fn relation(relations: &Names, name: &str, option: &str) -> Result<RelationId, Failure> {
    let found = lookup(relations, name, "relation");
    found.map(RelationId).map_err(|error| Failure::input(format!("{option}: {error}")))
}

/// Two names around an equals sign, which may be part of a name too.
fn inverse_pair(text: &str, relations: &Names) -> Result<(RelationId, RelationId), Failure> {
    let pairs = || text.match_indices('=').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let known = |(p, q): &(&str, &str)| relations.find(p).is_some() && relations.find(q).is_some();
    let Some((p, q)) = pairs().find(known).or_else(|| pairs().next()) else {
        return Err(Failure::input(format!("--inverse {text}: expected two relations, NAME=NAME")));
    };
    Ok((relation(relations, p, "--inverse")?, relation(relations, q, "--inverse")?))
}

/// The patterns that `--lists` names, and where they come from.
fn listed(lists: &str, relations: &Names) -> Result<(Mirrors, String), Failure> {
    if let Some(published) = published_lists(lists) {
        let (mirrors, missing) = published.mirrors(relations, false);
        if missing.is_empty() {
            return Ok((mirrors, format!("published for {}", published.name)));
        }
        return Err(Failure::input(format!(
            "--lists {}: the dataset has no relation {}; give lists of your own, or leave --lists out",
            shown(lists),
            missing.join("; ")
        )));
    }
    let failed = |error: &Failure| {
        let known: Vec<&str> = PublishedLists::all().iter().map(|lists| lists.name.as_str()).collect();
        Failure::input(format!(
            "--lists {}: neither published lists ({}) nor a file with lists: {}\n\
             expected {{\"symmetric\": [\"NAME\", …], \"inverse\": [[\"NAME\", \"NAME\"], …]}}",
            shown(lists),
            known.join(", "),
            shown(error)
        ))
    };
    let file = MirrorLists::read(Path::new(lists)).map_err(|error| failed(&error))?;
    let mirrors = file.mirrors(relations).map_err(|error| Failure::input(format!("--lists: {error}")))?;
    Ok((mirrors, "given in a file".to_owned()))
}
