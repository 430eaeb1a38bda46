//! Workers that fail, are silent, or do something else than the others: every worker gets an error, and none waits forever.

use super::{on_workers, on_workers_with, pulled, store_of};
use crate::common::{context, on, values};
use mxrs_kvstore::dist::GroupOptions;
use mxrs_kvstore::{KvStore, KvStoreOptions, RowSparse, Value};
use std::time::{Duration, Instant};

/// How long a test may take. Far more than it needs, far less than the default patience.
const DEADLINE: Duration = Duration::from_secs(30);

/// Initializes keys of two elements, and pushes to them. Returns the error of the pull.
fn error_of(store: &dyn KvStore, context: &mxrs_ndarray::ArrayContext, keys: &[&str]) -> String {
    let array = || on(context, 0, &[2], &[1.0f32, 2.0]);
    let init = keys.iter().try_for_each(|key| store.init(&[((*key).into(), array())]));
    let push = init.and_then(|()| keys.iter().try_for_each(|key| store.push(&values(*key, &[array()]), 0)));
    let pull = push.and_then(|()| pulled(context, store, keys[0], &[2]).map(drop));
    pull.err().map_or(String::new(), |error| error.to_string())
}

#[test]
fn a_worker_that_ends_early_is_named() {
    let since = Instant::now();
    let errors = on_workers(3, |group| {
        let context = context();
        let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
        let first = error_of(&store, &context, &["a"]);
        assert_eq!(first, "", "the first round is complete");
        if group.rank() == 1 {
            return String::new();
        }
        store.push(&values("a", &[on(&context, 0, &[2], &[1.0f32, 2.0])]), 0).unwrap();
        pulled(&context, &store, "a", &[2]).unwrap_err().to_string()
    });
    for rank in [0, 2] {
        assert!(errors[rank].contains("worker 1 ended the training"), "{rank}: {}", errors[rank]);
    }
    assert!(since.elapsed() < DEADLINE);
}

#[test]
fn a_silent_worker_is_named() {
    let options = |rank: usize| GroupOptions {
        heartbeat: (rank != 2).then_some(Duration::from_millis(50)),
        silence: (rank == 0).then_some(Duration::from_millis(600)),
        ..GroupOptions::default()
    };
    let since = Instant::now();
    let errors = on_workers_with(3, options, |group| {
        let context = context();
        let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
        // Worker 2 pushes nothing and sends no sign of life. Worker 0 notices this and sends a report of the failure, which
        // worker 2 gets too.
        if group.rank() == 2 {
            std::thread::sleep(Duration::from_secs(2));
            return group.barrier().unwrap_err().to_string();
        }
        error_of(&store, &context, &["a"])
    });
    assert!(errors[0].contains("worker 2 is silent for"), "{}", errors[0]);
    for rank in [1, 2] {
        assert!(errors[rank].contains("worker 0 reports: ") && errors[rank].contains("worker 2"), "{}", errors[rank]);
    }
    assert!(since.elapsed() < DEADLINE);
}

#[test]
fn a_round_that_a_worker_does_not_begin_is_named() {
    let options = |_| GroupOptions { patience: Duration::from_millis(600), ..GroupOptions::default() };
    let errors = on_workers_with(2, options, |group| {
        let context = context();
        let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
        assert_eq!(error_of(&store, &context, &["first", "second"]), "");
        if group.rank() == 0 {
            let values = values("second", &[on(&context, 0, &[2], &[1.0f32, 2.0])]);
            store.push(&values, 0).unwrap();
            return pulled(&context, &store, "second", &[2]).unwrap_err().to_string();
        }
        std::thread::sleep(Duration::from_secs(1));
        group.barrier().unwrap_err().to_string()
    });
    assert!(
        errors[0].contains("`second`") && errors[0].contains("worker 1") && errors[0].contains("round 1"),
        "{errors:?}"
    );
    assert!(errors[1].contains("worker 0 reports: ") && errors[1].contains("`second`"), "{errors:?}");
}

#[test]
fn workers_with_different_keys_are_refused() {
    for (keys, words) in [(["a", "c"], "`key `c` float32 (2,)`"), (["b", "a"], "`key `b` float32 (2,)`")] {
        let errors = on_workers(3, |group| {
            let context = context();
            let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
            error_of(&store, &context, if group.rank() == 1 { &keys } else { &["a", "b"] })
        });
        for error in errors {
            assert!(error.contains("worker 1") && error.contains(words) && error.contains("same network"), "{error}");
        }
    }
}

#[test]
fn first_values_of_other_sizes_are_refused() {
    let errors = on_workers(2, |group| {
        let context = context();
        let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
        let n = 2 + group.rank();
        store.init(&[("w".into(), on(&context, 0, &[n], &vec![0.0f32; n]))]).unwrap();
        match group.rank() {
            0 => group.barrier().unwrap_err().to_string(),
            _ => pulled(&context, &store, "w", &[n]).unwrap_err().to_string(),
        }
    });
    assert!(errors.iter().all(|error| error.contains("8 bytes") && error.contains("same network")), "{errors:?}");
}

#[test]
fn settings_that_differ_are_refused() {
    let errors = on_workers(2, |group| {
        let context = context();
        let bound = 1000 + group.rank() as u64;
        let options = KvStoreOptions { big_array_elements: bound, ..KvStoreOptions::default() };
        error_of(&store_of("dist_sync", &context, &options, &group), &context, &["a"])
    });
    assert!(errors.iter().all(|error| error.contains("big_array_elements: 1001")), "{errors:?}");
}

#[test]
fn what_these_stores_do_not_do_is_said() {
    let errors = on_workers(2, |group| {
        let context = context();
        let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
        store.init(&[("w".into(), on(&context, 0, &[4, 2], &[0.0f32; 8]))]).unwrap();
        let rows = RowSparse::new([1i64], on(&context, 0, &[1, 2], &[1.0f32, 2.0])).unwrap();
        let sparse = store.push(&[("w".into(), Value::from(rows))], 0).unwrap_err();
        let pull = store.row_sparse_pull(&[], 0).unwrap_err();
        let unknown = store.push(&values("v", &[on(&context, 0, &[1], &[0.0f32])]), 0).unwrap_err();
        let shape = store.push(&values("w", &[on(&context, 0, &[1], &[0.0f32])]), 0).unwrap_err();
        assert_eq!(pulled(&context, &store, "w", &[4, 2]).unwrap(), [0.0; 8], "the store still works");
        assert!(!store.store_type().takes_row_sparse(), "the type of the store says so too");
        [sparse, pull, unknown, shape].map(|error| error.to_string())
    });
    for [sparse, pull, unknown, shape] in errors {
        assert!(sparse.contains("row-sparse values of key `w`") && sparse.contains("dist_sync"), "{sparse}");
        assert!(
            pull.contains("dist_sync") && unknown.contains("`v`") && shape.contains("(4, 2)"),
            "{pull} {unknown} {shape}"
        );
    }
}
