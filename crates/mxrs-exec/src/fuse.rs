//! Fused calls: which pointwise calls of a graph become one, weighed by backends, layouts and planned bytes.
//!
//! The graph is lowered as it is first: that tells the layout of every tensor. Calls whose tensors all have one layout may
//! be fused where a backend other than the reference runs the fused call in that layout, so that fusion never brings a copy
//! between layouts. What comes out is lowered too, and taken if it has fewer kernels and its arena is no larger (G14);
//! otherwise calls that are closer together are tried, and in the end the graph runs as it is. So it does when anything
//! fails: fusion is optional.

use crate::choose::choose;
use crate::constants::folded;
use crate::costly::has_kernels;
use crate::lower::{Bound, Source, lower, lower_with_values};
use crate::options::BindOptions;
use crate::planned::planned_arena_bytes;
use crate::program::{Program, ValueId};
use mxrs_graph::{Entry, EntryId, FusedGraph, FusionRequest, Node, NodeId, ProposedSet, Reach, fuse_pointwise};
use mxrs_op::{
    Backend, Fused, FusedCall, FusedValue, OpCall, OpDef, OpParams, Pointwise, Support, TensorDesc, fused_op,
};
use mxrs_types::{DType, Layout, Result, Shape};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Lowers a graph, with fused calls as [`BindOptions::fuse`] says.
///
/// # Errors
/// No backend runs some node.
pub fn lower_fused(source: Source<'_>, options: &BindOptions) -> Result<Program> {
    if !options.fuse || !has_kernels(&options.backends) {
        return lower(source, options);
    }
    let (plain, of_entry) = lower_with_values(source, options)?;
    let fusion = Fusion { source, options, plain: &plain, of_entry: &of_entry, op: Arc::new(fused_op()) };
    match fusion.best() {
        Ok(Some(fused)) => Ok(fused),
        Ok(None) => Ok(plain),
        Err(error) => {
            tracing::warn!(%error, "pointwise calls could not be fused; the graph runs as it is");
            Ok(plain)
        }
    }
}

/// A lowered graph, and what may be fused of it.
struct Fusion<'a> {
    source: Source<'a>,
    options: &'a BindOptions,
    plain: &'a Program,
    /// Value of each entry.
    of_entry: &'a FxHashMap<EntryId, ValueId>,
    op: Arc<OpDef>,
}

