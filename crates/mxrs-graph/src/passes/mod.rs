//! Passes over a graph, one file or folder each.
//!
//! | pass | what it does |
//! |---|---|
//! | `autocast` | lets calls that are worth it compute in 16 bits |
//! | `infer_shape`, `infer_dtype` | shapes and types of all entries, by `fixpoint` |
//! | `gradient` | joins a graph with the calls that compute its gradients |
//! | `eliminate` | merges common subexpressions |
//! | `fold` | finds calls that depend on constants only |
//! | `pair` | makes one call of a call and the activation behind it, forward and backward |
//! | `partition` | replaces chains of calls by the calls that patterns say, at inference |
//! | `fuse` | makes one call of sets of pointwise calls |
//! | `place` | gives nodes devices, and copies where data crosses |
//! | `remat` | computes forward calls again instead of keeping their outputs |
//! | `select` | keeps what other outputs need |
//! | `segments` | cuts the nodes into bulk tasks |
//! | `widen` | lets calls on floats of 16 bits compute in float32 |
//!
//! Those that add, merge or drop nodes copy the graph through `rewrite` and keep the order of the nodes. On a gradient
//! graph they keep the forward part in front (G3). There is no pass for nodes that no output needs: building a graph
//! leaves them out.

mod autocast;
mod eliminate;
mod fixpoint;
mod fold;
mod fuse;
mod gradient;
mod infer_dtype;
mod infer_shape;
mod names;
mod pair;
mod partition;
mod place;
mod remat;
mod rewrite;
mod segments;
mod select;
mod widen;

pub use autocast::autocast;
pub use eliminate::eliminate_common;
pub use fixpoint::Inferred;
pub use fold::constant_nodes;
pub use fuse::{FusedGraph, FusionRequest, ProposedSet, Reach, fuse_pointwise};
pub use gradient::{GradientGraph, GradientRequest, HeadGrads, Unreachable, gradient};
pub use infer_dtype::infer_dtypes;
pub use infer_shape::infer_shapes;
pub use pair::{CallPair, join_pairs};
pub use partition::{Declined, Partitioned, Partitioning, Region, partition};
pub use place::place;
pub use remat::{
    Mirroring, chain_checkpoints, first_again, mirror, recompute, recompute_if_smaller, sqrt_segments, within_budget,
};
pub use segments::{Bulk, Segment, SegmentLimits, segments};
pub use select::select_outputs;
pub use widen::{Widened, widen};

#[cfg(test)]
mod interpreter;
#[cfg(test)]
mod properties;
