//! A variable that is said to be in effect has a test of its effect: its name stands in one of these files.

use mxrs::env::{Registered, Status, registry};

/// The files that observe effects; `rules.rs`, which names everything, is not one of them.
const SOURCES: [&str; 15] = [
    include_str!("threads.rs"),
    include_str!("engine.rs"),
    include_str!("fusion.rs"),
    include_str!("gpu.rs"),
    include_str!("reports.rs"),
    include_str!("resources.rs"),
    include_str!("planner.rs"),
    include_str!("pools.rs"),
    include_str!("quantization.rs"),
    include_str!("onednn.rs"),
    include_str!("optimizers.rs"),
    include_str!("partitioning.rs"),
    include_str!("training.rs"),
    include_str!("tuning.rs"),
    include_str!("workers.rs"),
];

#[test]
fn every_variable_in_effect_is_tested() {
    let mut n_names = 0;
    for entry in registry().iter().filter(|entry| entry.status() == Status::InEffect) {
        let names = match entry {
            Registered::Variable(_, row) => vec![row.name],
            Registered::OldNames(_, aliases) => aliases.iter().map(|alias| alias.name).collect(),
        };
        for name in names {
            n_names += 1;
            let quoted = format!("\"{name}\"");
            assert!(
                SOURCES.iter().any(|source| source.contains(&quoted)),
                "{} {name} is in effect and has no test here",
                entry.id()
            );
        }
    }
    assert!(n_names > 30, "{n_names} names are few: is the registry read?");
}
