//! Rows about GPUs and pinned memory of `docs/env.md`, on a device that the runtime itself has: D2, D3, D8, D13 to D28,
//! D81, D83, D86 and M1.

use crate::door::Door;
use crate::graphs::Calls;
use crate::plug::Plug;
use crate::probe::Probe;
use crate::{Vars, builder, log_lines};
use mxrs::Runtime;
use mxrs::engine::gpu::StreamUse;
use mxrs::exec::{BindOptions, Executor, autograd};
use mxrs::graph::Symbol;
use mxrs::ndarray::NdArray;
use mxrs::op::{Attrs, Backend, ReferenceBackend};
use mxrs::storage::PoolStats;
use mxrs::types::{DType, Device};
use mxrs_env::{Capability, Registered, State, registry};
use mxrs_simulated_gpu::{SimulatedBackend, SimulatedDevice, SimulatedGpu, SimulatedMemory};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const GPU: Device = Device::gpu(0);
const PINNED: Device = Device::cpu_pinned(0);
const MIB: u64 = 1 << 20;

fn gpu() -> Arc<SimulatedDevice> {
    SimulatedDevice::of(SimulatedGpu::new(GPU), SimulatedMemory::new(GPU, 1000 * MIB).hidden(), 0)
}

/// A runtime with a GPU, which runs the reference kernels.
fn runtime(vars: Vars<'_>) -> (Runtime, Arc<SimulatedDevice>) {
    let gpu = gpu();
    let backends = vec![SimulatedBackend::new(Arc::new(ReferenceBackend), &gpu) as _];
    let plug = Plug { gpu: Arc::clone(&gpu), backends };
    let builder = builder(vars).only_backend("reference").device(Arc::new(plug));
    (builder.build().expect("the runtime starts"), gpu)
}

/// A runtime with a GPU whose only backend is this probe. The probe's closure runs for every call, on the worker that
/// enqueues the call.
fn probed(vars: Vars<'_>, probe: Arc<Probe>) -> Runtime {
    let plug = Plug { gpu: gpu(), backends: vec![probe] };
    builder(vars).only_backend("reference").device(Arc::new(plug)).build().expect("the runtime starts")
}

/// Calls `relu` of eight arrays on the GPU.
fn eight_calls(runtime: &Runtime) -> Vec<NdArray> {
    let nd = runtime.imperative().unwrap();
    let array = |i: usize| NdArray::from_slice_on(runtime.arrays(), [1], &[i as f32], GPU).unwrap();
    (0..8).map(|i| nd.invoke("relu", &Attrs::new(), &[&array(i)]).unwrap().remove(0)).collect()
}

/// Asserts that `n` calls wait at the door at the same time, and that no further call arrives meanwhile.
fn assert_meet(door: &Door, n: usize) {
    assert_eq!(door.wait_for(n), n);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(door.wait_for(n), n, "no other call runs");
    door.open();
}

#[test]
fn variables_of_gpus_are_in_effect_with_a_gpu() {
    let (_, lines) = log_lines(|| {
        let vars = [("MXNET_GPU_COPY_NTHREADS", "3"), ("MXRS_GPU_SYNC", "event"), ("MXNET_GPU_MEM_POOL_TYPE", "Round")];
        runtime(&vars)
    });
    assert!(lines.iter().all(|line| !line.starts_with("WARN")), "{lines:?}");
    let (with, without) = (runtime(&[]).0, crate::runtime(&[]));
    let mut n_rows = 0;
    for entry in registry() {
        let Registered::Variable(_, row) = entry else { continue };
        let state = |runtime: &Runtime| runtime.settings().view_of(row.name, runtime.capabilities()).unwrap().state;
        if row.needs == Capability::Gpu {
            n_rows += 1;
            assert_eq!(state(&with), State::InEffect, "{}", row.name);
            let needs = "a GPU device, which this build has none of".to_owned();
            assert_eq!(state(&without), State::Needs(needs), "{}", row.name);
        } else {
            assert_eq!(state(&with), state(&without), "{}", row.name);
        }
    }
    assert!(n_rows >= 10, "{n_rows} rows");
}

