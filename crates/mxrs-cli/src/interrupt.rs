//! Handles the signals that request the program to end: Ctrl-C (SIGINT), SIGTERM (`docker stop`, `kill`) and SIGHUP (a
//! closed terminal).
//!
//! The first signal sets a flag. Commands with long loops check it between batches, finish writing (a training writes a
//! checkpoint) and end with exit code 128 plus the signal's number, as in shells. The second signal ends the program
//! immediately; in a command that must first end other processes, the third signal does ([`hold`]). Commands that do not
//! check the flag install no handler, so the system ends them at the first signal.

use crate::exit::{Failure, Outcome};
use mxrs_sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// Number of the first signal; 0 if there was none.
static SIGNAL: LazyLock<AtomicI32> = LazyLock::new(AtomicI32::default);
/// The number of signals so far.
static N_SIGNALS: LazyLock<AtomicU32> = LazyLock::new(AtomicU32::default);
/// Which signal ends the program immediately: the second one, or the third one after a call of [`hold`].
static LAST: LazyLock<AtomicU32> = LazyLock::new(|| AtomicU32::new(2));

/// Installs the handlers of the signals.
#[cfg(unix)]
pub fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = vec![SIGINT, SIGTERM];
    // `nohup` starts a program with SIGHUP ignored; it must stay ignored.
    if !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    let handled = signal_hook::iterator::Signals::new(signals).and_then(|mut signals| {
        let wait = move || signals.forever().for_each(noticed);
        std::thread::Builder::new().name("mxrs-signals".into()).spawn(wait).map(drop)
    });
    if let Err(error) = handled {
        tracing::debug!("signals are not handled, so the first one ends the program at once: {error}");
    }
}

/// Does nothing, because this system has no such signals.
#[cfg(not(unix))]
pub fn watch() {}

#[cfg(unix)]
fn noticed(signal: i32) {
    let n = N_SIGNALS.fetch_add(1, Ordering::SeqCst) + 1;
    if n >= LAST.load(Ordering::SeqCst) {
        std::process::exit(128 + signal);
    }
    if n == 1 {
        SIGNAL.store(signal, Ordering::SeqCst);
        ASKED.store(true, Ordering::SeqCst);
    }
}

/// From now on, the second signal does not end the program. The command that calls this checks [`n_signals`] and kills its
/// other processes at the second signal. The third signal ends the program.
pub fn hold() {
    LAST.store(3, Ordering::SeqCst);
}

/// The number of signals so far.
pub fn n_signals() -> u32 {
    N_SIGNALS.load(Ordering::SeqCst)
}

/// Whether the process was started with this signal ignored, according to Linux's `/proc`. False if that cannot be read.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// The flag that the first signal sets. Long loops in the libraries get it, and end when it is set.
pub fn flag() -> Arc<AtomicBool> {
    ASKED.clone()
}

/// Exit code of a program that was ended by a signal: 128 plus the signal's number, 130 for Ctrl-C.
pub fn exit_code() -> u8 {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => crate::exit::INTERRUPTED,
        signal => u8::try_from(128 + signal).unwrap_or(crate::exit::INTERRUPTED),
    }
}

/// Returns an error to end a loop if a signal has arrived.
///
/// # Errors
/// Returns [`Failure::Interrupted`] if a signal has arrived.
pub fn check() -> Outcome {
    if ASKED.load(Ordering::SeqCst) { Err(Failure::Interrupted) } else { Ok(()) }
}
