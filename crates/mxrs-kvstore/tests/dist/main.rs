//! Stores of several workers, which are threads of this process.

#![allow(unsafe_code)]

mod changed;
#[path = "../common/mod.rs"]
mod common;
mod consistency;
mod failures;
mod priorities;
#[cfg(unix)]
mod sockets;
mod sums;
mod updates;

use mxrs_kvstore::dist::{Connect, DistSync, Group, GroupOptions, local_workers};
use mxrs_kvstore::{Key, KvStore, KvStoreOptions};
use mxrs_ndarray::{ArrayContext, NdArray};
use std::sync::Arc;

/// Runs this code as each of `n` workers, in a thread of its own. Returns the results by rank.
pub fn on_workers<R: Send>(n: usize, body: impl Fn(Arc<Group>) -> R + Sync) -> Vec<R> {
    on_workers_with(n, |_| GroupOptions::default(), body)
}

/// [`on_workers`], with options for the group of each rank.
pub fn on_workers_with<R: Send>(
    n: usize,
    options: impl Fn(usize) -> GroupOptions + Sync,
    body: impl Fn(Arc<Group>) -> R + Sync,
) -> Vec<R> {
    on_wires(local_workers(n), options, body)
}

/// [`on_workers_with`], with these connections, by rank.
pub fn on_wires<R: Send>(
    connects: Vec<Connect>,
    options: impl Fn(usize) -> GroupOptions + Sync,
    body: impl Fn(Arc<Group>) -> R + Sync,
) -> Vec<R> {
    std::thread::scope(|scope| {
        let start = |(rank, connect)| {
            let (body, options) = (&body, &options);
            scope.spawn(move || body(Group::start(connect, options(rank)).unwrap()))
        };
        let threads: Vec<_> = connects.into_iter().enumerate().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// A store of this worker.
pub fn store_of(name: &str, context: &ArrayContext, options: &KvStoreOptions, group: &Arc<Group>) -> DistSync {
    DistSync::new(name.parse().unwrap(), context, options, group).unwrap()
}

/// The float32 value of a key. `context` is that of the store.
pub fn pulled(context: &ArrayContext, store: &dyn KvStore, key: &str, shape: &[usize]) -> mxrs_types::Result<Vec<f32>> {
    let out = NdArray::zeros(context, shape, mxrs_types::DType::F32)?;
    store.pull(&[(Key::from(key), out.clone())], 0)?;
    out.to_vec()
}
