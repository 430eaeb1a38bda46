//! What workers see of values. Sentences in quotes are those of the documentation of `DistAsync`, of MXNet, or of the design
//! note on asynchronous stores.

use crate::common::*;
use mxrs_kvstore::{
    Compression, Key, KvStore, KvStoreOptions, MakeUpdater, ReadStates, RowSparse, ServedValue, ServerUpdater, Update,
    Updater, UpdaterSettings, Value,
};
use mxrs_kvstore_grpc::{Server, ServerOptions};
use mxrs_types::{DType, Result};
use std::sync::Arc;
use std::time::Duration;

/// "Each push updates the value on the servers at once." "A worker reads its own writes."
#[test]
fn a_push_updates_at_once_and_is_read_by_its_worker() {
    let servers = servers(&server_options(2, 1));
    let all = addresses(&servers);
    let workers = [Worker::new(0, 2, &all), Worker::new(1, 2, &all)];
    // "Rank 0's value is pushed to the servers, other ranks' values are ignored."
    workers[0].begin("w", &[10.0, 20.0]).unwrap();
    workers[1].begin("w", &[-1.0, -1.0]).unwrap();
    assert_eq!(workers[1].pull("w", 2).unwrap(), [10.0, 20.0]);
    // Worker 1 pushes alone; worker 0 has not pushed, and is not waited for.
    for i in 1..=20 {
        assert_eq!(workers[1].pushpull("w", &[1.0, 2.0]).unwrap(), [10.0 + i as f32, 20.0 + 2.0 * i as f32]);
    }
    assert_eq!(workers[0].pull("w", 2).unwrap(), [30.0, 60.0]);
    // Many pushes without a pull between them.
    (0..50).for_each(|_| workers[0].push("w", &[1.0, 0.0]).unwrap());
    assert_eq!(workers[0].pull("w", 2).unwrap(), [80.0, 60.0]);
    assert_eq!(metric(&servers[0], "mxrs_kvstore_updates_total"), 70.0);
    assert_eq!(metric(&servers[0], "mxrs_kvstore_duplicate_pushes_total"), 0.0);
}

/// "Each update is atomic per key; if the value of a key is divided among servers, per part."
#[test]
fn updates_are_atomic_and_none_is_lost() {
    const N: usize = 40_000;
    let servers = servers(&server_options(4, 1));
    let all = addresses(&servers);
    on_threads(4, |rank| {
        let worker = Worker::new(rank, 4, &all);
        worker.begin("w", &vec![0.0; N]).unwrap();
        for _ in 0..20 {
            let value = worker.pushpull("w", &vec![1.0; N]).unwrap();
            assert!(value.iter().all(|element| *element == value[0]), "a value in the middle of an update");
        }
        worker.store.barrier().unwrap();
        assert_eq!(worker.pull("w", N).unwrap(), vec![80.0; N]);
    });
    for server in servers {
        server.wait().unwrap();
    }
}

/// "A value of fewer than `big_array_elements` elements is kept by server `number * 9973 % n_servers`. A larger one is divided
/// among all servers."
#[test]
fn values_are_divided_among_servers_by_the_rule_of_mxnet() {
    let servers = servers(&server_options(1, 3));
    let options = KvStoreOptions { big_array_elements: 100, ..KvStoreOptions::default() };
    let worker = Worker::with(worker_options(0, 1, &addresses(&servers)), &options).unwrap();
    let elements = |n: usize| (0..n).map(|i| i as f32).collect::<Vec<_>>();
    worker.begin("small", &elements(99)).unwrap();
    worker
        .store
        .init(&[("large".into(), worker.array(&elements(101))), ("other".into(), worker.array(&[5.0]))])
        .unwrap();
    let expected: Vec<f32> = elements(101).iter().map(|value| 3.0 * value).collect();
    worker.push("large", &elements(101)).unwrap();
    assert_eq!(worker.pushpull("large", &elements(101)).unwrap(), expected);
    assert_eq!(worker.pull("small", 99).unwrap(), elements(99));
    assert_eq!(worker.pull("other", 1).unwrap(), [5.0]);
    // `small` is key 0, on server 0. `other` is key 2, on server 2 * 9973 % 3 = 2. The 101 elements of `large` are divided
    // into 34, 33 and 34.
    let bytes = [0, 1, 2].map(|server: usize| metric(&servers[server], "mxrs_kvstore_value_bytes"));
    assert_eq!(bytes, [4.0 * (99 + 34) as f64, 4.0 * 33.0, 4.0 * (34 + 1) as f64]);
}

