//! Runs random programs on every kind of engine and compares each with a serial interpreter of the engine's rules (see
//! `mxrs_engine::var`).
//!
//! `cargo run --release -p mxrs-engine --example stress -- --programs 10000`, or `cargo xtask stress`. Options, with
//! defaults in parentheses: `--programs N`, the number of programs for each kind of engine (10000); `--seed S`, the seed of
//! the first program (0); `--kind WORD`, a value of `MXNET_ENGINE_TYPE` (all kinds); `--threads N`, the number of programs
//! at a time (2). A failure prints its seed and a small program that shows it.
#![cfg_attr(loom, allow(unused))]

#[cfg(not(loom))]
#[path = "../tests/oracle/harness/mod.rs"]
mod harness;

#[cfg(loom)]
fn main() {}

#[cfg(not(loom))]
fn main() -> std::process::ExitCode {
    match run::all() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            // Ends the process immediately, including the threads of a program that hangs.
            std::process::exit(1)
        }
    }
}

#[cfg(not(loom))]
mod run {
    use super::harness::{self, Tally};
    use mxrs_engine::EngineKind;
    use mxrs_types::EngineType;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;
    use std::time::Instant;

    struct Options {
        programs: u64,
        seed: u64,
        kinds: Vec<(EngineKind, bool)>,
        threads: usize,
    }

    fn options() -> Result<Options, String> {
        let mut options = Options { programs: 10_000, seed: 0, kinds: harness::KINDS.to_vec(), threads: 2 };
        let mut args = std::env::args().skip(1);
        while let Some(name) = args.next() {
            let value = args.next().ok_or(format!("{name} needs a value"))?;
            let number = || value.parse::<u64>().map_err(|_| format!("{name}: {value} is not a number"));
            match name.as_str() {
                "--programs" => options.programs = number()?,
                "--seed" => options.seed = number()?,
                "--threads" => options.threads = usize::try_from(number()?.max(1)).map_err(|e| e.to_string())?,
                "--kind" => {
                    let engine: EngineType = value.parse().map_err(|error: mxrs_types::Error| error.to_string())?;
                    options.kinds = vec![(engine.kind(), engine.is_async())];
                }
                _ => return Err(format!("unknown option {name}; see the head of this program")),
            }
        }
        Ok(options)
    }

    pub fn all() -> Result<(), String> {
        let options = options()?;
        for kind in &options.kinds {
            let started = Instant::now();
            let tally = one_kind(&options, *kind)?;
            let Tally { programs, tasks, skipped, failed, exact } = tally;
            let name = format!("{}{}", kind.0.word(), if kind.1 { "Async" } else { "" });
            println!(
                "{name:<28} {programs} programs, {tasks} tasks ({failed} failed, {skipped} skipped), {exact} programs \
                 with a single right outcome, {:.1} s: all as the rules say",
                started.elapsed().as_secs_f64()
            );
        }
        Ok(())
    }

    /// Checks the programs of all seeds on one kind of engine. Threads take seeds one by one, so the set of programs
    /// does not depend on the number of threads.
    fn one_kind(options: &Options, kind: (EngineKind, bool)) -> Result<Tally, String> {
        let next = AtomicU64::new(options.seed);
        let end = options.seed.checked_add(options.programs).ok_or("--seed and --programs overflow 64 bits")?;
        let worker = || {
            let mut tally = Tally::default();
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= end {
                    return Ok(tally);
                }
                match harness::check(seed, kind.0, kind.1) {
                    Ok(one) => tally.add(one),
                    Err(error) => {
                        next.store(end, Ordering::Relaxed);
                        return Err(error);
                    }
                }
            }
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..options.threads).map(|_| scope.spawn(worker)).collect();
            let mut tally = Tally::default();
            for worker in workers {
                tally.add(worker.join().map_err(|_| "a thread panicked")??);
            }
            Ok(tally)
        })
    }
}
