//! Servers that keep and update the values of asynchronous key-value stores (`dist_async`), and the workers' connections to
//! them: gRPC over HTTP/2, with TLS in which both sides show certificates.
//!
//! [`Server`] keeps the values of its keys, updates them by an updater that it makes from named settings, and writes
//! snapshots, from which it continues if it is started again. [`GrpcServers`] is the connection of one worker to all
//! servers; the store [`DistAsync`](mxrs_kvstore::served::DistAsync) uses it. Nothing that a server receives is executed:
//! values are bytes of a declared size, and optimizers are names with settings.
//!
//! A worker numbers its pushes to each key. A server applies each number once, so a push that is sent again after a lost
//! connection changes nothing. Pushes that no snapshot has yet are kept by the worker, and sent again to a server that was
//! restored from an earlier snapshot.
//!
//! This crate does not depend on optimizers, operators or environment variables: it is given options and [`MakeUpdater`].
//! gRPC is tonic, TLS is rustls with the cryptography of graviola, which is built without a C compiler.
//!
//! [`MakeUpdater`]: mxrs_kvstore::MakeUpdater

mod client;
mod limits;
mod messages;
mod server;
mod tls;
mod wire;

pub use client::{GrpcServers, WorkerOptions};
pub use server::{Server, ServerOptions};
pub use tls::{TlsFiles, WORKER};
pub use wire::host_and_port;

use mxrs_types::{Error, Result};

/// A random number that other processes cannot guess.
fn random_number() -> Result<u64> {
    let mut bytes = [0; 8];
    graviola::random::fill(&mut bytes)
        .map_err(|error| Error::invalid("random number of the system", format!("{error:?}"), "8 bytes"))?;
    Ok(u64::from_le_bytes(bytes))
}
