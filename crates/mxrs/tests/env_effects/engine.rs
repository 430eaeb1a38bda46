//! Rows D4, D5, D29 and D30 of `docs/env.md`: which thread runs operators, how many run at the same time, and how many
//! tasks are pushed.

use crate::door::Door;
use crate::graphs::{bind, chain};
use crate::log_lines::log_lines;
use crate::probe::Probe;
use crate::{Vars, builder, runtime};
use mxrs::exec::{CachedOp, CachedOpFlags, autograd};
use mxrs::ndarray::NdArray;
use mxrs::types::Device;
use mxrs::{Error, Runtime};
use mxrs_engine::{PoolId, Property};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Pushes 8 independent operators that wait for each other, and returns the largest number of them that ran at the same time
/// in a pool.
fn peak(runtime: &Runtime, property: Property, pool: PoolId, expected: usize) -> usize {
    let (engine, door) = (runtime.engine(), Door::default());
    for _ in 0..8 {
        engine.task("wait").property(property).push(door.body()).unwrap();
    }
    let n_came = door.wait_for(expected);
    door.open();
    engine.wait_for_all().unwrap();
    let counters = engine.counters();
    let pool = counters.pool(pool).expect("it was used");
    assert_eq!((n_came, pool.executed), (expected, 8));
    pool.peak_running
}

#[test]
fn d4_so_many_operators_at_once() {
    for (vars, workers) in
        [(&[] as Vars<'_>, 1), (&[("MXNET_CPU_WORKER_NTHREADS", "1")], 1), (&[("MXNET_CPU_WORKER_NTHREADS", "4")], 4)]
    {
        let runtime = runtime(vars);
        assert_eq!(peak(&runtime, Property::Normal, PoolId::Cpu(0), workers), workers);
    }
}

#[test]
fn d4_a_chain_stays_serial() {
    let runtime = runtime(&[("MXNET_CPU_WORKER_NTHREADS", "4")]);
    let (engine, x) = (runtime.engine(), runtime.engine().new_var());
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for _ in 0..100 {
        let (running, most) = (Arc::clone(&running), Arc::clone(&most));
        let link = engine.task("link").write(&x).push(move |_| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::yield_now();
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        });
        link.unwrap();
    }
    engine.wait_to_read(&x).unwrap();
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[test]
fn d5_urgent_operators_pass_blocked_workers() {
    for (vars, workers) in [(&[] as Vars<'_>, 4), (&[("MXNET_CPU_PRIORITY_NTHREADS", "2")], 2)] {
        let runtime = runtime(vars);
        let (engine, normal, urgent) = (runtime.engine(), Door::default(), Door::default());
        engine.task("block").push(normal.body()).unwrap();
        assert_eq!(normal.wait_for(1), 1, "the only normal worker is taken");
        for i in 0..8 {
            let task = engine.task("reduce").property(Property::CpuPrioritized).device(Device::cpu(i % 3));
            task.push(urgent.body()).unwrap();
        }
        assert_eq!(urgent.wait_for(workers), workers);
        urgent.open();
        assert_eq!(urgent.wait_for(8), 8);
        normal.open();
        engine.wait_for_all().unwrap();
        assert_eq!(engine.counters().pool(PoolId::CpuPriority).unwrap().peak_running, workers);
    }
}

#[test]
fn d5_one_worker_follows_priority() {
    let runtime = runtime(&[("MXNET_CPU_PRIORITY_NTHREADS", "1")]);
    let (engine, door, order) = (runtime.engine(), Door::default(), Arc::new(Mutex::new(Vec::new())));
    engine.task("block").property(Property::CpuPrioritized).push(door.body()).unwrap();
    assert_eq!(door.wait_for(1), 1);
    for priority in [0, -3, 7, 2] {
        let order = Arc::clone(&order);
        let task = engine.task("reduce").property(Property::CpuPrioritized).priority(priority);
        let pushed = task.push(move |_| {
            order.lock().unwrap().push(priority);
            Ok(())
        });
        pushed.unwrap();
    }
    door.open();
    engine.wait_for_all().unwrap();
    assert_eq!(*order.lock().unwrap(), [7, 2, 0, -3]);
}

const ENGINES: [&str; 6] = [
    "NaiveEngine",
    "ThreadedEngine",
    "ThreadedEnginePerDevice",
    "NaiveEngineAsync",
    "ThreadedEngineAsync",
    "ThreadedEnginePerDeviceAsync",
];

#[test]
fn d29_an_operator_is_on_the_callers_thread_under_naive_only() {
    for word in ENGINES {
        let seen = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&seen);
        let probe = Probe::new(move |_| {
            *slot.lock().unwrap() = Some(thread::current().id());
            Ok(())
        });
        let runtime = builder(&[("MXNET_ENGINE_TYPE", word)]).backend(probe).only_backend("probe").build().unwrap();
        let executor = bind(&runtime, &chain(&runtime, 1), [4]);
        executor.forward().unwrap();
        if word.starts_with("Naive") {
            assert!(seen.lock().unwrap().is_some(), "it ran before the push returned");
        }
        runtime.engine().wait_for_all().unwrap();
        let thread_inside = seen.lock().unwrap().expect("the operator ran");
        assert_eq!(thread_inside == thread::current().id(), word.starts_with("Naive"), "{word}");
    }
}

#[test]
fn d29_sixteen_of_twenty_run_at_once_under_threaded() {
    let runtime = runtime(&[("MXNET_ENGINE_TYPE", "ThreadedEngine"), ("MXNET_CPU_WORKER_NTHREADS", "2")]);
    let (engine, door) = (runtime.engine(), Door::default());
    for i in 0..20 {
        engine.task("wait").device(Device::cpu(i % 2)).push(door.body()).unwrap();
    }
    assert_eq!(door.wait_for(16), 16);
    door.open();
    engine.wait_for_all().unwrap();
    let counters = engine.counters();
    let global = counters.pool(PoolId::Global).unwrap();
    assert_eq!((global.peak_running, global.executed), (16, 20));
}

#[test]
fn d29_a_failing_operator_errors_at_the_push_or_at_the_wait() {
    for word in ENGINES {
        let probe = Probe::new(|_| Err(Error::invalid("number of legs", 5, "4")));
        let runtime = builder(&[("MXNET_ENGINE_TYPE", word)]).backend(probe).only_backend("probe").build().unwrap();
        let executor = bind(&runtime, &chain(&runtime, 2), [4]);
        let pushed = executor.forward();
        let waited = runtime.engine().wait_to_read(executor.outputs()[0].var());
        let is_naive = word.starts_with("Naive");
        assert_eq!((pushed.is_err(), waited.is_err()), (is_naive, !is_naive), "{word}");
        let text = pushed.and(waited).unwrap_err().to_string();
        assert!(text.contains("number of legs: got 5, expected 4"), "{text}");
    }
}

#[test]
fn d29_an_explicit_choice_is_announced() {
    let announced = |vars: Vars<'_>| -> Vec<String> {
        let (_, lines) = log_lines(|| runtime(vars));
        lines.into_iter().filter(|line| line.contains("start using engine")).collect()
    };
    for word in ENGINES {
        assert_eq!(announced(&[("MXNET_ENGINE_TYPE", word)]), [format!("INFO MXNet start using engine: {word}")]);
    }
    assert!(announced(&[]).is_empty());
    assert!(announced(&[("MXNET_ENGINE_TYPE", "")]).is_empty(), "empty means unset");
}

#[test]
fn b25_waits_are_logged() {
    let waits = |vars: Vars<'_>| -> usize {
        let runtime = runtime(vars);
        let var = runtime.engine().new_var();
        let (_, lines) = log_lines(|| runtime.engine().wait_to_read(&var));
        lines.iter().filter(|line| line.contains(&format!("wait_to_read: variable {}", var.id()))).count()
    };
    assert!(waits(&[("MXNET_ENGINE_INFO", "1")]) > 0);
    assert_eq!(waits(&[("MXNET_ENGINE_INFO", "0")]), 0);
    assert_eq!(waits(&[]), 0);
}