/// The codes of MXNet for the gradient [.4 .5 -.6 .1 -.5] with threshold 0.5, pushed three times. The values are the sums of
/// the decoded codes.
#[test]
fn gradients_are_compressed_with_the_codes_of_mxnet() {
    let servers = servers(&server_options(1, 2));
    let options = KvStoreOptions { big_array_elements: 16, ..KvStoreOptions::default() };
    let worker = Worker::with(worker_options(0, 1, &addresses(&servers)), &options).unwrap();
    worker.store.set_gradient_compression(Compression::new("2bit", 0.5).unwrap()).unwrap();
    let pattern = [0.4f32, 0.5, -0.6, 0.1, -0.5];
    let gradient: Vec<f32> = pattern.iter().copied().cycle().take(40).collect();
    worker.begin("w", &[0.0; 40]).unwrap();
    // The codes of the three pushes are 38 80 00 00, then f8 80 00 00, then f8 80 00 00 again.
    for sums in [[0.0, 0.5, -0.5, 0.0, -0.5], [0.5, 1.0, -1.0, 0.0, -1.0], [1.0, 1.5, -1.5, 0.0, -1.5]] {
        let expected: Vec<f32> = sums.iter().copied().cycle().take(40).collect();
        assert_eq!(worker.pushpull("w", &gradient).unwrap(), expected);
    }
    // Codes of 16 elements, a grain, have 4 bytes. The 40 elements are 3 grains, divided into 32 and 8 elements, so each
    // push sends 8 and 4 bytes of code.
    let received = [0, 1].map(|server: usize| metric(&servers[server], "mxrs_kvstore_received_bytes_total"));
    assert_eq!(received, [(32 * 4 + 3 * 8) as f64, (8 * 4 + 3 * 4) as f64]);
}

/// "The settings of worker 0 count; those of the others must be equal."
#[test]
fn settings_reach_the_servers_and_must_be_equal() {
    let servers = servers(&server_options(2, 2));
    let all = addresses(&servers);
    let (first, second) = (Worker::new(0, 2, &all), Worker::new(1, 2, &all));
    let adder = Adder::new(2.0);
    first.store.set_updater(Box::new(adder.clone())).unwrap();
    first.store.init(&[("w".into(), first.array(&[0.0]))]).unwrap();
    let error = second.begin("w", &[0.0]).unwrap_err().to_string();
    assert!(error.contains("worker 1") && error.contains("rate=1") && error.contains("rate=2"), "{error}");
    second.store.set_updater(Box::new(Adder::new(2.0))).unwrap();
    second.store.init(&[("w".into(), second.array(&[0.0]))]).unwrap();
    assert_eq!(first.pushpull("w", &[1.0]).unwrap(), [2.0]);
    adder.set_rate(10.0);
    assert_eq!(first.pushpull("w", &[1.0]).unwrap(), [12.0]);
    assert_eq!(second.pushpull("w", &[1.0]).unwrap(), [22.0]);
}

/// Settings that change in the course of a training may differ. For example, a worker that is started again sends the number
/// of the update from which it resumes.
#[test]
fn settings_that_move_on_may_differ() {
    let servers = servers(&server_options(2, 1));
    let all = addresses(&servers);
    let (first, second) = (Worker::new(0, 2, &all), Worker::new(1, 2, &all));
    let adder = |pairs: &[(&str, &str)]| {
        let adder = Adder::new(2.0);
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        adder.settings.lock().unwrap().settings.extend(pairs);
        Box::new(adder)
    };
    first.store.set_updater(adder(&[("begin_num_update", "0"), ("learning_rate", "0.1"), ("wd", "0")])).unwrap();
    second.store.set_updater(adder(&[("begin_num_update", "70"), ("learning_rate", "0.2"), ("wd", "0")])).unwrap();
    second.store.set_updater(adder(&[("rescale_grad", "0.5"), ("wd", "0")])).unwrap();
    let error = second.store.set_updater(adder(&[("begin_num_update", "0"), ("wd", "1")])).unwrap_err().to_string();
    assert!(error.contains("worker 1") && error.contains("wd=1") && error.contains("wd=0"), "{error}");
}

