//! The variables of the store `dist_async` and its servers, B3, B7, B13 and M15 to M26.

use crate::{Vars, runtime};
use mxrs::Runtime;
use mxrs::kvstore::{KvStore, UpdaterSettings};
use mxrs::ndarray::NdArray;
use mxrs::types::Result;
use mxrs_kvstore_grpc::host_and_port;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// An updater that servers make from its settings: plain SGD.
struct Sgd;

impl mxrs::kvstore::Updater for Sgd {
    fn update(&mut self, _: &[mxrs::kvstore::Update]) -> Result<()> {
        Ok(())
    }

    fn settings(&self) -> Result<Option<UpdaterSettings>> {
        let settings = [("learning_rate", "1"), ("decayed", "all")];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Ok(Some(UpdaterSettings { name: "sgd".into(), settings }))
    }
}

/// A free port. The next two ports are free, too.
fn free_port() -> u16 {
    loop {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        if (1..3).all(|i| port.checked_add(i).is_some_and(|port| TcpListener::bind(("127.0.0.1", port)).is_ok())) {
            return port;
        }
    }
}

fn address() -> String {
    format!("127.0.0.1:{}", free_port())
}

/// Starts a server on a thread of its own.
fn server(common: Vars<'_>, own: Vars<'_>) -> JoinHandle<Result<()>> {
    let vars: Vec<(String, String)> = [("DMLC_ROLE", "server"), ("DMLC_RANK", "0")]
        .iter()
        .chain(common)
        .chain(own)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    std::thread::spawn(move || {
        let vars: Vec<(&str, &str)> = vars.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let runtime = runtime(&vars);
        assert!(runtime.is_server());
        runtime.run_server(None)
    })
}

/// The store of worker 0, and its runtime.
fn worker(common: Vars<'_>, own: Vars<'_>) -> Result<(Runtime, Arc<dyn KvStore>)> {
    let vars: Vec<(&str, &str)> =
        [("DMLC_RANK", "0"), ("MXRS_KVSTORE_TIMEOUT", "3")].iter().chain(common).chain(own).copied().collect();
    let runtime = runtime(&vars);
    let store = runtime.kvstore("dist_async")?;
    Ok((runtime, store))
}

/// Trains a weight of two elements for `n` steps, and returns it.
fn train((runtime, store): &(Runtime, Arc<dyn KvStore>), n: usize) -> Vec<f32> {
    let array = |values: &[f32]| NdArray::from_slice(runtime.arrays(), [2], values).unwrap();
    store.set_updater(Box::new(Sgd)).unwrap();
    let out = array(&[0.0, 0.0]);
    store.broadcast(&[("w".into(), array(&[10.0, 20.0]))], &[("w".into(), out.clone())], 0).unwrap();
    for _ in 0..n {
        store.pushpull(&[("w".into(), array(&[1.0, 2.0]).into())], &[("w".into(), out.clone())], 0).unwrap();
    }
    out.to_vec().unwrap()
}

/// Trains with one server and one worker that have these variables.
fn one(common: Vars<'_>, of_server: Vars<'_>, of_worker: Vars<'_>) -> Vec<f32> {
    let server = server(common, of_server);
    let weight = train(&worker(common, of_worker).unwrap(), 3);
    server.join().unwrap().unwrap();
    weight
}

fn refused(vars: Vars<'_>) -> String {
    worker(&[], vars).err().expect("no servers").to_string()
}

const ONE: (&str, &str) = ("DMLC_NUM_WORKER", "1");

#[test]
fn servers_are_found_by_variables() {
    let list = address();
    assert_eq!(one(&[ONE, ("MXRS_KVSTORE_SERVERS", &list)], &[], &[]), [7.0, 14.0]);
    // MXNet's variables: server 0 listens at the port after the scheduler's.
    let port = free_port().to_string();
    let root = [ONE, ("DMLC_PS_ROOT_URI", "127.0.0.1"), ("DMLC_PS_ROOT_PORT", &port), ("DMLC_NUM_SERVER", "1")];
    assert_eq!(one(&root, &[], &[]), [7.0, 14.0]);
    // Workers reach the server at another address than the one at which it listens.
    let port = free_port();
    let name = format!("localhost:{port}");
    let common = [ONE, ("MXRS_KVSTORE_SERVERS", name.as_str())];
    assert_eq!(one(&common, &[("DMLC_NODE_HOST", "127.0.0.1")], &[]), [7.0, 14.0]);
    let everywhere = [("DMLC_USE_KUBERNETES", "1"), ("MXRS_KVSTORE_INSECURE", "1")];
    assert_eq!(one(&common, &everywhere, &[]), [7.0, 14.0]);
}

