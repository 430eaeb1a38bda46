//! Random programs over two GPUs and the CPU, against a serial interpreter, with the checker watching (E3, E4, E7).

use crate::*;
use mxrs_engine::Property;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

const PROGRAMS: u64 = 40;

#[derive(Clone, Debug)]
struct Step {
    device: Device,
    property: Property,
    reads: BTreeSet<usize>,
    writes: BTreeSet<usize>,
    /// Whether the launch goes to the auxiliary stream, where there is one.
    on_aux: bool,
}

fn program(rng: &mut ChaCha8Rng, n_vars: usize) -> Vec<Step> {
    let n_steps = rng.random_range(5..60);
    let step = |rng: &mut ChaCha8Rng| {
        let mut pick = |most: usize| -> BTreeSet<usize> {
            (0..rng.random_range(0..=most)).map(|_| rng.random_range(0..n_vars)).collect()
        };
        let writes = pick(2);
        let reads = &pick(3) - &writes;
        let device = [Device::gpu(0), Device::gpu(0), Device::gpu(1), Device::cpu(0)][rng.random_range(0..4)];
        let words = [Property::Normal, Property::GpuPrioritized, Property::CopyToGpu, Property::Async];
        Step { device, property: words[rng.random_range(0..4)], reads, writes, on_aux: rng.random_bool(0.3) }
    };
    (0..n_steps).map(|_| step(rng)).collect()
}

/// What step `number` stores in variable `var`, given what it read.
fn mix(number: usize, var: usize, seen: u64) -> u64 {
    (seen ^ (number * 64 + var) as u64).wrapping_mul(0x100_0000_01b3).rotate_left(17)
}

fn compute(number: usize, step: &Step, load: impl Fn(usize) -> u64, store: impl Fn(usize, u64)) {
    let seen = step.reads.iter().fold(1, |h, &var| mix(number, var, h ^ load(var)));
    for &var in &step.writes {
        store(var, mix(number, var, seen ^ load(var)));
    }
}

fn serially(steps: &[Step], n_vars: usize) -> Vec<u64> {
    let values: Vec<_> = (0..n_vars).map(|_| std::cell::Cell::new(0)).collect();
    for (number, step) in steps.iter().enumerate() {
        compute(number, step, |var| values[var].get(), |var, value| values[var].set(value));
    }
    values.into_iter().map(std::cell::Cell::into_inner).collect()
}

fn run(steps: &[Step], n_vars: usize, settings: EngineConfig) {
    let gpu = gpu0();
    let other = gpu.beside(Device::gpu(1));
    let engine = engine(settings, &[&gpu, &other]);
    let vars: Vec<_> = (0..n_vars).map(|_| engine.new_var()).collect();
    let values: Arc<Vec<AtomicU64>> = Arc::new((0..n_vars).map(|_| AtomicU64::new(0)).collect());
    for (number, step) in steps.iter().enumerate() {
        let touches: Vec<_> =
            step.reads.iter().map(|&v| reads(&vars[v])).chain(step.writes.iter().map(|&v| writes(&vars[v]))).collect();
        let body = {
            let (values, step) = (Arc::clone(&values), step.clone());
            move || {
                let load = |var: usize| values[var].load(Ordering::Relaxed);
                compute(number, &step, load, |var, value| {
                    std::thread::yield_now();
                    values[var].store(value, Ordering::Relaxed);
                });
            }
        };
        let task = engine.task(format!("step {number}")).device(step.device).property(step.property);
        let task = task.reads(step.reads.iter().map(|&v| &vars[v])).writes(step.writes.iter().map(|&v| &vars[v]));
        let (checker, on_aux) = (Arc::clone(gpu.checker()), step.on_aux);
        let pushed = task.push(move |ctx| {
            let name = format!("step {number}");
            if ctx.stream().is_none() {
                let _access = checker.host_access(name, &touches);
                body();
            } else if on_aux {
                return ctx.aux_scope(|aux| SimulatedStream::of(&**aux)?.launch_on(name, &touches, body));
            } else {
                return stream(ctx).launch_on(name, &touches, body);
            }
            Ok(())
        });
        pushed.unwrap();
    }
    engine.wait_for_all().unwrap();
    let _all = gpu.checker().host_access("print", &vars.iter().map(reads).collect::<Vec<_>>());
    gpu.checker().assert_clean();
    let values: Vec<_> = values.iter().map(|v| v.load(Ordering::Relaxed)).collect();
    assert_eq!(values, serially(steps, n_vars), "{:?}: {steps:?}", engine.config());
    let n_writes: Vec<_> = (0..n_vars).map(|v| steps.iter().filter(|s| s.writes.contains(&v)).count() as u64).collect();
    assert_eq!(vars.iter().map(Var::version).collect::<Vec<_>>(), n_writes, "E5");
}

#[test]
fn e3_e4_e5_random_programs_over_devices() {
    for seed in 0..PROGRAMS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let n_vars = rng.random_range(1..=8);
        let steps = program(&mut rng, n_vars);
        for kind in KINDS {
            for sync in [GpuSync::Host, GpuSync::Event] {
                let settings = EngineConfig {
                    kind,
                    cpu_workers: count(rng.random_range(1..=2)),
                    gpu_workers: count(rng.random_range(1..=3)),
                    gpu_worker_streams: count(rng.random_range(1..=2)),
                    ..config(sync)
                };
                run(&steps, n_vars, settings);
            }
        }
    }
}
