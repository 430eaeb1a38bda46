//! Processes that end and are started again, and connections that are dropped. No update may be lost or applied twice,
//! except for the losses that the documentation allows.

use crate::common::*;
use crate::proxy::Proxy;
use mxrs_kvstore::{KvStore, KvStoreOptions};
use mxrs_kvstore_grpc::{Server, ServerOptions, WorkerOptions};
use std::path::Path;
use std::time::Duration;

/// "A server applies each number once, so a push that is sent again after a lost connection changes nothing": each push has a
/// number.
#[test]
fn dropped_connections_lose_and_repeat_nothing() {
    const N: usize = 2000;
    let servers = servers(&server_options(2, 1));
    let proxy = Proxy::new(&addresses(&servers)[0]);
    let through = [proxy.address.clone()];
    on_threads(2, |rank| {
        let options = WorkerOptions { patience: Duration::from_secs(20), ..worker_options(rank, 2, &through) };
        let worker = Worker::with(options, &KvStoreOptions::default()).unwrap();
        worker.begin("counter", &[0.0; N]).unwrap();
        worker.store.barrier().unwrap();
        // Each connection is dropped after 30,000 bytes, in the middle of one of its first pushes of 8000 bytes.
        proxy.drop_after(30_000);
        for _ in 0..40 {
            worker.push("counter", &[1.0; N]).unwrap();
        }
        worker.pull("counter", N).unwrap();
        proxy.drop_after(0);
        worker.store.barrier().unwrap();
        assert_eq!(worker.pull("counter", N).unwrap(), vec![80.0; N]);
    });
    assert!(proxy.n_dropped() > 5, "{} connections were dropped", proxy.n_dropped());
}

