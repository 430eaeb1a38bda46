//! Failures are found in the time that is documented, each with one clear error, and nothing hangs.

use crate::common::*;
use crate::proxy::Proxy;
use mxrs_kvstore::{KvStore, KvStoreOptions};
use mxrs_kvstore_grpc::{GrpcServers, Server, ServerOptions, WorkerOptions};
use mxrs_testkit::skipped;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn failed<T: std::fmt::Debug>(result: mxrs_types::Result<T>, words: &[&str]) {
    let error = result.unwrap_err().to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{error}, expected {words:?}");
    assert!(!error.contains('\n') || error.contains("while"), "one line: {error}");
}

/// "A worker fails if a server has not answered for `MXRS_KVSTORE_TIMEOUT`": it is 4 s here, and server 1 is killed.
#[test]
fn a_killed_server_is_an_error_of_every_worker() {
    let mut servers = servers(&server_options(2, 2));
    let all = addresses(&servers);
    let workers = [Worker::new(0, 2, &all), Worker::new(1, 2, &all)];
    for worker in &workers {
        worker.begin("a", &[0.0]).unwrap();
        worker.store.init(&[("b".into(), worker.array(&[0.0]))]).unwrap();
        worker.pushpull("b", &[1.0]).unwrap();
    }
    drop(servers.pop());
    on_threads(2, |rank| {
        timed(2 * SECOND, 9 * SECOND, || failed(workers[rank].pushpull("b", &[1.0]), &["server 1", "4 s", &all[1]]));
        // Server 0, which was not killed, still works.
        workers[rank].pull("a", 1).unwrap();
    });
}

/// A cut link looks like a stopped server: the end of the connection is not reported, and nothing arrives.
#[test]
fn a_cut_link_is_found_by_silence() {
    let servers = servers(&server_options(2, 1));
    let proxy = Proxy::new(&addresses(&servers)[0]);
    let (near, far) =
        (Worker::new(0, 2, &addresses(&servers)), Worker::new(1, 2, std::slice::from_ref(&proxy.address)));
    near.begin("w", &[0.0]).unwrap();
    far.begin("w", &[0.0]).unwrap();
    far.pushpull("w", &[1.0]).unwrap();
    proxy.cut(true);
    timed(3 * SECOND, 9 * SECOND, || failed(far.pushpull("w", &[1.0]), &["server 0", "4 s"]));
    // The server has noticed the silence too, and the worker whose link is not cut goes on.
    near.pushpull("w", &[1.0]).unwrap();
    until("the silence is measured", || {
        let text = servers[0].metrics();
        let line =
            text.lines().find(|line| line.contains("silence_seconds{") && line.contains("worker=\"1\"")).unwrap();
        line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() > 2.0
    });
    proxy.cut(false);
}

/// A link is cut, but for less time than the patience of the worker.
#[test]
fn a_link_that_comes_back_is_used_again() {
    let servers = servers(&server_options(1, 1));
    let proxy = Proxy::new(&addresses(&servers)[0]);
    let worker = Worker::new(0, 1, std::slice::from_ref(&proxy.address));
    worker.begin("w", &[0.0]).unwrap();
    std::thread::scope(|scope| {
        proxy.cut(true);
        let push = scope.spawn(|| worker.pushpull("w", &[1.0]));
        std::thread::sleep(2 * SECOND);
        proxy.cut(false);
        assert_eq!(push.join().unwrap().unwrap(), [1.0]);
    });
    assert_eq!(worker.pushpull("w", &[1.0]).unwrap(), [2.0]);
}

/// "If no worker is left, the servers end after `MXRS_KVSTORE_TIMEOUT`."
#[test]
fn servers_without_workers_end() {
    let options = ServerOptions { patience: SECOND, silence: SECOND, ..server_options(2, 1) };
    let server = servers(&options).pop().unwrap();
    let worker = Worker::new(1, 2, &[server.address().to_string()]);
    // Simulates a process that was killed: the store is not dropped, so the server gets no message.
    std::mem::forget(worker.servers.clone());
    std::mem::forget(worker);
    let alone = servers(&options).pop().unwrap();
    timed(SECOND / 2, 5 * SECOND, || failed(alone.wait(), &["server 0", "0, 1", "1 s"]));
    drop(server);
}

