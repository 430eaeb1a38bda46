//! Graphs on floats of 16 bits where kernels for them are missing, or slower: calls compute in float32, at the speed of that; the
//! short type is how parameters, inputs and outputs are stored. Whatever goes wrong on the way, the graph stays as it is.
//!
//! At inference products of float16 are always float32's, even where a library has kernels for it, which take longer. Those of
//! bfloat16 are where [`BindOptions::short_products`] says so.
//!
//! In a training step the forward graph is widened before it is differentiated: activations and their gradients are float32
//! too, twice as large, and the gradient of a short parameter is rounded once. Calls without a graph stay what they are.

use crate::bind::Known;
use crate::costly::{is_costly, is_product, wide};
use crate::lower::Bound;
use crate::options::BindOptions;
use crate::partition::is_fast;
use crate::program::Program;
use mxrs_graph::{Graph, NodeId, widen};
use mxrs_op::{OpCall, TensorDesc};
use mxrs_types::{DType, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A graph with what lowering must know of it.
struct Wide {
    graph: Graph,
    known: Known,
    bound: FxHashMap<NodeId, Bound>,
}

/// The same, borrowed.
pub type Described<'a> = (&'a Graph, &'a Known, &'a FxHashMap<NodeId, Bound>);

/// What `make` makes of the graph on float32, and that graph. Where there is none, or `make` or `check` fails for it, what `make`
/// makes of the graph as it is.
///
/// # Errors
/// What `make` reports for the graph as it is.
pub fn on_wide<T>(
    described: Described<'_>,
    options: &BindOptions,
    is_train: bool,
    make: impl Fn(Described<'_>) -> Result<T>,
    check: impl Fn(&T) -> Result<()>,
) -> Result<(T, Option<Graph>)> {
    if let Some(Wide { graph, known, bound }) = widened(described, options, is_train) {
        let made = make((&graph, &known, &bound)).and_then(|made| check(&made).map(|()| made));
        match made {
            Ok(made) => return Ok((made, Some(graph))),
            Err(error) => tracing::warn!(%error, "calls on 16 bits stay what they are"),
        }
    }
    Ok((make(described)?, None))
}

/// A program of the graph on float32, or of the graph as it is, as [`on_wide`] has it.
///
/// # Errors
/// As [`on_wide`].
pub fn lower_wide(
    described: Described<'_>,
    options: &BindOptions,
    is_train: bool,
    lower: impl Fn(Described<'_>) -> Result<Program>,
) -> Result<Program> {
    let (mut program, wide) = on_wide(described, options, is_train, lower, |_| Ok(()))?;
    program.rewritten = program.rewritten.or_else(|| wide.map(Arc::new));
    Ok(program)
}

/// The graph on float32, where some call on 16 bits would run on the reference kernels, or slower than it could, and has a better
/// one for float32. For bfloat16, which other calls may have kernels for, and in training it must be a costly one.
fn widened(described: Described<'_>, options: &BindOptions, is_train: bool) -> Option<Wide> {
    let mut found: Option<Wide> = None;
    for short in [DType::F16, DType::BF16] {
        let now = found.as_ref().map_or(described, |wide| (&wide.graph, &wide.known, &wide.bound));
        if let Some(wide) = without(short, now, options, is_train) {
            found = Some(wide);
        }
    }
    found
}

/// The graph without one type.
fn without(short: DType, (graph, known, bound): Described<'_>, options: &BindOptions, is_train: bool) -> Option<Wide> {
    if !known.dtypes.contains(&short) {
        return None;
    }
    let entries = known.shapes.iter().zip(&known.dtypes);
    let descs: Vec<TensorDesc> = entries.map(|(shape, dtype)| TensorDesc::dense(shape.clone(), *dtype)).collect();
    if !graph.iter().any(|(id, _)| gains(graph, id, &descs, short, options, is_train)) {
        return None;
    }
    match widen(graph, &options.ops, &descs, short) {
        Ok(Some(wide)) => {
            let moved = |(id, bound): (&NodeId, &Bound)| Some((wide.new_ids[id.index()]?, *bound));
            Some(Wide {
                known: Known {
                    shapes: wide.descs.iter().map(|desc| desc.shape.clone()).collect(),
                    dtypes: wide.descs.iter().map(|desc| desc.dtype).collect(),
                },
                bound: bound.iter().filter_map(moved).collect(),
                graph: wide.graph,
            })
        }
        Ok(None) => {
            tracing::debug!("calls on {short} stay what they are: the graph cannot be widened");
            None
        }
        Err(error) => {
            tracing::warn!(%error, "calls on {short} stay what they are");
            None
        }
    }
}

/// Whether a call on the short type has no kernel but the reference, or none that is worth it, and one on float32 has.
fn gains(graph: &Graph, id: NodeId, descs: &[TensorDesc], short: DType, options: &BindOptions, is_train: bool) -> bool {
    let Some((op, params)) = graph.node(id).call() else { return false };
    let inputs: Vec<TensorDesc> = graph.input_ids(id).map(|entry| descs[entry.index()].clone()).collect();
    let outputs: Vec<TensorDesc> = graph.output_ids(id).map(|entry| descs[entry.index()].clone()).collect();
    if !inputs.iter().any(|desc| desc.dtype == short) {
        return false;
    }
    let is_constant = vec![false; inputs.len()];
    let call = OpCall { op, params, inputs: &inputs, outputs: &outputs, is_constant: &is_constant, is_train };
    let is_costly = is_costly(&call);
    let (counts, is_stored_only) = match short {
        _ if is_train => (is_costly, false),
        DType::F16 => (true, is_product(&call)),
        _ => (is_costly, is_costly && !options.short_products),
    };
    if !counts || (!is_stored_only && is_fast(&options.backends, &call)) {
        return false;
    }
    let (inputs, outputs) = (wide(&inputs, short), wide(&outputs, short));
    is_fast(&options.backends, &OpCall { inputs: &inputs, outputs: &outputs, ..call })
}
