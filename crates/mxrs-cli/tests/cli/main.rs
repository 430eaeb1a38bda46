//! Tests that run the built program and check its output, its files and its exit code.

#[cfg(unix)]
mod bandwidth;
mod convert_onnx;
mod damaged;
mod diagnose;
mod env;
mod explain;
mod files;
mod fine_tune;
mod help;
mod hostile;
mod im2rec;
mod interrupt;
#[cfg(unix)]
mod launch;
#[cfg(all(unix, feature = "grpc"))]
mod launch_async;
#[cfg(unix)]
mod launch_bits;
#[cfg(unix)]
mod launch_failures;
#[cfg(unix)]
mod launch_shares;
#[cfg(unix)]
mod manifests;
mod mxrs;
mod ops;
mod plan;
mod plot;
mod predict;
mod predict_onnx;
mod profile;
mod quantize;
mod score;
mod small;
mod summary;
mod train;
mod train_again;
mod train_apart;
mod train_contexts;
mod train_flags;
mod tune;
mod usage;
