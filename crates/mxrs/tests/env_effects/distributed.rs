//! Rows D49, B1, B2, B4, B5, B9 to B12, B15, B16, B20, B21 and M12 to M14 of `docs/env.md`: how the workers of a distributed store find
//! each other, and when they find out that one is dead.

use crate::{Vars, log_lines, runtime, warnings};
use mxrs::Runtime;
use mxrs::kvstore::{Key, KvStore, Value};
use mxrs::ndarray::NdArray;
use mxrs::train::Host;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The variables of one of two workers whose sockets are in this folder, and in addition `more`.
fn vars<'a>(folder: &'a str, rank: &'a str, more: Vars<'a>) -> Vec<(&'a str, &'a str)> {
    let own = [("DMLC_LOCAL", "1"), ("DMLC_PS_ROOT_URI", folder), ("DMLC_NUM_WORKER", "2"), ("DMLC_RANK", rank)];
    let is_own = |name: &str| !more.iter().any(|(other, _)| *other == name);
    let own = own.into_iter().filter(|(name, _)| is_own(name));
    own.chain(more.iter().copied()).filter(|(_, value)| !value.is_empty()).collect()
}

/// Runs this code as two workers. Each gets the usual variables and its own additional ones.
fn two<R: Send>(more: [Vars<'_>; 2], body: impl Fn(&Runtime, Arc<dyn KvStore>) -> R + Sync) -> [R; 2] {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    std::thread::scope(|scope| {
        let threads = [("0", more[0]), ("1", more[1])].map(|(rank, more)| {
            let body = &body;
            scope.spawn(move || {
                let runtime = runtime(&vars(folder, rank, more));
                let store = Host::kvstore(&runtime, "dist_sync").unwrap();
                body(&runtime, store)
            })
        });
        threads.map(|thread| thread.join().unwrap())
    })
}

/// Pushes the value `rank + 1`, and returns the sum over both workers.
fn sum(runtime: &Runtime, store: &dyn KvStore) -> mxrs::Result<Vec<f32>> {
    let value = NdArray::from_slice(runtime.arrays(), [3], &[store.rank() as f32 + 1.0; 3])?;
    store.init(&[(Key::from("w"), value.clone())])?;
    store.pushpull(&[(Key::from("w"), Value::from(&value))], &[], 0)?;
    value.to_vec()
}

fn error(vars: Vars<'_>, name: &str) -> String {
    Host::kvstore(&runtime(vars), name).err().expect("no store").to_string()
}

#[test]
fn workers_of_one_machine_are_named_by_variables() {
    let task = [("DMLC_RANK", ""), ("DMLC_TASK_ID", "0")];
    let torchrun = [("DMLC_RANK", ""), ("DMLC_NUM_WORKER", ""), ("RANK", "1"), ("WORLD_SIZE", "2")];
    let engine = [("MXRS_KVSTORE_ENGINE", "local"), ("DMLC_LOCAL", "0")];
    let few = [("DMLC_PS_WATER_MARK", "1")];
    for more in [[&[][..], &[]], [&task[..], &torchrun], [&engine[..], &engine], [&few[..], &few]] {
        let sums = two(more, |runtime, store| (store.rank(), store.num_workers(), sum(runtime, &*store).unwrap()));
        assert_eq!(sums, [(0, 2, vec![3.0; 3]), (1, 2, vec![3.0; 3])], "{more:?}");
    }
}

/// Variables that MXNet's launcher sets, but that have no effect here, must not cause warnings.
#[test]
fn a_launcher_may_say_more() {
    let more = [("DMLC_NUM_SERVER", "2"), ("DMLC_JOB_CLUSTER", "ssh"), ("DMLC_ROLE", "worker")];
    assert_eq!(warnings(&more), Vec::<String>::new());
    let (error, lines) = log_lines(|| error(&more, "dist_sync"));
    assert!(error.contains("no launcher"), "{error}");
    assert!(lines.iter().any(|line| line.contains("`ssh`; 2 servers are not needed")), "{lines:?}");
}

