//! What concerns the whole process: Ctrl-C, and how long freed memory is kept.

use std::ffi::c_long;
use std::sync::OnceLock;

use quadcast_core::Cancellation;

use crate::output::say;

/// Exit code of a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

static CANCELLATION: OnceLock<Cancellation> = OnceLock::new();

/// The request that Ctrl-C makes: the first asks the computation to stop at the next safe place, the second ends the
/// process. The first call installs the handler.
pub fn cancellation() -> Cancellation {
    let install = || {
        let cancellation = Cancellation::default();
        let shared = cancellation.clone();
        // Without a handler, Ctrl-C ends the process at once, which loses at most the step in progress.
        ctrlc::set_handler(move || {
            if shared.is_cancelled() {
                std::process::exit(INTERRUPTED);
            }
            say("stopping; press Ctrl-C again to stop at once");
            shared.cancel();
        })
        .ok();
        cancellation
    };
    CANCELLATION.get_or_init(install).clone()
}

/// `mi_option_purge_delay` of mimalloc's header, which its bindings leave out: milliseconds for which freed pages are kept
/// before they go back to the system.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
const A_MINUTE: c_long = 60_000;

/// Returns freed pages at once. Models of evolving graphs keep their buffers from step to step; what reading, indexing
/// and saving leave behind would stay for a second and add up to a third of the whole.
pub fn release_pages() {
    keep_pages_for(0);
}

/// Keeps freed pages for a minute. A training step frees and takes the same large tensors several times a second; with
/// the default of one second all that is free at that moment goes back to the system and comes again as fresh pages.
pub fn keep_pages() {
    keep_pages_for(A_MINUTE);
}

#[allow(unsafe_code)]
fn keep_pages_for(milliseconds: c_long) {
    // SAFETY: sets a number in a table of the allocator; the option has this index in its versions 2 and 3.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, milliseconds) }
}
