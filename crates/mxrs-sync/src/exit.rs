//! Work at the end of the process.

use std::sync::atomic::{AtomicBool, Ordering};

/// Registers a function that is called once when `main` returns or `std::process::exit` is called, on the thread that ends
/// the process. Other threads may still run. The function must not panic. A process that is killed or aborts does not call
/// it.
///
/// `is_registered` belongs to the function: it makes later calls do nothing. Returns whether the function is registered.
pub fn at_exit(is_registered: &AtomicBool, function: extern "C" fn()) -> bool {
    if is_registered.swap(true, Ordering::AcqRel) {
        return true;
    }
    // SAFETY: the function has the right signature and exists as long as the program's code.
    let is_taken = unsafe { libc::atexit(function) } == 0;
    is_registered.store(is_taken, Ordering::Release);
    is_taken
}
