//! What each verb does, and the errors of wrong calls.

#![allow(unsafe_code)]

mod common;

use common::{KINDS, bits, context, context_of, on, outs, pull, store, values};
use mxrs_kvstore::{Compression, Key, KvStoreOptions, RowPull, RowSparse, StoreRegistry, Update, Value};
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Device, ErrorKind, Result};
use std::sync::Arc;

const STORES: [&str; 2] = ["local", "device"];

fn error<T>(result: Result<T>, words: &[&str]) {
    let error = result.err().expect("an error").to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{words:?} in {error}");
}

#[test]
fn a_push_assigns_the_sum() {
    let context = context();
    for name in STORES {
        let store = store(&context, name);
        store.init(&[(3.into(), on(&context, 0, &[2], &[1.0f32, 2.0]))]).unwrap();
        assert_eq!(pull(&context, &*store, 3, &[2]), [1.0, 2.0]);
        for round in 1..4 {
            let of = |id: i32| on(&context, id, &[2], &[round as f32, 10.0 * (id + 1) as f32]);
            store.push(&values(3, &[of(0), of(1), of(2)]), 0).unwrap();
            assert_eq!(pull(&context, &*store, 3, &[2]), [3.0 * round as f32, 60.0]);
            store.push(&values(3, &[of(1)]), 0).unwrap();
            assert_eq!(pull(&context, &*store, 3, &[2]), [round as f32, 20.0], "{name}: one value");
        }
        assert_eq!((store.rank(), store.num_workers(), store.store_type().name()), (0, 1, name));
        store.barrier().unwrap();
    }
}

#[test]
fn a_stored_value_does_not_follow_the_array_that_was_pushed() {
    let context = context();
    for name in STORES {
        let store = store(&context, name);
        let array = on(&context, 1, &[1], &[1.0f32]);
        store.init(&[("w".into(), array.clone())]).unwrap();
        array.copy_from(&[2.0f32]).unwrap();
        assert_eq!(pull(&context, &*store, "w", &[1]), [1.0]);
        store.push(&values("w", std::slice::from_ref(&array)), 0).unwrap();
        array.copy_from(&[3.0f32]).unwrap();
        assert_eq!(pull(&context, &*store, "w", &[1]), [2.0], "{name}");
    }
}

#[test]
fn keys_of_one_call_are_grouped() {
    let context = context();
    for name in STORES {
        let store = store(&context, name);
        let zero = || on(&context, 0, &[1], &[0.0f32]);
        store.init(&[(7.into(), zero()), (5.into(), zero())]).unwrap();
        let value = |v: f32| Value::from(on(&context, 0, &[1], &[v]));
        let mixed = [(7, 1.0), (5, 100.0), (7, 2.0), (5, 200.0), (7, 4.0)];
        store.push(&mixed.map(|(key, v)| (Key::from(key), value(v))), 0).unwrap();
        let all = [7, 5, 7, 5].map(|key| (Key::from(key), zero()));
        store.pull(&all, 0).unwrap();
        let got: Vec<f32> = all.iter().map(|(_, out)| out.to_vec::<f32>().unwrap()[0]).collect();
        assert_eq!(got, [7.0, 300.0, 7.0, 300.0]);
    }
}

#[test]
fn an_updater_is_called_once_per_push_with_all_keys() {
    let context = context();
    for name in STORES {
        let store = store(&context, name);
        let calls = Arc::new(mxrs_sync::Mutex::new(Vec::new()));
        let noted = calls.clone();
        // stored += 2 * sum, as one task.
        let updater = move |updates: &[Update]| {
            noted.lock().push(updates.iter().map(|u| (u.key.clone(), u.priority)).collect::<Vec<_>>());
            for Update { sum, stored, .. } in updates {
                let Value::Dense(sum) = sum else { panic!("{sum:?}") };
                let (from, to) = (sum.clone(), stored.clone());
                let engine = stored.engine().clone();
                engine.task("update").read(sum.var()).write(stored.var()).push(move |_| {
                    let (from, to) = (from.as_ptr().cast::<f32>(), to.as_ptr().cast::<f32>());
                    // SAFETY: both arrays have one float32 element, and this task holds their variables.
                    unsafe { *to += 2.0 * *from };
                    Ok(())
                })?;
            }
            Ok(())
        };
        store.set_updater(Box::new(updater)).unwrap();
        let one = |v: f32| on(&context, 0, &[1], &[v]);
        store.init(&[("b".into(), one(1.0)), ("a".into(), one(2.0))]).unwrap();
        let mut pushed = values("a", &[one(10.0), one(20.0)]);
        pushed.extend(values("b", &[one(5.0)]));
        for _ in 0..2 {
            store.push(&pushed, -4).unwrap();
        }
        assert_eq!(pull(&context, &*store, "a", &[1]), [2.0 + 2.0 * 60.0], "{name}");
        assert_eq!(pull(&context, &*store, "b", &[1]), [1.0 + 2.0 * 10.0]);
        let call = vec![(Key::from("b"), -4), (Key::from("a"), -4)];
        assert_eq!(*calls.lock(), [call.clone(), call], "in the order of init");
        store.pushpull(&pushed, &outs("a", &[one(0.0), one(0.0)]), 0).unwrap();
        assert_eq!(pull(&context, &*store, "a", &[1]), [182.0]);
        store.set_updater(Box::new(|_: &[Update]| Err(mxrs_types::Error::invalid("rate", -1, "0 or more")))).unwrap();
        error(store.push(&pushed, 0), &["rate"]);
    }
}

