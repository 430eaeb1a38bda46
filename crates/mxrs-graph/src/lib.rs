//! The symbol graph: composing and checking it, inferring its shapes and types, differentiating and rewriting it, and
//! planning its memory.
//!
//! A user composes a [`Symbol`]; a [`Graph`] is the verified, immutable form that all other code reads. Passes are functions
//! of `&Graph`. The memory planner works on a neutral list of steps, so that an executor may insert its own steps. This
//! crate does not depend on file formats, kernels, the environment or concrete operators. It knows only the names of the
//! operators that it inserts: sums, ones, zeros, copies, and the slices and selections of control flow.
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
//! Gradients are part of a graph too: operators declare the calls that compute their gradients, and [`gradient()`] appends
//! these calls to the graph.
//!
//! ```
//! use mxrs_graph::{GradientRequest, NameManager, Symbol, SymbolCall, gradient};
//! use mxrs_op::{Gradient, InputNames, OpDef, OpSet};
//!
//! let mut mul = OpDef::new("mul");
//! mul.inputs = InputNames::Fixed(&["lhs", "rhs"]);
//! mul.gradient = Gradient::By(|_, call| {
//!     let (a, b, grad) = (call.input(0), call.input(1), call.out_grad(0)?);
//!     Ok(vec![Some(call.call_one("mul", &[grad, b])?), Some(call.call_one("mul", &[grad, a])?)])
//! });
//! let ops = OpSet::new([mul, OpDef::new("ones_like")]).unwrap();
//! let (a, b) = (Symbol::variable("a"), Symbol::variable("b"));
//! let call = SymbolCall::new(ops.get("mul").unwrap()).name("y").input(&a).input(&b);
//! let graph = call.build(&mut NameManager::new()).unwrap().graph().unwrap();
//! let training = gradient(&graph, &ops, &GradientRequest::of_variables(&graph, ["a"]).unwrap()).unwrap();
//! assert_eq!(training.graph.output_names(), ["y_output", "y_backward_output"]);
//! assert_eq!(training.n_forward_nodes, graph.n_nodes());
//! ```
//!
//! Read next: `graph.rs` for the data, `passes/mod.rs` for the passes, `memory/mod.rs` for the planner's rules.

mod builder;
mod control_flow;
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
    CallPair, Declined, FusedGraph, FusionRequest, GradientRequest, HeadGrads, Inferred, Mirroring, Partitioned,
    Partitioning, ProposedSet, Reach, Region, ScaledLosses, TrainingGraph, Unreachable, Widened, autocast,
    chain_checkpoints, constant_nodes, eliminate_common, expand_control_flow, first_recomputed, fuse_pointwise,
    gradient, infer_dtypes, infer_shapes, join_pairs, mirror, partition, place, recompute, recompute_if_smaller,
    scale_losses, select_outputs, sqrt_segments, widen, within_budget,
};
pub use symbol::{AttrScope, NameManager, Symbol, SymbolCall};
