//! Code shared by the fuzz targets: random graphs and models, and functions that bind and run them under limits.
//!
//! Every decision is read from the fuzzer's bytes, so that one input always gives the same graph and a failure can be
//! reproduced.

pub mod attributes;
pub mod graph;
pub mod model;
pub mod run;

/// Largest size of one tensor, in bytes, in a random graph that is run.
pub const TENSOR_BYTES: usize = 64 << 10;
/// Largest size of all tensors together, in bytes, in a random graph that is run.
pub const GRAPH_BYTES: usize = 1 << 20;
/// Most bytes that binding and running such a graph may reserve: packed weights, layouts with padding, scratch memory.
pub const RESERVED_BYTES: u64 = 128 << 20;
/// Most multiply-adds of one call in a random graph that is run.
pub const MULTIPLY_ADDS: u64 = 1 << 22;
