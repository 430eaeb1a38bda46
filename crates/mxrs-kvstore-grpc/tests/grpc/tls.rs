//! Identities: who may join, and what the error is for those who may not.

use crate::certificates::{Authority, Files};
use crate::common::*;
use mxrs_kvstore::KvStoreOptions;
use mxrs_kvstore_grpc::{GrpcServers, Server, ServerOptions, TlsFiles, WorkerOptions};
use std::time::Duration;

fn tls(files: &Files) -> TlsFiles {
    TlsFiles { authority: files.authority.clone(), certificate: files.certificate.clone(), key: files.key.clone() }
}

fn start(n_workers: usize, files: &Files) -> Server {
    let patience = Duration::from_secs(100);
    let options = ServerOptions { tls: Some(tls(files)), patience, ..server_options(n_workers, 1) };
    servers(&options).pop().unwrap()
}

fn options(rank: usize, n_workers: usize, server: &Server, files: Option<TlsFiles>) -> WorkerOptions {
    WorkerOptions { tls: files, ..worker_options(rank, n_workers, &[server.address().to_string()]) }
}

/// A worker that cannot join. Returns the error.
fn refused(options: WorkerOptions) -> String {
    let most = options.patience + Duration::from_secs(5);
    timed(Duration::ZERO, most, || GrpcServers::connect(options).map(drop).unwrap_err().to_string())
}

#[test]
fn workers_with_certificates_train() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "job");
    let server = start(2, &authority.sign("server-0", &["127.0.0.1"], 4000));
    // `any` is a certificate for every worker, `second` is one for worker 1 only.
    let any = tls(&authority.sign("worker", &["worker"], 4000));
    let second = tls(&authority.sign("worker-1", &["worker-1"], 4000));
    // The certificate of worker 1 is not valid for worker 0.
    let error = refused(options(0, 2, &server, Some(second.clone())));
    assert!(error.contains("names neither `worker` nor `worker-0`"), "{error}");
    let all = [any, second];
    on_threads(2, |rank| {
        let own = options(rank, 2, &server, Some(all[rank].clone()));
        let worker = Worker::with(own, &KvStoreOptions::default()).unwrap();
        worker.begin("w", &vec![0.0; 500_000]).unwrap();
        for _ in 0..3 {
            worker.pushpull("w", &vec![1.0; 500_000]).unwrap();
        }
    });
    assert_eq!(metric(&server, "mxrs_kvstore_updates_total"), 6.0);
}

#[test]
fn wrong_and_expired_certificates_are_errors_on_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let (authority, other) = (Authority::new(folder.path(), "job"), Authority::new(folder.path(), "other"));
    let server = start(1, &authority.sign("server-0", &["127.0.0.1"], 4000));
    let good = || tls(&authority.sign("worker", &["worker"], 4000));
    let worker = |files: TlsFiles| refused(options(0, 1, &server, Some(files)));
    // First the server refuses the worker, then the worker refuses the server.
    let foreign = TlsFiles { authority: good().authority, ..tls(&other.sign("worker", &["worker"], 4000)) };
    let error = worker(foreign);
    assert!(error.contains("UnknownCA") || error.contains("unknown"), "{error}");
    let error = worker(TlsFiles { authority: tls(&other.sign("x", &["worker"], 4000)).authority, ..good() });
    assert!(error.contains("TLS") && error.contains("UnknownIssuer"), "{error}");
    let error = worker(tls(&authority.sign("expired", &["worker"], 2001)));
    assert!(error.to_lowercase().contains("expired"), "{error}");
    // A worker without a certificate, and one that does not use TLS at all.
    let error = refused(options(0, 1, &server, None));
    assert!(error.contains("server 0"), "{error}");
    assert!(metric(&server, "mxrs_kvstore_refused_connections_total") >= 3.0);
    // A server whose certificate is expired, or is for another host.
    for (until, name, word) in [(2001, "127.0.0.1", "expired"), (4000, "10.9.8.7", "valid")] {
        let server = start(1, &authority.sign("bad-server", &[name], until));
        let error = refused(options(0, 1, &server, Some(good()))).to_lowercase();
        assert!(error.contains("tls") && error.contains(word), "{error}");
    }
    // A worker that uses TLS connects to a server that does not.
    let plain = servers(&server_options(1, 1)).pop().unwrap();
    let error = refused(options(0, 1, &plain, Some(good())));
    assert!(error.contains("server 0") || error.contains("TLS"), "{error}");
    // A worker with a valid certificate can still join.
    let own = options(0, 1, &server, Some(good()));
    Worker::with(own, &KvStoreOptions::default()).unwrap().begin("w", &[0.0]).unwrap();
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "job");
    let good = authority.sign("server-0", &["127.0.0.1"], 4000);
    let other = authority.sign("other", &["127.0.0.1"], 4000);
    let text = folder.path().join("text.pem");
    std::fs::write(&text, "no certificate").unwrap();
    let start = |files: TlsFiles| {
        let options = ServerOptions { tls: Some(files), ..server_options(1, 1) };
        Server::start(options, &context(), make_updater()).map(drop).unwrap_err().to_string()
    };
    for (files, word) in [
        (TlsFiles { authority: text.clone(), ..tls(&good) }, "text.pem"),
        (TlsFiles { certificate: text.clone(), ..tls(&good) }, "text.pem"),
        (TlsFiles { key: text.clone(), ..tls(&good) }, "text.pem"),
        (TlsFiles { key: folder.path().join("missing.key"), ..tls(&good) }, "missing.key"),
        (TlsFiles { key: other.key.clone(), ..tls(&good) }, "server-0.pem"),
    ] {
        let error = start(files);
        assert!(error.contains(word) && error.contains("PEM"), "{error}");
    }
}