#[test]
fn what_is_missing_is_named() {
    let own = |more: Vars<'_>| error(&vars("/nowhere", "0", more), "dist_sync");
    assert!(error(&[], "dist_sync").contains("mxrs launch") && error(&[], "p3").contains("mpirun"));
    assert!(own(&[("DMLC_NUM_WORKER", "")]).contains("DMLC_NUM_WORKER"));
    assert!(own(&[("DMLC_RANK", "")]).contains("DMLC_RANK"));
    assert!(own(&[("DMLC_RANK", "-1")]).contains("DMLC_RANK"));
    assert!(own(&[("DMLC_RANK", "2")]).contains("below 2"));
    assert!(own(&[("DMLC_PS_ROOT_URI", "localhost")]).contains("DMLC_PS_ROOT_URI"));
    assert!(own(&[]).contains("/nowhere"));
    for role in ["server", "scheduler"] {
        assert!(own(&[("DMLC_ROLE", role)]).contains(role));
    }
    let library = [("MXRS_KVSTORE_ENGINE", "mpi"), ("MXRS_MPI_LIB", "/no/libmpi.so")];
    assert!(own(&library).contains("/no/libmpi.so"));
}

#[test]
fn a_worker_that_does_not_join_is_named_after_the_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let since = Instant::now();
    let more = [("MXRS_KVSTORE_TIMEOUT", "1")];
    let error = error(&vars(folder.path().to_str().unwrap(), "0", &more), "dist_sync");
    assert!(error.contains("worker 1 did not join"), "{error}");
    assert!(since.elapsed() >= Duration::from_secs(1) && since.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_worker_without_signs_of_life_is_dead() {
    let (mute, strict) = ([("PS_HEARTBEAT_INTERVAL", "0")], [("PS_HEARTBEAT_TIMEOUT", "1")]);
    let errors = two([&strict, &mute], |runtime, store| match store.rank() {
        0 => sum(runtime, &*store).unwrap_err().to_string(),
        // Worker 1 is alive, but it neither pushes nor sends signs of life.
        _ => {
            std::thread::sleep(Duration::from_secs(4));
            String::new()
        }
    });
    assert!(errors[0].contains("worker 1 is silent"), "{}", errors[0]);
}

/// If only the interval is set, to 0, silence is not limited. If a timeout is set too, an interval of 0, or one that is not
/// shorter than the timeout, is an error.
#[test]
fn intervals_and_timeouts_fit_each_other() {
    let mute = [("PS_HEARTBEAT_INTERVAL", "0")];
    let (_, lines) = log_lines(|| error(&vars("/nowhere", "0", &mute), "dist_sync"));
    assert!(lines.iter().all(|line| !line.contains("PS_HEARTBEAT")), "{lines:?}");
    for interval in ["0", "3", "4"] {
        let wrong = [("PS_HEARTBEAT_INTERVAL", interval), ("PS_HEARTBEAT_TIMEOUT", "3")];
        let error = error(&vars("/nowhere", "0", &wrong), "dist_sync");
        assert!(error.contains("PS_HEARTBEAT_INTERVAL") && error.contains(&format!("got {interval}")), "{error}");
    }
}

#[test]
fn slices_are_those_of_all_workers() {
    let p3 = |slice| [("DMLC_PS_VAN_TYPE", "p3"), ("MXNET_KVSTORE_SLICE_THRESHOLD", slice)];
    let sums = two([&p3("2"), &p3("2")], |runtime, store| {
        let refused = store.set_updater(Box::new(|_: &[mxrs::kvstore::Update]| Ok(()))).unwrap_err().to_string();
        (refused.contains("only sums"), sum(runtime, &*store).unwrap())
    });
    assert_eq!(sums, [(true, vec![3.0; 3]), (true, vec![3.0; 3])]);
    let errors = two([&p3("2"), &p3("7")], |runtime, store| sum(runtime, &*store).unwrap_err().to_string());
    assert!(errors.iter().all(|error| error.contains("slice_elements: Some(7)")), "{errors:?}");
}
