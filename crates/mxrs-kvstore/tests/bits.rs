//! Compares sums of the stores with serial additions that are written here from the formulas.

mod common;

use common::{bits, context, numbers, on, outs, pull, store_with, values};
use mxrs_kvstore::tree::{LinkFacts, Links, Plans, TreeOptions};
use mxrs_kvstore::{Compression, KvStoreOptions};
use mxrs_ndarray::NdArray;
use mxrs_types::Device;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// `a0 += ((a1 + a2) + a3) + a4`, and so on.
fn groups_of_four(arrays: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = arrays[0].clone();
    for group in arrays[1..].chunks(4) {
        for (i, sum) in sum.iter_mut().enumerate() {
            *sum += group[1..].iter().fold(group[0][i], |part, a| part + a[i]);
        }
    }
    sum
}

fn left_to_right(arrays: &[Vec<f32>]) -> Vec<f32> {
    let sum = |i: usize| arrays[1..].iter().fold(arrays[0][i], |sum, a| sum + a[i]);
    (0..arrays[0].len()).map(sum).collect()
}

fn options(threads: usize, big: u64) -> KvStoreOptions {
    KvStoreOptions {
        reduction_threads: NonZeroUsize::new(threads).unwrap(),
        big_array_elements: big,
        ..KvStoreOptions::default()
    }
}

#[test]
fn sums_do_not_depend_on_threads() {
    let context = context();
    for (name, fold) in [("local", groups_of_four as fn(&[Vec<f32>]) -> Vec<f32>), ("device", left_to_right)] {
        for (threads, big) in [(1, 1), (2, 1), (4, 5000), (3, 1_000_000)] {
            let store = store_with(&context, name, &options(threads, big));
            for (key, n) in [1, 100, 4999, 5000, 70_001].into_iter().enumerate() {
                store.init(&[((key as i64).into(), on(&context, 0, &[n], &vec![0.0f32; n]))]).unwrap();
                for m in 1..10 {
                    let arrays: Vec<Vec<f32>> = (0..m).map(|i| numbers((m * 100 + i) as u64, n)).collect();
                    let devices: Vec<NdArray> =
                        arrays.iter().enumerate().map(|(i, a)| on(&context, i as i32, &[n], a)).collect();
                    store.push(&values(key as i64, &devices), 0).unwrap();
                    let expected = bits(&fold(&arrays));
                    assert!(bits(&pull(&context, &*store, key as i64, &[n])) == expected, "{name} {m} {n} {threads}");
                    store.pushpull(&values(key as i64, &devices), &[], 0).unwrap();
                    for device in &devices {
                        assert!(bits(&device.to_vec::<f32>().unwrap()) == expected, "{name} {m} {n} {threads}");
                    }
                }
            }
        }
    }
}

/// The links of a machine with 8 GPUs in which pairs have one or two NVLinks, or none.
fn facts(n: usize) -> LinkFacts {
    let rows = "02233111 20321311 23031121 32301112 31110223 13112032 11212303 11123230".replace(' ', "");
    let rank = |i: usize| (rows.as_bytes()[i / n * 8 + i % n] - b'0').saturating_sub(1);
    let ranks: Vec<u8> = (0..n * n).map(rank).collect();
    LinkFacts { n, is_direct: ranks.iter().map(|&rank| rank > 0).collect(), ranks }
}

