//! Whether something fits into memory, asked before it is there: when an allocation fails it is too late for a message.

use quadcast_core::ModelError;

/// Numbers that are held per trained one: itself, its gradient, three moments at most, the best state with its moments,
/// and a copy on its way to disk.
const COPIES: u128 = 12;

/// Refuses a training of so many numbers that cannot fit into what is free.
pub(crate) fn check_training(parameters: usize) -> Result<(), ModelError> {
    let what = format!("the training of {parameters} parameters");
    check_memory(COPIES * parameters as u128, &what, "a smaller dimension")
}

/// Refuses so many numbers of four bytes that cannot fit into what is free. `less` is what would need less.
pub fn check_memory(numbers: u128, what: &str, less: &str) -> Result<(), ModelError> {
    available().map_or(Ok(()), |available| fits(4 * numbers, available, what, less))
}

fn fits(needed: u128, available: u64, what: &str, less: &str) -> Result<(), ModelError> {
    if needed <= u128::from(available) {
        return Ok(());
    }
    let gigabytes = |bytes: f64| bytes / 1e9;
    Err(ModelError::Training(format!(
        "{what}: about {:.1} GB of memory are needed and {:.1} GB are free; {less} needs less",
        gigabytes(needed as f64),
        gigabytes(available as f64)
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
    use super::{check_memory, fits};

    #[test]
    fn what_cannot_fit_is_refused_with_numbers() {
        assert!(fits(48_000_000, 48_000_000, "rows", "less").is_ok());
        let error =
            fits(48_000_000_000, 24_000_000_000, "rows", "a smaller dimension").unwrap_err().to_string();
        assert!(error.contains("rows: about 48.0 GB of memory are needed and 24.0 GB are free"), "{error}");
        assert!(error.contains("a smaller dimension needs less"), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn beyond_what_a_machine_can_hold() {
        assert!(check_memory(1, "a number", "none").is_ok());
        assert!(check_memory(1 << 100, "more than there is", "less").is_err());
    }
}