/// "per key: total order of push/pull by the dependency engine; a pull sees the last push": the guarantee of `local` and `device`,
/// on every engine. (`nccl`, which MXNet names with them, is not built.) The update depends on the order of pushes.
#[test]
fn pushes_and_pulls_of_a_key_have_a_total_order() {
    for kind in KINDS {
        let context = context_of(kind);
        for name in STORES {
            let store = store(&context, name);
            let one = |id: i32, v: f32| on(&context, id, &[1], &[v]);
            // stored = 2 * stored + sum, as one task.
            let updater = |updates: &[Update]| {
                for Update { sum, stored, .. } in updates {
                    let Value::Dense(sum) = sum else { panic!("{sum:?}") };
                    let (from, to) = (sum.clone(), stored.clone());
                    let engine = stored.engine().clone();
                    engine.task("update").read(sum.var()).write(stored.var()).push(move |_| {
                        let (from, to) = (from.as_ptr().cast::<f32>(), to.as_ptr().cast::<f32>());
                        // SAFETY: both arrays have one float32 element, and this task holds their variables.
                        unsafe { *to = 2.0 * *to + *from };
                        Ok(())
                    })?;
                }
                Ok(())
            };
            store.set_updater(Box::new(updater)).unwrap();
            store.init(&[(0.into(), one(0, 1.0)), (1.into(), one(0, 1.0))]).unwrap();
            let (mut expected, mut pulled) = ([1.0f32; 2], Vec::new());
            for round in 0..16i32 {
                let (key, priority) = (round as usize % 2, round * 7 % 5 - 2);
                store.push(&values(key as i64, &[one(0, round as f32), one(1, 1.0)]), priority).unwrap();
                expected[key] = 2.0 * expected[key] + round as f32 + 1.0;
                if round % 3 != 0 {
                    let out = one(1, f32::NAN);
                    store.pull(&outs(key as i64, std::slice::from_ref(&out)), -priority).unwrap();
                    pulled.push((out, expected[key]));
                }
            }
            for (i, (out, expected)) in pulled.iter().enumerate() {
                assert_eq!(out.to_vec::<f32>().unwrap(), [*expected], "{name} on {kind:?}, pull {i}");
            }
        }
    }
}

