//! Rows D40, D41, D48 and B23 of `docs/env.md`: the threads with which key-value stores sum in host memory, and which side
//! updates weights. `kvstore_gpus.rs` tests the rows about GPUs.

use crate::{Vars, builder, runtime};
use mxrs::Runtime;
use mxrs::kvstore::{Constructor, Key, KvStore, KvStoreOptions, RowSparse, StoreRegistry, Value};
use mxrs::ndarray::NdArray;
use mxrs::train::Host;
use mxrs::types::{DType, Device};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

const THREADS: &str = "MXNET_KVSTORE_REDUCTION_NTHREADS";
const BOUND: &str = "MXNET_KVSTORE_BIGARRAY_BOUND";
const SERIAL: &str = "MXNET_KVSTORE_SERIAL_PUSH";

/// The parts of a sum: for each, the thread that computed it, and its number of elements.
type Parts = Arc<Mutex<Vec<(ThreadId, usize)>>>;

/// A runtime with a team of six threads. Its stores `local` and `device` record the parts of sums.
fn watched(vars: Vars<'_>) -> (Runtime, Parts) {
    let parts = Parts::default();
    let watch = Arc::clone(&parts);
    let constructor: Constructor = Arc::new(move |name, context, options| {
        let parts = Arc::clone(&watch);
        let record = move |n_elements| parts.lock().unwrap().push((std::thread::current().id(), n_elements));
        let options = KvStoreOptions { watch: Some(Arc::new(record)), ..options.clone() };
        StoreRegistry::new().create(name, context, &options)
    });
    let vars: Vec<(&str, &str)> = [("OMP_NUM_THREADS", "6")].iter().chain(vars).copied().collect();
    let builder = builder(&vars).only_backend("reference");
    let builder = builder.kvstore("local", Arc::clone(&constructor)).kvstore("device", constructor);
    (builder.build().expect("the runtime starts"), parts)
}

fn zeros(runtime: &Runtime, shape: [usize; 2]) -> NdArray {
    NdArray::zeros(runtime.arrays(), shape, DType::F32).unwrap()
}

fn pulled(runtime: &Runtime, store: &dyn KvStore, shape: [usize; 2]) -> Vec<f32> {
    let out = zeros(runtime, shape);
    store.pull(&[(Key::Int(0), out.clone())], 0).unwrap();
    out.to_vec().unwrap()
}

/// Pushes values of two devices to a store. Returns the number of threads that summed them, and the sum.
fn sum(vars: Vars<'_>, name: &str, shape: [usize; 2], values: impl Fn(&Runtime) -> [Value; 2]) -> (usize, Vec<f32>) {
    let (runtime, parts) = watched(vars);
    let store = runtime.kvstore(name).unwrap();
    store.init(&[(Key::Int(0), zeros(&runtime, shape))]).unwrap();
    store.push(&values(&runtime).map(|value| (Key::Int(0), value)), 0).unwrap();
    runtime.engine().wait_for_all().unwrap();
    let parts = std::mem::take(&mut *parts.lock().unwrap());
    let threads: BTreeSet<String> = parts.iter().map(|(thread, _)| format!("{thread:?}")).collect();
    assert_eq!(threads.len(), parts.len(), "a thread sums one part");
    (threads.len(), pulled(&runtime, &*store, shape))
}

/// The threads that sum dense arrays of `n` elements. Also checks the sum.
fn dense_threads(vars: Vars<'_>, name: &str, n: usize) -> usize {
    let (n_threads, sum) = sum(vars, name, [n, 1], |runtime| {
        [0u32, 1].map(|id| {
            let elements: Vec<f32> = (0..n).map(|i| (i % 1000) as f32 + 0.25 * id as f32).collect();
            NdArray::from_slice_on(runtime.arrays(), [n, 1], &elements, Device::cpu(id)).unwrap().into()
        })
    });
    assert!(sum.iter().enumerate().all(|(i, &x)| x == 2.0 * (i % 1000) as f32 + 0.25), "{name} {n}");
    n_threads
}

