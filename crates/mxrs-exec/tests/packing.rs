//! Tests constants in a backend's own layout: they are packed once, and again only when they change. Executors share the
//! packed copies.

mod backwards;

use backwards::*;
use mxrs_engine::{Engine, EngineConfig};
use mxrs_exec::{BindOptions, CachedOp, CachedOpFlags, Executor, Imperative, PackedStore, ReshapeOptions};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::ReferenceBackend;
use mxrs_storage::{Storage, StorageConfig};
use mxrs_types::{Error, Result};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn bound() -> (Executor, Arc<AtomicUsize>) {
    let (context, options, packs) = context_and_options();
    let executor = Executor::simple_bind(&graph(), &context, &[("x", [4].into())], &options).unwrap();
    executor.argument("w").unwrap().copy_from(&[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    (executor, packs)
}

#[test]
fn a_constant_is_packed_once_for_all_readers_and_runs() {
    let (executor, packs) = bound();
    executor.argument("x").unwrap().copy_from(&[1.0f32; 4]).unwrap();
    for _ in 0..5 {
        executor.forward().unwrap();
        assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), [1.0, 4.0, 9.0, 16.0]);
    }
    assert_eq!(packs.load(Ordering::Relaxed), 1);
    assert_eq!(executor.report().unwrap().packed_bytes, 16);

    executor.argument("w").unwrap().copy_from(&[2.0f32; 4]).unwrap();
    executor.forward().unwrap();
    assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), [4.0; 4]);
    assert_eq!(packs.load(Ordering::Relaxed), 2);
}

#[test]
fn a_kernels_error_names_its_node_and_leaves_the_executor_usable() {
    let (executor, _) = bound();
    executor.argument("x").unwrap().copy_from(&[f32::NAN; 4]).unwrap();
    executor.forward().unwrap();
    let error = executor.outputs()[0].to_vec::<f32>().unwrap_err();
    assert!(error.to_string().contains("weighted0"), "{error}");
    executor.argument("x").unwrap().copy_from(&[1.0f32; 4]).unwrap();
    executor.forward().unwrap();
    assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), [1.0, 4.0, 9.0, 16.0]);
}

#[test]
fn a_cached_graph_packs_its_parameters_once_until_they_change() {
    for static_shape in [false, true] {
        let (context, options, packs) = context_and_options();
        let nd = Imperative::new(&context, &options).unwrap();
        let flags =
            CachedOpFlags { static_alloc: true, static_shape, param_indices: vec![1], ..CachedOpFlags::default() };
        let op = CachedOp::new(&nd, &graph(), flags).unwrap();
        assert_eq!(op.input_names(), ["x", "w"]);
        let floats = |values: [f32; 4]| NdArray::from_slice(&context, [4], &values).unwrap();
        let w = floats([1.0, 2.0, 3.0, 4.0]);
        let run = |w: &NdArray, x: f32| op.call(&[&floats([x; 4]), w]).unwrap()[0].to_vec::<f32>().unwrap();
        for x in [1.0, 2.0, 1.0] {
            assert_eq!(run(&w, x), [x, 4.0 * x, 9.0 * x, 16.0 * x]);
        }
        assert_eq!(packs.load(Ordering::Relaxed), 1);
        w.copy_from(&[2.0f32; 4]).unwrap();
        assert_eq!(run(&w, 1.0), [4.0; 4]);
        assert_eq!(packs.load(Ordering::Relaxed), 2);
        // Another array with the same version as the first.
        let other = floats([0.0; 4]);
        other.copy_from(&[3.0f32; 4]).unwrap();
        assert_eq!(run(&other, 1.0), [9.0; 4]);
        assert_eq!(run(&w, 1.0), [4.0; 4]);
        assert_eq!(packs.load(Ordering::Relaxed), 4);
    }
}

