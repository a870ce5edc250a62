//! Ctrl-C: the first asks the computation to stop at the next safe place, the second ends the process.

use std::sync::OnceLock;

use quadcast_core::Cancellation;

/// Exit code of a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

static CANCELLATION: OnceLock<Cancellation> = OnceLock::new();

/// The request that Ctrl-C makes; the first call installs the handler.
pub fn cancellation() -> Cancellation {
    let install = || {
        let cancellation = Cancellation::default();
        let shared = cancellation.clone();
        // Without a handler, Ctrl-C ends the process at once, which loses at most the step in progress.
        ctrlc::set_handler(move || {
            if shared.is_cancelled() {
                std::process::exit(INTERRUPTED);
            }
            eprintln!("stopping; press Ctrl-C again to stop at once");
            shared.cancel();
        })
        .ok();
        cancellation
    };
    CANCELLATION.get_or_init(install).clone()
}
