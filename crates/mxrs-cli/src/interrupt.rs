//! Ctrl-C: the first one lets the present batch finish and nothing half written remain, the second one ends at once.

use crate::exit::{Failure, INTERRUPTED, Outcome};
use mxrs::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Starts to notice interrupts.
pub fn watch() {
    let asked = flag();
    let noticed = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED.into());
        }
    });
    // Without a handler the system ends the program, which is what an interrupt is for.
    if let Err(error) = noticed {
        tracing::debug!("no handler for interrupts: {error}");
    }
}

/// True once there was one: for loops of the library.
pub fn flag() -> Arc<AtomicBool> {
    ASKED.clone()
}

/// Ends a loop that was interrupted.
///
/// # Errors
/// [`Failure::Interrupted`].
pub fn check() -> Outcome {
    if ASKED.load(Ordering::SeqCst) { Err(Failure::Interrupted) } else { Ok(()) }
}
