//! Compares random programs on every kind of engine with a serial interpreter of the rules E3 to E15.
//!
//! This test runs 150 programs on each kind; `cargo xtask stress` runs ten thousand.
#![cfg(not(loom))]

mod harness;

use harness::{KINDS, Tally};
use mxrs_engine::EngineKind;

const PROGRAMS: u64 = 150;

/// Runs the programs of one kind of engine. Each kind has its own seeds, so that all kinds together run more programs.
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

/// E3 to E15 under `NaiveEngine`.
#[test]
fn random_programs_naive() {
    check(EngineKind::Naive, false);
}

/// E3 to E15 under `ThreadedEngine`.
#[test]
fn random_programs_threaded() {
    check(EngineKind::Threaded, false);
}

/// E3 to E15 under `ThreadedEnginePerDevice`.
#[test]
fn random_programs_per_device() {
    check(EngineKind::ThreadedPerDevice, false);
}

/// E3 to E15 under `NaiveEngineAsync`.
#[test]
fn random_programs_naive_async() {
    check(EngineKind::Naive, true);
}

/// E3 to E15 under `ThreadedEngineAsync`.
#[test]
fn random_programs_threaded_async() {
    check(EngineKind::Threaded, true);
}

/// E3 to E15 under `ThreadedEnginePerDeviceAsync`.
#[test]
fn random_programs_per_device_async() {
    check(EngineKind::ThreadedPerDevice, true);
}
