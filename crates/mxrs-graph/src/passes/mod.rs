//! Passes over a graph, one file each.

mod eliminate;
mod fixpoint;
mod fold;
mod gradient;
mod infer_dtype;
mod infer_shape;
mod names;
mod place;
mod remat;
mod rewrite;
mod segments;

pub use eliminate::eliminate_common;
pub use fixpoint::Inferred;
pub use fold::constant_nodes;
pub use gradient::{GradientGraph, GradientRequest, HeadGrads, Unreachable, gradient};
pub use infer_dtype::infer_dtypes;
pub use infer_shape::infer_shapes;

pub use place::place;
pub use remat::{Mirroring, chain_checkpoints, mirror, recompute, recompute_if_smaller, sqrt_segments, within_budget};
pub use segments::{Bulk, Segment, SegmentLimits, segments};

#[cfg(test)]
mod interpreter;
#[cfg(test)]
mod properties;