/// Starts a server again at the same address.
fn again(options: &ServerOptions, address: &str) -> Server {
    let options = ServerOptions { listen: address.to_owned(), ..options.clone() };
    let since = std::time::Instant::now();
    loop {
        match Server::start(options.clone(), &context(), make_updater()) {
            Ok(server) => return server,
            Err(error) => assert!(since.elapsed() < Duration::from_secs(5), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Options of one server for one worker. It writes a snapshot after the first update, and when asked to.
fn rarely_saved(folder: &Path) -> ServerOptions {
    ServerOptions {
        snapshots: Some(folder.to_owned()),
        snapshot_interval: Duration::from_secs(1000),
        ..server_options(1, 1)
    }
}

/// Pushes from two workers while server 1 of 2 is killed and restored `n_kills` times. Returns the counters of both servers
/// at the end.
fn counters(replay_bytes: usize, n_kills: usize, n_pushes: usize) -> (f32, f32) {
    let folder = tempfile::tempdir().unwrap();
    let options = ServerOptions { snapshots: Some(folder.path().to_owned()), ..server_options(2, 2) };
    let mut servers = servers(&options);
    let all = addresses(&servers);
    let results = std::thread::scope(|scope| {
        let worker = |rank| {
            let options =
                WorkerOptions { replay_bytes, patience: Duration::from_secs(20), ..worker_options(rank, 2, &all) };
            let worker = Worker::with(options, &KvStoreOptions::default()).unwrap();
            // Key number 0 is on server 0, and key number 1 is on server 1.
            worker.begin("safe", &[0.0]).unwrap();
            worker.store.init(&[("killed".into(), worker.array(&[0.0]))]).unwrap();
            for _ in 0..n_pushes {
                worker.push("safe", &[1.0]).unwrap();
                worker.pushpull("killed", &[1.0]).unwrap();
                std::thread::sleep(Duration::from_millis(3));
            }
            worker.store.barrier().unwrap();
            (worker.pull("safe", 1).unwrap()[0], worker.pull("killed", 1).unwrap()[0])
        };
        let workers = [scope.spawn(move || worker(0)), scope.spawn(move || worker(1))];
        for _ in 0..n_kills {
            let before = metric(&servers[1], "mxrs_kvstore_updates_total");
            until("updates", || metric(&servers[1], "mxrs_kvstore_updates_total") > before + 30.0);
            until("a snapshot", || metric(&servers[1], "mxrs_kvstore_snapshots_total") > 0.0);
            drop(servers.pop());
            std::thread::sleep(Duration::from_millis(200));
            servers.push(again(&ServerOptions { server: 1, ..options.clone() }, &all[1]));
        }
        workers.map(|worker| worker.join().unwrap())
    });
    assert_eq!(results[0], results[1]);
    results[0]
}

/// "Pushes that no snapshot has yet are kept by the worker, and sent again to a server that was restored from an earlier
/// snapshot."
#[test]
fn a_killed_server_is_restored_and_gets_what_its_snapshot_lacks() {
    assert_eq!(counters(1 << 20, 3, 200), (400.0, 400.0));
}

/// "Of pushes that do not fit, those after the last snapshot are lost." "No update is applied twice in any case." Pushes do not
/// fit if they are larger than the memory for kept pushes.
#[test]
fn without_kept_pushes_only_the_declared_window_is_lost() {
    let (safe, killed) = counters(0, 1, 150);
    assert_eq!(safe, 300.0);
    // Only updates since the last snapshot may be lost. In the interval between snapshots, 0.1 s, two workers make at most 2
    // * 100 / 3 updates. Nothing is lost if a snapshot was written immediately before the kill.
    assert!((300.0 - 70.0..=300.0).contains(&killed), "{killed}");
}

#[test]
fn a_restored_server_has_the_states_of_the_updater_and_the_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let options = rarely_saved(folder.path());
    let mut servers = servers(&options);
    let all = addresses(&servers);
    let worker = Worker::new(0, 1, &all);
    worker.begin("w", &[0.0, 0.0]).unwrap();
    (0..5).for_each(|_| drop(worker.pushpull("w", &[1.0, 2.0]).unwrap()));
    worker.servers.snapshot().unwrap();
    drop(servers.pop());
    let server = again(&options, &all[0]);
    assert_eq!(worker.pushpull("w", &[1.0, 2.0]).unwrap(), [6.0, 12.0]);
    assert_eq!(worker.store.updater_states().unwrap().unwrap(), [b"{\"`w`\":6}".to_vec()]);
    // The training ends: the last snapshot is written, and the next training must start from it.
    drop(worker);
    server.wait().unwrap();
    let server = again(&options, &all[0]);
    assert_eq!(metric(&server, "mxrs_kvstore_keys"), 1.0);
}

/// The worker is idle while the server is away, so none of its requests fails. It must notice the restart all the same.
#[test]
fn an_idle_worker_sends_again_what_a_restored_server_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let options = rarely_saved(folder.path());
    let mut servers = servers(&options);
    let all = addresses(&servers);
    let mute = WorkerOptions { heartbeat: None, ..worker_options(0, 1, &all) };
    let worker = Worker::with(mute, &KvStoreOptions::default()).unwrap();
    worker.begin("w", &[0.0]).unwrap();
    worker.pushpull("w", &[1.0]).unwrap();
    until("the first snapshot", || metric(&servers[0], "mxrs_kvstore_snapshots_total") > 0.0);
    (0..4).for_each(|_| drop(worker.pushpull("w", &[1.0]).unwrap()));
    drop(servers.pop());
    let server = again(&options, &all[0]);
    assert_eq!(worker.pushpull("w", &[1.0]).unwrap(), [6.0]);
    assert_eq!(metric(&server, "mxrs_kvstore_updates_total"), 5.0, "four updates again, and one");
}

/// "Of pushes that do not fit, those after the last snapshot are lost": exactly those that did not fit into the memory for kept
/// pushes.
#[test]
fn a_restored_server_lacks_the_pushes_that_were_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let options = rarely_saved(folder.path());
    let mut servers = servers(&options);
    let all = addresses(&servers);
    let forgetful = WorkerOptions { replay_bytes: 0, ..worker_options(0, 1, &all) };
    let worker = Worker::with(forgetful, &KvStoreOptions::default()).unwrap();
    worker.begin("w", &[0.0]).unwrap();
    worker.pushpull("w", &[1.0]).unwrap();
    until("the first snapshot", || metric(&servers[0], "mxrs_kvstore_snapshots_total") > 0.0);
    (0..4).for_each(|_| drop(worker.pushpull("w", &[1.0]).unwrap()));
    drop(servers.pop());
    let _server = again(&options, &all[0]);
    assert_eq!(worker.pushpull("w", &[1.0]).unwrap(), [2.0], "one update is in the snapshot, and one is new");
}

/// "A worker that is started again gets the weights as they are, and goes on."
#[test]
fn a_killed_worker_is_started_again_and_goes_on() {
    let servers = servers(&server_options(2, 2));
    let all = addresses(&servers);
    let other = Worker::new(1, 2, &all);
    let first = Worker::new(0, 2, &all);
    first.begin("w", &[100.0]).unwrap();
    other.begin("w", &[0.0]).unwrap();
    assert_eq!(first.pushpull("w", &[1.0]).unwrap(), [101.0]);
    // Simulates a process that was killed: its store is not dropped.
    std::mem::forget(first);
    assert_eq!(other.pushpull("w", &[1.0]).unwrap(), [102.0]);
    let first = Worker::new(0, 2, &all);
    first.begin("w", &[100.0]).unwrap();
    assert_eq!(first.pull("w", 1).unwrap(), [102.0], "the first value of a worker that is started again is ignored");
    assert_eq!(first.pushpull("w", &[1.0]).unwrap(), [103.0]);
    on_threads(2, |rank| if rank == 0 { first.store.barrier().unwrap() } else { other.store.barrier().unwrap() });
    drop((first, other));
    for server in servers {
        server.wait().unwrap();
    }
}

#[test]
fn a_snapshot_that_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = ServerOptions { snapshots: Some(folder.path().to_owned()), ..server_options(1, 1) };
    let server = servers(&options).pop().unwrap();
    let worker = Worker::new(0, 1, &[server.address().to_string()]);
    worker.begin("w", &[0.0]).unwrap();
    worker.pushpull("w", &[1.0]).unwrap();
    server.snapshot().unwrap();
    drop((worker, server));
    let start = |options: ServerOptions| Server::start(options, &context(), make_updater()).map(drop);
    let error = start(ServerOptions { n_workers: 2, ..options.clone() }).unwrap_err().to_string();
    assert!(
        error.contains("for 1 workers") && error.contains("for 2 workers") && error.contains("remove it"),
        "{error}"
    );
    // The file is cut at different lengths, and single bytes are changed. Each file must be refused or read, without a
    // panic.
    let path = std::fs::read_dir(folder.path()).unwrap().flatten().next().unwrap().path();
    let whole = std::fs::read(&path).unwrap();
    for len in 0..whole.len() {
        std::fs::write(&path, &whole[..len]).unwrap();
        assert!(start(options.clone()).is_err(), "{len} bytes");
        if len % 16 == 0 {
            let mut changed = whole.clone();
            changed[len] ^= 0x55;
            std::fs::write(&path, &changed).unwrap();
            let _ = start(options.clone());
        }
    }
    std::fs::write(&path, &whole).unwrap();
    start(options).unwrap();
}

