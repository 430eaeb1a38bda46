//! Random programs on every kind of engine against a serial interpreter of the rules.
#![cfg(not(loom))]

use mxrs_engine::{Engine, EngineConfig, EngineKind, Property, Var};
use mxrs_types::{Device, Error};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};

const PROGRAMS: u64 = 300;
const MAX_OPS: usize = 60;
const MAX_VARS: usize = 20;

#[derive(Clone, Debug)]
struct Step {
    reads: BTreeSet<usize>,
    writes: BTreeSet<usize>,
    fails: bool,
    property: Property,
    device: u32,
    priority: i32,
}

#[derive(Clone, Debug)]
enum Line {
    Push(Step),
    WaitForAll,
}

fn program(rng: &mut ChaCha8Rng) -> (usize, Vec<Line>) {
    let n_vars = rng.random_range(1..=MAX_VARS);
    let n_ops = rng.random_range(1..=MAX_OPS);
    let failing = [0.0, 0.05, 0.2][rng.random_range(0..3)];
    let mut lines = Vec::new();
    for _ in 0..n_ops {
        if rng.random_bool(0.02) {
            lines.push(Line::WaitForAll);
        }
        let mut pick = |most: usize| -> BTreeSet<usize> {
            (0..rng.random_range(0..=most)).map(|_| rng.random_range(0..n_vars)).collect()
        };
        let writes = pick(2);
        let reads = &pick(3) - &writes;
        let property = match rng.random_range(0..10) {
            0 => Property::CpuPrioritized,
            1 => Property::Async,
            2 => Property::NoSkip,
            3 => Property::CopyFromGpu,
            _ => Property::Normal,
        };
        let (device, priority) = (rng.random_range(0..2), rng.random_range(-2..3));
        lines.push(Line::Push(Step { reads, writes, fails: rng.random_bool(failing), property, device, priority }));
    }
    (n_vars, lines)
}

/// What step `number` stores in variable `var`, given what it read.
fn mix(number: usize, var: usize, seen: impl Iterator<Item = u64>) -> u64 {
    seen.fold((number * 64 + var) as u64 + 1, |h, v| (h ^ v).wrapping_mul(0x100_0000_01b3).rotate_left(17))
}

/// The rules, one step after the other. With `at_push`, errors are the push's and taint nothing.
struct Serial {
    at_push: bool,
    values: Vec<u64>,
    versions: Vec<u64>,
    /// Failing step each variable carries, told or not.
    taint: Vec<Option<usize>>,
    /// Failures in order of push that nobody was told about.
    live: BTreeSet<usize>,
    /// Steps whose body ran.
    ran: Vec<bool>,
}

impl Serial {
    /// Whether the push reports an error.
    fn step(&mut self, number: usize, step: &Step) -> bool {
        let live = |v: &usize| self.taint[*v].filter(|f| self.live.contains(f));
        let inherited = step.reads.iter().find_map(live).or_else(|| step.writes.iter().find_map(live));
        let skipped = inherited.is_some() && step.property != Property::NoSkip;
        let seen: Vec<u64> = step.reads.iter().chain(&step.writes).map(|v| self.values[*v]).collect();
        self.ran.push(!skipped);
        let failed = !skipped && step.fails;
        if failed && !self.at_push {
            self.live.insert(number);
        }
        for v in &step.writes {
            if !skipped && !failed {
                self.values[*v] = mix(number, *v, seen.iter().copied());
            }
            self.versions[*v] += 1;
            self.taint[*v] = if failed { Some(number) } else { inherited };
        }
        failed && self.at_push
    }
}

struct Real {
    engine: Engine,
    vars: Vec<Var>,
    values: Arc<Vec<AtomicU64>>,
    /// Per variable: readers inside, or -1000 for a writer (E3).
    inside: Arc<Vec<AtomicI32>>,
    clashes: Arc<AtomicUsize>,
    runs: Arc<Vec<AtomicUsize>>,
}