/// Two executors that share a store and a weight, with inputs of four numbers. Also returns the weight, the store and the
/// counter of packings.
fn sharing() -> (Vec<Executor>, NdArray, PackedStore, Arc<AtomicUsize>) {
    let (context, options, packs) = context_and_options();
    let store = PackedStore::new();
    let options = BindOptions { packed: Some(store.clone()), ..options };
    let w = NdArray::from_slice(&context, [4], &[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    let params = [("w".to_owned(), w.clone())].into_iter().collect();
    let bind = || Executor::bind(&graph(), &context, &[("x", [4].into())], &params, &options).unwrap();
    (vec![bind(), bind()], w, store, packs)
}

fn run(executor: &Executor, x: f32) -> Vec<f32> {
    executor.argument("x").unwrap().copy_from(&[x; 4]).unwrap();
    executor.forward().unwrap();
    executor.outputs()[0].to_vec::<f32>().unwrap()
}

#[test]
fn executors_of_one_store_have_one_packed_copy() {
    let (mut executors, w, store, packs) = sharing();
    assert_eq!(store.bytes(), 16);
    for x in [1.0, 2.0] {
        assert!(executors.iter().all(|executor| run(executor, x) == [x, 4.0 * x, 9.0 * x, 16.0 * x]));
    }
    assert_eq!(packs.load(Ordering::Relaxed), 1);
    w.copy_from(&[2.0f32; 4]).unwrap();
    assert!(executors.iter().rev().all(|executor| run(executor, 1.0) == [4.0; 4]));
    assert_eq!(packs.load(Ordering::Relaxed), 2);
    executors.pop();
    assert_eq!(store.bytes(), 16);
    executors.clear();
    assert_eq!(store.bytes(), 0);
}

#[test]
fn executors_of_one_store_run_on_many_threads_while_the_weight_changes() {
    let (executors, w, _, _) = sharing();
    std::thread::scope(|scope| {
        for executor in &executors {
            scope.spawn(move || {
                for _ in 0..200 {
                    let y = run(executor, 1.0);
                    assert!(y == [y[0]; 4] || y == [1.0, 4.0, 9.0, 16.0], "half of an old weight: {y:?}");
                }
            });
        }
        for n in 0..100u8 {
            w.copy_from(&[f32::from(n); 4]).unwrap();
        }
    });
    assert!(executors.iter().all(|executor| run(executor, 1.0) == [99.0 * 99.0; 4]));
}

/// How the first of two executors runs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pushes {
    /// One task runs all steps.
    One,
    /// Each step is a task.
    Each,
    /// Each step is pushed by its own call of `partial_forward`.
    Partial,
}

/// Two executors that share a store of packed weights, on several workers; their weight; and the gate at which their
/// kernels can be made to wait.
struct Gated {
    context: ArrayContext,
    first: Executor,
    second: Executor,
    w: NdArray,
    gate: Arc<Gate>,
    packs: Arc<AtomicUsize>,
}

/// Makes two executors that share a store, and runs each once.
fn gated(pushes: Pushes) -> Gated {
    let cpu_workers = NonZeroUsize::new(4).unwrap();
    let engine = Engine::new(EngineConfig { cpu_workers, ..EngineConfig::default() }).unwrap();
    let context = ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap());
    let (packs, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Gate::default()));
    let backend = Backwards { packs: packs.clone(), gate: gate.clone() };
    let options = BindOptions {
        packed: Some(PackedStore::new()),
        bulk_inference: pushes == Pushes::One,
        ..BindOptions::new(vec![Arc::new(backend), Arc::new(ReferenceBackend)])
    };
    let w = NdArray::from_slice(&context, [4], &[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    let params = [("w".to_owned(), w.clone())].into_iter().collect();
    let bind = || Executor::bind(&graph(), &context, &[("x", [4].into())], &params, &options).unwrap();
    let (first, second) = (bind(), bind());
    assert!([&first, &second].iter().all(|executor| run(executor, 1.0) == [1.0, 4.0, 9.0, 16.0]));
    Gated { context, first, second, w, gate, packs }
}

/// Waits up to 300 ms for `happens` to return true, and returns its last result.
fn soon(happens: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !happens() && start.elapsed() < Duration::from_millis(300) {
        std::thread::sleep(Duration::from_millis(1));
    }
    happens()
}

#[test]
fn a_shared_constant_is_not_made_again_while_a_task_reads_it() {
    for pushes in [Pushes::One, Pushes::Each, Pushes::Partial] {
        let Gated { context, first, second, w, gate, packs } = &gated(pushes);
        first.argument("x").unwrap().copy_from(&[GATED; 4]).unwrap();
        let (comes, pass) = gate.close();
        match pushes {
            Pushes::Partial => assert_eq!(first.partial_forward(false, 0).unwrap(), 1),
            Pushes::One | Pushes::Each => first.forward().unwrap(),
        }
        // The first step has read the weight, the second has not.
        comes.recv_timeout(PATIENCE).unwrap();
        w.copy_from_array(&NdArray::from_slice(context, [4], &[10.0f32; 4]).unwrap()).unwrap();
        second.forward().unwrap();
        assert!(!soon(|| packs.load(Ordering::Relaxed) > 1), "packed while a task reads it, {pushes:?}");
        pass.send(()).unwrap();
        if pushes != Pushes::Partial {
            let got = first.outputs()[0].to_vec::<f32>().unwrap();
            assert_eq!(got, [1.0, 4.0, 9.0, 16.0].map(|w| GATED * w), "{pushes:?}");
        }
        assert_eq!(second.outputs()[0].to_vec::<f32>().unwrap(), [100.0; 4], "{pushes:?}");
        assert_eq!(packs.load(Ordering::Relaxed), 2);
    }
}

#[test]
fn a_step_waits_while_another_executor_makes_its_constant() {
    let Gated { first, second, w, gate, .. } = &gated(Pushes::Partial);
    first.argument("x").unwrap().copy_from(&[1.0f32; 4]).unwrap();
    assert_eq!(first.partial_forward(false, 0).unwrap(), 1);
    w.copy_from(&[GATED; 4]).unwrap();
    let (comes, pass) = gate.close();
    second.forward().unwrap();
    // The second executor is about to write the constant that the first one reads next.
    comes.recv_timeout(PATIENCE).unwrap();
    assert_eq!(first.partial_forward(false, 1).unwrap(), 0);
    std::thread::scope(|scope| {
        let got = scope.spawn(|| first.outputs()[0].to_vec::<f32>().unwrap());
        assert!(!soon(|| got.is_finished()), "the step ran on a constant that was being written");
        pass.send(()).unwrap();
        assert_eq!(got.join().unwrap(), [1.0, 2.0, 3.0, 4.0].map(|w| w * GATED));
    });
    assert_eq!(second.outputs()[0].to_vec::<f32>().unwrap(), [GATED * GATED; 4]);
}

#[test]
fn parameters_are_read_once_before_they_are_packed() {
    let (executor, packs) = bound();
    executor.argument("w").unwrap().copy_from(&[0.0f32; 4]).unwrap();
    let mut read = Vec::new();
    let frozen = executor.freeze_reading(&mut |name, array| {
        read.push(name.to_owned());
        if name != "w" {
            return Ok(());
        }
        array.write_later(|bytes| {
            let weights = [1.0f32, 2.0, 3.0, 4.0].map(f32::to_ne_bytes);
            bytes.copy_from_slice(weights.as_flattened());
            Ok(())
        })
    });
    assert_eq!(run(&frozen.unwrap(), 1.0), [1.0, 4.0, 9.0, 16.0]);
    read.sort();
    assert_eq!((read.join(" "), packs.load(Ordering::Relaxed)), ("w x".to_owned(), 1));

    // `freeze_reading` returns an error of `read`, and also an error of the task that `read` pushed.
    let short = || Error::invalid("file", "short", "long");
    let error = bound().0.freeze_reading(&mut |_, _| Err(short())).err().unwrap().to_string();
    assert!(error.contains("short"), "{error}");
    let late = bound().0.freeze_reading(&mut |name, array| match name {
        "w" => array.write_later(move |_| Err(short())),
        _ => Ok(()),
    });
    let error = late.err().unwrap().to_string();
    assert!(error.contains("short"), "{error}");
}

#[test]
fn a_frozen_executor_has_its_parameters_once() {
    let (executors, w, store, packs) = sharing();
    let mut executors = executors.into_iter();
    let (frozen, other) = (executors.next().unwrap().freeze().unwrap(), executors.next().unwrap());
    assert_eq!(packs.load(Ordering::Relaxed), 1);
    assert_eq!(frozen.arrays().iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["x"]);
    assert_eq!(run(&frozen, 1.0), [1.0, 4.0, 9.0, 16.0]);
    assert_eq!(run(&other, 1.0), [1.0, 4.0, 9.0, 16.0]);
    assert_eq!((packs.load(Ordering::Relaxed), store.bytes()), (1, 16));
    // A constant that a frozen executor shares must not be packed again, so the run fails.
    w.copy_from(&[5.0f32; 4]).unwrap();
    other.forward().unwrap();
    let error = other.outputs()[0].to_vec::<f32>().unwrap_err().to_string();
    assert!(error.contains("frozen"), "{error}");
    assert_eq!(run(&frozen, 1.0), [1.0, 4.0, 9.0, 16.0]);
    drop((other, w));
    assert_eq!(run(&frozen, 2.0), [2.0, 8.0, 18.0, 32.0]);

    let refused = |result: Result<()>| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("frozen"), "{error}");
    };
    refused(frozen.forward_train());
    refused(frozen.reshape(&[("x", [4].into())], ReshapeOptions::default()).map(drop));
    let (context, options, _) = context_and_options();
    let pooled = BindOptions { pool: Some(frozen.pool().clone()), ..options };
    refused(Executor::simple_bind(&graph(), &context, &[("x", [4].into())], &pooled).map(drop));
}
