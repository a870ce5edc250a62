//! Whether a model fits into memory, asked before it is allocated: a failed allocation ends the process without a message.
//!
//! Estimates count what is surely needed, not what may be: a model that is refused could not have been trained.

use std::sync::atomic::{AtomicU64, Ordering};

use quadcast_core::{History, ModelError, Step};
use toml::Value;

use crate::settings::{Kind, SettingInfo, Settings};

/// The largest dimension: some models have matrices, and the square of this still is a number of the machine. Memory ends long
/// before.
pub(crate) const MOST_DIMENSION: f64 = 1e9;
/// The largest number of things that are counted: ids have 32 bits.
pub(crate) const MOST_THINGS: f64 = u32::MAX as f64;
/// The largest number of layers: networks of graphs are useless long before.
pub(crate) const MOST_LAYERS: f64 = 64.0;
/// Bytes of a learned number.
pub(crate) const NUMBER: f64 = 4.0;
/// Numbers that are held per trained one: itself, its gradient, three moments at most, the best state with its moments,
/// and a copy on its way to disk.
pub(crate) const TRAINED: f64 = 12.0;

/// The limit set by [`limit_memory`].
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Refuses from now on, in the whole process, models that need more bytes than this, even if more memory is free.
pub fn limit_memory(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// Refuses so many numbers of four bytes that cannot fit into memory. `less` is what would need less.
pub fn check_memory(numbers: u128, what: &str, less: &str) -> Result<(), ModelError> {
    let (needed, available) = (NUMBER * numbers as f64, available());
    if needed <= available {
        return Ok(());
    }
    Err(ModelError::Training(format!("{}; {less} needs less", takes(what, needed, available))))
}

/// Refuses the training of so many numbers that cannot fit into memory.
pub(crate) fn check_training(parameters: usize) -> Result<(), ModelError> {
    let what = format!("the training of {parameters} parameters");
    check_memory(TRAINED as u128 * parameters as u128, &what, "a smaller dimension")
}

/// Refuses a saved size that cannot fit into memory. `field` is its name in the file.
pub(crate) fn check_saved(field: &str, size: usize, bytes_each: f64) -> Result<(), ModelError> {
    let (needed, available) = (size as f64 * bytes_each, available());
    if needed <= available {
        return Ok(());
    }
    Err(ModelError::Saved(takes(&format!("{field} = {size}"), needed, available)))
}

/// Refuses settings with which a model cannot fit into memory. `bytes` estimates what a configuration needs; the error names
/// the setting that is to blame, and the largest value of it that fits.
pub(crate) fn check_settings<C: Settings>(
    config: &C,
    what: &str,
    bytes: impl Fn(&C) -> f64,
) -> Result<(), ModelError> {
    check_within(available(), config, what, &bytes)
}

fn check_within<C: Settings>(
    available: f64,
    config: &C,
    what: &str,
    bytes: &impl Fn(&C) -> f64,
) -> Result<(), ModelError> {
    let needed = bytes(config);
    if needed <= available {
        return Ok(());
    }
    let takes = takes(what, needed, available);
    let Some(blamed) = Blamed::find(config, needed, bytes) else {
        return Err(ModelError::Unsupported(format!("{takes}; less data or more memory is needed")));
    };
    let remedy = match blamed.largest(config, available, bytes) {
        Some(fits) => format!("at most {fits} fits"),
        None => format!("no {} fits: change other settings, too", blamed.key),
    };
    Err(ModelError::Config {
        key: blamed.key.to_owned(),
        value: blamed.value.to_string(),
        expected: format!("{takes}; {remedy}"),
    })
}

/// The setting that makes a model too large.
struct Blamed {
    key: &'static str,
    value: i64,
    /// Its smallest value.
    least: i64,
}

impl Blamed {
    /// The setting whose default would save most; if all have their defaults, the one whose smallest value would.
    fn find<C: Settings>(config: &C, needed: f64, bytes: &impl Fn(&C) -> f64) -> Option<Self> {
        let (own, usual) = (config.table(), C::default().table());
        let settings = || C::SETTINGS.iter().filter(|setting| setting.kind == Kind::Integer);
        let value = |setting: &SettingInfo| own.get(setting.key).and_then(Value::as_integer);
        let default = |setting: &SettingInfo| usual.get(setting.key).and_then(Value::as_integer);
        let best = |other: &dyn Fn(&SettingInfo) -> Option<i64>| {
            let saving = settings().filter_map(|setting| {
                let (value, other) = (value(setting)?, other(setting)?);
                let rest = bytes(&changed(config, setting.key, other)?);
                (other < value && rest < needed).then_some((rest, setting, value))
            });
            saving.min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let (_, setting, value) = best(&default).or_else(|| best(&|setting| Some(least(setting))))?;
        Some(Self { key: setting.key, value, least: least(setting) })
    }

    /// The largest value that fits.
    fn largest<C: Settings>(&self, config: &C, available: f64, bytes: &impl Fn(&C) -> f64) -> Option<i64> {
        let fits = |value| changed(config, self.key, value).is_some_and(|other| bytes(&other) <= available);
        let (mut low, mut high) = (self.least, self.value);
        if !fits(low) {
            return None;
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            if fits(middle) { low = middle } else { high = middle }
        }
        Some(low)
    }
}

/// The smallest value of a setting; 0 often stands for another value.
fn least(setting: &SettingInfo) -> i64 {
    (setting.range.minimum.unwrap_or(0.0) as i64).max(1)
}

/// A configuration with another value of a setting.
fn changed<C: Settings>(config: &C, key: &str, value: i64) -> Option<C> {
    let mut table = config.table();
    table.insert(key.to_owned(), Value::Integer(value));
    table.try_into().ok()
}

fn takes(what: &str, needed: f64, available: f64) -> String {
    let available = gibibytes(available);
    format!("{what} would take about {} of memory, and {available} are available", gibibytes(needed))
}

fn gibibytes(bytes: f64) -> String {
    match bytes / f64::from(1 << 30) {
        large if large >= 1e6 => format!("{large:.1e} GiB"),
        small => format!("{small:.1} GiB"),
    }
}

/// Where Linux says how much memory a container may use.
const CONTAINER_LIMITS: [&str; 2] =
    ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
/// What is taken to be available where the system does not say: no machine that runs this has more.
const UNKNOWN: u64 = 1 << 42;

/// Bytes that a model may take: those that are free or can be made free, within the limits of the container and of
/// [`limit_memory`].
fn available() -> f64 {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let contained = CONTAINER_LIMITS.into_iter().filter_map(|path| read(path)?.trim().parse().ok());
    let free = read("/proc/meminfo").and_then(|text| free_of(&text));
    let all = contained.chain(free).chain([UNKNOWN, LIMIT.load(Ordering::Relaxed)]);
    all.min().unwrap_or(UNKNOWN) as f64
}

fn free_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kibibytes)
}