impl Real {
    fn push(&self, number: usize, step: &Step) -> bool {
        let (values, inside) = (Arc::clone(&self.values), Arc::clone(&self.inside));
        let (clashes, runs, own) = (Arc::clone(&self.clashes), Arc::clone(&self.runs), step.clone());
        let body = move |_: &mxrs_engine::RunContext| {
            runs[number].fetch_add(1, Ordering::Relaxed);
            let mut clash = own.writes.iter().filter(|v| inside[**v].swap(-1000, Ordering::SeqCst) != 0).count();
            clash += own.reads.iter().filter(|v| inside[**v].fetch_add(1, Ordering::SeqCst) < 0).count();
            clashes.fetch_add(clash, Ordering::SeqCst);
            // Plain loads and stores: only the engine's ordering makes these values arrive.
            let seen: Vec<u64> =
                own.reads.iter().chain(&own.writes).map(|v| values[*v].load(Ordering::Relaxed)).collect();
            if number.is_multiple_of(3) {
                std::thread::yield_now();
            }
            if !own.fails {
                for v in &own.writes {
                    values[*v].store(mix(number, *v, seen.iter().copied()), Ordering::Relaxed);
                }
            }
            for v in &own.reads {
                inside[*v].fetch_sub(1, Ordering::SeqCst);
            }
            for v in &own.writes {
                inside[*v].store(0, Ordering::SeqCst);
            }
            if own.fails { Err(Error::invalid("step", number, "no injected failure")) } else { Ok(()) }
        };
        let task = self.engine.task(format!("step{number}")).device(Device::cpu(step.device));
        task.priority(step.priority)
            .property(step.property)
            .reads(step.reads.iter().map(|v| &self.vars[*v]))
            .writes(step.writes.iter().map(|v| &self.vars[*v]))
            .push(body)
            .is_err()
    }
}

fn failing_step(error: &Error) -> usize {
    let text = error.to_string();
    let digits: String = text.trim_start_matches("step: got ").chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("not an injected failure: {text}"))
}

fn check(seed: u64, kind: EngineKind) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (n_vars, lines) = program(&mut rng);
    let cpu_workers = NonZeroUsize::new(1 + seed as usize % 4).unwrap();
    let engine = Engine::new(EngineConfig { cpu_workers, ..EngineConfig::of_kind(kind) }).unwrap();
    let real = Real {
        vars: (0..n_vars).map(|_| engine.new_var()).collect(),
        engine,
        values: Arc::new((0..n_vars).map(|_| AtomicU64::new(0)).collect()),
        inside: Arc::new((0..n_vars).map(|_| AtomicI32::new(0)).collect()),
        clashes: Arc::new(AtomicUsize::new(0)),
        runs: Arc::new((0..MAX_OPS).map(|_| AtomicUsize::new(0)).collect()),
    };
    let mut serial = Serial {
        at_push: kind == EngineKind::Naive,
        values: vec![0; n_vars],
        versions: vec![0; n_vars],
        taint: vec![None; n_vars],
        live: BTreeSet::new(),
        ran: Vec::new(),
    };
    let case = format!("seed {seed}, {kind:?}");
    let wait_for_all = |serial: &mut Serial| {
        // E13, E14: says one of the failures nobody was told about, if there is any, and clears all.
        let told = real.engine.wait_for_all().map_err(|e| failing_step(&e)).err();
        assert_eq!(told.is_some(), !serial.live.is_empty(), "{case}");
        assert!(told.is_none_or(|n| serial.live.contains(&n)), "{case}: told {told:?}");
        serial.live.clear();
    };
    let mut number = 0;
    for line in &lines {
        match line {
            Line::WaitForAll => wait_for_all(&mut serial),
            Line::Push(step) => {
                assert_eq!(real.push(number, step), serial.step(number, step), "{case}, step {number}");
                number += 1;
            }
        }
    }
    for (i, var) in real.vars.iter().enumerate() {
        // E12: exactly the failure the rules predict, and only once over all variables (E13).
        while real.engine.counters().completed < number as u64 {
            std::thread::yield_now();
        }
        let told = real.engine.wait_to_read(var).map_err(|e| failing_step(&e)).err();
        let expected = serial.taint[i].filter(|f| serial.live.remove(f));
        assert_eq!(told, expected, "{case}, variable {i}");
    }
    wait_for_all(&mut serial);
    for (i, var) in real.vars.iter().enumerate() {
        assert_eq!(real.values[i].load(Ordering::Relaxed), serial.values[i], "{case}, value of {i}: E4");
        assert_eq!(var.version(), serial.versions[i], "{case}, version of {i}: E5");
    }
    assert_eq!(real.clashes.load(Ordering::SeqCst), 0, "{case}: E3");
    for (i, ran) in serial.ran.iter().enumerate() {
        assert_eq!(real.runs[i].load(Ordering::Relaxed), usize::from(*ran), "{case}, step {i}: E6");
    }
}

#[test]
fn random_programs_naive() {
    (0..PROGRAMS).for_each(|seed| check(seed, EngineKind::Naive));
}

#[test]
fn random_programs_threaded() {
    (0..PROGRAMS).for_each(|seed| check(seed, EngineKind::Threaded));
}

#[test]
fn random_programs_per_device() {
    (0..PROGRAMS).for_each(|seed| check(seed, EngineKind::ThreadedPerDevice));
}
