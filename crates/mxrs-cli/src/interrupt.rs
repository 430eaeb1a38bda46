//! Ctrl-C: the first one lets the present batch finish and nothing half written remain, the second one ends at once.

use crate::exit::{Failure, INTERRUPTED, Outcome};
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Starts to notice interrupts.
pub fn watch() {
    let noticed = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED.into());
        }
    });
    // Without a handler the system ends the program, which is what an interrupt is for.
    if let Err(error) = noticed {
        tracing::debug!("no handler for interrupts: {error}");
    }
}

/// Ends a loop that was interrupted.
///
/// # Errors
/// [`Failure::Interrupted`].
pub fn check() -> Outcome {
    if ASKED.load(Ordering::SeqCst) { Err(Failure::Interrupted) } else { Ok(()) }
}
