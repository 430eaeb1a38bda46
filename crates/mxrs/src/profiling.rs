//! The profiler of the process and the settings of the environment.
//!
//! ```
//! use mxrs::Runtime;
//! use mxrs::profiler::{Config, State, process};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let filename = folder.path().join("profile.json");
//! let profiler = process()?;
//! profiler.set_config(Config { filename, aggregate_stats: true, ..Config::default() })?;
//! profiler.set_state(State::Run)?;
//!
//! let nd = Runtime::from_env()?.imperative()?;
//! let x = nd.array([2, 2], &[1.0_f32, 2.0, 3.0, 4.0])?;
//! println!("{}", x.tanh()?);
//!
//! profiler.dump(true)?;
//! println!("{}", profiler.dumps(false, Default::default(), Default::default(), false));
//! assert_eq!(profiler.stats().get("operator", "tanh").map(|entry| entry.count), Some(1));
//! # Ok::<(), mxrs::Error>(())
//! ```

use mxrs_env::Settings;
use mxrs_profiler::{Config, State, autostart, process};
use mxrs_types::Result;
// From the standard library, because the types of loom (a tool that tests concurrent code) cannot live in statics.
use std::sync::atomic::{AtomicBool, Ordering};

/// Applies `MXNET_PROFILER_MODE` to the profiler of the process, and starts it if `MXNET_PROFILER_AUTOSTART` says so. Only the
/// first runtime of a process that sets one of the two does this; calls may change the settings later. After an error the next
/// runtime tries again.
///
/// # Errors
/// Returns an error if the trace cannot be written.
pub(crate) fn apply(settings: &Settings) -> Result<()> {
    static IS_APPLIED: AtomicBool = AtomicBool::new(false);
    let wanted = &settings.profiler;
    if !wanted.autostart && !settings.is_set("MXNET_PROFILER_MODE") {
        return Ok(());
    }
    if IS_APPLIED.swap(true, Ordering::AcqRel) {
        return Ok(());
    }
    let applied = Config::of_mode(wanted.mode).and_then(|config| match (wanted.autostart, process()?.state()) {
        // If a program has started the profiler itself, the profiler keeps its settings.
        (_, State::Run) => Ok(()),
        (true, State::Stop) => autostart(config).map(drop),
        (false, State::Stop) => process()?.set_config(config),
    });
    IS_APPLIED.store(applied.is_ok(), Ordering::Release);
    applied
}