/// "bits fixed by device order": not by which value is ready first. (Another test compares the bits of trees.)
#[test]
fn the_order_of_devices_decides_the_bits() {
    let context = context();
    let sum = |name: &str, elements: [f32; 3], late: usize| {
        let store = store(&context, name);
        store.init(&[("w".into(), on(&context, 0, &[1], &[0.0f32]))]).unwrap();
        let arrays = [0, 1, 2].map(|id| on(&context, id, &[1], &[0.0f32]));
        for (i, (array, element)) in arrays.iter().zip(elements).enumerate() {
            let write = move |bytes: &mut [u8]| {
                if i == late {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                bytes.copy_from_slice(&element.to_ne_bytes());
                Ok(())
            };
            array.write_later(write).unwrap();
        }
        store.push(&values("w", &arrays), 0).unwrap();
        pull(&context, &*store, "w", &[1])
    };
    // In float32, (1e8 + 1) - 1e8 is 0, and (1e8 - 1e8) + 1 is 1. `local` adds the second and the third value first.
    let (first, middle, last) = ([1.0, 1e8, -1e8], [1e8, 1.0, -1e8], [1e8, -1e8, 1.0]);
    for (name, elements, expected) in [
        ("local", first, 1.0),
        ("local", middle, 0.0),
        ("local", last, 0.0),
        ("device", first, 0.0),
        ("device", middle, 0.0),
        ("device", last, 1.0),
    ] {
        for late in 0..3 {
            let got = sum(name, elements, late);
            assert_eq!(bits(&got), bits(&[expected]), "{name}, {elements:?}, value {late} is late: {got:?}");
        }
    }
}

#[test]
fn pushpull_and_broadcast() {
    let context = context();
    for name in STORES {
        let store = store(&context, name);
        let of = |id: i32, v: f32| on(&context, id, &[2], &[v, -v]);
        let first = [of(0, 0.0), of(1, 0.0), of(2, 0.0)];
        store.broadcast(&[(1.into(), of(0, 9.0))], &outs(1, &first), 0).unwrap();
        assert!(first.iter().all(|array| array.to_vec::<f32>().unwrap() == [9.0, -9.0]));
        let (given, results) = ([of(0, 1.0), of(1, 2.0)], [of(0, 0.0), of(1, 0.0)]);
        store.pushpull(&values(1, &given), &outs(1, &results), 0).unwrap();
        assert!(results.iter().all(|array| array.to_vec::<f32>().unwrap() == [3.0, -3.0]));
        assert_eq!(given[0].to_vec::<f32>().unwrap(), [1.0, -1.0]);
        store.pushpull(&values(1, &given), &[], 0).unwrap();
        assert!(given.iter().all(|array| array.to_vec::<f32>().unwrap() == [3.0, -3.0]), "in place");
        assert_eq!(pull(&context, &*store, 1, &[2]), [3.0, -3.0]);
        // The values are rows 0..2 and 1..3 of one array, so they overlap. The result must be that of a push and then a
        // pull.
        let rows = on(&context, 0, &[3], &[1.0f32, 10.0, 100.0]);
        let views = [rows.slice(0, 2).unwrap(), rows.slice(1, 3).unwrap()];
        store.pushpull(&values(1, &views), &[], 0).unwrap();
        assert_eq!(pull(&context, &*store, 1, &[2]), [11.0, 110.0], "{name}");
    }
}

#[test]
fn rows_are_pushed_and_pulled() {
    let context = context();
    for name in STORES {
        let store = store(&context, name);
        assert!(store.store_type().takes_row_sparse(), "the type of the store says so too");
        let full: Vec<f32> = (0..10).map(|i| i as f32).collect();
        store.init(&[("e".into(), on(&context, 0, &[5, 2], &full))]).unwrap();
        let pulls = [RowPull { key: "e".into(), ids: vec![4, 1, 4], devices: vec![Device::cpu(1), Device::cpu(0)] }];
        let got = store.row_sparse_pull(&pulls, 0).unwrap().remove(0);
        for (rows, device) in got.iter().zip([Device::cpu(1), Device::cpu(0)]) {
            assert_eq!((rows.ids(), rows.rows().device()), (&[1, 4][..], device));
            assert_eq!(rows.rows().to_vec::<f32>().unwrap(), [2.0, 3.0, 8.0, 9.0]);
        }
        let rows = |ids: &[i64], v: &[f32]| RowSparse::new(ids, on(&context, 0, &[ids.len(), 2], v)).unwrap();
        let pushed = [rows(&[0, 3], &[1.0, 2.0, 3.0, 4.0]), rows(&[3], &[10.0, 20.0]), rows(&[], &[])];
        let pushed: Vec<(Key, Value)> = pushed.into_iter().map(|rows| ("e".into(), rows.into())).collect();
        store.push(&pushed, 0).unwrap();
        let expected = [1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 13.0, 24.0, 0.0, 0.0];
        assert_eq!(pull(&context, &*store, "e", &[5, 2]), expected, "{name}");
        let seen = Arc::new(mxrs_sync::Mutex::new(Vec::new()));
        let noted = seen.clone();
        let updater = move |updates: &[Update]| {
            noted.lock().extend(updates.iter().map(|u| u.sum.as_row_sparse().unwrap().clone()));
            Ok(())
        };
        store.set_updater(Box::new(updater)).unwrap();
        store.push(&pushed, 0).unwrap();
        let sum = seen.lock().remove(0);
        assert_eq!(sum.ids(), [0, 3]);
        assert_eq!(sum.rows().to_vec::<f32>().unwrap(), [1.0, 2.0, 13.0, 24.0]);

        let pull = |ids: Vec<i64>| store.row_sparse_pull(&[RowPull { key: "e".into(), ids, devices: vec![] }], 0);
        error(pull(vec![5]), &["row number of key `e`", "got 5", "below 5"]);
        error(pull(vec![-1]), &["got -1"]);
        let wide = RowSparse::new([0], on(&context, 0, &[1, 3], &[0.0f32; 3])).unwrap();
        error(store.push(&[("e".into(), wide.into())], 0), &["(1, 3)", "rows of (5, 2)"]);
        error(store.push(&[("e".into(), rows(&[5], &[0.0; 2]).into())], 0), &["got 5", "below 5"]);
        let mixed = [("e".into(), rows(&[0], &[0.0; 2]).into()), ("e".into(), on(&context, 0, &[5, 2], &full).into())];
        error(store.push(&mixed, 0), &["dense and row-sparse"]);
        error(store.pushpull(&pushed, &[], 0), &["row-sparse", "dense"]);
        error(RowSparse::new([2, 1], on(&context, 0, &[2, 1], &[0.0f32; 2])), &["1 after 2"]);
        error(RowSparse::new([-2], on(&context, 0, &[1, 1], &[0.0f32])), &["-2"]);
        error(RowSparse::new([0], on(&context, 0, &[2, 1], &[0.0f32; 2])), &["1 row numbers"]);
    }
}

#[test]
fn wrong_calls_name_what_is_wrong() {
    let context = context();
    for name in STORES {
        let store = store(&context, name);
        let ones = |n: usize| on(&context, 0, &[n], &vec![1.0f32; n]);
        error(store.pull(&[(3.into(), ones(2))], 0), &["3, which has no value", "init"]);
        error(store.init(&[(3.into(), ones(2)), (3.into(), ones(2))]), &["duplicate init of key 3"]);
        store.init(&[(3.into(), ones(2))]).unwrap();
        error(store.init(&[(3.into(), ones(2))]), &["duplicate init of key 3"]);
        error(store.broadcast(&[(3.into(), ones(2))], &[], 0), &["duplicate init"]);
        error(store.init(&[("w".into(), ones(2))]), &["a text (`w`)", "a number, like key 3"]);
        error(store.push(&values("w", &[ones(2)]), 0), &["a text (`w`)"]);
        error(store.push(&values(4, &[ones(2)]), 0), &["4, which has no value"]);
        error(store.push(&values(3, &[ones(2), ones(3)]), 0), &["value 1, of key 3", "(3,)", "(2,)"]);
        error(store.pull(&outs(3, &[ones(3)]), 0), &["output 0, of key 3", "(3,)", "(2,)"]);
        let int = NdArray::zeros(&context, [2], DType::I32).unwrap();
        error(store.push(&values(3, std::slice::from_ref(&int)), 0), &["int32", "float32"]);
        error(store.pull(&outs(3, &[int]), 0), &["int32", "float32"]);
        error(store.pushpull(&values(3, &[ones(2), ones(2)]), &outs(3, &[ones(2)]), 0), &["1 for 2 values of key 3"]);
        store.init(&[(4.into(), NdArray::zeros(&context, [2], DType::Bool).unwrap())]).unwrap();
        let bool = NdArray::zeros(&context, [2], DType::Bool).unwrap();
        error(store.push(&values(4, &[bool]), 0), &["bool", "float16"]);
        error(store.pushpull(&values(3, &[ones(2)]), &outs(4, &[ones(2)]), 0), &["of key 4"]);
        assert_eq!(pull(&context, &*store, 3, &[2]), [1.0, 1.0], "refused calls change nothing");
    }
}

#[test]
fn compression_is_set_first_and_once() {
    let context = context();
    let two = Compression::new("2bit", 0.5).unwrap();
    error(store(&context, "local").set_gradient_compression(two), &["the store `local`", "`device`"]);
    let store = store(&context, "device");
    store.set_gradient_compression(two).unwrap();
    error(store.set_gradient_compression("1bit".parse().unwrap()), &["1bit after 2bit"]);
    store.init(&[(0.into(), NdArray::zeros(&context, [2], DType::F16).unwrap())]).unwrap();
    error(store.push(&values(0, &[NdArray::zeros(&context, [2], DType::F16).unwrap()]), 0), &["float16", "float32"]);
    let late = common::store(&context, "device");
    late.init(&[(0.into(), NdArray::zeros(&context, [2], DType::F32).unwrap())]).unwrap();
    error(late.set_gradient_compression(two), &["after `init` of key 0"]);
}

#[test]
fn the_registry_takes_stores_from_outside() {
    let context = context();
    let options = KvStoreOptions::default();
    let mut registry = StoreRegistry::new();
    let inner = StoreRegistry::new();
    let make: mxrs_kvstore::Constructor = Arc::new(move |name, context, options| {
        assert!(name.eq_ignore_ascii_case("TestStore") || name == "horovod");
        inner.create("local", context, options)
    });
    registry.register("teststore", make.clone()).unwrap();
    registry.register("horovod", make.clone()).unwrap();
    error(registry.register("TESTSTORE", make), &["`TESTSTORE` again"]);
    for name in ["TestStore", "horovod"] {
        assert_eq!(registry.create(name, &context, &options).unwrap().store_type().name(), "local");
    }
    error(registry.create("teststor", &context, &options), &["nearest: teststore", "dist_sync"]);
    for name in ["nccl", "dist_sync", "dist_async", "p3", "byteps"] {
        let error = registry.create(name, &context, &options).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::NotBuilt { .. }), "{error}");
        assert!(error.to_string().contains(name) && error.to_string().contains("local_allreduce_device"), "{error}");
    }
}
