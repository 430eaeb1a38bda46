//! What the fuzz targets share: random graphs and models, and a way to bind and run them under limits.
//!
//! Every decision is read from the fuzzer's bytes, so that one input is one graph and an input that failed can be run again.

pub mod attributes;
pub mod graph;
pub mod model;
pub mod run;

/// Bytes that one tensor of a random graph has at most, if the graph is to run.
pub const TENSOR_BYTES: usize = 64 << 10;
/// Bytes that all its tensors have together at most.
pub const GRAPH_BYTES: usize = 1 << 20;
/// Bytes that binding and running such a graph may reserve: packed weights, layouts with padding, scratch memory.
pub const RESERVED_BYTES: u64 = 128 << 20;
/// Multiply-adds of a call at most.
pub const MULTIPLY_ADDS: u64 = 1 << 22;
