//! The order of tasks, failures, and memory.

mod common;

use common::{KINDS, context, context_of, numbers, on, outs, pull, store, store_with, values};
use mxrs_engine::{Engine, EngineConfig, Property};
use mxrs_kvstore::tree::TreeOptions;
use mxrs_kvstore::{Compression, KvStoreOptions, RowPull, RowSparse};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_storage::{Storage, StorageConfig};
use mxrs_sync::Mutex;
use mxrs_types::{Device, Error};
use std::num::NonZeroUsize;
use std::sync::Arc;

#[test]
fn a_pull_sees_the_last_push_on_every_engine() {
    for kind in KINDS {
        let context = context_of(kind);
        for name in ["local", "device"] {
            let store = store(&context, name);
            let n = 2000;
            let of = |id: i32| on(&context, id, &[n], &vec![0.0f32; n]);
            for key in 0..4 {
                store.init(&[(key.into(), of(0))]).unwrap();
            }
            let gradients = [of(0), of(1), of(2)];
            let mut pulled = Vec::new();
            for round in 0..30 {
                let key = round % 4;
                // Gradients are still being written when `push` is called, and are overwritten after it. The push must use
                // the values in between.
                for (i, gradient) in gradients.iter().enumerate() {
                    let value = (round * 3 + i as i64) as f32;
                    gradient
                        .write_later(move |bytes| {
                            bytes.chunks_mut(4).for_each(|b| b.copy_from_slice(&value.to_ne_bytes()));
                            Ok(())
                        })
                        .unwrap();
                }
                store.push(&values(key, &gradients), -(key as i32)).unwrap();
                let results = [of(0), of(1)];
                store.pull(&outs(key, &results), -(key as i32)).unwrap();
                pulled.push((round, results));
            }
            for (round, results) in pulled {
                let expected = vec![(round * 9 + 3) as f32; n];
                for result in results {
                    assert_eq!(result.to_vec::<f32>().unwrap(), expected, "{name} on {kind:?}, round {round}");
                }
            }
        }
    }
}

#[test]
fn sums_of_larger_priority_run_first() {
    let config = EngineConfig { cpu_priority_workers: NonZeroUsize::MIN, ..EngineConfig::default() };
    let context = ArrayContext::new(Engine::new(config).unwrap(), Storage::new(StorageConfig::default()).unwrap());
    let store = store(&context, "local");
    let of = |id: i32| on(&context, id, &[4], &[1.0f32; 4]);
    for key in 0..5 {
        store.init(&[(key.into(), of(0))]).unwrap();
    }
    context.engine().wait_for_all().unwrap();
    // The only worker for prioritized tasks waits until all pushes are made.
    let (open, gate) = std::sync::mpsc::channel();
    let held = context.engine().new_var();
    let task = context.engine().task("gate").write(&held).property(Property::CpuPrioritized).priority(100);
    task.push(move |_| gate.recv().map_err(|_| Error::invalid("gate", "closed", "open"))).unwrap();
    let gradients = [of(0), of(1)];
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut readings = Vec::new();
    for (key, priority) in [(0, -3), (1, 7), (2, 0), (3, -4), (4, 2)] {
        store.push(&values(key, &gradients), priority).unwrap();
        let out = of(0);
        store.pull(&outs(key, std::slice::from_ref(&out)), priority).unwrap();
        let order = order.clone();
        readings.push(NdArray::read_later(&[&out], move |_| order.lock().push(key)).unwrap());
    }
    open.send(()).unwrap();
    readings.into_iter().for_each(|reading| reading.wait().unwrap());
    assert_eq!(*order.lock(), [1, 4, 2, 0, 3]);
}

#[test]
fn threads_may_share_a_store() {
    let context = context();
    for name in ["local", "device"] {
        let store = store(&context, name);
        let of = |id: i32, v: f32| on(&context, id, &[300], &[v; 300]);
        for key in 0..4 {
            store.init(&[(key.into(), of(0, 0.0))]).unwrap();
        }
        std::thread::scope(|scope| {
            for key in 0..4i64 {
                let store = &store;
                scope.spawn(move || {
                    for round in 0..20 {
                        let gradients = [of(0, round as f32), of(1, key as f32)];
                        store.pushpull(&values(key, &gradients), &[], 0).unwrap();
                        let expected = vec![(round + key) as f32; 300];
                        assert_eq!(gradients[1].to_vec::<f32>().unwrap(), expected);
                    }
                });
            }
        });
    }
}

