//! Tests of the effect of each environment variable, observed through a [`Runtime`] that is built from a map of variables.
//!
//! There is one file for each area. Numbers such as D4, B28, M8 and O2 are the rows of the variables in `docs/env.md`.
//! `rules.rs` tests rules that hold for all variables, and `coverage.rs` fails if a variable in effect has no test.

mod coverage;
mod device;
#[cfg(unix)]
mod distributed;
mod door;
mod engine;
mod fusion;
mod gpu;
mod graphs;
mod kvstore;
mod kvstore_gpus;
mod log_lines;
mod onednn;
mod optimizers;
mod partitioning;
mod planner;
mod plug;
mod pools;
mod probe;
mod quantization;
mod reports;
mod resources;
mod rules;
#[cfg(feature = "grpc")]
mod servers;
mod threads;
mod training;
mod tuning;
mod variables;
mod workers;

use log_lines::log_lines;
use mxrs::env::MapSource;
use mxrs::{Runtime, RuntimeBuilder};
use std::fmt::Debug;

type Vars<'a> = &'a [(&'a str, &'a str)];

/// The builder of a runtime with only these variables.
fn builder(vars: Vars<'_>) -> RuntimeBuilder {
    Runtime::builder().env(&MapSource::new(vars.iter().copied()))
}

/// A runtime with only these variables and only the reference kernels.
fn runtime(vars: Vars<'_>) -> Runtime {
    builder(vars).only_backend("reference").build().expect("the runtime starts")
}

/// The warnings that a runtime with every backend of this build logs while it is built.
fn warnings(vars: Vars<'_>) -> Vec<String> {
    let (_, lines) = log_lines(|| builder(vars).build().expect("the runtime starts"));
    lines.into_iter().filter_map(|line| Some(line.strip_prefix("WARN ")?.to_owned())).collect()
}

/// Checks an older name of a variable: alone it has the effect of the canonical name; if both are set, it has no effect.
/// Each time, one warning says so. `effect` observes the variables, and must give different results for `value` and `other`.
fn check_older_name<T: PartialEq + Debug>(
    older: &str,
    canonical: &str,
    [value, other]: [&str; 2],
    effect: impl Fn(Vars<'_>) -> T,
) {
    let expected = effect(&[(canonical, value)]);
    assert_eq!(effect(&[(older, value)]), expected, "{older} alone");
    assert_ne!(effect(&[(canonical, other)]), expected, "the effect of {canonical} is seen");
    assert_eq!(effect(&[(older, other), (canonical, value)]), expected, "{canonical} wins");

    let about_older = |vars: Vars<'_>| -> Vec<String> {
        let starts = [format!("{older} "), format!("{older}=")];
        warnings(vars).into_iter().filter(|line| starts.iter().any(|start| line.contains(start))).collect()
    };
    assert_eq!(about_older(&[(older, value)]), [format!("{older} is an older name: set {canonical} instead")]);
    assert_eq!(
        about_older(&[(older, other), (canonical, value)]),
        [format!("{canonical}={value} is used; {older}={other} is its older name and is ignored")]
    );
}