/// "A server that is started again continues from its snapshot; workers send again what it lacks": without a snapshot, this
/// includes first values and the updater.
#[test]
fn a_server_that_is_killed_before_its_first_snapshot_gets_first_values_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = ServerOptions { n_workers: 2, ..rarely_saved(folder.path()) };
    let mut servers = servers(&options);
    let all = addresses(&servers);
    let workers = [Worker::new(0, 2, &all), Worker::new(1, 2, &all)];
    workers.iter().for_each(|worker| worker.begin("w", &[5.0]).unwrap());
    drop(servers.pop());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "there is no snapshot");
    let _server = again(&options, &all[0]);
    // Worker 1 sends first. Its push must wait for worker 0, which alone has the first value.
    on_threads(2, |rank| {
        std::thread::sleep(Duration::from_millis(300 * (1 - rank as u64)));
        workers[rank].pushpull("w", &[1.0]).unwrap();
        workers[rank].store.barrier().unwrap();
        assert_eq!(workers[rank].pull("w", 1).unwrap(), [7.0]);
    });
}

/// Server 0 is killed when a barrier is over for one worker and not yet for another.
#[test]
fn collections_go_on_although_server_0_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let options = ServerOptions { n_workers: 2, ..rarely_saved(folder.path()) };
    let mut servers = servers(&options);
    let all = addresses(&servers);
    let proxy = Proxy::new(&all[0]);
    let near = Worker::new(0, 2, &all);
    let through = [proxy.address.clone()];
    let patient = WorkerOptions { patience: Duration::from_secs(20), ..worker_options(1, 2, &through) };
    let far = Worker::with(patient, &KvStoreOptions::default()).unwrap();
    on_threads(2, |rank| [&near, &far][rank].store.barrier().unwrap());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| far.store.all_gather(b"far"));
        // The request of the worker behind the proxy (`far`) has arrived. After the cut, its answer cannot come through.
        std::thread::sleep(Duration::from_millis(500));
        proxy.cut(true);
        assert_eq!(near.store.all_gather(b"near").unwrap(), [&b"near"[..], b"far"]);
        drop(servers.pop());
        let server = again(&options, &all[0]);
        // Waits until the worker behind the proxy gives up its connection, so that no late answer of the killed server
        // reaches it.
        std::thread::sleep(Duration::from_secs(3));
        proxy.cut(false);
        assert_eq!(waiting.join().unwrap().unwrap(), [&b"near"[..], b"far"]);
        on_threads(2, |rank| [&near, &far][rank].store.barrier().unwrap());
        drop(server);
    });
}

