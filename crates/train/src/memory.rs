//! Whether a training fits into memory, asked before it begins: when an allocation fails it is too late for a message.

use quadcast_core::ModelError;

/// Numbers that are held per trained one: itself, its gradient, three moments at most, the best state with its moments,
/// and a copy on its way to disk.
const COPIES: u64 = 12;

/// Refuses a training of so many numbers that cannot fit into what is free.
pub(crate) fn check(parameters: usize) -> Result<(), ModelError> {
    available().map_or(Ok(()), |available| fits(parameters as u64, available))
}

fn fits(parameters: u64, available: u64) -> Result<(), ModelError> {
    let needed = 4 * COPIES * parameters;
    if needed <= available {
        return Ok(());
    }
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    Err(ModelError::Training(format!(
        "training {parameters} parameters needs about {:.1} GB of memory and {:.1} GB are free; a smaller dimension needs \
         less",
        gigabytes(needed),
        gigabytes(available)
    )))
}

/// Bytes of memory that are free or can be made free, where the system tells (Linux).
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kibibytes)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn what_cannot_fit_is_refused_with_numbers() {
        assert!(fits(1_000_000, 48_000_000).is_ok());
        let error = fits(1_000_000_000, 24_000_000_000).unwrap_err().to_string();
        assert!(
            error.contains("48.0 GB") && error.contains("24.0 GB") && error.contains("dimension"),
            "{error}"
        );
    }
}
