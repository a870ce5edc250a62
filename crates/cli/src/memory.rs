//! Memory of this process: how long freed pages are kept, and how much it was at most.

/// Milliseconds for which freed pages are kept before they go back to the system.
const KEPT_FOR: std::ffi::c_long = 60_000;
/// `mi_option_purge_delay` of mimalloc's header, which its bindings leave out.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Gives freed pages back at once. Models of changing graphs keep their buffers from step to step; what reading, indexing
/// and saving leave behind would stay for a second and add up to a third of the whole.
#[allow(unsafe_code)]
pub fn release_pages() {
    // SAFETY: as below.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, 0) }
}

/// Keeps freed pages for a minute. A training step frees and takes the same large tensors several times a second; with
/// the default of one second all that is free at that moment goes back to the system and comes again as fresh pages.
#[allow(unsafe_code)]
pub fn keep_pages() {
    // SAFETY: sets a number in a table of the allocator; the option has this index in its versions 2 and 3.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, KEPT_FOR) }
}

/// The largest resident set so far, where the system tells (Linux).
pub fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
