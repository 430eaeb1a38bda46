//! Servers and workers that are connected by gRPC on this machine: what they guarantee, and what happens when one of them fails.

mod certificates;
mod common;
mod failures;
mod hostile;
mod processes;
mod proxy;
mod recovery;
mod tls;
mod updates;
