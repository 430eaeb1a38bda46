//! Sums over workers: their bits, their consistency, first values and compression.

use super::{on_workers, pulled, store_of};
use crate::common::{KINDS, bits, context, context_of, numbers, on, outs, store_with, values};
use mxrs_kvstore::{Compression, KvStore, KvStoreOptions};
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Device};

const STORES: [&str; 6] = ["dist", "dist_sync", "dist_sync_device", "dist_device_sync", "p3", "horovod"];

/// The sum of the workers' values, added one after another in the order of ranks.
pub fn folded(values: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = values[0].clone();
    for value in &values[1..] {
        sum.iter_mut().zip(value).for_each(|(sum, value)| *sum += value);
    }
    sum
}

/// The value of a worker in a round.
pub fn value_of(rank: usize, round: u64, n: usize) -> Vec<f32> {
    numbers(1 + rank as u64 * 31 + round * 7, n)
}

/// "bits fixed by rank order": `dist_sync` guarantees that the order of ranks alone decides the bits of a sum.
#[test]
fn sums_have_the_bits_of_a_fold_in_the_order_of_ranks() {
    let n = 2000;
    for n_workers in 1..=4 {
        for name in STORES {
            // The key is below the bound and then above it. In `p3`, it is sent as one slice and then as several.
            for (bound, slice) in [(1_000_000, 40_000), (100, 333)] {
                let options =
                    KvStoreOptions { big_array_elements: bound, slice_elements: slice, ..KvStoreOptions::default() };
                let results = on_workers(n_workers, |group| {
                    let context = context();
                    let store = store_of(name, &context, &options, &group);
                    store.init(&[("w".into(), on(&context, 0, &[n], &vec![0.0f32; n]))]).unwrap();
                    let value = on(&context, 0, &[n], &value_of(group.rank(), 0, n));
                    store.pushpull(&values("w", std::slice::from_ref(&value)), &[], 0).unwrap();
                    value.to_vec::<f32>().unwrap()
                });
                let expected = folded(&(0..n_workers).map(|rank| value_of(rank, 0, n)).collect::<Vec<_>>());
                for (rank, result) in results.iter().enumerate() {
                    assert_eq!(bits(result), bits(&expected), "{name}, worker {rank} of {n_workers}, bound {bound}");
                }
            }
        }
    }
}

/// "pull after own push of round t returns exactly the state after round t": a guarantee of `dist_sync`, checked on every
/// engine.
#[test]
fn a_pull_returns_the_state_after_the_own_push() {
    let (n, n_workers, n_rounds) = (300, 3, 8);
    for kind in KINDS {
        let results = on_workers(n_workers, |group| {
            let context = context_of(kind);
            let options = KvStoreOptions { big_array_elements: 50, ..KvStoreOptions::default() };
            let store = store_of("dist_sync", &context, &options, &group);
            for key in ["a", "b"] {
                store.init(&[(key.into(), on(&context, 0, &[n], &vec![0.0f32; n]))]).unwrap();
            }
            let mut pulls = Vec::new();
            for round in 0..n_rounds {
                // Workers have different speeds, and keys have different priorities.
                std::thread::sleep(std::time::Duration::from_millis(group.rank() as u64 * (round % 3)));
                for (key, add) in [("a", 0), ("b", 100)] {
                    let value = on(&context, 0, &[n], &value_of(group.rank(), round + add, n));
                    store.push(&values(key, &[value]), -(add as i32)).unwrap();
                }
                pulls.push(["a", "b"].map(|key| pulled(&context, &store, key, &[n]).unwrap()));
            }
            pulls
        });
        for pulls in results {
            for (round, got) in (0..n_rounds).zip(&pulls) {
                for (got, add) in got.iter().zip([0, 100]) {
                    let all: Vec<_> = (0..n_workers).map(|rank| value_of(rank, round + add, n)).collect();
                    assert_eq!(bits(got), bits(&folded(&all)), "{kind:?}, round {round}");
                }
            }
        }
    }
}

#[test]
fn every_type_that_is_summed_is_exchanged() {
    let dtypes = [DType::F64, DType::F16, DType::BF16, DType::U8, DType::I8, DType::I32, DType::I64];
    let results = on_workers(3, |group| {
        let context = context();
        let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
        let cast = |array: &NdArray, dtype| {
            // Small whole numbers are exact in every type.
            let numbers: Vec<f64> = array.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect();
            let bytes: Vec<u8> = match dtype {
                DType::F64 => numbers.iter().flat_map(|n| n.to_ne_bytes()).collect(),
                DType::F16 => numbers.iter().flat_map(|n| half::f16::from_f64(*n).to_ne_bytes()).collect(),
                DType::BF16 => numbers.iter().flat_map(|n| half::bf16::from_f64(*n).to_ne_bytes()).collect(),
                DType::U8 | DType::I8 => numbers.iter().map(|n| *n as u8).collect(),
                DType::I32 => numbers.iter().flat_map(|n| (*n as i32).to_ne_bytes()).collect(),
                _ => numbers.iter().flat_map(|n| (*n as i64).to_ne_bytes()).collect(),
            };
            NdArray::from_bytes(&context, [3], dtype, &bytes).unwrap()
        };
        let rank = group.rank() as f32;
        let value = on(&context, 0, &[3], &[rank, 2.0 * rank + 1.0, 7.0]);
        let sum = on(&context, 0, &[3], &[3.0f32, 9.0, 21.0]);
        dtypes.map(|dtype| {
            store.init(&[(dtype.name().into(), cast(&value, dtype))]).unwrap();
            let own = cast(&value, dtype);
            store.pushpull(&values(dtype.name(), std::slice::from_ref(&own)), &[], 0).unwrap();
            let bytes = |array: &NdArray| array.read_bytes(<[u8]>::to_vec).unwrap();
            (bytes(&own), bytes(&cast(&sum, dtype)))
        })
    });
    for results in results {
        for (dtype, (got, expected)) in dtypes.iter().zip(results) {
            assert_eq!(got, expected, "{dtype}");
        }
    }
}

