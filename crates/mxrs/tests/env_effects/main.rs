//! What each environment variable in effect does, observed through a [`Runtime`] made from a map of variables.
//!
//! One file for each area; `rules.rs` has what holds of all variables, and `coverage.rs` fails when a variable in effect
//! has no test here.

mod coverage;
mod door;
mod engine;
mod fusion;
mod gpu;
mod graphs;
mod log_lines;
mod onednn;
mod optimizers;
mod partitioning;
mod planner;
mod pools;
mod probe;
mod quantization;
mod reports;
mod resources;
mod rules;
mod threads;
mod training;
mod tuning;
mod workers;

use log_lines::log_lines;
use mxrs::env::MapSource;
use mxrs::{Runtime, RuntimeBuilder};
use std::fmt::Debug;

type Vars<'a> = &'a [(&'a str, &'a str)];

/// A runtime that sees only these variables, begun.
fn builder(vars: Vars<'_>) -> RuntimeBuilder {
    Runtime::builder().env(&MapSource::new(vars.iter().copied()))
}

/// A runtime that sees only these variables, with the reference kernels only.
fn runtime(vars: Vars<'_>) -> Runtime {
    builder(vars).only_backend("reference").build().expect("the runtime starts")
}

/// The warnings that a runtime logs while it is built with every backend of this build.
fn warnings(vars: Vars<'_>) -> Vec<String> {
    let (_, lines) = log_lines(|| builder(vars).build().expect("the runtime starts"));
    lines.into_iter().filter_map(|line| Some(line.strip_prefix("WARN ")?.to_owned())).collect()
}

/// Checks an older name: alone it has the effect of the canonical one, beside that it has none, and each time one
/// warning says so. `effect` observes the variables; it must tell `value` from `other`.
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