/// Sizes of a history that decide how much memory a network takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DataSizes {
    pub entities: f64,
    /// Steps that hold facts.
    pub steps: usize,
    /// Facts of the largest of them.
    pub largest: usize,
    pub facts: usize,
}

impl DataSizes {
    pub fn of(history: &History<'_>) -> Self {
        let lengths = history.snapshots_from(Step(0)).map(|snapshot| snapshot.len());
        let occupied = lengths.filter(|&facts| facts > 0);
        let start = Self { entities: history.entities() as f64, steps: 0, largest: 0, facts: 0 };
        occupied.fold(start, |sizes, facts| Self {
            steps: sizes.steps + 1,
            largest: sizes.largest.max(facts),
            facts: sizes.facts + facts,
            ..sizes
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    settings! {
        /// A model of rows and layers.
        pub struct Config {
            /// Numbers of a row.
            dimension: usize = 100, range at_least(1.0).at_most(MOST_DIMENSION);
            /// Layers.
            layers: usize = 2, range at_least(1.0).at_most(MOST_LAYERS);
            /// Not a size.
            epochs: u32 = 10;
        }
    }

    const GIB: f64 = (1 << 30) as f64;

    fn refused(config: &Config, available: f64) -> String {
        let bytes = |config: &Config| (config.dimension * config.layers) as f64 * 1024.0;
        let error = check_within(available, config, "its rows", &bytes).expect_err("too large");
        error.to_string()
    }

    #[test]
    fn an_error_names_the_setting_to_blame_the_memory_and_what_fits() {
        let config = Config { dimension: 100_000_000, layers: 3, epochs: 1_000_000 };
        assert_eq!(
            refused(&config, 24.0 * GIB),
            "dimension = 100000000 is out of range: its rows would take about 286.1 GiB of memory, and 24.0 GiB are \
             available; at most 8388608 fits"
        );
        let config = Config { dimension: 100, layers: 64, epochs: 1 };
        let error = refused(&config, 1024.0 * 1024.0);
        assert!(error.starts_with("layers = 64") && error.ends_with("at most 10 fits"), "{error}");
    }

    #[test]
    fn settings_with_their_defaults_are_blamed_last() {
        let error = refused(&Config::default(), 20.0 * 1024.0);
        assert!(error.starts_with("dimension = 100") && error.ends_with("at most 10 fits"), "{error}");
        let error = refused(&Config::default(), 1024.0);
        assert!(error.ends_with("no dimension fits: change other settings, too"), "{error}");
        let data = check_within(1.0, &Config::default(), "the data", &|_| 1e30).expect_err("too large");
        assert_eq!(
            data.to_string(),
            "the data would take about 9.3e20 GiB of memory, and 0.0 GiB are available; less data or more memory is needed"
        );
    }

    #[test]
    fn free_memory_is_read_from_the_system() {
        assert_eq!(free_of("MemTotal: 9 kB\nMemAvailable:   12 kB\n"), Some(12 * 1024));
        assert_eq!(free_of("MemTotal: 9 kB\n"), None);
        assert!(check_memory(1, "a number", "none").is_ok());
        let error =
            check_memory(1 << 100, "numbers", "a smaller dimension").expect_err("no machine has that");
        assert!(error.to_string().contains("GiB are available; a smaller dimension needs less"), "{error}");
    }
}