/// A worker is killed together with server 0, which counts the collections. The worker that is started again must take part in
/// the next collection of the other worker, whichever of the two reaches the restarted server first.
#[test]
fn a_worker_that_is_restarted_with_server_0_takes_part_in_the_next_collection() {
    for is_new_first in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let options = ServerOptions { n_workers: 2, ..rarely_saved(folder.path()) };
        let mut servers = servers(&options);
        let all = addresses(&servers);
        // Workers without signs of life reach the restarted server only when they make a request.
        let mute = |rank| WorkerOptions { heartbeat: None, ..worker_options(rank, 2, &all) };
        let [old, killed] = [0, 1].map(|rank| Worker::with(mute(rank), &KvStoreOptions::default()).unwrap());
        on_threads(2, |rank| {
            let worker = [&old, &killed][rank];
            worker.begin("w", &[0.0]).unwrap();
            (0..3).for_each(|_| worker.store.barrier().unwrap());
        });
        // Simulates a process that was killed: its store is not dropped.
        std::mem::forget(killed);
        drop(servers.pop());
        let _server = again(&options, &all[0]);
        if !is_new_first {
            assert_eq!(old.pull("w", 1).unwrap(), [0.0]);
        }
        let new = Worker::new(1, 2, &all);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| new.store.all_gather(b"new"));
            std::thread::sleep(Duration::from_millis(500));
            assert!(!waiting.is_finished(), "the worker has not waited for the other one");
            assert_eq!(old.store.all_gather(b"old").unwrap(), [b"old", b"new"]);
            assert_eq!(waiting.join().unwrap().unwrap(), [b"old", b"new"]);
        });
        on_threads(2, |rank| [&old, &new][rank].store.barrier().unwrap());
    }
}

