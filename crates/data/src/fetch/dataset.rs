//! All files of a variant: fetched beside the folder, put in place when the last one is checked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use quadcast_core::Progress;
use serde::Serialize;
use ureq::Agent;

use super::cache::cache_folder;
use super::error::{FetchError, Mirror};
use super::transfer::{Expected, Failure, agent, download, sha256};
use crate::{DataError, Download, Variant};

/// How to fetch.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// Address of a folder that holds the files, instead of those of the catalogue.
    pub from: Option<String>,
    /// The folder to be made; in the cache if absent.
    pub out: Option<PathBuf>,
    /// Attempts at each address.
    pub attempts: u32,
    /// How long to wait for a connection or for more bytes.
    pub patience: Duration,
    /// Pause before the second attempt; it doubles with every further one.
    pub pause: Duration,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            from: None,
            out: None,
            attempts: 3,
            patience: Duration::from_secs(20),
            pause: Duration::from_secs(1),
        }
    }
}

/// A file that is there now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fetched {
    /// Path in the folder.
    pub path: &'static str,
    /// Size.
    pub bytes: u64,
    /// SHA-256, checked.
    pub sha256: &'static str,
    /// Where it came from; `None` if it was there already.
    pub url: Option<String>,
}

/// What a fetch did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FetchReport {
    /// The variant.
    pub name: &'static str,
    /// The folder.
    pub folder: PathBuf,
    /// Its files.
    pub files: Vec<Fetched>,
    /// Where the data comes from.
    pub source: &'static str,
    /// What is known about its licence.
    pub licence: &'static str,
}

/// Fetches the files of a variant. Files that are there already are checked and kept.
pub fn fetch(
    variant: &Variant,
    options: &FetchOptions,
    progress: &dyn Progress,
) -> Result<FetchReport, DataError> {
    if variant.files.is_empty() {
        return Err(FetchError::NoFiles { name: variant.name, origin: variant.source }.into());
    }
    let folder = match &options.out {
        Some(out) => out.clone(),
        None => cache_folder().ok_or(FetchError::NoCache)?.join(variant.name),
    };
    let report = |files| FetchReport {
        name: variant.name,
        folder: folder.clone(),
        files,
        source: variant.source,
        licence: variant.licence,
    };
    if !is_empty(&folder)? {
        check(&folder, variant.files)?;
        return Ok(report(variant.files.iter().map(|file| fetched(file, None)).collect()));
    }
    let beside = beside(&folder)?;
    progress.begin("fetch", variant.files.iter().map(|file| file.bytes).sum());
    let agent = agent(options.patience);
    let all = variant.files.iter().map(|file| one(variant, file, &beside, &agent, options, progress));
    let files = all.collect::<Result<Vec<_>, _>>();
    progress.end();
    let files = files?;
    let failed = |source| FetchError::Write { path: folder.clone(), source };
    fs::remove_dir(&folder).or_else(absent).map_err(failed)?;
    fs::rename(&beside, &folder).map_err(failed)?;
    Ok(report(files))
}

fn fetched(file: &Download, url: Option<String>) -> Fetched {
    Fetched { path: file.path, bytes: file.bytes, sha256: file.sha256, url }
}

/// Treats something that is not there as removed.
fn absent(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn is_empty(folder: &Path) -> Result<bool, FetchError> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(source) => Err(FetchError::Write { path: folder.to_path_buf(), source }),
    }
}

/// Refuses a folder that does not hold the published files.
fn check(folder: &Path, files: &[Download]) -> Result<(), FetchError> {
    let other = |problem| FetchError::OtherContent { path: folder.to_path_buf(), problem };
    for file in files {
        match sha256(&folder.join(file.path)) {
            Ok(found) if found == file.sha256 => {}
            Ok(_) => return Err(other(format!("{} differs from the published file", file.path))),
            Err(error) => return Err(other(format!("{}: {error}", file.path))),
        }
    }
    Ok(())
}

/// The folder in the making. It stays when a fetch fails, so that the next one goes on from there.
fn beside(folder: &Path) -> Result<PathBuf, FetchError> {
    let name = folder.file_name().map_or_else(|| "data".into(), |name| name.to_string_lossy());
    let beside = folder.with_file_name(format!(".{name}.partial"));
    fs::create_dir_all(&beside).map_err(|source| FetchError::Write { path: beside.clone(), source })?;
    Ok(beside)
}

/// Fetches one file from the first address that gives it.
fn one(
    variant: &Variant,
    file: &Download,
    folder: &Path,
    agent: &Agent,
    options: &FetchOptions,
    progress: &dyn Progress,
) -> Result<Fetched, FetchError> {
    let path = folder.join(file.path);
    let failed = |source| FetchError::Write { path: path.clone(), source };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    if sha256(&path).is_ok_and(|found| found == file.sha256) {
        progress.advance(file.bytes);
        return Ok(fetched(file, None));
    }
    let mut part = path.clone().into_os_string();
    part.push(".part");
    let part = PathBuf::from(part);
    let mut mirrors = Vec::new();
    for url in addresses(file, options.from.as_deref()) {
        match persistently(agent, &url, &part, file, options, progress) {
            Ok(()) => {
                fs::rename(&part, &path).map_err(failed)?;
                return Ok(fetched(file, Some(url)));
            }
            Err(Failure::Remote(cause)) => mirrors.push(Mirror { url, cause }),
            Err(Failure::Local(source)) => return Err(failed(source)),
        }
    }
    Err(FetchError::Failed { name: variant.name, file: file.path, mirrors })
}

fn addresses(file: &Download, from: Option<&str>) -> Vec<String> {
    match from {
        Some(base) => vec![format!("{}/{}", base.trim_end_matches('/'), file.path)],
        None => file.urls.iter().map(ToString::to_string).collect(),
    }
}

/// Tries one address several times, with longer and longer pauses, as long as another attempt makes sense.
fn persistently(
    agent: &Agent,
    url: &str,
    part: &Path,
    file: &Download,
    options: &FetchOptions,
    progress: &dyn Progress,
) -> Result<(), Failure> {
    let expected = Expected { bytes: file.bytes, sha256: file.sha256 };
    let mut pause = options.pause;
    for _ in 1..options.attempts {
        match download(agent, url, part, expected, options.patience, progress) {
            Err(Failure::Remote(cause)) if cause.is_passing() => {
                thread::sleep(pause);
                pause *= 2;
            }
            done => return done,
        }
    }
    download(agent, url, part, expected, options.patience, progress)
}
