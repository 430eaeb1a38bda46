//! Passes over a graph, one file or folder each.
//!
//! | pass | what it does |
//! |---|---|
//! | `autocast` | lets products compute in half precision |
//! | `control_flow` | replaces loops and branches by copies of their subgraphs |
//! | `infer_shape`, `infer_dtype` | shapes and types of all entries, by `fixpoint` |
//! | `gradient` | appends the calls that compute the gradients of a graph |
//! | `eliminate` | merges common subexpressions |
//! | `fold` | finds calls that depend only on constants |
//! | `pair` | fuses a call with the activation after it, forward and backward |
//! | `partition` | at inference, replaces chains of calls by the calls that patterns define |
//! | `fuse` | fuses sets of pointwise calls |
//! | `place` | assigns devices to nodes, and inserts copies where data crosses devices |
//! | `remat` | recomputes forward calls instead of keeping their outputs |
//! | `scale_losses` | multiplies the gradients of losses by a number that may change between runs |
//! | `select` | keeps only the nodes that the selected outputs need |
//! | `widen` | lets half-precision calls compute in float32 |
//!
//! Passes that add, merge or drop nodes copy the graph through `rewrite` and keep the order of the nodes. On a training
//! graph they keep the forward part in front (G3). There is no pass for nodes that no output needs, because building a
//! graph drops them.

mod autocast;
mod control_flow;
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
mod scale_losses;
mod select;
mod widen;

pub use autocast::autocast;
pub use control_flow::expand_control_flow;
pub use eliminate::eliminate_common;
pub use fixpoint::Inferred;
pub use fold::constant_nodes;
pub use fuse::{FusedGraph, FusionRequest, ProposedSet, Reach, fuse_pointwise};
pub use gradient::{GradientRequest, HeadGrads, TrainingGraph, Unreachable, gradient};
pub use infer_dtype::infer_dtypes;
pub use infer_shape::infer_shapes;
pub use pair::{CallPair, join_pairs};
pub use partition::{Declined, Partitioned, Partitioning, Region, partition};
pub use place::place;
pub use remat::{
    Mirroring, chain_checkpoints, first_recomputed, mirror, recompute, recompute_if_smaller, sqrt_segments,
    within_budget,
};
pub use scale_losses::{ScaledLosses, scale_losses};
pub use select::select_outputs;
pub use widen::{Widened, widen};

#[cfg(test)]
mod interpreter;
#[cfg(test)]
mod properties;
