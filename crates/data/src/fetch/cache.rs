//! Where fetched datasets are kept.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// The folder of fetched datasets: `$QUADCAST_CACHE`, else `quadcast` in `$XDG_CACHE_HOME` or in the place that the
/// operating system has for caches. `None` if there is no home at all.
pub fn cache_folder() -> Option<PathBuf> {
    folder(|name| env::var_os(name).filter(|value| !value.is_empty()))
}

fn folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
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
            folder(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
        };
        let all = [("QUADCAST_CACHE", "/a"), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")];
        assert_eq!(with(&all), Some("/a".into()));
        assert_eq!(with(&all[1..]), Some("/b/quadcast".into()));
        assert_eq!(with(&[]), None);
        #[cfg(target_os = "linux")]
        assert_eq!(with(&all[2..]), Some("/c/.cache/quadcast".into()));
    }
}
