//! The flags of key-value stores and of profiles.

use super::flags::Training;
use crate::exit::{Failure, Outcome};
use crate::profiling::Wanted;
use mxrs::train::{Compression, Host, KvStoreChoice, StoreOptions};
use std::path::Path;

/// Key-value stores of one machine, each with whether it compresses gradients.
const LOCAL: [(&str, bool); 5] = [
    ("local", false),
    ("local_update_cpu", false),
    ("local_allreduce_cpu", false),
    ("device", true),
    ("local_allreduce_device", true),
];
/// Key-value stores for several machines.
const DISTRIBUTED: [&str; 10] = [
    "dist",
    "dist_sync",
    "dist_async",
    "dist_sync_device",
    "dist_device_sync",
    "dist_async_device",
    "dist_device_async",
    "p3",
    "horovod",
    "byteps",
];

fn usage<T>(message: String) -> Outcome<T> {
    Err(Failure::Usage(message))
}

/// The compression of gradients; `None` if they are not compressed.
///
/// # Errors
/// [`Failure::Usage`] if the store is unknown or for several machines, if it does not support the compression, or if the
/// threshold is not one of the compression.
pub fn compression(training: &Training) -> Outcome<Option<Compression>> {
    let store = training.kv_store.to_lowercase();
    if DISTRIBUTED.contains(&store.as_str()) {
        return usage(format!(
            "--kv-store: `{store}` is for several machines; this version trains on one: device or local"
        ));
    }
    if store == "nccl" {
        return usage(
            "--kv-store: `nccl` sums over GPUs by NVIDIA's NCCL, which this build is without: device or local".into(),
        );
    }
    let Some((_, compresses)) = LOCAL.iter().find(|(name, _)| *name == store) else {
        let known: Vec<&str> = LOCAL.iter().map(|(name, _)| *name).collect();
        return usage(format!("--kv-store: `{store}` is not one of {}", known.join(", ")));
    };
    let threshold = training.gc_threshold.unwrap_or(0.5);
    match training.gc_type.as_str() {
        "none" => {
            if training.gc_threshold.is_some() {
                tracing::warn!("--gc-threshold is without effect: it is for --gc-type 2bit or 1bit");
            }
            Ok(None)
        }
        kind @ ("1bit" | "2bit") if *compresses => match Compression::new(kind, threshold) {
            Ok(compression) => Ok(Some(compression)),
            Err(error) => usage(format!("--gc-threshold: {error}")),
        },
        kind @ ("1bit" | "2bit") => {
            usage(format!("--gc-type {kind}: the store `{store}` does not compress gradients; --kv-store device does"))
        }
        other => usage(format!("--gc-type: `{other}` is not none, 2bit or 1bit")),
    }
}

/// The store of a training on `n_contexts` devices. One device needs a store only for its compression.
///
/// # Errors
/// Fails if the host has no such store.
pub fn options(
    training: &Training,
    compression: Option<Compression>,
    n_contexts: usize,
    host: &impl Host,
) -> Outcome<StoreOptions> {
    if n_contexts == 1 && compression.is_none() {
        return Ok(StoreOptions::new(KvStoreChoice::None));
    }
    // MXNet's scripts make the store themselves, so it updates the weights however large they are.
    let store = host.kvstore(&training.kv_store).map_err(Failure::binding)?;
    Ok(StoreOptions { compression, ..StoreOptions::new(store) })
}

/// What to profile: `None` without `--profile` and `--profile-worker-suffix`. With one worker, MXNet's scripts name the trace as
/// the suffix says.
///
/// # Errors
/// [`Failure::Usage`] if a profile of servers is asked for, or two traces.
pub fn profile(training: &Training) -> Outcome<Option<Wanted>> {
    if !training.profile_server_suffix.is_empty() {
        return usage(
            "--profile-server-suffix: stores inside a process have no servers; leave the flag out".to_owned(),
        );
    }
    let suffix = Some(Path::new(&training.profile_worker_suffix)).filter(|suffix| !suffix.as_os_str().is_empty());
    match (training.profile.as_deref(), suffix) {
        (Some(_), Some(_)) => usage("--profile and --profile-worker-suffix name the same trace; give one".to_owned()),
        (trace, suffix) => Ok(trace.or(suffix).map(Wanted::all)),
    }
}