/// "A worker that ends waits until a snapshot has its pushes."
#[test]
fn the_last_pushes_of_a_worker_are_in_a_snapshot_when_it_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let options = ServerOptions { n_workers: 2, ..rarely_saved(folder.path()) };
    let mut servers = servers(&options);
    let all = addresses(&servers);
    let workers = [Worker::new(0, 2, &all), Worker::new(1, 2, &all)];
    workers.iter().for_each(|worker| worker.begin("w", &[0.0]).unwrap());
    let [first, last] = workers;
    first.pushpull("w", &[1.0]).unwrap();
    until("the first snapshot", || metric(&servers[0], "mxrs_kvstore_snapshots_total") > 0.0);
    (0..4).for_each(|_| drop(first.pushpull("w", &[1.0]).unwrap()));
    drop(first);
    drop(servers.pop());
    let _server = again(&options, &all[0]);
    assert_eq!(last.pull("w", 1).unwrap(), [5.0]);
}

/// The snapshot at the end of a training is the start of the next training. The server must then wait for new workers,
/// although the old ones have left.
#[test]
fn the_server_of_the_next_training_waits_for_its_workers() {
    let folder = tempfile::tempdir().unwrap();
    let options = rarely_saved(folder.path());
    let mut servers = servers(&options);
    let all = addresses(&servers);
    let worker = Worker::new(0, 1, &all);
    worker.begin("w", &[0.0]).unwrap();
    worker.pushpull("w", &[1.0]).unwrap();
    drop(worker);
    servers.pop().unwrap().wait().unwrap();
    let server = again(&options, &all[0]);
    std::thread::scope(|scope| {
        let ended = scope.spawn(|| server.wait());
        std::thread::sleep(Duration::from_secs(1));
        assert!(!ended.is_finished(), "the server has ended before its workers came");
        let worker = Worker::new(0, 1, &all);
        worker.begin("w", &[0.0]).unwrap();
        assert_eq!(worker.pushpull("w", &[1.0]).unwrap(), [2.0]);
        drop(worker);
        ended.join().unwrap().unwrap();
    });
}

/// Servers do not count a worker that has failed as one that has ended: it may be started again.
#[test]
fn servers_wait_for_a_worker_that_has_failed() {
    let server = servers(&server_options(1, 1)).pop().unwrap();
    let all = [server.address().to_string()];
    let worker = Worker::new(0, 1, &all);
    worker.begin("w", &[0.0]).unwrap();
    worker.store.fail();
    drop(worker);
    std::thread::scope(|scope| {
        let ended = scope.spawn(|| server.wait());
        std::thread::sleep(Duration::from_secs(1));
        assert!(!ended.is_finished(), "the server has ended");
        drop(Worker::new(0, 1, &all));
        ended.join().unwrap().unwrap();
    });
}

/// A server that is asked to end must write a snapshot at once, because the machine may be switched off before the workers
/// have ended.
#[test]
fn a_server_that_is_asked_to_end_writes_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let flag = std::sync::Arc::new(mxrs_sync::atomic::AtomicBool::new(false));
    let options = ServerOptions { interrupt: Some(std::sync::Arc::clone(&flag)), ..rarely_saved(folder.path()) };
    let servers = servers(&options);
    let worker = Worker::new(0, 1, &addresses(&servers));
    worker.begin("w", &[0.0]).unwrap();
    (0..3).for_each(|_| drop(worker.pushpull("w", &[1.0]).unwrap()));
    until("the first snapshot", || metric(&servers[0], "mxrs_kvstore_snapshots_total") > 0.0);
    worker.pushpull("w", &[1.0]).unwrap();
    let before = metric(&servers[0], "mxrs_kvstore_snapshots_total");
    flag.store(true, mxrs_sync::atomic::Ordering::Relaxed);
    until("another snapshot", || metric(&servers[0], "mxrs_kvstore_snapshots_total") > before);
}