#[test]
fn states_of_the_updater_are_read_and_replaced() {
    let servers = servers(&server_options(1, 2));
    let worker = Worker::new(0, 1, &addresses(&servers));
    worker.begin("a", &[0.0]).unwrap();
    worker.store.init(&[("b".into(), worker.array(&[0.0]))]).unwrap();
    for (key, n) in [("a", 3), ("b", 2)] {
        (0..n).for_each(|_| worker.push(key, &[1.0]).unwrap());
    }
    let texts = |states: Vec<Vec<u8>>| states.into_iter().map(|s| String::from_utf8(s).unwrap()).collect::<Vec<_>>();
    assert_eq!(texts(worker.store.updater_states().unwrap().unwrap()), ["{\"`a`\":3}", "{\"`b`\":2}"]);
    assert!(worker.store.set_updater_states(b"{\"`a`\":7,\"`b`\":8}").unwrap());
    assert_eq!(texts(worker.store.updater_states().unwrap().unwrap()), ["{\"`a`\":7}", "{\"`b`\":8}"]);
    assert!(worker.store.set_updater_states(b"nonsense").unwrap_err().to_string().contains("states"));
}

/// "Waits until every server that keeps a value has states that worker 0 has set, or has made an update."
#[test]
fn workers_that_resume_wait_for_the_states_of_worker_0() {
    // Key number 0 is on server 0. Server 1 keeps no value, so it is not waited for.
    let servers = servers(&server_options(2, 2));
    let all = addresses(&servers);
    let workers = [Worker::new(0, 2, &all), Worker::new(1, 2, &all)];
    workers.iter().for_each(|worker| worker.begin("w", &[0.0]).unwrap());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| workers[1].store.wait_for_updater_states());
        std::thread::sleep(Duration::from_millis(500));
        assert!(!waiting.is_finished(), "worker 0 has given no states yet");
        assert!(workers[0].store.set_updater_states(b"{\"`w`\":7}").unwrap());
        waiting.join().unwrap().unwrap();
    });
    workers[1].pushpull("w", &[1.0]).unwrap();
    assert_eq!(workers[0].store.updater_states().unwrap().unwrap()[0], b"{\"`w`\":8}");
}

/// A worker that is started again resumes while the others train. Worker 0 does not set states any more.
#[test]
fn a_worker_that_resumes_does_not_wait_after_an_update() {
    let servers = servers(&server_options(2, 1));
    let all = addresses(&servers);
    let workers = [Worker::new(0, 2, &all), Worker::new(1, 2, &all)];
    workers.iter().for_each(|worker| worker.begin("w", &[0.0]).unwrap());
    workers[0].pushpull("w", &[1.0]).unwrap();
    // No worker sets states here, so a wait for them would end in an error.
    workers[1].store.wait_for_updater_states().unwrap();
}

#[test]
fn all_workers_gather_bytes_by_rank() {
    let servers = servers(&server_options(3, 2));
    let all = addresses(&servers);
    on_threads(3, |rank| {
        let worker = Worker::new(rank, 3, &all);
        for round in 0..10u8 {
            let gathered = worker.store.all_gather(&[round, rank as u8]).unwrap();
            assert_eq!(gathered, [[round, 0], [round, 1], [round, 2]]);
            let at_first = worker.store.gather(&[rank as u8]).unwrap();
            assert_eq!(at_first, (rank == 0).then(|| vec![vec![0], vec![1], vec![2]]));
        }
        worker.store.barrier().unwrap();
    });
}

