//! From the environment and the flags to settings and a runtime.

use crate::args::Compute;
use crate::exit::{Failure, Outcome};
use mxrs::env::{OsSource, Settings, Snapshot};
use mxrs::exec::Search;
use mxrs::{Runtime, RuntimeBuilder};

/// The environment of the process with what the flags say on top, checked: before anything else happens, every bad
/// value is reported.
///
/// # Errors
/// [`Failure::Usage`] with one line per bad value.
pub fn snapshot(compute: Option<&Compute>) -> Outcome<Snapshot> {
    let errors = Settings::check_all(&OsSource);
    if !errors.is_empty() {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        return Err(Failure::Usage(lines.join("\nerror: ")));
    }
    let mut snapshot = Snapshot::take(&OsSource);
    if let Some(threads) = compute.and_then(|compute| compute.threads) {
        snapshot = snapshot.with_api("OMP_NUM_THREADS", threads.to_string());
    }
    Ok(snapshot)
}

/// A runtime.
///
/// # Errors
/// As [`snapshot`]; a backend that is not there.
pub fn runtime(compute: Option<&Compute>) -> Outcome<Runtime> {
    runtime_with(compute, &[])
}

/// A runtime with these variables on top of those of the environment.
///
/// # Errors
/// As [`runtime`]; names that no variable has, and bad values.
pub fn runtime_with(compute: Option<&Compute>, variables: &[(String, String)]) -> Outcome<Runtime> {
    builder(compute, variables)?.build().map_err(Failure::binding)
}

/// A runtime that looks for the fastest kernels by timing.
///
/// # Errors
/// As [`runtime`]; a variable that forbids timing.
pub fn runtime_searching(compute: &Compute, search: Search) -> Outcome<Runtime> {
    builder(Some(compute), &[])?.search_kernels(search).build().map_err(Failure::binding)
}

fn builder(compute: Option<&Compute>, variables: &[(String, String)]) -> Outcome<RuntimeBuilder> {
    let mut snapshot = snapshot(compute)?;
    for (name, value) in variables {
        snapshot = snapshot.with_api(name, value);
    }
    let mut builder = Runtime::builder().snapshot(snapshot);
    if let Some(name) = compute.and_then(|compute| compute.backend.as_deref()) {
        builder = builder.only_backend(name);
    }
    if let Some(compute) = compute {
        builder = builder.winograd(compute.winograd()).weights(compute.weights());
    }
    Ok(builder)
}
