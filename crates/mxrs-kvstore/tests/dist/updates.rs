//! Updates by the store: each worker updates the elements that it owns.

use super::{on_workers, pulled, store_of};
use crate::common::{bits, context, numbers, on, store_with, values};
use mxrs_kvstore::{KvStore, KvStoreOptions, Update, Updater, Value};
use mxrs_ndarray::NdArray;
use mxrs_types::Result;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// A list of the updates that were made: the key, the part and the shape of each.
type Parts = Arc<Mutex<Vec<(String, Option<Range<usize>>, Vec<usize>)>>>;

/// Stochastic gradient descent with momentum, with one state per key, as an optimizer has.
struct Momentum {
    states: HashMap<String, Arc<Mutex<Vec<f32>>>>,
    parts: Parts,
    is_elementwise: bool,
}

impl Momentum {
    fn new(parts: &Parts) -> Self {
        Self { states: HashMap::new(), parts: Arc::clone(parts), is_elementwise: true }
    }
}

impl Updater for Momentum {
    fn update(&mut self, updates: &[Update]) -> Result<()> {
        for Update { key, sum, stored, part, .. } in updates {
            let Value::Dense(sum) = sum else { panic!("dense") };
            let key = key.to_string();
            self.parts.lock().unwrap().push((key.clone(), part.clone(), stored.shape().to_vec()));
            let n = stored.shape().n_elements();
            let state = self.states.entry(key).or_insert_with(|| Arc::new(Mutex::new(vec![0.0; n])));
            let (state, sum, target) = (Arc::clone(state), sum.detach(), stored.detach());
            let task = stored.engine().task("momentum").read(sum.var()).write(stored.var());
            let read = sum.clone();
            task.push(move |_| {
                // SAFETY: the task holds both variables, and both arrays have `n` float32 elements of host memory.
                let (sum, weight) = unsafe {
                    (
                        std::slice::from_raw_parts(read.as_ptr().cast::<f32>(), n),
                        std::slice::from_raw_parts_mut(target.as_ptr().cast::<f32>(), n),
                    )
                };
                for ((state, weight), sum) in state.lock().unwrap().iter_mut().zip(weight).zip(sum) {
                    *state = 0.9 * *state - 0.1 * sum;
                    *weight += *state;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn is_elementwise(&self) -> bool {
        self.is_elementwise
    }
}

const KEYS: [(&str, usize); 4] = [("a", 7), ("b", 1000), ("c", 64), ("d", 3)];

fn gradient(rank: usize, round: u64, n: usize) -> Vec<f32> {
    numbers(1 + rank as u64 + round * 17, n)
}

/// The expected weights. One process sums the same gradients in the same order, with one device in place of each worker.
fn oracle(n_workers: usize, n_rounds: u64) -> Vec<Vec<f32>> {
    let context = context();
    let store = store_with(&context, "device", &KvStoreOptions::default());
    store.set_updater(Box::new(Momentum::new(&Parts::default()))).unwrap();
    for (key, n) in KEYS {
        store.init(&[(key.into(), on(&context, 0, &[n], &numbers(99, n)))]).unwrap();
    }
    for round in 0..n_rounds {
        for (key, n) in KEYS {
            let devices: Vec<NdArray> =
                (0..n_workers).map(|rank| on(&context, rank as i32, &[n], &gradient(rank, round, n))).collect();
            store.push(&values(key, &devices), 0).unwrap();
        }
    }
    KEYS.map(|(key, n)| pulled(&context, &*store, key, &[n]).unwrap()).to_vec()
}

#[test]
fn weights_are_those_of_one_process() {
    for n_workers in 1..=4 {
        let expected = oracle(n_workers, 5);
        // With the second bound, the key `b` is divided among the workers.
        for bound in [1_000_000, 100] {
            let options = KvStoreOptions { big_array_elements: bound, ..KvStoreOptions::default() };
            let parts = Parts::default();
            let results = on_workers(n_workers, |group| {
                let context = context();
                let store = store_of("dist_sync", &context, &options, &group);
                store.set_updater(Box::new(Momentum::new(&parts))).unwrap();
                let arrays = KEYS.map(|(key, n)| {
                    let array = on(&context, 0, &[n], &numbers(99, n));
                    store.init(&[(key.into(), array.clone())]).unwrap();
                    array
                });
                for round in 0..5 {
                    for (i, ((key, n), out)) in KEYS.into_iter().zip(&arrays).enumerate() {
                        let value = on(&context, 0, &[n], &gradient(group.rank(), round, n));
                        store.pushpull(&values(key, &[value]), &[(key.into(), out.clone())], -(i as i32)).unwrap();
                    }
                }
                arrays.map(|array| array.to_vec::<f32>().unwrap())
            });
            for (rank, weights) in results.iter().enumerate() {
                for ((got, expected), (key, _)) in weights.iter().zip(&expected).zip(KEYS) {
                    assert_eq!(bits(got), bits(expected), "key {key}, worker {rank} of {n_workers}, bound {bound}");
                }
            }
            let parts = parts.lock().unwrap();
            let n_updates = |key: &str| parts.iter().filter(|(other, ..)| other == &format!("`{key}`")).count();
            let n_parts = if bound == 100 { n_workers } else { 1 };
            assert_eq!(KEYS.map(|(key, _)| n_updates(key)), [5, 5 * n_parts, 5, 5], "each element has one owner");
        }
    }
}

#[test]
fn an_updater_of_whole_values_gets_whole_values() {
    let options = KvStoreOptions { big_array_elements: 100, ..KvStoreOptions::default() };
    let parts = Parts::default();
    let owned = on_workers(3, |group| {
        let context = context();
        let store = store_of("dist_sync", &context, &options, &group);
        store.set_updater(Box::new(Momentum { is_elementwise: false, ..Momentum::new(&parts) })).unwrap();
        store.init(&[("b".into(), on(&context, 0, &[10, 100], &numbers(99, 1000)))]).unwrap();
        let part = store.updated_part(&"b".into()).unwrap();
        store.push(&values("b", &[on(&context, 0, &[10, 100], &gradient(0, 0, 1000))]), 0).unwrap();
        pulled(&context, &store, "b", &[10, 100]).unwrap();
        part
    });
    assert_eq!(owned, [None, Some(0..0), Some(0..0)], "worker 0 updates all elements");
    assert_eq!(*parts.lock().unwrap(), [("`b`".to_owned(), None, vec![10, 100])]);
}

#[test]
fn some_stores_only_sum() {
    for name in ["p3", "horovod"] {
        let errors = on_workers(2, |group| {
            let context = context();
            let store = store_of(name, &context, &KvStoreOptions::default(), &group);
            let updater = store.set_updater(Box::new(Momentum::new(&Parts::default()))).unwrap_err().to_string();
            (updater, store.set_gradient_compression("2bit".parse().unwrap()).unwrap_err().to_string())
        });
        for (updater, compression) in errors {
            assert!(updater.contains(name) && updater.contains("only sums"), "{updater}");
            assert!(compression.contains(name), "{compression}");
        }
    }
}