#[test]
fn a_failed_producer_fails_the_pull() {
    let context = context();
    let with_tree = KvStoreOptions { tree: Some(TreeOptions::default()), ..KvStoreOptions::default() };
    for (name, options) in
        [("local", &KvStoreOptions::default()), ("device", &KvStoreOptions::default()), ("device", &with_tree)]
    {
        let store = store_with(&context, name, options);
        let of = |id: i32, v: f32| on(&context, id, &[2], &[v, v]);
        store.init(&[(0.into(), of(0, 1.0)), (1.into(), of(0, 1.0))]).unwrap();
        let gradients = [of(0, 1.0), of(1, 2.0)];
        let failed = gradients[1].write_later(|_| Err(Error::invalid("kernel", "on purpose", "nothing")));
        failed.unwrap();
        let results = [of(0, 0.0), of(1, 0.0)];
        store.push(&values(0, &gradients), 0).unwrap();
        store.pull(&outs(0, &results), 0).unwrap();
        let error = results[0].to_vec::<f32>().unwrap_err().to_string();
        assert!(error.contains("on purpose"), "{error}");
        // Another key is not affected, and the next push of good values repairs the key.
        assert_eq!(pull(&context, &*store, 1, &[2]), [1.0, 1.0]);
        let good = [of(0, 1.0), of(1, 2.0)];
        store.push(&values(0, &good), 0).unwrap();
        assert_eq!(pull(&context, &*store, 0, &[2]), [3.0, 3.0], "{name}");
    }
}

#[test]
fn a_failed_first_value_leaves_residuals_of_zero() {
    let context = context();
    let store = store(&context, "device");
    store.set_gradient_compression(Compression::TwoBit { threshold: 0.5 }).unwrap();
    // Leaves memory that is not zero in the pool, which the store may reuse for its residuals.
    drop(on(&context, 0, &[3], &[9.0f32; 3]));
    let gradient = on(&context, 0, &[3], &[0.0f32; 3]);
    store.init(&[("w".into(), gradient.clone())]).unwrap();
    gradient.write_later(|_| Err(Error::invalid("kernel", "on purpose", "nothing"))).unwrap();
    store.push(&values("w", std::slice::from_ref(&gradient)), 0).unwrap();
    store.pull(&outs("w", std::slice::from_ref(&gradient)), 0).unwrap();
    gradient.to_vec::<f32>().unwrap_err();
    // The residuals of elements 0 and 2 after the three pushes: 0.25 and -0.3, then 0 and -0.1, then 0.25 and -0.4.
    for expected in [[0.0f32, 0.0, 0.0], [0.5, 0.0, -0.5], [0.0, 0.0, 0.0]] {
        let good = on(&context, 0, &[3], &[0.25f32, 0.0, -0.3]);
        store.push(&values("w", &[good]), 0).unwrap();
        assert_eq!(pull(&context, &*store, "w", &[3]), expected);
    }
}

#[test]
fn only_the_first_push_allocates_and_nothing_stays() {
    let context = context();
    let cpu = Device::cpu(0);
    let live = || context.storage().stats(cpu).live_blocks;
    let before = live();
    let trees = Some(TreeOptions { array_bound: 10, ..TreeOptions::default() });
    for (name, tree, compression) in
        [("local", None, false), ("device", None, false), ("device", None, true), ("device", trees, false)]
    {
        let store = store_with(&context, name, &KvStoreOptions { tree, ..KvStoreOptions::default() });
        if compression {
            store.set_gradient_compression(Compression::TwoBit { threshold: 0.5 }).unwrap();
        }
        let of = |id: i32| on(&context, id, &[12, 3], &numbers(id as u64, 36));
        store.init(&[(0.into(), of(0)), (1.into(), of(0))]).unwrap();
        let gradients = [of(0), of(1), of(2)];
        let round = || {
            for key in 0..2 {
                store.push(&values(key, &gradients), 0).unwrap();
                store.pull(&outs(key, &gradients), 0).unwrap();
                store.pushpull(&values(key, &gradients), &[], 0).unwrap();
            }
            context.engine().wait_for_all().unwrap();
            context.storage().stats(cpu).allocations
        };
        let first = round();
        assert_eq!([round(), round()], [first; 2], "{name}");
        if !compression {
            let rows = RowSparse::new([1, 2], on(&context, 0, &[2, 3], &[1.0f32; 6])).unwrap();
            store.push(&[(0.into(), rows.clone().into()), (0.into(), rows.into())], 0).unwrap();
        }
        let pulls = [RowPull { key: 0.into(), ids: vec![3, 1], devices: vec![cpu, cpu] }];
        assert_eq!(store.row_sparse_pull(&pulls, 0).unwrap()[0].len(), 2);
        drop(store);
        drop(gradients);
        // The worker of a task drops the task's arrays shortly after the task is complete, so memory is freed with a small
        // delay.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while live() != before && std::time::Instant::now() < deadline {
            context.engine().wait_for_all().unwrap();
            std::thread::yield_now();
        }
        assert_eq!(live(), before, "{name}");
    }
}

#[test]
fn a_store_may_be_dropped_while_its_tasks_are_pending() {
    let context = context();
    let n = 100_000;
    let gradients: Vec<NdArray> = (0..4).map(|i| on(&context, i, &[n], &vec![1.0f32; n])).collect();
    let result = on(&context, 0, &[n], &vec![0.0f32; n]);
    {
        let store = store(&context, "local");
        store.init(&[("w".into(), result.clone())]).unwrap();
        store.push(&values("w", &gradients), 0).unwrap();
        store.pull(&outs("w", std::slice::from_ref(&result)), 0).unwrap();
    }
    assert_eq!(result.to_vec::<f32>().unwrap(), vec![4.0; n]);
}
