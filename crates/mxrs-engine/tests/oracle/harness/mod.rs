//! Random programs on a real engine, judged by the rules E3 to E15 of `mxrs_engine::var`.
//!
//! `program` defines what a program is, `generate` makes one from a seed, `world` runs it and records what happens,
//! `judge` compares the record with a serial interpreter, and `shrink` finds a small program that still fails.

mod generate;
mod judge;
mod program;
mod shrink;
mod world;

use mxrs_engine::{Engine, EngineConfig, EngineKind};
use program::{Line, Program, Wait};
use std::num::NonZeroUsize;
use std::sync::{Once, mpsc};
use std::thread;
use std::time::Duration;
use world::{Answer, World};

/// Every value of `MXNET_ENGINE_TYPE`: the kind of engine, and whether the value has the suffix `Async`.
pub const KINDS: [(EngineKind, bool); 6] = {
    use EngineKind::{Naive, Threaded, ThreadedPerDevice};
    [
        (Naive, false),
        (Threaded, false),
        (ThreadedPerDevice, false),
        (Naive, true),
        (Threaded, true),
        (ThreadedPerDevice, true),
    ]
};

/// A program that has not ended after this time counts as hung (E10, E14). Long, because the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// Counters of one or more programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub programs: u64,
    pub tasks: u64,
    pub skipped: u64,
    pub failed: u64,
    /// Programs for which the rules allow exactly one outcome of every wait and every task.
    pub exact: u64,
}

impl Tally {
    pub fn add(&mut self, other: Self) {
        self.programs += other.programs;
        self.tasks += other.tasks;
        self.skipped += other.skipped;
        self.failed += other.failed;
        self.exact += other.exact;
    }
}

/// Runs the program of a seed.
///
/// # Errors
/// Fails if the program breaks a rule or hangs. The message names the rule and contains a small program that fails.
pub fn check(seed: u64, kind: EngineKind, is_async: bool) -> Result<Tally, String> {
    let program = generate::program(seed, kind, is_async);
    attempt(&program, PATIENCE).map_err(|error| shrink::report(&program, &error))
}

/// Runs a program on a thread of its own, which is abandoned if it hangs.
fn attempt(program: &Program, patience: Duration) -> Result<Tally, String> {
    silence_injected_panics();
    let (tell, told) = mpsc::channel();
    let own = program.clone();
    let thread = thread::Builder::new().name("program".into()).spawn(move || {
        let _ = tell.send(run(&own));
    });
    let thread = thread.map_err(|error| format!("no thread for the program: {error}"))?;
    match told.recv_timeout(patience) {
        Ok(outcome) => {
            let _ = thread.join();
            outcome
        }
        Err(mpsc::RecvTimeoutError::Timeout) => Err(format!("E10, E14: not done after {} s", patience.as_secs_f32())),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err("the program's thread panicked".into()),
    }
}

fn run(program: &Program) -> Result<Tally, String> {
    let count = |n| NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN);
    let config = EngineConfig {
        is_async: program.is_async,
        cpu_workers: count(program.cpu_workers),
        cpu_priority_workers: count(program.priority_workers),
        ..EngineConfig::of_kind(program.kind)
    };
    let engine = Engine::new(config).map_err(|error| error.to_string())?;
    let world = World::new(engine, program.n_vars, program.n_ids());
    let mut waits = Vec::new();
    for phase in &program.phases {
        let play = |lines: &[Line]| {
            let (mut notes, mut _scope) = (Vec::new(), None);
            for line in lines {
                if let Line::Bulk(n) = line {
                    // The scope that the last `Line::Bulk` opened has to end first: scopes nest, so the end of an inner
                    // scope would not end the collecting.
                    drop(_scope.take());
                    _scope = (*n > 0).then(|| world.engine.bulk(*n));
                }
                notes.extend(world.play(line));
            }
            notes
        };
        if let [only] = phase.threads.as_slice() {
            waits.extend(play(only));
        } else {
            let ends = thread::scope(|scope| {
                let threads: Vec<_> = phase.threads.iter().map(|lines| scope.spawn(|| play(lines))).collect();
                threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
            });
            for end in ends {
                waits.extend(end.map_err(|_| "a pushing thread panicked")?);
            }
        }
        if phase.restart {
            restart(&world);
        }
    }
    if program.ends_with_stop {
        restart(&world);
    } else {
        sleep_until_idle(&world);
    }
    // No task runs from here on, so the rules determine the result of each wait. Waits for deleted variables are
    // refused.
    let in_turn = |var: usize| if var.is_multiple_of(2) { Wait::Read(var) } else { Wait::Write(var) };
    let turn = program.seed as usize % program.n_vars;
    waits.extend((turn..program.n_vars).chain(0..turn).map(|var| world.wait(in_turn(var))));
    waits.extend([Wait::All, Wait::All].map(|wait| world.wait(wait)));
    // All failures have been reported, so this task must run.
    world.push(&program.epilogue);
    waits.push(world.wait(Wait::All));
    judge::judge(program, &world, &waits)
}

/// Stops and starts the engine. Checks that in between no task is pending, no thread is left, and pushes are refused.
fn restart(world: &World) {
    let engine = &world.engine;
    engine.stop();
    let counters = engine.counters();
    if counters.pushed != counters.completed {
        world.complain(format!("E7: stopped with {} of {} tasks done", counters.completed, counters.pushed));
    }
    if let Some(pool) = counters.pools.iter().find(|pool| pool.threads > 0) {
        world.complain(format!("stopped, but pool {} has {} threads", pool.id, pool.threads));
    }
    if engine.task("late").push(|_| Ok(())).is_ok() {
        world.complain("a stopped engine accepts a task".into());
    }
    if let Err(error) = engine.start() {
        world.complain(format!("no start: {error}"));
    }
}

/// Waits until no task is pending, by polling the counters: unlike a wait of the engine, this reports no failure.
fn sleep_until_idle(world: &World) {
    let mut pause = Duration::from_micros(20);
    loop {
        let counters = world.engine.counters();
        if counters.completed == counters.pushed {
            return;
        }
        thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(5));
    }
}

/// Suppresses the messages of injected panics: there are many, and printing them takes longer than running the tasks.
fn silence_injected_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let injected = info.payload_as_str().is_some_and(|text| text.starts_with("injected #"));
            if !injected {
                usual(info);
            }
        }));
    });
}

/// Whether the answer is a refusal, which contains no failure.
fn is_refusal(answer: &Answer) -> bool {
    matches!(answer, Answer::Refused(_))
}
