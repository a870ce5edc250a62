//! All files of a variant: fetched beside the folder, put in place when the last one is checked.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quadcast_core::Progress;
use serde::Serialize;

use super::error::{FetchError, Mirror};
use super::transfer::{Client, Failure, sha256};
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
        return Err(FetchError::Refused(format!(
            "{} cannot be fetched: the catalogue knows no published files with checksums for it (source: {}); get the \
             files there and give the path of their folder",
            variant.name, variant.source
        ))
        .into());
    }
    let folder = options.out.clone().or_else(|| Some(cache_folder()?.join(variant.name)));
    let folder = folder.ok_or_else(|| {
        let message = "there is no folder for the cache: neither $QUADCAST_CACHE nor a home folder is set; \
                       name one with --out";
        FetchError::Refused(message.to_owned())
    })?;
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
    let client = Client::new(options, progress);
    let files: Result<Vec<_>, _> =
        variant.files.iter().map(|file| one(&client, variant, file, &beside)).collect();
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
    let other = |problem| {
        let (folder, advice) = (folder.display(), "remove it, or choose another one with --out");
        FetchError::Refused(format!("{folder}: the folder holds other content ({problem}); {advice}"))
    };
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
    client: &Client<'_>,
    variant: &Variant,
    file: &Download,
    folder: &Path,
) -> Result<Fetched, FetchError> {
    let path = folder.join(file.path);
    let failed = |source| FetchError::Write { path: path.clone(), source };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    if sha256(&path).is_ok_and(|found| found == file.sha256) {
        client.progress.advance(file.bytes);
        return Ok(fetched(file, None));
    }
    let mut part = path.clone().into_os_string();
    part.push(".part");
    let part = PathBuf::from(part);
    let mut mirrors = Vec::new();
    for url in addresses(file, client.options.from.as_deref()) {
        match client.persistently(&url, &part, file) {
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

/// The folder of fetched datasets: `$QUADCAST_CACHE`, else `quadcast` in `$XDG_CACHE_HOME` or in the place that the
/// operating system has for caches. `None` if there is no home at all.
pub fn cache_folder() -> Option<PathBuf> {
    cache_folder_from(|name| env::var_os(name).filter(|value| !value.is_empty()))
}

fn cache_folder_from(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).map(PathBuf::from);
    let home = |inside: &str| path("HOME").map(|home| home.join(inside));
    path("QUADCAST_CACHE").or_else(|| {
        let caches = path("XDG_CACHE_HOME").or_else(|| {
            if cfg!(windows) {
                path("LOCALAPPDATA")
            } else if cfg!(target_os = "macos") {
                home("Library/Caches")
            } else {
                home(".cache")
            }
        });
        Some(caches?.join("quadcast"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_setting_wins() {
        let with = |set: &[(&str, &str)]| {
            cache_folder_from(|name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
            })
        };
        let all = [("QUADCAST_CACHE", "/a"), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")];
        assert_eq!(with(&all), Some("/a".into()));
        assert_eq!(with(&all[1..]), Some("/b/quadcast".into()));
        assert_eq!(with(&[]), None);
        #[cfg(target_os = "linux")]
        assert_eq!(with(&all[2..]), Some("/c/.cache/quadcast".into()));
    }
}
