//! Rows D80 to D83, D85 and M27 of `docs/env.md`: workspaces and random generators that operators share, the type in
//! which sums are computed, and the instructions of kernels.

use crate::door::Door;
use crate::probe::Probe;
use crate::{Vars, builder, runtime};
use half::f16;
use mxrs::Runtime;
use mxrs::engine::Engine;
use mxrs::exec::autograd;
use mxrs::op::Attrs;
use mxrs::storage::{Storage, StorageConfig};
use mxrs::types::Device;
use mxrs_engine::gpu::GpuDevice;
use mxrs_ndarray::{NdArray, TempSpaces};
use mxrs_processor::{Isa, Set};
use mxrs_simulated_gpu::{SimulatedGpu, SimulatedMemory};
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const CPU_SPACES: &str = "MXNET_CPU_TEMP_COPY";
const GPU_SPACES: &str = "MXNET_GPU_TEMP_COPY";
const CPU_RANDOM: &str = "MXNET_CPU_PARALLEL_RAND_COPY";
const GPU_RANDOM: &str = "MXNET_GPU_PARALLEL_RAND_COPY";
const INSTRUCTIONS: &str = "MXRS_ISA";
const GPU: Device = Device::gpu(0);

/// Asserts that `n` tasks wait at the door at the same time, and that no further task arrives meanwhile.
fn assert_meet(door: &Door, n: usize) {
    assert_eq!(door.wait_for(n), n);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(door.wait_for(n), n, "no other operator has a workspace");
    door.open();
}