#[test]
fn d30_a_chain_of_ten_is_one_push_or_ten() {
    for (vars, pushes) in [
        (&[] as Vars<'_>, 1),
        (&[("MXNET_EXEC_BULK_EXEC_INFERENCE", "1")], 1),
        (&[("MXNET_EXEC_BULK_EXEC_INFERENCE", "0")], 10),
        (&[("MXNET_EXEC_BULK_EXEC_INFERENCE", "false")], 10),
    ] {
        let runtime = runtime(vars);
        let executor = bind(&runtime, &chain(&runtime, 10), [4]);
        let before = runtime.engine().counters().pushed;
        executor.forward().unwrap();
        assert_eq!(runtime.engine().counters().pushed - before, pushes, "{vars:?}");
        assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), [10.0; 4]);
    }
}

#[test]
fn d30_inference_of_a_cached_graph_is_one_push_or_one_per_operator() {
    const TRAIN: &str = "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN";
    let pushes = |vars: Vars<'_>, is_train: bool| {
        let runtime = runtime(vars);
        let nd = runtime.imperative().unwrap();
        // With `static_alloc`, there is no additional task that frees memory, so only the pushes of operators are counted.
        let flags = CachedOpFlags { static_alloc: true, ..runtime.cached_op_flags() };
        let op = CachedOp::new(&nd, &chain(&runtime, 20), flags).unwrap();
        let x = NdArray::from_slice(runtime.arrays(), [4], &[0.0f32; 4]).unwrap();
        let _mode = is_train.then(autograd::train_mode);
        let before = runtime.engine().counters().pushed;
        let outputs = op.call(&[&x]).unwrap();
        let pushed = runtime.engine().counters().pushed - before;
        assert_eq!(outputs[0].to_vec::<f32>().unwrap(), [20.0; 4]);
        pushed
    };
    for (vars, [inference, training]) in [
        (&[] as Vars<'_>, [1, 2]),
        (&[("MXNET_EXEC_BULK_EXEC_INFERENCE", "1"), (TRAIN, "5")], [1, 4]),
        (&[("MXNET_EXEC_BULK_EXEC_INFERENCE", "0")], [20, 2]),
    ] {
        assert_eq!((pushes(vars, false), pushes(vars, true)), (inference, training), "{vars:?}");
    }
}