/// "`MXRS_KVSTORE_STALENESS` bounds how many updates a worker may be ahead of the slowest living one."
#[test]
fn staleness_is_bounded_on_request_and_measured() {
    let servers = servers(&ServerOptions { staleness: Some(3), ..server_options(2, 1) });
    let all = addresses(&servers);
    let (fast, slow) = (Worker::new(0, 2, &all), Worker::new(1, 2, &all));
    fast.begin("w", &[0.0]).unwrap();
    slow.begin("w", &[0.0]).unwrap();
    (0..3).for_each(|_| drop(fast.pushpull("w", &[1.0]).unwrap()));
    std::thread::scope(|scope| {
        let waiting =
            scope.spawn(|| timed(Duration::from_millis(500), Duration::from_secs(8), || fast.pushpull("w", &[1.0])));
        std::thread::sleep(Duration::from_millis(700));
        // Four updates were made since worker 1 got the value from which it computed this gradient, so the staleness is 4.
        slow.pushpull("w", &[1.0]).unwrap();
        assert_eq!(waiting.join().unwrap().unwrap(), [5.0]);
    });
    assert_eq!(metric(&servers[0], "mxrs_kvstore_staleness_max"), 4.0);
}

/// A worker that waits for slower workers must not use the room that the gradients of these need.
#[test]
fn staleness_is_bounded_in_a_server_with_little_room() {
    let servers = servers(&ServerOptions { staleness: Some(1), pending_bytes: 4096, ..server_options(2, 1) });
    let all = addresses(&servers);
    let workers = [Worker::new(0, 2, &all), Worker::new(1, 2, &all)];
    workers.iter().for_each(|worker| worker.begin("w", &[0.0; 3000]).unwrap());
    on_threads(2, |rank| {
        for _ in 0..5 {
            // Each gradient is larger than the room for pending gradients. Worker 0 is ahead.
            workers[rank].pushpull("w", &[1.0; 3000]).unwrap();
            std::thread::sleep(Duration::from_millis(100 * rank as u64));
        }
    });
    assert_eq!(workers[0].pull("w", 3000).unwrap(), vec![10.0; 3000]);
}

/// An updater that takes a while.
struct Slow(Adder);

impl Updater for Slow {
    fn update(&mut self, updates: &[Update]) -> Result<()> {
        for update in updates {
            update.stored.write_later(|_| {
                std::thread::sleep(Duration::from_millis(400));
                Ok(())
            })?;
        }
        self.0.update(updates)
    }
}

impl ServerUpdater for Slow {
    fn set_settings(&mut self, settings: &UpdaterSettings) -> Result<()> {
        self.0.set_settings(settings)
    }

    fn states(&self) -> Result<ReadStates> {
        self.0.states()
    }

    fn set_states(&mut self, values: &[ServedValue], states: &[u8]) -> Result<()> {
        self.0.set_states(values, states)
    }
}

/// An updater whose states are computed late.
struct Late(Adder);

impl Updater for Late {
    fn update(&mut self, updates: &[Update]) -> Result<()> {
        self.0.update(updates)
    }
}

impl ServerUpdater for Late {
    fn set_settings(&mut self, settings: &UpdaterSettings) -> Result<()> {
        self.0.set_settings(settings)
    }

    fn states(&self) -> Result<ReadStates> {
        let read = self.0.states()?;
        Ok(Box::new(move || {
            std::thread::sleep(Duration::from_secs(3));
            read()
        }))
    }

    fn set_states(&mut self, values: &[ServedValue], states: &[u8]) -> Result<()> {
        self.0.set_states(values, states)
    }
}

/// A snapshot contains the values and states of one moment. The server must answer requests while these are computed and
/// written.
#[test]
fn a_server_answers_while_it_writes_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let make: MakeUpdater = Arc::new(|_| Ok(Box::new(Late(Adder::new(1.0))) as Box<dyn ServerUpdater>));
    let interval = Duration::from_secs(1000);
    let snapshots = Some(folder.path().to_owned());
    let options = ServerOptions { snapshots, snapshot_interval: interval, ..server_options(1, 1) };
    let server = Server::start(options, &context(), make).unwrap();
    let worker = Worker::new(0, 1, &[server.address().to_string()]);
    worker.begin("w", &[0.0]).unwrap();
    // The first update causes a snapshot.
    worker.pushpull("w", &[1.0]).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    timed(Duration::ZERO, Duration::from_secs(2), || assert_eq!(worker.pushpull("w", &[1.0]).unwrap(), [2.0]));
    assert_eq!(metric(&server, "mxrs_kvstore_snapshots_total"), 0.0, "it is not written yet");
    until("the snapshot", || metric(&server, "mxrs_kvstore_snapshots_total") > 0.0);
}

