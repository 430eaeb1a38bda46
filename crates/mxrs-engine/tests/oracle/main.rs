//! Compares random programs on every kind of engine with a serial interpreter of the rules E3 to E15 of
//! `mxrs_engine::var`.
//!
//! This test runs 150 programs on each kind; `cargo xtask stress` runs ten thousand.
#![cfg(not(loom))]

mod harness;

use harness::{KINDS, Tally};
use mxrs_engine::EngineKind;

const PROGRAMS: u64 = 150;

/// Runs the programs of one kind of engine. Each kind has its own seeds, so that all kinds together run more different
/// programs.
fn check(kind: EngineKind, is_async: bool) {
    let place = KINDS.iter().position(|k| *k == (kind, is_async)).unwrap() as u64;
    let mut tally = Tally::default();
    for seed in 1000 * place..1000 * place + PROGRAMS {
        match harness::check(seed, kind, is_async) {
            Ok(one) => tally.add(one),
            Err(report) => panic!("{report}"),
        }
    }
    assert!(tally.tasks > 20 * PROGRAMS, "programs too small to find anything: {tally:?}");
    assert!(tally.failed > PROGRAMS / 2 && tally.skipped > 0, "too few failures to judge how they spread: {tally:?}");
    assert!(tally.exact > PROGRAMS / 2, "too many programs with several correct outcomes: {tally:?}");
}

/// Checks the rules E3 to E15 with random programs on `NaiveEngine`.
#[test]
fn random_programs_naive() {
    check(EngineKind::Naive, false);
}

/// Checks the rules E3 to E15 with random programs on `ThreadedEngine`.
#[test]
fn random_programs_threaded() {
    check(EngineKind::Threaded, false);
}

/// Checks the rules E3 to E15 with random programs on `ThreadedEnginePerDevice`.
#[test]
fn random_programs_per_device() {
    check(EngineKind::ThreadedPerDevice, false);
}

/// Checks the rules E3 to E15 with random programs on `NaiveEngineAsync`.
#[test]
fn random_programs_naive_async() {
    check(EngineKind::Naive, true);
}

/// Checks the rules E3 to E15 with random programs on `ThreadedEngineAsync`.
#[test]
fn random_programs_threaded_async() {
    check(EngineKind::Threaded, true);
}

/// Checks the rules E3 to E15 with random programs on `ThreadedEnginePerDeviceAsync`.
#[test]
fn random_programs_per_device_async() {
    check(EngineKind::ThreadedPerDevice, true);
}
