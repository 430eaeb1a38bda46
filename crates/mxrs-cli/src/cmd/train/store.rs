//! The flags of key-value stores and of profiles.

use super::flags::Training;
use crate::exit::{Failure, Outcome};
use crate::profiling::Wanted;
use mxrs::kvstore::StoreType;
use mxrs::train::{Compression, Host, KvStore, KvStoreChoice, StoreOptions};
use std::path::Path;
use std::sync::Arc;

/// The key-value stores that are built, each with whether it compresses gradients.
const BUILT: [(&str, bool); 14] = [
    ("local", false),
    ("local_update_cpu", false),
    ("local_allreduce_cpu", false),
    ("device", true),
    ("local_allreduce_device", true),
    ("dist", true),
    ("dist_sync", true),
    ("dist_sync_device", true),
    ("dist_device_sync", true),
    ("p3", false),
    ("horovod", false),
    ("dist_async", true),
    ("dist_async_device", true),
    ("dist_device_async", true),
];

fn usage<T>(message: String) -> Outcome<T> {
    Err(Failure::Usage(message))
}

/// The compression of gradients; `None` if they are not compressed.
///
/// # Errors
/// [`Failure::Usage`] if the store is unknown or not built, if it does not support the compression, or if the threshold is
/// not valid for the compression.
pub fn compression(training: &Training) -> Outcome<Option<Compression>> {
    let store = training.kv_store.to_lowercase();
    if store == "byteps" {
        return usage(
            "--kv-store: `byteps` is not built; for several machines: dist_sync, horovod, p3 or dist_async".into(),
        );
    }
    if !cfg!(feature = "grpc") && store.parse::<StoreType>().is_ok_and(|store| store.must_update()) {
        return usage(format!("--kv-store: `{store}` needs the feature grpc, which this build is without"));
    }
    if store == "nccl" {
        return usage(
            "--kv-store: `nccl` sums over GPUs by NVIDIA's NCCL, which this build is without: device or local".into(),
        );
    }
    let Some((_, compresses)) = BUILT.iter().find(|(name, _)| *name == store) else {
        let known: Vec<&str> = BUILT.iter().map(|(name, _)| *name).collect();
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
        kind @ ("1bit" | "2bit") => usage(format!(
            "--gc-type {kind}: the store `{store}` does not compress gradients; --kv-store device and dist_sync do"
        )),
        other => usage(format!("--gc-type: `{other}` is not none, 2bit or 1bit")),
    }
}

/// The store that connects this worker to the others, if `--kv-store` names a store for several processes. Waits until all
/// workers have joined.
///
/// # Errors
/// [`Failure::Usage`] if no launcher has started this process. Fails if the other workers do not join.
pub fn workers(training: &Training, host: &impl Host) -> Outcome<Option<Arc<dyn KvStore>>> {
    let store_type: StoreType = training.kv_store.parse().map_err(Failure::binding)?;
    if !store_type.is_distributed() {
        return Ok(None);
    }
    host.kvstore(&training.kv_store).map(Some).map_err(Failure::binding)
}

/// The store of a training on `n_contexts` devices. It is `workers`, the store that connects the workers, if there is one.
/// Otherwise one device needs a store only for compression.
///
/// # Errors
/// Fails if the host has no such store.
pub fn options(
    training: &Training,
    compression: Option<Compression>,
    n_contexts: usize,
    host: &impl Host,
    workers: Option<&Arc<dyn KvStore>>,
) -> Outcome<StoreOptions> {
    if let Some(store) = workers {
        // Clipping needs the norm of the summed gradients, so with `--clip-norm` every worker updates its weights itself
        // after the sum. Servers do not sum gradients, so with them each worker clips its own gradients before it sends
        // them.
        let update_on_kvstore = training.clip_norm.filter(|_| !store.store_type().must_update()).map(|_| false);
        return Ok(StoreOptions { compression, update_on_kvstore, ..StoreOptions::new(Arc::clone(store)) });
    }
    if n_contexts == 1 && compression.is_none() {
        return Ok(StoreOptions::new(KvStoreChoice::None));
    }
    // As in MXNet's scripts, the store is made here and not by the module. So the store updates the weights, whatever their
    // size.
    let store = host.kvstore(&training.kv_store).map_err(Failure::binding)?;
    Ok(StoreOptions { compression, ..StoreOptions::new(store) })
}

/// What to profile; `None` if neither `--profile` nor `--profile-worker-suffix` is given. With one worker, the suffix is the
/// name of the trace, as in MXNet's scripts.
///
/// # Errors
/// [`Failure::Usage`] if a profile of servers is requested, or if both flags name a trace.
pub fn profile(training: &Training) -> Outcome<Option<Wanted>> {
    if !training.profile_server_suffix.is_empty() {
        return usage(
            "--profile-server-suffix: only dist_async has servers, and a server is a process of its own, which --profile in \
             its command profiles; leave the flag out"
                .to_owned(),
        );
    }
    let suffix = Some(Path::new(&training.profile_worker_suffix)).filter(|suffix| !suffix.as_os_str().is_empty());
    match (training.profile.as_deref(), suffix) {
        (Some(_), Some(_)) => usage("--profile and --profile-worker-suffix name the same trace; give one".to_owned()),
        (trace, suffix) => Ok(trace.or(suffix).map(Wanted::all)),
    }
}
