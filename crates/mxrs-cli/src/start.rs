//! Builds settings and a runtime from the environment and the flags.

use crate::args::Compute;
use crate::exit::{Failure, Outcome};
use mxrs::env::{OsSource, Settings, Snapshot};
use mxrs::exec::Search;
use mxrs::{Runtime, RuntimeBuilder};

/// The environment of the process, overridden by the flags. Reports every invalid value before anything else happens.
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

/// A runtime with the settings of the environment and these flags.
///
/// # Errors
/// Fails as [`snapshot`] does; also if the backend does not exist.
pub fn runtime(compute: Option<&Compute>) -> Outcome<Runtime> {
    runtime_with(compute, &[])
}

/// A runtime with these variables in addition to those of the environment.
///
/// # Errors
/// Fails as [`runtime`] does; also if a variable does not exist or has an invalid value.
pub fn runtime_with(compute: Option<&Compute>, variables: &[(String, String)]) -> Outcome<Runtime> {
    builder(compute, variables)?.build().map_err(Failure::binding)
}

/// A runtime that finds the fastest kernels by timing.
///
/// # Errors
/// Fails as [`runtime`] does; also if an environment variable forbids timing.
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
