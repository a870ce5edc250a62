//! `quadcast demo`: runs everything on a synthetic dataset and writes a report.

use std::path::{Path, PathBuf};

use clap::Args;
use quadcast_report::{demo_page, demo_text};
use quadcast_run::{Demo, demo, write_atomically};
use serde::Serialize;

use crate::output::{Failure, Output};

/// Where to.
#[derive(Debug, Args)]
pub struct Options {
    /// Folder for the world, the runs and the report
    #[arg(long, value_name = "DIR", default_value = "quadcast-demo")]
    pub out: PathBuf,
}

/// What `--json` prints: the demonstration, and where its page is.
#[derive(Serialize)]
struct Finished<'a> {
    report: &'a Path,
    #[serde(flatten)]
    demo: &'a Demo,
}

pub fn execute(options: &Options, output: &Output) -> Result<(), Failure> {
    let demo = demo(&options.out, &output.run())?;
    let report = options.out.join("report.html");
    let page = demo_page(&demo)?;
    write_atomically(&report, |out| out.write_all(page.as_bytes()))?;
    output.result(&Finished { report: &report, demo: &demo }, || demo_text(&demo, &options.out))
}