impl Fusion<'_> {
    /// The program with fused calls that is taken, if any is.
    fn best(&self) -> Result<Option<Program>> {
        let mut layouts: Vec<&Layout> = Vec::new();
        // What depends on constants only is computed once, and nothing is gained by fusing it with what is not.
        let nodes = self.source.graph.iter().zip(folded(&self.source));
        let class = |((id, node), is_folded)| if is_folded { None } else { self.class(id, node, &mut layouts) };
        let classes: Vec<Option<u64>> = nodes.map(class).collect();
        if classes.iter().flatten().count() < 2 {
            return Ok(None);
        }
        let limits = (n_kernels(self.plain), planned_arena_bytes(self.plain, &self.options.plan)?);
        for reach in Reach::ALL {
            let start = Instant::now();
            let found = fuse_pointwise(
                self.source.graph,
                &FusionRequest {
                    op: &self.op,
                    n_forward_nodes: self.source.n_forward_nodes,
                    shapes: self.source.shapes,
                    dtypes: self.source.dtypes,
                    is_train: self.source.is_train,
                    reach,
                    class: &|id| classes[id.index()],
                    accept: &|set| self.accepts(set),
                },
            )?;
            let Some(found) = found else { continue };
            let took = start.elapsed();
            let program = self.lower(&found)?;
            // F4 and G14: fewer kernels, in an arena that is no larger.
            let figures = (n_kernels(&program), planned_arena_bytes(&program, &self.options.plan)?);
            if figures.0 < limits.0 && figures.1 <= limits.1 {
                self.tell(&found, reach, took);
                return Ok(Some(program));
            }
            tracing::debug!("fusion ({reach:?}) given up: {limits:?} kernels and bytes would be {figures:?}");
        }
        Ok(None)
    }

    /// One line about the pass whose graph is taken, for people where [`BindOptions::fuse_verbose`] asks for it.
    fn tell(&self, found: &FusedGraph, reach: Reach, took: Duration) {
        let n_sets = found.sets.len();
        let n_calls: usize = found.sets.iter().map(Vec::len).sum();
        if self.options.fuse_verbose {
            tracing::info!("fusion: {n_calls} pointwise calls in {n_sets} fused calls ({reach:?}), {took:?}");
        } else {
            tracing::debug!("fusion: {n_calls} pointwise calls in {n_sets} fused calls ({reach:?}), {took:?}");
        }
    }

    /// A tensor as the graph has it without fusion.
    fn desc(&self, entry: EntryId) -> Option<&TensorDesc> {
        Some(&self.plain.values[*self.of_entry.get(&entry)?].desc)
    }

    /// Calls that may be fused: all their tensors have the layout that the number stands for, and a backend can run each
    /// as part of a fused call.
    fn class<'s>(&'s self, id: NodeId, node: &Node, layouts: &mut Vec<&'s Layout>) -> Option<u64> {
        let (op, params) = node.call().filter(|(op, _)| op.pointwise == Pointwise::Yes)?;
        let graph = self.source.graph;
        let inputs: Vec<TensorDesc> = graph.input_ids(id).map(|e| self.desc(e).cloned()).collect::<Option<_>>()?;
        let outputs: Vec<TensorDesc> = graph.output_ids(id).map(|e| self.desc(e).cloned()).collect::<Option<_>>()?;
        let layout = &self.desc(graph.output_ids(id).next()?)?.layout;
        if inputs.iter().chain(&outputs).any(|desc| desc.layout != *layout) {
            return None;
        }
        let call = FusedCall {
            op: op.clone(),
            params: params.clone(),
            inputs: (0..inputs.len()).map(|i| FusedValue::Input(i as u32)).collect(),
        };
        let results = (0..outputs.len()).map(|i| FusedValue::Call(0, i as u32)).collect();
        let params = OpParams::new(Fused::new(inputs.len(), vec![call], results).ok()?);
        if self.able(&self.call(&params, &inputs, &row_major(&outputs), &vec![false; inputs.len()])).is_empty() {
            return None;
        }
        let number = layouts.iter().position(|known| *known == layout).unwrap_or_else(|| {
            layouts.push(layout);
            layouts.len() - 1
        });
        Some(number as u64)
    }

    fn call<'c>(
        &'c self,
        params: &'c OpParams,
        inputs: &'c [TensorDesc],
        outputs: &'c [TensorDesc],
        is_constant: &'c [bool],
    ) -> OpCall<'c> {
        OpCall { op: &self.op, params, inputs, outputs, is_constant, is_train: self.source.is_train }
    }

    /// Backends with a better kernel than the reference.
    fn able(&self, call: &OpCall<'_>) -> Vec<Arc<dyn Backend>> {
        let is_fast = |backend: &&Arc<dyn Backend>| matches!(backend.supports(call), Support::Yes { cost } if cost < Support::REFERENCE_COST);
        self.options.backends.iter().filter(is_fast).cloned().collect()
    }

    /// Whether a backend runs a set as one call and leaves all layouts as they are.
    fn accepts(&self, set: &ProposedSet<'_>) -> bool {
        let graph = self.source.graph;
        let descs = |entries: &[Entry]| -> Option<Vec<TensorDesc>> {
            entries.iter().map(|e| self.desc(graph.entry_id(*e)).cloned()).collect()
        };
        let (Some(inputs), Some(outputs)) = (descs(set.inputs), descs(set.outputs)) else { return false };
        let (dense, is_constant) = (row_major(&outputs), vec![false; inputs.len()]);
        let call = self.call(set.params, &inputs, &dense, &is_constant);
        let Ok(choice) = choose(&self.able(&call), &call) else { return false };
        let keeps = |layouts: &[Layout], descs: &[TensorDesc]| layouts.iter().eq(descs.iter().map(|desc| &desc.layout));
        keeps(&choice.planned.input_layouts, &inputs) && keeps(&choice.planned.output_layouts, &outputs)
    }

    /// The program of a graph with fused calls.
    fn lower(&self, fused: &FusedGraph) -> Result<Program> {
        let shapes: Vec<Shape> = fused.entries.iter().map(|e| self.source.shapes[e.index()].clone()).collect();
        let dtypes: Vec<DType> = fused.entries.iter().map(|e| self.source.dtypes[e.index()]).collect();
        let moved = |(id, bound): (&NodeId, &Bound)| Some((fused.nodes[id.index()]?, *bound));
        let source = Source {
            graph: &fused.graph,
            n_forward_nodes: fused.n_forward_nodes,
            shapes: &shapes,
            dtypes: &dtypes,
            bound: &self.source.bound.iter().filter_map(moved).collect(),
            ..self.source
        };
        let program = lower(source, self.options)?;
        Ok(Program { rewritten: Some(Arc::new(fused.graph.clone())), ..program })
    }
}

/// As backends are asked about outputs.
fn row_major(descs: &[TensorDesc]) -> Vec<TensorDesc> {
    descs.iter().map(|desc| desc.with_layout(Layout::RowMajor)).collect()
}

fn n_kernels(program: &Program) -> usize {
    program.steps.iter().filter(|step| !step.is_view()).count()
}
