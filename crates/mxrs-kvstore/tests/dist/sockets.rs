//! Workers that are connected by sockets of one machine.

use super::{pulled, store_of};
use crate::common::{context, on, values};
use mxrs_kvstore::dist::{Group, GroupOptions, SocketOptions, socket_worker};
use mxrs_kvstore::{KvStore, KvStoreOptions};
use mxrs_types::Result;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn join(folder: &Path, rank: usize, n_workers: usize, patience_ms: u64) -> Result<Arc<Group>> {
    let patience = Duration::from_millis(patience_ms);
    let options = SocketOptions { folder: folder.to_owned(), rank, n_workers, patience };
    Group::start(socket_worker(options), GroupOptions::default())
}

/// The sum of a large array over workers that join in any order.
#[test]
fn processes_of_one_machine_sum() {
    let folder = tempfile::tempdir().unwrap();
    let n = 1 << 20;
    let results: Vec<Vec<f32>> = std::thread::scope(|scope| {
        let worker = |rank: usize| {
            let folder = folder.path();
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(30 * (3 - rank as u64)));
                let group = join(folder, rank, 3, 20_000).unwrap();
                assert_eq!((group.rank(), group.size()), (rank, 3));
                let context = context();
                let store = store_of("dist_sync", &context, &KvStoreOptions::default(), &group);
                store.init(&[("w".into(), on(&context, 0, &[n], &vec![0.0f32; n]))]).unwrap();
                for _ in 0..3 {
                    let value = on(&context, 0, &[n], &vec![1.0f32 + rank as f32; n]);
                    store.push(&values("w", &[value]), 0).unwrap();
                }
                pulled(&context, &store, "w", &[n]).unwrap()
            })
        };
        let threads: Vec<_> = (0..3).map(worker).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(results.iter().all(|result| result.len() == n && result.iter().all(|sum| *sum == 6.0)));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the sockets are removed");
}

#[test]
fn a_second_process_with_the_same_rank_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let first = std::thread::scope(|scope| {
        let first = scope.spawn(|| join(folder.path(), 0, 2, 20_000));
        while !folder.path().join("worker-0").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let error = join(folder.path(), 0, 2, 20_000).unwrap_err().to_string();
        assert!(error.contains("a second process with rank 0"), "{error}");
        let second = scope.spawn(|| join(folder.path(), 1, 2, 20_000));
        (first.join().unwrap(), second.join().unwrap())
    });
    assert!(first.0.is_ok() && first.1.is_ok(), "the first process goes on");
}

#[test]
fn a_rank_that_a_killed_process_left_is_taken_again() {
    let folder = tempfile::tempdir().unwrap();
    // A socket file without a process that listens.
    drop(std::os::unix::net::UnixListener::bind(folder.path().join("worker-0")).unwrap());
    assert_eq!(join(folder.path(), 0, 1, 1000).unwrap().size(), 1);
}

#[test]
fn missing_workers_and_other_numbers_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let since = Instant::now();
    let error = join(folder.path(), 0, 3, 300).unwrap_err().to_string();
    assert!(error.contains("workers 1, 2 did not join"), "{error}");
    let error = join(folder.path(), 1, 2, 300).unwrap_err().to_string();
    assert!(error.contains("worker 0 has not joined"), "{error}");
    let error = join(folder.path(), 2, 2, 300).unwrap_err().to_string();
    assert!(error.contains("below 2"), "{error}");
    // A far too large number of workers, as a wrong environment variable could give, is refused before memory of this size
    // is reserved.
    let error = join(folder.path(), 0, usize::MAX, 300).unwrap_err().to_string();
    assert!(error.contains("DMLC_NUM_WORKER") && error.contains("at most 4096"), "{error}");
    assert!(since.elapsed() < Duration::from_secs(20));
    let errors = std::thread::scope(|scope| {
        let threads = [(0, 2), (1, 3)].map(|(rank, n)| {
            let folder = folder.path();
            scope.spawn(move || join(folder, rank, n, 5000).unwrap_err().to_string())
        });
        threads.map(|thread| thread.join().unwrap())
    });
    assert!(errors.iter().all(|error| error.contains("DMLC_NUM_WORKER")), "{errors:?}");
}