/// "bits fixed by device order (tree: by the tree)": a guarantee of the store `device`.
#[test]
fn tree_sums_follow_the_tree() {
    let context = context();
    for n_devices in [2, 3, 5, 8] {
        for (array_bound, backtrack) in [(10_000_000, false), (1, true), (1, false)] {
            let tree = TreeOptions { array_bound, backtrack, ..TreeOptions::default() };
            let links: mxrs_kvstore::LinkSource = Arc::new(move |devices| {
                assert_eq!(devices.len(), n_devices);
                facts(n_devices)
            });
            let options = KvStoreOptions { tree: Some(tree), links: Some(links), ..options(2, 300) };
            let store = store_with(&context, "device", &options);
            let plans = Plans::of_links(&Links::of_facts(&facts(n_devices)).unwrap(), &tree);
            for (key, (rows, width)) in [(1, 7), (19, 3), (40, 50)].into_iter().enumerate() {
                let (key, shape, n) = (key as i64, [rows, width], rows * width);
                store.init(&[(key.into(), on(&context, 0, &shape, &vec![0.0f32; n]))]).unwrap();
                for round in 0..3 {
                    let arrays: Vec<Vec<f32>> = (0..n_devices).map(|i| numbers((round * 50 + i) as u64, n)).collect();
                    let devices: Vec<NdArray> =
                        arrays.iter().enumerate().map(|(i, a)| on(&context, i as i32, &shape, a)).collect();
                    // The expected sum: each slice is added in the order of its own tree.
                    let mut expected = vec![0.0f32; n];
                    for (plan, rows) in plans.plans.iter().zip(plans.slices(rows, n)) {
                        for i in rows.start * width..rows.end * width {
                            let mut sums: Vec<f32> = arrays.iter().map(|a| a[i]).collect();
                            plan.sends.iter().for_each(|send| sums[send.to] += sums[send.from]);
                            expected[i] = sums[plan.root];
                        }
                    }
                    store.push(&values(key, &devices), 0).unwrap();
                    store.pull(&outs(key, &devices), 0).unwrap();
                    for device in &devices {
                        assert!(bits(&device.to_vec::<f32>().unwrap()) == bits(&expected), "{n_devices} {key} {round}");
                    }
                    assert!(bits(&pull(&context, &*store, key, &shape)) == bits(&expected));
                }
            }
        }
    }
}

#[test]
fn trees_keep_their_devices() {
    let context = context();
    let options = KvStoreOptions { tree: Some(TreeOptions::default()), ..KvStoreOptions::default() };
    let store = store_with(&context, "device", &options);
    let of = |id: i32| on(&context, id, &[4], &[1.0f32; 4]);
    store.init(&[(0.into(), of(0))]).unwrap();
    store.push(&values(0, &[of(0), of(1)]), 0).unwrap();
    let error = store.push(&values(0, &[of(0), of(2)]), 0).unwrap_err().to_string();
    assert!(error.contains("cpu(0), cpu(2)") && error.contains("cpu(0), cpu(1), the devices of the first"), "{error}");
}

#[test]
fn compressed_sums_are_sums_of_what_the_codes_mean() {
    let context = context();
    for (compression, tree) in [("2bit", None), ("1bit", None), ("2bit", Some(TreeOptions::default()))] {
        let compression: Compression = compression.parse().unwrap();
        for n_devices in [1, 2, 5] {
            let n = 3001;
            let store = store_with(&context, "device", &KvStoreOptions { tree, ..options(2, 2) });
            store.set_gradient_compression(compression).unwrap();
            store.init(&[("w".into(), on(&context, 0, &[n], &vec![0.0f32; n]))]).unwrap();
            let mut residuals = vec![vec![0.0f32; n]; n_devices];
            for round in 0..3 {
                let arrays: Vec<Vec<f32>> = (0..n_devices).map(|i| numbers((round * 9 + i) as u64, n)).collect();
                let sent: Vec<Vec<f32>> = arrays
                    .iter()
                    .zip(&mut residuals)
                    .map(|(gradient, residual)| {
                        let send = |(g, r): (&f32, &mut f32)| {
                            let sum = *r + *g;
                            let sent = match compression {
                                Compression::OneBit { threshold } => {
                                    if sum > threshold {
                                        1.0
                                    } else {
                                        -1.0
                                    }
                                }
                                Compression::TwoBit { threshold: t } if sum >= t => t,
                                Compression::TwoBit { threshold: t } if sum <= -t => -t,
                                Compression::TwoBit { .. } => 0.0,
                            };
                            *r = sum - sent;
                            sent
                        };
                        gradient.iter().zip(residual).map(send).collect()
                    })
                    .collect();
                let devices: Vec<NdArray> =
                    arrays.iter().enumerate().map(|(i, a)| on(&context, i as i32, &[n], a)).collect();
                store.pushpull(&values("w", &devices), &[], 0).unwrap();
                for device in &devices {
                    assert_eq!(
                        device.device().id,
                        devices.iter().position(|d| d.device() == device.device()).unwrap() as _
                    );
                    assert_eq!(device.to_vec::<f32>().unwrap(), left_to_right(&sent), "{compression:?} {n_devices}");
                }
            }
        }
    }
    assert_eq!(Device::cpu(0).id, 0);
}
