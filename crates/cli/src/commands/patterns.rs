//! `quadcast data patterns`: how the relations of a dataset mirror, accompany and repeat each other.

use std::path::{Path, PathBuf};

use clap::Args;
use quadcast_core::{Detection, RelationId, Shares};
use quadcast_data::{Lags, NamedMirrors, Partner, PatternOptions, Patterns, RelationPatterns, patterns};
use quadcast_report::{
    PatternMap, PatternPartner, PatternReport, PatternRow, counted, patterns_page, write_atomically,
};
use serde::Serialize;

use super::data::open_source;
use crate::arguments::Source;
use crate::failure::Failure;
use crate::output::Output;

/// Shown after the help.
pub const EXAMPLES: &str = "Examples:
  quadcast data patterns examples/harbour
  quadcast data patterns completion/icews14 --out patterns.html
  quadcast data patterns WN18 --all --json

Shares are of a relation's facts. Facts count once; facts of an entity with itself are left out.
Evolving graphs are counted at their last step.";

/// Relations that a map has room for.
const MAPPED: usize = 36;

/// When shares make a pattern.
#[derive(Debug, Args)]
pub struct DetectionArguments {
    /// The share of mirrored facts above which relations are symmetric, inverse or parallel
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = share)]
    pub threshold: f64,
    /// Relations with fewer facts have no pattern
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub min_support: u64,
}

impl From<&DetectionArguments> for Detection {
    fn from(arguments: &DetectionArguments) -> Self {
        Self { threshold: arguments.threshold, min_support: arguments.min_support, ..Self::default() }
    }
}

/// What to count.
#[derive(Debug, Args)]
pub struct PatternArguments {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub detection: DetectionArguments,
    /// Count the facts of all splits, not only train
    #[arg(long)]
    pub all: bool,
    /// Write a page with a map of the relations and a table of all
    #[arg(long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    patterns: &'a Patterns,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<&'a Path>,
}

/// A share as a fraction.
pub fn share(text: &str) -> Result<f64, String> {
    let found: f64 = text.parse().map_err(|_| format!("{text:?} is no number"))?;
    if (0.0..=1.0).contains(&found) { Ok(found) } else { Err("expected a share from 0 to 1".to_owned()) }
}

pub fn execute(arguments: &PatternArguments, output: &Output) -> Result<(), Failure> {
    let out = arguments.out.as_deref();
    if let Some(path) = out.filter(|path| path.is_dir()) {
        let path = path.display();
        return Err(Failure::input(format!(
            "--out {path} is a folder: name a file, such as {path}/patterns.html"
        )));
    }
    let loaded = open_source(&arguments.source)?;
    let options = PatternOptions { detection: (&arguments.detection).into(), all: arguments.all };
    let found = patterns(&loaded, &options);
    if let Some(path) = out {
        let page = patterns_page(&report(&found));
        write_atomically(path, |file| file.write_all(page.as_bytes()))?;
    }
    output.result(&Document { patterns: &found, report: out }, || {
        let written = out.map(|path| format!("\nreport: {}\n", path.display()));
        found.text() + &written.unwrap_or_default()
    })
}

/// The page's view of the patterns.
fn report(found: &Patterns) -> PatternReport {
    let mut mapped = found.noticeable();
    let left_out = mapped.len().saturating_sub(MAPPED);
    mapped.truncate(MAPPED);
    let name = |id: &RelationId| {
        let row = found.relations.iter().find(|row| row.id == *id);
        row.map_or_else(|| format!("#{}", id.0), |row| row.relation.clone())
    };
    let timed = found.has_time();
    let map = |word: &str, when: &str, pick: fn(Shares) -> f64| PatternMap {
        word: word.to_owned(),
        when: when.to_owned(),
        shares: mapped
            .iter()
            .map(|&p| mapped.iter().map(|&q| pick(found.mirrored(p, q))).collect())
            .collect(),
    };
    PatternReport {
        dataset: found.dataset.clone(),
        facts: sizes(found),
        detected: detected(found),
        relations: mapped.iter().map(name).collect(),
        left_out,
        maps: if timed {
            vec![
                map("same", "at the same time", |shares| shares.same_time),
                map("any", "at any time", |shares| shares.any_time),
            ]
        } else {
            vec![map("all", "", |shares| shares.any_time)]
        },
        threshold: found.detection.threshold,
        lags: found.lag_unit.iter().flat_map(|_| Lags::NAMES.map(str::to_owned)).collect(),
        lag_unit: found.lag_unit.clone().unwrap_or_default(),
        rows: found.relations.iter().map(row).collect(),
    }
}

fn sizes(found: &Patterns) -> Vec<(String, String)> {
    let sizes = [
        ("counted", found.counted.clone()),
        ("facts", counted(found.facts)),
        ("relations with facts", counted(found.relations.len() as u64)),
        ("facts of an entity with itself", counted(found.self_loops)),
        ("a pattern is above", format!("{:.0} %", 100.0 * found.detection.threshold)),
        ("and has at least", format!("{} facts", counted(found.detection.min_support))),
    ];
    sizes.map(|(name, value)| (name.to_owned(), value)).into()
}

fn detected(found: &Patterns) -> Vec<(String, Vec<String>)> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let lists = |when: &str, mirrors: &NamedMirrors| {
        let symmetric =
            mirrors.symmetric.iter().map(|row| format!("{} {}", row.relation, percent(row.share)));
        let inverse = mirrors.inverse.iter().map(|pair| {
            let (there, back) = (percent(pair.forwards), percent(pair.backwards));
            format!("{} ↔ {} {there} / {back}", pair.relation, pair.inverse)
        });
        [
            (format!("Symmetric{when}"), symmetric.collect::<Vec<_>>()),
            (format!("Inverse{when}"), inverse.collect()),
        ]
    };
    if !found.has_time() {
        return lists("", &found.any_time).into();
    }
    let mut all = lists(" at the same time", &found.same_time).to_vec();
    all.extend(lists(" at any time", &found.any_time));
    all
}

fn row(row: &RelationPatterns) -> PatternRow {
    let shares = |shares: Shares| [shares.same_time, shares.any_time];
    let partner = |partner: &Partner| PatternPartner {
        relation: partner.relation.clone(),
        forwards: shares(partner.forwards),
        backwards: shares(partner.backwards),
    };
    let lags = |lags: Option<Lags>| -> Vec<f64> {
        let share = |count: u64| count as f64 / row.facts.max(1) as f64;
        lags.iter().flat_map(|lags| lags.counts().map(share)).collect()
    };
    PatternRow {
        relation: row.relation.clone(),
        facts: row.facts,
        symmetric: shares(row.symmetric),
        inverse: row.inverse.as_ref().map(partner),
        parallel: row.parallel.as_ref().map(partner),
        repeated: row.repeated,
        mirror_lags: lags(row.mirror_lags().map(|(_, lags)| lags)),
        repeated_lags: lags(row.repeated_lags),
    }
}