#[test]
fn d40_so_many_threads_sum_a_large_array() {
    for (vars, expected) in [
        (&[] as Vars<'_>, 4),
        (&[("MXNET_KVSTORE_REDUCTION_NTHREADS", "1")], 1),
        (&[(THREADS, "3")], 3),
        (&[(THREADS, "60")], 6),
    ] {
        assert_eq!(dense_threads(vars, "local", 2_000_000), expected, "{vars:?}");
        assert_eq!(dense_threads(vars, "local", 1000), 1, "{vars:?}");
        assert_eq!(dense_threads(vars, "device", 2_000_000), 6, "no setting of `device`");
    }
}

#[test]
fn d41_an_array_is_large_from_the_bound_on() {
    assert_eq!([999_999, 1_000_000].map(|n| dense_threads(&[], "local", n)), [1, 4]);
    let small = [("MXNET_KVSTORE_BIGARRAY_BOUND", "2000")];
    assert_eq!([1999, 2000].map(|n| dense_threads(&small, "local", n)), [1, 4]);
    assert_eq!(dense_threads(&[(BOUND, "2000001")], "local", 2_000_000), 1);
}

/// Row-sparse values of two devices: one has the rows with even numbers, the other one those whose numbers are multiples of
/// 3.
fn rows(runtime: &Runtime) -> [Value; 2] {
    [2i64, 3].map(|step| {
        let ids: Vec<i64> = (0..3000).step_by(step as usize).collect();
        let elements: Vec<f32> = ids.iter().flat_map(|&id| [id as f32, step as f32]).collect();
        let array = NdArray::from_slice_on(runtime.arrays(), [ids.len(), 2], &elements, Device::cpu(step as u32));
        RowSparse::new(ids, array.unwrap()).unwrap().into()
    })
}

#[test]
fn b23_one_thread_sums_rows() {
    // The union has 2000 rows of 2 elements.
    let bound = (BOUND, "4000");
    let by = |vars: Vars<'_>| sum(vars, "local", [3000, 2], rows);
    let (n_threads, expected) = by(&[bound]);
    assert_eq!(n_threads, 4);
    for (id, row) in expected.chunks(2).enumerate() {
        let steps = [2, 3].map(|step| if id % step == 0 { step } else { 0 });
        let n_rows = steps.iter().filter(|&&step| step > 0).count();
        assert_eq!(row, [(n_rows * id) as f32, (steps[0] + steps[1]) as f32], "row {id}");
    }
    assert_eq!(by(&[bound, ("MXNET_KVSTORE_SERIAL_PUSH", "0")]), (4, expected.clone()));
    assert_eq!(by(&[bound, (SERIAL, "1")]), (1, expected));
    let n_dense = dense_threads(&[(BOUND, "4000"), (SERIAL, "1")], "local", 4000);
    assert_eq!(n_dense, 4, "dense values have their threads");
}

#[test]
fn d48_who_updates_weights() {
    let updates = |vars: Vars<'_>| Host::update_on_kvstore(&runtime(vars));
    assert!(updates(&[]) && updates(&[("MXNET_UPDATE_ON_KVSTORE", "1")]));
    assert!(!updates(&[("MXNET_UPDATE_ON_KVSTORE", "0")]));
}

/// A module gets its store from the runtime, so that the variables apply to it.
#[test]
fn a_module_has_the_stores_of_the_runtime() {
    let (runtime, parts) = watched(&[(BOUND, "1000")]);
    let store = Host::kvstore(&runtime, "Local").unwrap();
    assert_eq!(store.store_type().name(), "Local");
    store.init(&[(Key::Int(0), zeros(&runtime, [1000, 1]))]).unwrap();
    let values = [0u32, 1].map(|_| (Key::Int(0), zeros(&runtime, [1000, 1]).into()));
    store.push(&values, 0).unwrap();
    runtime.engine().wait_for_all().unwrap();
    assert_eq!(parts.lock().unwrap().iter().map(|part| part.1).sum::<usize>(), 1000);
}

#[test]
fn stores_are_found_by_name() {
    let (runtime, _) = watched(&[]);
    let failed = |name: &str| runtime.kvstore(name).err().expect("no such store").to_string();
    assert!(failed("lokal").contains("nearest: local"), "{}", failed("lokal"));
    let lacks = if cfg!(feature = "grpc") { "`mxrs launch" } else { "without the feature `grpc`" };
    assert!(failed("dist_async").contains(lacks), "{}", failed("dist_async"));
    assert!(failed("dist_sync").contains("`mxrs launch -n 2 -- COMMAND`"), "{}", failed("dist_sync"));
    let constructor: Constructor =
        Arc::new(|_, context, options| StoreRegistry::new().create("local", context, options));
    let twice = builder(&[]).kvstore("mine", Arc::clone(&constructor)).kvstore("MINE", constructor);
    let error = twice.build().expect_err("two stores of one name").to_string();
    assert!(error.contains("`MINE` again"), "{error}");
}
