//! Control flow: replaces loops and branches by copies of their subgraphs, and infers through subgraphs without copies.
//!
//! | file | what it does |
//! |---|---|
//! | `infer` | shapes and types of a call from those of its subgraphs, and back |
//! | `expansion` | the graph under construction: copies of subgraphs, their names and limits |
//! | `foreach` | one copy per row |
//! | `while_loop` | one copy per possible step; a mask selects the steps that are taken |
//! | `branch` | both branches, and a selection |
//!
//! A copy of node `fc` in step 3 of the loop `foreach0` is called `foreach0_step3_fc`. Variables of a subgraph stand for
//! inputs of the call, so arguments and auxiliary states keep their names and are shared by all copies.
//!
//! Steps and branches that are not taken are computed too. Their outputs are not selected, so NaN in them has no effect.
//! Their gradients could still be NaN, because 0 times infinity is NaN. Therefore their inputs go through `_control_gate`,
//! whose gradient is a selection and not a product.

mod branch;
mod expansion;
mod foreach;
mod infer;
mod while_loop;

pub(super) use infer::infer;

use super::infer_shapes;
use crate::Graph;
use expansion::Expansion;
use mxrs_op::OpSet;
use mxrs_types::{PartialShape, Result};

/// Replaces every call of a control-flow operator by copies of its subgraphs. `given` are the shapes of variables, from
/// which the number of steps of each loop over rows is inferred. The new graph has the same variables in the same order. Its
/// heads keep their order, and may have other names. `has_gradient` says whether gradients will be computed. If not, the
/// gates are left out, because only gradients need them.
///
/// # Errors
/// Fails in each of these cases:
/// - shapes contradict each other, or the number of steps is unknown or 0;
/// - a branch or the body of a while loop writes auxiliary states, which only a step that is taken may do;
/// - the new graph would be larger than the limits in `expansion.rs`;
/// - an operator that the copies need is not in `ops`.
pub fn expand_control_flow<'a>(
    graph: &Graph,
    ops: &OpSet,
    given: impl IntoIterator<Item = (&'a str, PartialShape)>,
    has_gradient: bool,
) -> Result<Graph> {
    if !graph.has_control_flow() {
        return Ok(graph.clone());
    }
    let shapes = infer_shapes(graph, given)?;
    Expansion::new(graph, ops, has_gradient).of_graph(shapes.entries(), true)
}