#[test]
fn what_is_missing_is_named() {
    assert!(refused(&[]).contains("MXRS_KVSTORE_SERVERS") && refused(&[]).contains("mxrs launch"));
    let list = ("MXRS_KVSTORE_SERVERS", "127.0.0.1:1");
    for (vars, words) in [
        (&[ONE, ("MXRS_KVSTORE_SERVERS", "127.0.0.1")][..], "host:port"),
        (&[list][..], "DMLC_NUM_WORKER"),
        (&[list, ONE, ("DMLC_NUM_SERVER", "2")], "DMLC_NUM_SERVER"),
        (&[list, ONE, ("DMLC_ROLE", "server")], "DMLC_ROLE"),
        (&[list, ONE, ("MXRS_KVSTORE_CA", "ca.pem")], "MXRS_KVSTORE_CERT"),
        (&[list, ONE, ("MXRS_KVSTORE_TOKEN_FILE", "/no/token")], "/no/token"),
        // No server answers at the address, so the worker gives up after `MXRS_KVSTORE_TIMEOUT`.
        (&[list, ONE], "not answered for 3 s"),
        // Without TLS, servers on other machines are refused.
        (&[ONE, ("MXRS_KVSTORE_SERVERS", "10.1.2.3:9000")], "MXRS_KVSTORE_INSECURE"),
    ] {
        let error = refused(vars);
        assert!(error.contains(words), "{vars:?}: {error}");
    }
    let [ca, cert, key] =
        ["MXRS_KVSTORE_CA", "MXRS_KVSTORE_CERT", "MXRS_KVSTORE_KEY"].map(|name| (name, "/no/file.pem"));
    assert!(refused(&[list, ONE, ca, cert, key]).contains("/no/file.pem"));
}

#[test]
fn a_token_keeps_others_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (own, other, list) = (file("own", "secret\n"), file("other", "guess\n"), address());
    let common = [ONE, ("MXRS_KVSTORE_SERVERS", list.as_str())];
    let server = server(&common, &[("MXRS_KVSTORE_TOKEN_FILE", &own)]);
    let error = worker(&common, &[("MXRS_KVSTORE_TOKEN_FILE", &other)]).err().unwrap().to_string();
    assert!(error.contains("(MXRS_KVSTORE_TOKEN_FILE)"), "{error}");
    train(&worker(&common, &[("MXRS_KVSTORE_TOKEN_FILE", &own)]).unwrap(), 1);
    server.join().unwrap().unwrap();
}

fn snapshots(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().extension().is_some()).count()
}

#[test]
fn snapshots_are_in_their_folder_at_their_interval() {
    let (folder, list) = (tempfile::tempdir().unwrap(), address());
    let path = folder.path().display().to_string();
    let common = [ONE, ("MXRS_KVSTORE_SERVERS", list.as_str())];
    let often = [("MXRS_KVSTORE_SNAPSHOT_DIR", path.as_str()), ("MXRS_KVSTORE_SNAPSHOT_INTERVAL", "1")];
    let (page, none) = (address(), [("MXRS_KVSTORE_REPLAY_MB", "0")]);
    let metrics = [("MXRS_KVSTORE_METRICS", page.as_str())];
    let server_of = server(&common, &[&often[..], &metrics].concat());
    let trained = worker(&common, &none).unwrap();
    assert_eq!(train(&trained, 3), [7.0, 14.0]);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(snapshots(folder.path()), 1);
    // With several servers, each has an address of its own for metrics. Server 0 answers at the given address.
    let (host, port) = host_and_port(&page).unwrap();
    let mut stream = TcpStream::connect((host, port)).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.contains("mxrs_kvstore_updates_total{server=\"0\"} 3"), "{text}");
    let n = text.lines().find_map(|line| line.strip_prefix("mxrs_kvstore_snapshots_total{server=\"0\"} ")).unwrap();
    assert!(n.parse::<u32>().unwrap() >= 2, "one at the first update, one a second later: {n}");
    drop(trained);
    server_of.join().unwrap().unwrap();
    // The next training continues from the snapshot. Its server waits for workers, although all of the last training have left.
    let server = server(&common, &often);
    std::thread::sleep(Duration::from_secs(1));
    assert!(!server.is_finished(), "the server has ended before its workers came");
    assert_eq!(train(&worker(&common, &[]).unwrap(), 1), [6.0, 12.0]);
    server.join().unwrap().unwrap();
}

/// With a bound, a worker that is ahead waits for the other one, and fails after `MXRS_KVSTORE_TIMEOUT`.
#[test]
fn staleness_and_waiting_gradients_are_bounded() {
    let list = address();
    let common = [("DMLC_NUM_WORKER", "2"), ("MXRS_KVSTORE_SERVERS", list.as_str())];
    let bounds = [("MXRS_KVSTORE_STALENESS", "2"), ("MXRS_KVSTORE_PENDING_MB", "1"), ("MXRS_KVSTORE_TIMEOUT", "2")];
    drop(server(&common, &bounds));
    let (first, second) = (worker(&common, &[]).unwrap(), worker(&common, &[("DMLC_RANK", "1")]).unwrap());
    assert_eq!(train(&first, 2), [8.0, 16.0]);
    let out = NdArray::from_slice(first.0.arrays(), [2], &[0.0f32, 0.0]).unwrap();
    first.1.push(&[("w".into(), out.clone().into())], 0).unwrap();
    let waited = std::time::Instant::now();
    first.1.pull(&[("w".into(), out.clone())], 0).unwrap();
    let error = out.to_vec::<f32>().unwrap_err().to_string();
    assert!(error.contains("do not push key") && waited.elapsed() > Duration::from_secs(1), "{error}");
    drop(second);
}
