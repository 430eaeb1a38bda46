//! Compares random programs over two GPUs and the CPU with a serial interpreter, and lets the checker of the simulated
//! GPUs verify that all accesses are ordered (rules E3, E4 and E7 of [`mxrs_engine::var`]).

use crate::accesses::{self, Accesses};
use crate::*;
use mxrs_engine::Property;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PROGRAMS: u64 = 40;

#[derive(Clone, Debug)]
struct Step {
    device: Device,
    property: Property,
    accesses: Accesses,
    /// Whether the launch goes to the auxiliary stream, if there is one.
    on_aux: bool,
}

fn program(rng: &mut ChaCha8Rng, n_vars: usize) -> Vec<Step> {
    let n_steps = rng.random_range(5..60);
    let step = |rng: &mut ChaCha8Rng| {
        let accesses = Accesses::random(rng, n_vars);
        let device = [Device::gpu(0), Device::gpu(0), Device::gpu(1), Device::cpu(0)][rng.random_range(0..4)];
        let words = [Property::Normal, Property::GpuPrioritized, Property::CopyToGpu, Property::Async];
        Step { device, property: words[rng.random_range(0..4)], accesses, on_aux: rng.random_bool(0.3) }
    };
    (0..n_steps).map(|_| step(rng)).collect()
}

fn run(steps: &[Step], n_vars: usize, settings: EngineConfig) {
    let gpu = gpu0();
    let other = gpu.beside(Device::gpu(1));
    let engine = engine(settings, &[&gpu, &other]);
    let vars: Vec<_> = (0..n_vars).map(|_| engine.new_var()).collect();
    let values = accesses::zeros(n_vars);
    for (number, step) in steps.iter().enumerate() {
        let (read, written) = (&step.accesses.reads, &step.accesses.writes);
        let touches: Vec<_> =
            read.iter().map(|&v| reads(&vars[v])).chain(written.iter().map(|&v| writes(&vars[v]))).collect();
        let body = step.accesses.body(number, &values);
        let task = engine.task(format!("step {number}")).device(step.device).property(step.property);
        let task = task.reads(read.iter().map(|&v| &vars[v])).writes(written.iter().map(|&v| &vars[v]));
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
    let expected = accesses::serially(steps.iter().map(|step| &step.accesses), n_vars);
    assert_eq!(accesses::plain(&values), expected, "{:?}: {steps:?}", engine.config());
    let n_writes = |var| steps.iter().filter(|step| step.accesses.writes.contains(&var)).count() as u64;
    let n_writes: Vec<_> = (0..n_vars).map(n_writes).collect();
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