#[test]
fn d80_so_many_operators_with_a_workspace_at_once() {
    for (vars, n) in [(&[] as Vars<'_>, 4), (&[(CPU_SPACES, "1")], 1), (&[(CPU_SPACES, "6")], 6)] {
        let (door, addresses) = (Door::default(), Arc::new(Mutex::new(BTreeSet::new())));
        let (visit, seen) = (door.visit(), Arc::clone(&addresses));
        let probe = Probe::with_scratch(4096, move |args| {
            seen.lock().unwrap().insert(args.scratch.as_ptr().addr());
            assert!(args.scratch.len_bytes() >= 4096);
            visit();
            Ok(())
        });
        let vars = [&[("MXNET_CPU_WORKER_NTHREADS", "8")], vars].concat();
        let runtime = builder(&vars).backend(probe).build().unwrap();
        let nd = runtime.imperative().unwrap();
        let arrays: Vec<NdArray> =
            (0..8).map(|i| NdArray::from_slice(runtime.arrays(), [1], &[i as f32]).unwrap()).collect();
        let outputs: Vec<_> = arrays.iter().map(|a| nd.invoke("relu", &Attrs::new(), &[a]).unwrap()).collect();
        assert_meet(&door, n);
        outputs.iter().for_each(|o| o[0].wait_to_read().unwrap());
        assert_eq!(addresses.lock().unwrap().len(), n);
    }
}

#[test]
fn d81_so_many_operators_of_a_gpu_with_a_workspace_at_once() {
    for (vars, n) in [(&[] as Vars<'_>, 1), (&[(GPU_SPACES, "3")], 3)] {
        let runtime = runtime(&[&[("MXNET_GPU_WORKER_NTHREADS", "8")], vars].concat());
        let gpu = SimulatedGpu::new(GPU);
        let engine = Engine::builder(runtime.engine().config().clone()).gpu(gpu as Arc<dyn GpuDevice>).build().unwrap();
        let memory = SimulatedMemory::new(GPU, 1 << 30);
        let storage = Storage::builder(StorageConfig::default()).device(Arc::new(memory)).build().unwrap();
        let spaces = TempSpaces::new(&engine, &storage, runtime.arrays().temp_spaces().counts());
        let (door, mut addresses) = (Door::default(), BTreeSet::new());
        for _ in 0..8 {
            let space = spaces.take(GPU, 4096).unwrap();
            addresses.insert(space.block().as_ptr().addr());
            engine.task("uses a workspace").device(GPU).write(space.var()).push(door.body()).unwrap();
        }
        assert_meet(&door, n);
        engine.wait_for_all().unwrap();
        assert_eq!(addresses.len(), n);
    }
}

/// The outputs of four dropouts on ones, one after the other.
fn masks(vars: Vars<'_>) -> Vec<Vec<f32>> {
    let runtime = runtime(vars);
    runtime.arrays().random().seed(7);
    let nd = runtime.imperative().unwrap();
    let ones = NdArray::from_slice(runtime.arrays(), [256], &[1.0f32; 256]).unwrap();
    let _training = autograd::train_mode();
    let dropout = || nd.invoke("Dropout", &Attrs::from([("p", "0.5")]), &[&ones]).unwrap()[0].to_vec::<f32>().unwrap();
    (0..4).map(|_| dropout()).collect()
}

#[test]
fn d82_generators_of_the_cpu_take_turns() {
    let one = masks(&[]);
    assert_eq!(masks(&[(CPU_RANDOM, "1")]), one, "R1: one stream, drawn again");
    let distinct: BTreeSet<Vec<u32>> = one.iter().map(|m| m.iter().map(|x| x.to_bits()).collect()).collect();
    assert_eq!(distinct.len(), 4);
    let two = masks(&[(CPU_RANDOM, "2")]);
    // With two generators, the second and the fourth dropout use the same random numbers as the first and the second in the
    // default case. The other two use another generator.
    assert_eq!([&two[1], &two[3]], [&one[0], &one[1]]);
    assert!(one.iter().all(|mask| *mask != two[0] && *mask != two[2]) && two[0] != two[2]);
    let seeds = |vars: Vars<'_>| {
        let runtime = runtime(vars);
        let calls = (0..8).map(|_| runtime.arrays().random().reserve(Device::cpu(0), 1).seed);
        calls.collect::<BTreeSet<u64>>().len()
    };
    assert_eq!([seeds(&[]), seeds(&[(CPU_RANDOM, "5")])], [1, 5]);
}

#[test]
fn d83_generators_of_a_gpu_take_turns() {
    for (vars, n) in [(&[] as Vars<'_>, 4), (&[(GPU_RANDOM, "1")], 1), (&[(GPU_RANDOM, "3")], 3)] {
        let runtime = runtime(vars);
        let seeds: Vec<u64> = (0..12).map(|_| runtime.arrays().random().reserve(GPU, 1).seed).collect();
        assert_eq!(seeds.iter().collect::<BTreeSet<_>>().len(), n);
        assert!(seeds.iter().zip(&seeds[n..]).all(|(a, b)| a == b), "{seeds:?}");
    }
}

/// Values of MXNet 1.9.1, recorded by `tests/mxnet/make_narrow_sums.py`. The last column is the sum of all probabilities. It
/// is 1, except where MXNet sums the exponentials in float16 and the sum becomes so large that adding a term no longer changes
/// it.
const MXNET_SOFTMAX: [(&str, &str, [f32; 4], f32); 4] = [
    ("0", "softmax", [1.825_094_2e-4, 3.252_029_4e-4, 2.132_654_2e-4, 3.802_776_3e-4], 1.555),
    ("0", "log_softmax", [-8.609_375, -8.031_25, -8.453_125, -7.875], 1.555),
    ("1", "softmax", [1.173_019_4e-4, 2.092_123e-4, 1.372_098_9e-4, 2.446_174_6e-4], 1.0),
    ("1", "log_softmax", [-9.046_875, -8.468_75, -8.890_625, -8.312_5], 1.004),
];

#[test]
fn d85_sums_of_16_bits_are_narrow_if_asked_for() {
    let row: Vec<f16> = (0..5000_u32).map(|i| f16::from_f32((i * 37 % 64) as f32 / 64.0 - 0.5)).collect();
    for (safe, op, first, total) in MXNET_SOFTMAX {
        let runtime = builder(&[("MXNET_SAFE_ACCUMULATION", safe)]).build().unwrap();
        let nd = runtime.imperative().unwrap();
        for (shape, axis) in [([1, 5000], "1"), ([5000, 1], "0")] {
            let x = NdArray::from_slice(runtime.arrays(), shape, &row).unwrap();
            let y = nd.invoke(op, &[("axis", axis)].into_iter().collect(), &[&x]).unwrap().remove(0);
            let y: Vec<f32> = y.to_vec::<f16>().unwrap().into_iter().map(f16::to_f32).collect();
            // The tolerance is one unit in the last place of float16: MXNet's exponential differs in the last bit of float32.
            let near = |a: f32, b: f32| (a - b).abs() <= b.abs() / 1024.0;
            assert!(y.iter().zip(first).all(|(y, expected)| near(*y, expected)), "{safe} {op}: {:?}", &y[..4]);
            let sum: f32 = y.iter().map(|y| if op == "softmax" { *y } else { y.exp() }).sum();
            assert!((sum - total).abs() < 5e-3, "{safe} {op}: {sum}");
        }
    }
    // Without the variable, sums are accumulated safely.
    let default = runtime(&[]).settings().resources.safe_accumulation;
    assert!(default);
}

/// Prints the instructions of kernels, and how a second runtime of this process fails that asks for others.
#[test]
#[ignore = "run by m27_is_a_limit_of_the_whole_process in processes of its own"]
fn in_a_child_process() {
    let _first = Runtime::from_env().unwrap();
    println!("instructions: {}", Isa::best().name());
    builder(&[]).build().expect("a runtime without the variable");
    if let Err(error) = builder(&[(INSTRUCTIONS, "avx2")]).build() {
        println!("error: {error}");
    }
}

#[test]
fn m27_is_a_limit_of_the_whole_process() {
    let child = |value: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "resources::in_a_child_process", "--ignored", "--nocapture"]);
        let output = command.env(INSTRUCTIONS, value).output().unwrap();
        assert!(output.status.success(), "no panic");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let widest = Set::of_processor();
    for (value, expected) in [("portable", "portable"), ("", widest.name())] {
        let text = child(value);
        assert!(text.contains(&format!("instructions: {expected}\n")), "{text}");
        // A processor without AVX2 cannot honor the second value either way, which is a warning.
        let error = "error: MXRS_ISA: invalid value \"avx2\": expected the value that the first runtime";
        assert_eq!(text.contains(error), widest != Set::Portable, "{text}");
    }
}