#[test]
fn workers_of_another_training_are_refused() {
    let servers = servers(&ServerOptions { token: "secret".into(), ..server_options(2, 1) });
    let all = addresses(&servers);
    let own = || WorkerOptions { token: "secret".into(), ..worker_options(0, 2, &all) };
    let connect =
        |options: WorkerOptions| timed(Duration::ZERO, 5 * SECOND, || GrpcServers::connect(options).map(drop));
    failed(connect(WorkerOptions { n_workers: 3, ..own() }), &["DMLC_NUM_WORKER", "got 3", "expected 2"]);
    let twice = [all[0].clone(), all[0].clone()].to_vec();
    failed(connect(WorkerOptions { servers: twice, ..own() }), &["DMLC_NUM_SERVER", "got 2", "expected 1"]);
    failed(connect(WorkerOptions { token: "guess!".into(), ..own() }), &["(MXRS_KVSTORE_TOKEN_FILE)"]);
    failed(connect(WorkerOptions { rank: 2, ..own() }), &["rank"]);
    failed(connect(WorkerOptions { servers: vec!["nowhere".into()], ..own() }), &["host:port"]);
    failed(connect(WorkerOptions { servers: Vec::new(), ..own() }), &["servers"]);
    // A worker of another network: its value has another shape.
    let worker = |rank| Worker::with(WorkerOptions { rank, ..own() }, &KvStoreOptions::default()).unwrap();
    let (first, second) = (worker(0), worker(1));
    first.begin("w", &[0.0, 0.0]).unwrap();
    failed(second.begin("w", &[0.0, 0.0, 0.0]), &["`w`", "(3", "(2", "same network"]);
    // A second process joins with the same rank. It takes over, and the first process gets an error.
    let twin = worker(0);
    twin.begin("w", &[0.0, 0.0]).unwrap();
    failed(first.pushpull("w", &[1.0, 1.0]), &["another process has taken the place of worker 0"]);
    assert_eq!(twin.pushpull("w", &[1.0, 1.0]).unwrap(), [1.0, 1.0]);
}

/// A file system of 256 KiB in memory, which only root can make. It is removed when this value is dropped.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn new(folder: &'a Path) -> Option<Self> {
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(folder).output();
        mount.is_ok_and(|mount| mount.status.success()).then_some(Self(folder))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("-l").arg(self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "umount {}", self.0.display());
    }
}

/// "A snapshot that cannot be written ends the training with an error on every worker": the last complete snapshot stays.
#[test]
fn a_full_disk_is_an_error_of_every_worker() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::new(folder.path());
    let options = ServerOptions {
        snapshots: Some(folder.path().to_owned()),
        snapshot_interval: SECOND / 5,
        ..server_options(2, 1)
    };
    let mut servers = servers(&options);
    let all = addresses(&servers);
    let workers = [Worker::new(0, 2, &all), Worker::new(1, 2, &all)];
    let n_elements = 10_000;
    workers.iter().for_each(|worker| worker.begin("w", &vec![0.0; n_elements]).unwrap());
    workers[0].pushpull("w", &vec![1.0; n_elements]).unwrap();
    until("a snapshot", || metric(&servers[0], "mxrs_kvstore_snapshots_total") > 0.0);
    let path = std::fs::read_dir(folder.path()).unwrap().flatten().next().unwrap().path();
    let kept = std::fs::read(&path).unwrap();
    let moved = folder.path().with_extension("moved");
    match disk {
        // Fills the rest of the small disk.
        Some(_) => assert!(std::fs::write(folder.path().join("other"), vec![0; 256 << 10]).is_err(), "256 KiB fit"),
        // Without a small disk, the folder is removed, so that no file can be made in it either.
        None => {
            skipped("a full disk of a server", "only root can make a small file system; the folder is removed instead");
            std::fs::rename(folder.path(), &moved).unwrap();
        }
    }
    let cause = if disk.is_some() { "No space left on device" } else { "No such file" };
    on_threads(2, |rank| {
        timed(Duration::ZERO, 6 * SECOND, || {
            let error = loop {
                match workers[rank].pushpull("w", &vec![1.0; n_elements]) {
                    Ok(_) => std::thread::sleep(SECOND / 20),
                    Err(error) => break error.to_string(),
                }
            };
            assert!(error.contains("writing the snapshot of server 0") && error.contains(cause), "{error}");
        });
    });
    drop(workers);
    failed(servers.pop().unwrap().wait(), &["writing the snapshot of server 0", cause]);
    if disk.is_none() {
        std::fs::rename(&moved, folder.path()).unwrap();
    }
    assert!(std::fs::read(&path).unwrap() == kept, "the last complete snapshot");
    Server::start(options, &context(), make_updater()).unwrap();
}