/// "rank 0's value is pushed to the servers, other ranks' values are ignored": the first value of a key is that of rank 0. The
/// array is larger than one message.
#[test]
fn first_values_are_those_of_the_first_worker() {
    let n = (1 << 18) + 5;
    let results = on_workers(3, |group| {
        let context = context();
        let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
        let own = on(&context, 0, &[n], &numbers(group.rank() as u64 + 1, n));
        let out = on(&context, 0, &[n], &vec![0.0f32; n]);
        store.broadcast(&[("w".into(), own)], &outs("w", std::slice::from_ref(&out)), 0).unwrap();
        out.to_vec::<f32>().unwrap()
    });
    assert!(results.iter().all(|result| bits(result) == bits(&numbers(1, n))));
}

#[test]
fn devices_of_a_worker_are_summed_before_the_workers() {
    let results = on_workers(2, |group| {
        let context = context();
        ["dist_sync", "dist_sync_device"].map(|name| {
            let store = store_of(name, &context, &KvStoreOptions::default(), &group);
            store.init(&[("w".into(), on(&context, 0, &[50], &[0.0f32; 50]))]).unwrap();
            let devices: Vec<NdArray> =
                (0..3).map(|id| on(&context, id, &[50], &value_of(group.rank(), id as u64, 50))).collect();
            store.pushpull(&values("w", &devices), &[], 0).unwrap();
            assert_eq!(devices[2].device(), Device::cpu(2));
            devices.iter().map(|array| array.to_vec::<f32>().unwrap()).collect::<Vec<_>>()
        })
    });
    // The expected sum of each worker comes from a store of one process, `local` or `device`. Their orders of addition
    // differ.
    let context = context();
    for (i, name) in ["local", "device"].into_iter().enumerate() {
        let store = store_with(&context, name, &KvStoreOptions::default());
        store.init(&[("w".into(), on(&context, 0, &[50], &[0.0f32; 50]))]).unwrap();
        let sums: Vec<Vec<f32>> = (0..2)
            .map(|rank| {
                let devices: Vec<NdArray> =
                    (0..3).map(|id| on(&context, id, &[50], &value_of(rank, id as u64, 50))).collect();
                store.push(&values("w", &devices), 0).unwrap();
                pulled(&context, &*store, "w", &[50]).unwrap()
            })
            .collect();
        for result in &results {
            assert!(result[i].iter().all(|sum| bits(sum) == bits(&folded(&sums))), "{name}");
        }
    }
}

/// A residual per worker, as here, must give the same sums as a residual per device in the store `device`. Another test
/// compares that store with MXNet's bits.
#[test]
fn compressed_sums_are_those_of_devices_in_one_process() {
    let n = 1000;
    for compression in [Compression::TwoBit { threshold: 0.5 }, Compression::OneBit { threshold: 0.0 }] {
        let options = KvStoreOptions { big_array_elements: 100, ..KvStoreOptions::default() };
        let results = on_workers(3, |group| {
            let context = context();
            let store = store_of("dist_sync", &context, &options, &group);
            store.set_gradient_compression(compression).unwrap();
            store.init(&[("w".into(), on(&context, 0, &[n], &vec![0.0f32; n]))]).unwrap();
            (0..4)
                .map(|round| {
                    let value = on(&context, 0, &[n], &value_of(group.rank(), round, n));
                    store.push(&values("w", &[value]), 0).unwrap();
                    pulled(&context, &store, "w", &[n]).unwrap()
                })
                .collect::<Vec<_>>()
        });
        let context = context();
        let store = store_with(&context, "device", &KvStoreOptions::default());
        store.set_gradient_compression(compression).unwrap();
        store.init(&[("w".into(), on(&context, 0, &[n], &vec![0.0f32; n]))]).unwrap();
        for round in 0..4 {
            let devices: Vec<NdArray> =
                (0..3).map(|rank| on(&context, rank, &[n], &value_of(rank as usize, round, n))).collect();
            store.push(&values("w", &devices), 0).unwrap();
            let expected = pulled(&context, &*store, "w", &[n]).unwrap();
            assert!(expected.iter().any(|value| *value != 0.0));
            for result in &results {
                assert_eq!(bits(&result[round as usize]), bits(&expected), "{compression:?}, round {round}");
            }
        }
    }
}

#[test]
fn bytes_are_gathered_in_the_order_of_ranks() {
    let results = on_workers(3, |group| {
        let context = context();
        let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
        assert_eq!((store.rank(), store.num_workers()), (group.rank(), 3));
        store.barrier().unwrap();
        let own = vec![store.rank() as u8; 3_000_000 * store.rank()];
        let all = store.all_gather(&own).unwrap();
        let at_first = store.gather(&own).unwrap();
        (
            all.iter().map(Vec::len).collect::<Vec<_>>(),
            all == at_first.clone().unwrap_or(all.clone()),
            at_first.is_some(),
        )
    });
    let lengths = vec![0, 3_000_000, 6_000_000];
    assert_eq!(results, [(lengths.clone(), true, true), (lengths.clone(), true, false), (lengths, true, false)]);
}
