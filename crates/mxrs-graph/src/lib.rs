//! The symbol graph: composing it, checking it, inferring shapes and types over it, and planning its memory.
//!
//! A [`Symbol`] is what a user composes; a [`Graph`] is the verified, immutable form that everything else reads. Passes
//! are functions over `&Graph`. The memory planner works on a neutral list of steps, so that an executor may insert
//! steps of its own. This crate knows no concrete operator, no file format, no kernel and no environment variable.
//!
//! ```
//! use mxrs_graph::{NameManager, Symbol, SymbolCall, infer_shapes};
//! use mxrs_op::OpDef;
//! use mxrs_types::Shape;
//! use std::sync::Arc;
//!
//! let relu = Arc::new(OpDef::new("relu"));
//! let mut names = NameManager::new();
//! let x = Symbol::variable("x");
//! let y = SymbolCall::new(&relu).input(&x).build(&mut names).unwrap();
//! assert_eq!(y.outputs(), ["relu0_output"]);
//!
//! let graph = y.graph().unwrap();
//! assert_eq!(graph.argument_names(), ["x"]);
//! let shapes = infer_shapes(&graph, [("x", Shape::from([2, 3]).into())]).unwrap().complete(&graph).unwrap();
//! assert_eq!(shapes[graph.entry_id(graph.heads()[0]).index()], Shape::from([2, 3]));
//! ```
//!
//! Read next: `graph.rs` for the data, `memory/mod.rs` for the planner's rules.

mod builder;
mod graph;
mod ids;
pub mod memory;
mod node;
mod passes;
mod symbol;
#[cfg(test)]
mod test_ops;

pub use builder::GraphBuilder;
pub use graph::{Graph, GraphAttr};
pub use ids::{Entry, EntryId, NodeId};
pub use memory::{EntryKind, MemoryPlan, Placement, PlanEntry, PlanOptions, PlanStep, plan_memory};
pub use node::Node;
pub use passes::{
    Bulk, GradientGraph, GradientRequest, HeadGrads, Inferred, Mirroring, Segment, SegmentLimits, Unreachable,
    chain_checkpoints, constant_nodes, eliminate_common, gradient, infer_dtypes, infer_shapes, mirror, place,
    recompute, recompute_if_smaller, segments, sqrt_segments, within_budget,
};
pub use symbol::{NameManager, Symbol, SymbolCall};
