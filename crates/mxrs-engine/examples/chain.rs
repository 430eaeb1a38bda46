//! A small program on the engine: two independent chains and a sum of both, with the order left to the engine.
//!
//! `cargo run -p mxrs-engine --example chain`

use mxrs_engine::{Engine, EngineConfig};
use mxrs_types::Result;
use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn main() -> Result<()> {
    let cpu_workers = NonZeroUsize::MIN.saturating_add(1);
    let engine = Engine::new(EngineConfig { cpu_workers, ..EngineConfig::default() })?;
    let vars = [engine.new_var(), engine.new_var(), engine.new_var()];
    let cells = Arc::new([const { AtomicU64::new(1) }; 3]);

    for step in 1..=5 {
        for chain in 0..2 {
            let cells = Arc::clone(&cells);
            engine.task(format!("chain{chain}_step{step}")).write(&vars[chain]).push(move |_| {
                let factor = chain as u64 + 2;
                let old = cells[chain].load(Ordering::Relaxed);
                cells[chain].store(old * factor, Ordering::Relaxed);
                Ok(())
            })?;
        }
    }
    let sum = Arc::clone(&cells);
    engine.task("sum").read(&vars[0]).read(&vars[1]).write(&vars[2]).push(move |_| {
        sum[2].store(sum[0].load(Ordering::Relaxed) + sum[1].load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(())
    })?;

    engine.wait_to_read(&vars[2])?;
    let total = cells[2].load(Ordering::Relaxed);
    let counters = engine.counters();
    let mut out = std::io::stdout().lock();
    writeln!(out, "2^5 + 3^5 = {total}, in {} tasks", counters.pushed)
        .map_err(|e| mxrs_types::Error::io("standard output", &e))?;
    assert_eq!(total, 32 + 243);
    Ok(())
}
