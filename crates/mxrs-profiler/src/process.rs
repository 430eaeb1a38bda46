//! The profiler of the process, which MXNet's functions without a handle refer to.

use crate::{Config, Profiler, State};
use mxrs_sync::exit::at_exit;
use mxrs_types::Result;
// From the standard library, because the types of loom (a tool that tests concurrent code) cannot live in statics.
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

static PROFILER: OnceLock<Profiler> = OnceLock::new();

/// MXNet's default of `MXNET_PROFILER_MODE`: all but operators that are called one by one.
const DEFAULT_MODE: u8 = 13;

/// The profiler of the process. It does not run until [`Profiler::set_state`] or [`autostart`] starts it. If it runs when the
/// process ends, it is finished then: the files are complete.
///
/// # Errors
/// Returns the errors of [`Profiler::new`].
pub fn process() -> Result<&'static Profiler> {
    if let Some(profiler) = PROFILER.get() {
        return Ok(profiler);
    }
    let profiler = Profiler::new(Config::of_mode(DEFAULT_MODE)?)?;
    let profiler = PROFILER.get_or_init(|| profiler);
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    if !at_exit(&IS_REGISTERED, finish) {
        tracing::warn!(target: "mxrs_profiler", "the system does not call functions at exit; finish the profiler by a dump");
    }
    Ok(profiler)
}

/// Starts the profiler of the process with these settings, as `MXNET_PROFILER_AUTOSTART=1` does. A profiler that has run and was not
/// finished keeps its settings and its state.
///
/// # Errors
/// Returns the errors of [`Profiler::set_config`] and [`Profiler::set_state`].
pub fn autostart(config: Config) -> Result<&'static Profiler> {
    let profiler = process()?;
    if profiler.trace_path().is_none() {
        profiler.set_config(config)?;
        profiler.set_state(State::Run)?;
    }
    Ok(profiler)
}

extern "C" fn finish() {
    let Some(profiler) = PROFILER.get() else { return };
    if profiler.trace_path().is_some()
        && let Err(error) = profiler.dump(true)
    {
        tracing::error!(target: "mxrs_profiler", "the last records are lost: {error}");
    }
}
