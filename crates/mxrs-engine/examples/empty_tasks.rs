//! Pushes tasks with empty bodies, for counting the instructions of the engine itself:
//!
//! `cargo build --release -p mxrs-engine --example empty_tasks`, then
//! `valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/empty_tasks 200000`

use mxrs_engine::{Engine, EngineConfig, EngineKind};
use mxrs_types::{Error, Result};

/// The number of variables, which the tasks use in turn.
const VARS: usize = 8;

fn main() -> Result<()> {
    let count = std::env::args().nth(1).unwrap_or_else(|| "1000".into());
    let n_tasks: usize =
        count.parse().map_err(|_| Error::invalid("number of tasks", &count, "a whole number, such as 200000"))?;
    // The naive engine has no workers, so no waiting thread adds instructions.
    let engine = Engine::new(EngineConfig { kind: EngineKind::Naive, ..EngineConfig::default() })?;
    let vars: Vec<_> = (0..VARS).map(|_| engine.new_var()).collect();
    for task in 0..n_tasks {
        engine.task("step").read(&vars[task % VARS]).write(&vars[(task + 1) % VARS]).push(|_| Ok(()))?;
    }
    engine.wait_for_all()
}
