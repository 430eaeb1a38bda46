//! Requests that no correct worker would send. The server must refuse each with one status, take no memory for it, and keep
//! working.

use crate::common::*;
use mxrs_kvstore_grpc::ServerOptions;
use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;
use tonic::body::Body;
use tonic::transport::{Channel, Endpoint};
use tower_service::Service;

const CALL: &str = "/mxrs.kvstore.v1.Values/Call";
const TRANSFER: &str = "/mxrs.kvstore.v1.Values/Transfer";
const N_REQUESTS: usize = 10_000;
/// The session of a worker that has joined, and then sends nonsense.
const SESSION: u64 = 7;

/// Random numbers: xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }

    /// A random number that is likely to be an edge case.
    fn number(&mut self) -> u64 {
        match self.below(8) {
            0 => u64::MAX,
            1 => 1 << 63,
            2 => 1 << 40,
            3 => self.next(),
            4 => SESSION,
            _ => self.below(9),
        }
    }
}

fn varint(mut n: u64, out: &mut Vec<u8>) {
    while n > 0x7f {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn number(tag: u64, n: u64, out: &mut Vec<u8>) {
    varint(tag << 3, out);
    varint(n, out);
}

fn bytes(tag: u64, content: &[u8], out: &mut Vec<u8>) {
    varint(tag << 3 | 2, out);
    varint(content.len() as u64, out);
    out.extend_from_slice(content);
}

/// A message with random fields, of which some have the right type.
fn message(random: &mut Random, depth: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..random.below(8) {
        let tag = 1 + random.below(10);
        match random.below(if depth > 0 { 4 } else { 3 }) {
            0 => number(tag, random.number(), &mut out),
            1 => {
                let n = random.below(40) as usize;
                bytes(tag, &random.bytes(n), &mut out);
            }
            2 => {
                varint(tag << 3 | 5, &mut out);
                out.extend(random.bytes(4));
            }
            _ => bytes(tag, &message(random, depth - 1), &mut out),
        }
    }
    out
}

/// The head of a transfer whose fields are nearly valid.
fn transfer(random: &mut Random) -> Vec<u8> {
    let (mut key, mut part, mut head, mut frame) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    match random.below(4) {
        0 => number(1, random.number(), &mut key),
        1 => bytes(2, &random.bytes(5000), &mut key),
        _ => bytes(2, b"w", &mut key),
    }
    bytes(1, &key, &mut part);
    number(2, random.number(), &mut part);
    (0..random.below(4)).for_each(|_| number(3, random.number(), &mut part));
    number(4, random.below(15), &mut part);
    number(5, random.number(), &mut part);
    number(6, random.number(), &mut part);
    number(1, SESSION, &mut head);
    number(2, random.below(8), &mut head);
    bytes(3, &part, &mut head);
    number(4, random.number(), &mut head);
    number(5, random.number(), &mut head);
    number(6, random.number(), &mut head);
    number(7, random.below(4), &mut head);
    varint(8 << 3 | 5, &mut head);
    head.extend(random.bytes(4));
    number(9, random.below(2), &mut head);
    bytes(1, &head, &mut frame);
    let n = random.below(3000) as usize;
    bytes(2, &random.bytes(n), &mut frame);
    frame
}

/// A message as it stands in the body of a gRPC request: a byte that says whether it is compressed, the length, and the
/// content.
fn framed(message: &[u8]) -> Vec<u8> {
    let mut body = vec![0];
    body.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    body.extend_from_slice(message);
    body
}

fn body(random: &mut Random) -> Vec<u8> {
    match random.below(8) {
        0 => {
            let n = random.below(100) as usize;
            random.bytes(n)
        }
        // Lengths of 4 GiB and of slightly more than the limit, followed by only a few bytes.
        1 => [&[0, 0xff, 0xff, 0xff, 0xff][..], &random.bytes(10)].concat(),
        2 => [&[0, 0, 0x20, 0, 0][..], &random.bytes(10)].concat(),
        // A message that is marked as compressed, although the server offers no compression.
        3 => [&[1, 0, 0, 0, 4][..], &random.bytes(4)].concat(),
        4 => framed(&message(random, 3)),
        5 => {
            let mut cut = framed(&transfer(random));
            cut.truncate(cut.len() - 1 - random.below(20) as usize % cut.len());
            cut
        }
        6 => [framed(&transfer(random)), framed(&transfer(random))].concat(),
        _ => framed(&transfer(random)),
    }
}

/// Sends a request, and returns the status of gRPC, if there is one.
async fn send(channel: &mut Channel, path: &str, kind: &str, body: Vec<u8>) -> Option<String> {
    let request = http::Request::post(path).header("content-type", kind).header("te", "trailers");
    let request = request.body(Body::new(http_body_util::Full::from(body))).unwrap();
    std::future::poll_fn(|cx| channel.poll_ready(cx)).await.unwrap();
    let response =
        tokio::time::timeout(Duration::from_secs(30), channel.call(request)).await.expect("a server that hangs");
    let response = response.ok()?;
    let status = response.headers().get("grpc-status").map(|status| status.to_str().unwrap().to_owned());
    let collected =
        tokio::time::timeout(Duration::from_secs(30), http_body_util::BodyExt::collect(response.into_body()));
    let collected = collected.await.expect("a server that hangs").ok()?;
    let trailer = collected.trailers().and_then(|all| all.get("grpc-status"));
    status.or_else(|| trailer.map(|status| status.to_str().unwrap().to_owned()))
}

/// The peak memory of this process, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// The test runs as the only test of its process, because it measures the memory of the process.
#[test]
fn ten_thousand_malformed_requests_are_refused() {
    let arguments = ["--exact", "hostile::malformed_requests", "--ignored", "--nocapture"];
    let output = Command::new(std::env::current_exe().unwrap()).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "run by ten_thousand_malformed_requests_are_refused in a process of its own"]
fn malformed_requests() {
    let options = ServerOptions { silence: Duration::from_secs(5), ..server_options(2, 1) };
    let servers = servers(&options);
    let all = addresses(&servers);
    let worker = Worker::new(0, 2, &all);
    worker.begin("w", &[1.0, 2.0]).unwrap();
    let before = peak_kib();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let endpoint = Endpoint::from_shared(format!("http://{}", all[0])).unwrap();
        let mut channel = endpoint.connect().await.unwrap();
        // Joins as worker 1. The fields are the version, the session, the rank, and the numbers of workers, of this server
        // and of servers.
        let (mut join, mut call) = (Vec::new(), Vec::new());
        [2, SESSION, 1, 2, 0, 1].iter().zip(1..).for_each(|(n, tag)| number(tag, *n, &mut join));
        bytes(1, &join, &mut call);
        assert_eq!(send(&mut channel, CALL, "application/grpc", framed(&call)).await.as_deref(), Some("0"));
        let tasks: Vec<_> = (0..10u64)
            .map(|seed| {
                let mut channel = channel.clone();
                tokio::spawn(async move {
                    let (mut random, mut n_ok) = (Random(seed + 1), 0);
                    for _ in 0..N_REQUESTS / 10 {
                        let path = match random.below(20) {
                            0 => "/mxrs.kvstore.v1.Values/Other",
                            1 => "/",
                            2..8 => CALL,
                            _ => TRANSFER,
                        };
                        let kind = if random.below(20) == 0 { "text/html" } else { "application/grpc" };
                        let body = body(&mut random);
                        if send(&mut channel, path, kind, body).await.as_deref() == Some("0") {
                            n_ok += 1;
                        }
                    }
                    n_ok
                })
            })
            .collect();
        let mut n_ok = 0;
        for task in tasks {
            n_ok += task.await.unwrap();
        }
        // A few random requests are valid by chance, such as a question with a known session.
        assert!(n_ok < N_REQUESTS / 20, "{n_ok} requests were taken");
    });
    // Bytes that are not HTTP, and connections on which nothing is sent.
    let mut random = Random(99);
    let mut silent = Vec::new();
    for i in 0..200 {
        let mut stream = TcpStream::connect(&all[0]).unwrap();
        let n = random.below(400) as usize;
        // The server may close the connection before all bytes are written, so errors are ignored.
        let _ = stream.write_all(if i % 3 == 0 { b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" } else { b"" });
        let _ = stream.write_all(&random.bytes(n));
        if i % 2 == 0 {
            silent.push(stream);
        }
    }
    let grown = peak_kib() - before;
    assert!(grown < 300 << 10, "{grown} KiB more memory");
    assert!(metric(&servers[0], "mxrs_kvstore_refused_requests_total") > 1000.0);
    // No request has changed the value, and the server works.
    assert_eq!(worker.pull("w", 2).unwrap(), [1.0, 2.0]);
    assert_eq!(worker.pushpull("w", &[1.0, 1.0]).unwrap(), [2.0, 3.0]);
}

#[test]
fn metrics_are_served_by_http() {
    let options = ServerOptions { metrics: Some("127.0.0.1:0".into()), ..server_options(1, 1) };
    let server = servers(&options).pop().unwrap();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(server.metrics_address().unwrap()).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        std::io::read_to_string(stream).unwrap()
    };
    let page = get("/metrics");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("content-type: text/plain; version=0.0.4"), "{page}");
    assert!(page.contains("mxrs_kvstore_updates_total{server=\"0\"} 0\n"), "{page}");
    assert!(get("/secret").starts_with("HTTP/1.1 404"));
}