/// Codes are 16 times smaller than the decoded gradient. The room must be counted for the decoded gradient, because that is
/// what waits for the update.
#[test]
fn room_is_counted_for_decoded_gradients() {
    const N: usize = 64 << 10;
    let make: MakeUpdater = Arc::new(|_| Ok(Box::new(Slow(Adder::new(1.0))) as Box<dyn ServerUpdater>));
    let server = Server::start(server_options(1, 1), &context(), make).unwrap();
    let worker = Worker::new(0, 1, &[server.address().to_string()]);
    worker.store.set_gradient_compression(Compression::new("2bit", 0.5).unwrap()).unwrap();
    worker.begin("w", &vec![0.0; N]).unwrap();
    worker.push("w", &vec![0.5; N]).unwrap();
    until("the gradient waits", || metric(&server, "mxrs_kvstore_pending_bytes") > 0.0);
    assert_eq!(metric(&server, "mxrs_kvstore_pending_bytes"), (4 * N) as f64);
    assert_eq!(worker.pull("w", N).unwrap(), vec![0.5; N]);
}

/// "A server holds at most `MXRS_KVSTORE_PENDING_MB` of gradients that are not applied; further ones stay with the workers."
#[test]
fn a_server_with_little_room_makes_workers_wait_and_loses_nothing() {
    let servers = servers(&ServerOptions { pending_bytes: 4096, ..server_options(3, 1) });
    let all = addresses(&servers);
    on_threads(3, |rank| {
        let worker = Worker::new(rank, 3, &all);
        worker.store.set_updater(Box::new(Adder::new(1.0))).unwrap();
        let keys: Vec<Key> = (0..6).map(Key::from).collect();
        // Each gradient is larger than the room for pending gradients.
        let value = worker.array(&vec![0.0; 3000]);
        keys.iter().for_each(|key| worker.store.init(&[(key.clone(), value.clone())]).unwrap());
        for _ in 0..10 {
            let gradient = worker.array(&vec![1.0; 3000]);
            let all: Vec<(Key, Value)> = keys.iter().map(|key| (key.clone(), (&gradient).into())).collect();
            worker.store.push(&all, 0).unwrap();
        }
        keys.iter().for_each(|key| {
            let out = worker.array(&vec![0.0; 3000]);
            worker.store.pull(&[(key.clone(), out.clone())], 0).unwrap();
            assert!(out.to_vec::<f32>().unwrap()[0] >= 10.0);
        });
        worker.store.barrier().unwrap();
        let out = worker.array(&vec![0.0; 3000]);
        worker.store.pull(&[(keys[5].clone(), out.clone())], 0).unwrap();
        assert_eq!(out.to_vec::<f32>().unwrap(), vec![30.0; 3000]);
    });
}

#[test]
fn what_the_store_does_not_do_is_named() {
    let servers = servers(&server_options(1, 1));
    let worker = Worker::new(0, 1, &addresses(&servers));
    worker.store.init(&[("w".into(), worker.array(&[0.0, 0.0]))]).unwrap();
    let refused = |result: mxrs_types::Result<()>, words: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    // "No updater is fatal": a push without an updater is an error, as in MXNet.
    refused(worker.push("w", &[1.0, 1.0]), "set_updater");
    let function = |_: &[mxrs_kvstore::Update]| Ok(());
    refused(worker.store.set_updater(Box::new(function)), "named settings");
    worker.store.set_updater(Box::new(Adder::new(1.0))).unwrap();
    let rows = RowSparse::new(vec![0i64], worker.array(&[1.0]).reshape([1]).unwrap()).unwrap();
    refused(worker.store.push(&[("w".into(), Value::RowSparse(rows))], 0), "dense");
    refused(worker.begin("w", &[0.0]), "duplicate init");
    refused(worker.push("other", &[1.0]), "other");
    refused(worker.push("w", &[1.0]), "w");
    let half = mxrs_ndarray::NdArray::zeros(&worker.context, [2], DType::F16).unwrap();
    refused(worker.store.push(&[("w".into(), half.into())], 0), "float32");
    assert_eq!(worker.pushpull("w", &[1.0, 2.0]).unwrap(), [1.0, 2.0], "the store still works");
}