#[test]
fn d2_calls_on_a_gpu_at_once() {
    for (vars, n) in [(&[] as Vars<'_>, 2), (&[("MXNET_GPU_WORKER_NTHREADS", "1")], 1)] {
        let door = Door::default();
        let visit = door.visit();
        let runtime = probed(
            vars,
            Probe::new(move |_| {
                visit();
                Ok(())
            }),
        );
        let outputs = eight_calls(&runtime);
        assert_meet(&door, n);
        runtime.engine().wait_for_all().unwrap();
        drop(outputs);
    }
}

/// Each worker for copies waits for the device. So as many copies are in progress as there are such workers.
#[test]
fn d3_copies_of_arrays_at_once() {
    for (vars, n) in [(&[] as Vars<'_>, 2), (&[("MXNET_GPU_COPY_NTHREADS", "3")], 3)] {
        let (runtime, gpu) = runtime(vars);
        let hold = gpu.gpu().hold();
        let arrays: Vec<NdArray> =
            (0..8).map(|i| NdArray::from_slice_on(runtime.arrays(), [1], &[i as f32], GPU).unwrap()).collect();
        let in_progress = || gpu.copies().uploads.n as usize;
        (0..1000).take_while(|_| in_progress() < n).for_each(|_| std::thread::sleep(Duration::from_millis(10)));
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(in_progress(), n);
        drop(hold);
        assert!(arrays.iter().enumerate().all(|(i, array)| array.to_vec::<f32>().unwrap() == [i as f32]));
        let streams = gpu.gpu().streams();
        assert_eq!(streams.iter().filter(|(_, of)| *of == StreamUse::Copy).count(), n);
    }
}

#[test]
fn d8_keeps_a_thread_back_once_an_array_is_on_a_gpu() {
    let (runtime, _) = runtime(&[]);
    let before = runtime.team().size();
    NdArray::from_slice(runtime.arrays(), [1], &[1.0f32]).unwrap().copy_from(&[2.0f32]).unwrap();
    assert_eq!(runtime.team().size(), before, "no GPU is in use yet");
    NdArray::from_slice_on(runtime.arrays(), [1], &[1.0f32], GPU).unwrap().wait_to_read().unwrap();
    assert_eq!(runtime.team().size(), (before - if before >= 8 { 2 } else { 1 }).max(1));
}

/// An array of bytes on the GPU.
fn array(runtime: &Runtime, n_bytes: usize) -> NdArray {
    NdArray::empty(runtime.arrays(), [n_bytes], DType::U8, GPU, "array").unwrap()
}

/// Copies this many bytes to the GPU, and back.
fn copy(runtime: &Runtime, n_bytes: usize) {
    let bytes: Vec<u8> = (0..n_bytes).map(|i| (i % 251) as u8).collect();
    let array = NdArray::from_slice_on(runtime.arrays(), [n_bytes], &bytes, GPU).unwrap();
    // Waits until the first copy has freed its pinned memory, before the second copy needs some.
    runtime.engine().wait_for_all().unwrap();
    assert_eq!(array.to_vec::<u8>().unwrap(), bytes);
    drop(array);
    runtime.engine().wait_for_all().unwrap();
}

/// Variables of the pools, without `MXNET_GPU` or `MXNET_CPU_PINNED`; the size of a request; the block for it.
const BLOCKS: [(Vars<'static>, usize, u64); 8] = [
    (&[], 5_000_000, 6_291_456),
    (&[("_MEM_POOL_TYPE", "Round")], 5_000_000, 8_388_608),
    (&[("_MEM_POOL_TYPE", "Unpooled")], 5_000_000, 5_000_000),
    (&[("_MEM_LARGE_ALLOC_ROUND_SIZE", "1")], 5_000_000, 5_001_216),
    (&[("_MEM_POOL_TYPE", "Round"), ("_MEM_POOL_ROUND_LINEAR_CUTOFF", "20")], 5_000_000, 5 << 20),
    (&[], 100, 4096),
    (&[("_MEM_POOL_PAGE_SIZE", "64")], 100, 128),
    (&[("_MEM_POOL_PAGE_SIZE", "96")], 100, 192),
];

/// Calls `check` with each row of [`BLOCKS`] and a runtime that has its variables, for one kind of memory.
fn for_each_block(kind: &str, check: impl Fn(&Runtime, usize, u64)) {
    for (vars, n_bytes, block_bytes) in BLOCKS {
        let names: Vec<String> = vars.iter().map(|(name, _)| format!("MXNET_{kind}{name}")).collect();
        let vars: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(vars.iter().map(|(_, v)| *v)).collect();
        check(&runtime(&vars).0, n_bytes, block_bytes);
    }
}

#[test]
fn d13_d19_d22_d25_arrays_on_a_gpu() {
    for_each_block("GPU", |runtime, n_bytes, block_bytes| {
        let array = array(runtime, n_bytes);
        assert_eq!(runtime.storage().stats(GPU).live_blocks_bytes, block_bytes);
        drop(array);
    });
}

/// Copies between the host and a GPU go through pinned memory.
#[test]
fn d15_d21_d24_d27_copies_of_arrays() {
    for_each_block("CPU_PINNED", |runtime, n_bytes, block_bytes| {
        copy(runtime, n_bytes);
        assert_eq!(runtime.storage().stats(PINNED).peak_reserved, block_bytes);
    });
}

#[test]
fn d16_d18_a_reserve_empties_the_caches() {
    let stats = |vars: Vars<'_>, device: Device| -> PoolStats {
        let (runtime, _) = runtime(vars);
        match device {
            GPU => [900, 60].into_iter().for_each(|n| drop(array(&runtime, n << 20))),
            _ => [10_000, 50_000].into_iter().for_each(|n| copy(&runtime, n)),
        }
        runtime.storage().stats(device)
    };
    for (percent, flushes) in [("", 1), ("5", 1), ("0", 0), ("4", 0)] {
        assert_eq!(stats(&[("MXNET_GPU_MEM_POOL_RESERVE", percent)], GPU).flushes, flushes, "{percent:?} %");
    }
    for (percent, flushes) in [("100", 1), ("0", 0)] {
        let vars = [("MXNET_CPU_PINNED_MEM_POOL_RESERVE", percent)];
        assert_eq!(stats(&vars, PINNED).flushes, flushes, "{percent} %");
    }
}

#[test]
fn d28_arrays_and_copies_without_pools() {
    for (vars, n) in [(&[] as Vars<'_>, 1), (&[("MXNET_USE_NAIVE_STORAGE_MANAGERS", "1")], 2)] {
        let (runtime, gpu) = runtime(vars);
        (0..2).for_each(|_| drop(array(&runtime, 10_000)));
        assert_eq!(gpu.memory().counters().allocations, n);
        // There are two copies: an upload and a download.
        copy(&runtime, 20_000);
        assert_eq!(runtime.storage().stats(PINNED).system_requests, n);
    }
}

#[test]
fn d81_calls_with_a_workspace_at_once() {
    for (vars, n) in [(&[] as Vars<'_>, 1), (&[("MXNET_GPU_TEMP_COPY", "3")], 3)] {
        let (door, addresses) = (Door::default(), Arc::new(Mutex::new(BTreeSet::new())));
        let (visit, seen) = (door.visit(), Arc::clone(&addresses));
        let probe = Probe::with_scratch(4096, move |args| {
            seen.lock().unwrap().insert(args.scratch.as_ptr().addr());
            visit();
            Ok(())
        });
        let runtime = probed(&[&[("MXNET_GPU_WORKER_NTHREADS", "8")], vars].concat(), probe);
        let outputs = eight_calls(&runtime);
        assert_meet(&door, n);
        runtime.engine().wait_for_all().unwrap();
        assert_eq!(addresses.lock().unwrap().len(), n);
        drop(outputs);
    }
}

/// The outputs of four dropouts of ones on the GPU, one after the other.
fn masks(vars: Vars<'_>) -> Vec<Vec<f32>> {
    let (runtime, _) = runtime(vars);
    runtime.arrays().random().seed(7);
    let nd = runtime.imperative().unwrap();
    let ones = NdArray::from_slice_on(runtime.arrays(), [256], &[1.0f32; 256], GPU).unwrap();
    let _training = autograd::train_mode();
    let dropout = || nd.invoke("Dropout", &Attrs::from([("p", "0.5")]), &[&ones]).unwrap()[0].to_vec::<f32>().unwrap();
    (0..4).map(|_| dropout()).collect()
}

#[test]
fn d83_dropouts_on_a_gpu_take_generators_in_turn() {
    const GENERATORS: &str = "MXNET_GPU_PARALLEL_RAND_COPY";
    let (one, two, four) = (masks(&[(GENERATORS, "1")]), masks(&[(GENERATORS, "2")]), masks(&[]));
    for masks in [&one, &two, &four] {
        let distinct: BTreeSet<Vec<u32>> = masks.iter().map(|m| m.iter().map(|x| x.to_bits()).collect()).collect();
        assert_eq!(distinct.len(), 4);
    }
    // The last of several generators has the seed of the only generator in the default case.
    assert_eq!([&two[1], &two[3]], [&one[0], &one[1]]);
    assert_eq!(four[3], one[0]);
    assert!(one.iter().all(|mask| *mask != two[0] && *mask != two[2]) && two[0] != two[2]);
}

#[test]
fn d86_a_chain_on_a_gpu_is_one_kernel() {
    let fused = |vars: Vars<'_>| {
        let gpu = gpu();
        let host = Arc::new(crate::fusion::Fusing);
        let backends = vec![
            SimulatedBackend::new(host, &gpu) as Arc<dyn Backend>,
            SimulatedBackend::new(Arc::new(ReferenceBackend), &gpu),
        ];
        let runtime = builder(vars).device(Arc::new(Plug { gpu, backends })).build().unwrap();
        let mut calls = Calls::new(&runtime);
        let x = Symbol::variable("x");
        let y = ["sigmoid", "tanh", "relu"].iter().fold(x, |y, op| calls.call(op, &[], &[&y]));
        let options = BindOptions { device: GPU, ..runtime.bind_options() };
        let inputs = [("x", [3].into())];
        let executor = Executor::simple_bind(&y.graph().unwrap(), runtime.arrays(), &inputs, &options).unwrap();
        executor.argument("x").unwrap().copy_from(&[0.5f32, -2.0, 8.0]).unwrap();
        executor.forward().unwrap();
        (executor.report().unwrap().n_fused_calls(), executor.outputs()[0].to_vec::<f32>().unwrap())
    };
    let ((on, with), (off, without)) = (fused(&[]), fused(&[("MXNET_USE_FUSION", "0")]));
    assert_eq!((on, off), (3, 0));
    assert_eq!(with, without);
}

/// With events, a call is enqueued before the call on which it depends has run: two dependent calls are enqueued while the
/// device stands still.
#[test]
fn m1_calls_are_ordered_by_events() {
    let tanh_twice = |vars: Vars<'_>| {
        let (runtime, gpu) = runtime(vars);
        let nd = runtime.imperative().unwrap();
        let x = NdArray::from_slice_on(runtime.arrays(), [3], &[0.5f32, -2.0, 8.0], GPU).unwrap();
        runtime.engine().wait_for_all().unwrap();
        let hold = gpu.gpu().hold();
        let launches = gpu.gpu().counters().launches;
        let y = nd.invoke("tanh", &Attrs::new(), &[&x]).unwrap().remove(0);
        let z = nd.invoke("tanh", &Attrs::new(), &[&y]).unwrap().remove(0);
        let n_launches = || gpu.gpu().counters().launches - launches;
        (0..100).take_while(|_| n_launches() < 2).for_each(|_| std::thread::sleep(Duration::from_millis(10)));
        let enqueued = n_launches();
        drop(hold);
        (enqueued, z.to_vec::<f32>().unwrap())
    };
    let (by_events, by_host) = (tanh_twice(&[("MXRS_GPU_SYNC", "event")]), tanh_twice(&[("MXRS_GPU_SYNC", "host")]));
    assert_eq!((by_events.0, by_host.0), (2, 1));
    assert_eq!(by_events.1, by_host.1);
}
