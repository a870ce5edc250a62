//! `quadcast data fetch`: downloads a published dataset.

use std::path::PathBuf;

use clap::Args;
use quadcast_data::{FetchOptions, Variant, fetch, lookup, variants};
use quadcast_report::fetch_text;
use strsim::jaro_winkler;

use crate::failure::Failure;
use crate::output::Output;

/// Shown after the help.
pub const EXAMPLES: &str = "Examples:
  quadcast data fetch ICEWS14
  quadcast data fetch WN18 --out data/WN18
  quadcast data fetch ICEWS14 --from http://mirror.example/ICEWS14

Files are checked against the SHA-256 of the published ones. The cache is $QUADCAST_CACHE, or
quadcast in the place that the system has for caches; names are looked up there afterwards.";

/// What to fetch.
#[derive(Debug, Args)]
pub struct FetchArguments {
    /// A variant of the catalogue; `quadcast data list` marks those that can be fetched
    pub name: String,
    /// Address of a folder that holds the files, instead of those of the catalogue
    #[arg(long, value_name = "URL")]
    pub from: Option<String>,
    /// Folder to be made [default: in the cache]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

pub fn execute(arguments: FetchArguments, output: &Output) -> Result<(), Failure> {
    let variant = find(&arguments.name)?;
    let options =
        FetchOptions { from: arguments.from, out: arguments.out.clone(), ..FetchOptions::default() };
    let report = fetch(variant, &options, output.run().progress.as_ref())?;
    output.result(&report, || fetch_text(&report, arguments.out.is_none()))
}

fn find(name: &str) -> Result<&'static Variant, Failure> {
    /// Less alike names are no help.
    const ALIKE: f64 = 0.8;
    if let Some(variant) = lookup(name) {
        return Ok(variant);
    }
    let likeness = |variant: &Variant| jaro_winkler(&variant.name.to_lowercase(), &name.to_lowercase());
    let near = variants().iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let hint = near.filter(|variant| likeness(variant) > ALIKE).map(|variant| variant.name);
    let hint = hint.map_or_else(String::new, |name| format!(" Did you mean {name}?"));
    Err(Failure::input(format!("{name:?} is not in the catalogue; see `quadcast data list`.{hint}")))
}
