//! The flags of key-value stores and of profiles, for a version that trains on one machine with one device.

use super::flags::Training;
use crate::exit::{Failure, Outcome};

/// Key-value stores of one machine, each with whether it compresses gradients.
const LOCAL: [(&str, bool); 5] = [
    ("local", false),
    ("local_update_cpu", false),
    ("local_allreduce_cpu", false),
    ("device", true),
    ("local_allreduce_device", true),
];
/// Key-value stores for several machines.
const DISTRIBUTED: [&str; 9] = [
    "dist",
    "dist_sync",
    "dist_async",
    "dist_sync_device",
    "dist_device_sync",
    "dist_async_device",
    "dist_device_async",
    "horovod",
    "byteps",
];

fn usage<T>(message: String) -> Outcome<T> {
    Err(Failure::Usage(message))
}

/// The threshold of the gradient compression; `None` if gradients are not compressed.
///
/// # Errors
/// [`Failure::Usage`] if the store is unknown or for several machines, if it does not support the compression, or if the
/// threshold is not a positive number.
pub fn compression(training: &Training) -> Outcome<Option<f64>> {
    let store = training.kv_store.to_lowercase();
    if DISTRIBUTED.contains(&store.as_str()) {
        return usage(format!(
            "--kv-store: `{store}` is for several machines; this version trains on one: device or local"
        ));
    }
    if store == "nccl" {
        return usage(
            "--kv-store: `nccl` is for several GPUs; this version computes on the CPU: device or local".into(),
        );
    }
    let Some((_, compresses)) = LOCAL.iter().find(|(name, _)| *name == store) else {
        let known: Vec<&str> = LOCAL.iter().map(|(name, _)| *name).collect();
        return usage(format!("--kv-store: `{store}` is not one of {}", known.join(", ")));
    };
    let threshold = training.gc_threshold.unwrap_or(0.5);
    if !(threshold.is_finite() && threshold as f32 > 0.0) {
        return usage(format!("--gc-threshold: `{threshold}` is not a positive number"));
    }
    match training.gc_type.as_str() {
        "none" => {
            if training.gc_threshold.is_some() {
                tracing::warn!("--gc-threshold is without effect: it is for --gc-type 2bit");
            }
            Ok(None)
        }
        "2bit" if *compresses => Ok(Some(threshold)),
        "2bit" => usage(format!("--gc-type: the store `{store}` does not compress gradients; --kv-store device does")),
        other => usage(format!("--gc-type: `{other}` is not none or 2bit")),
    }
}

/// Refuses the flags for profiles.
///
/// # Errors
/// [`Failure::Usage`] if a flag names a profile file.
pub fn check_profile(training: &Training) -> Outcome {
    let flags = [
        ("--profile-worker-suffix", &training.profile_worker_suffix),
        ("--profile-server-suffix", &training.profile_server_suffix),
    ];
    match flags.iter().find(|(_, file)| !file.is_empty()) {
        None => Ok(()),
        Some((flag, _)) => usage(format!(
            "{flag}: this version has no profiler; leave the flag out (`mxrs score --explain` says what each layer takes)"
        )),
    }
}
