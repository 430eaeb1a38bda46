//! Fusion: several pointwise calls become one call.
//!
//! - Needs a graph with shapes and types, forward or training. The pass lowers it once, to know the layout of every tensor.
//! - Promises fewer kernels, an arena that is not larger, no new copy between layouts, and the same bits if one backend runs
//!   the fused and the single calls. Calls whose tensors all have one layout may be fused if a backend other than the
//!   reference runs the fused call in that layout. If the fused graph needs a larger arena, the pass tries fused calls whose
//!   parts are closer together in the graph.
//! - Switch: [`BindOptions::fuse`] (`MXNET_USE_FUSION`), on by default.

use crate::bind::Known;
use crate::choose::{choose, has_fast_kernel};
use crate::constants::folded_nodes;
use crate::costly::has_kernels;
use crate::device::{backends_on, device_of};
use crate::lower::{Bound, Source, lower_with_values};
use crate::options::BindOptions;
use crate::pipeline::{Context, GraphState, LoweredGraph, Typed};
use crate::program::{Program, ValueId};
use crate::program_passes::plan_memory::planned_arena_bytes;
use mxrs_graph::{
    Entry, EntryId, FusedGraph, FusionRequest, Node, NodeId, ProposedSet, Reach, TrainingGraph, fuse_pointwise,
};
use mxrs_op::{Backend, Fused, FusedCall, FusedValue, OpCall, OpDef, OpParams, Pointwise, TensorDesc, fused_op};
use mxrs_types::{Device, Layout, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Fuses pointwise calls.
///
/// # Errors
/// Returns an error if no backend runs some node, or a candidate cannot be planned.
pub fn run(state: &GraphState, context: &Context<'_>) -> Result<Option<GraphState>> {
    let options = context.options;
    if !options.fuse || !has_kernels(&options.backends) {
        return Ok(None);
    }
    let (plain, of_entry) = state.lowered(context)?;
    let typed = state.typed(options)?;
    let source = state.source(&state.graph, typed, context.is_train);
    Fusion { state, source, options, plain, of_entry, op: Arc::new(fused_op()) }.best()
}

/// A lowered graph whose pointwise calls may be fused.
struct Fusion<'a> {
    state: &'a GraphState,
    source: Source<'a>,
    options: &'a BindOptions,
    plain: &'a Program,
    /// For each entry of the graph, its value in the program.
    of_entry: &'a FxHashMap<EntryId, ValueId>,
    op: Arc<OpDef>,
}

impl Fusion<'_> {
    /// The best graph with fused calls; `None` if fusion leaves no graph with fewer kernels and an arena that is not
    /// larger.
    fn best(&self) -> Result<Option<GraphState>> {
        let mut layouts: Vec<&Layout> = Vec::new();
        // Calls that depend only on constants are computed once, so they are not fused: as a part of a fused call they
        // would be computed in every run.
        let nodes = self.source.graph.iter().zip(folded_nodes(&self.source));
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
            let (typed, lowered) = self.lower(&found)?;
            let figures = (n_kernels(&lowered.0), planned_arena_bytes(&lowered.0, &self.options.plan)?);
            if figures.0 < limits.0 && figures.1 <= limits.1 {
                self.log(&found, reach, took);
                return Ok(Some(self.state.with_program(training_graph(&self.state.graph, found), typed, lowered)));
            }
            tracing::debug!("fusion ({reach:?}) is not taken: {limits:?} kernels and bytes would become {figures:?}");
        }
        Ok(None)
    }

    /// Logs which calls were fused. The level is info if [`BindOptions::fuse_verbose`] is set.
    fn log(&self, found: &FusedGraph, reach: Reach, took: Duration) {
        let n_sets = found.sets.len();
        let n_calls: usize = found.sets.iter().map(Vec::len).sum();
        if self.options.fuse_verbose {
            tracing::info!("fusion: {n_calls} pointwise calls in {n_sets} fused calls ({reach:?}), {took:?}");
        } else {
            tracing::debug!("fusion: {n_calls} pointwise calls in {n_sets} fused calls ({reach:?}), {took:?}");
        }
    }

    /// The description that an entry has in the program without fusion.
    fn desc(&self, entry: EntryId) -> Option<&TensorDesc> {
        Some(&self.plain.values[*self.of_entry.get(&entry)?].desc)
    }

    /// A number for the layout of all tensors of a call, if the call may be fused; `None` otherwise. A call may be fused if
    /// all its tensors have the same layout and a backend can run it as part of a fused call.
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
        let (dense, is_constant) = (row_major(&outputs), vec![false; inputs.len()]);
        let call = self.call(&params, &inputs, &dense, &is_constant);
        if self.able(&call, device_of(node, self.options)).is_empty() {
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

    /// The backends of a device that have a kernel for the call that is better than the reference kernel.
    fn able(&self, call: &OpCall<'_>, device: Device) -> Vec<Arc<dyn Backend>> {
        let backends = backends_on(self.options, device);
        backends.iter().filter(|backend| has_fast_kernel(&***backend, call)).cloned().collect()
    }

    /// Whether a backend can run a set of calls as one call, with every tensor in its present layout.
    fn accepts(&self, set: &ProposedSet<'_>) -> bool {
        let graph = self.source.graph;
        let descs = |entries: &[Entry]| -> Option<Vec<TensorDesc>> {
            entries.iter().map(|e| self.desc(graph.entry_id(*e)).cloned()).collect()
        };
        let (Some(inputs), Some(outputs)) = (descs(set.inputs), descs(set.outputs)) else { return false };
        let (dense, is_constant) = (row_major(&outputs), vec![false; inputs.len()]);
        let call = self.call(set.params, &inputs, &dense, &is_constant);
        let Some(first) = set.members.first() else { return false };
        let device = device_of(graph.node(*first), self.options);
        let Ok(choice) = choose(&self.able(&call, device), &call) else { return false };
        let keeps = |layouts: &[Layout], descs: &[TensorDesc]| layouts.iter().eq(descs.iter().map(|desc| &desc.layout));
        keeps(&choice.planned.input_layouts, &inputs) && keeps(&choice.planned.output_layouts, &outputs)
    }

    /// Lowers a graph with fused calls. Returns its types and its program.
    fn lower(&self, fused: &FusedGraph) -> Result<(Typed, LoweredGraph)> {
        let moved = |(id, bound): (&NodeId, &Bound)| Some((fused.nodes[id.index()]?, *bound));
        let known = Known {
            shapes: fused.entries.iter().map(|e| self.source.shapes[e.index()].clone()).collect(),
            dtypes: fused.entries.iter().map(|e| self.source.dtypes[e.index()]).collect(),
        };
        let typed = Typed { known, bound: self.source.bound.iter().filter_map(moved).collect() };
        let source = Source {
            graph: &fused.graph,
            n_forward_nodes: fused.n_forward_nodes,
            shapes: &typed.known.shapes,
            dtypes: &typed.known.dtypes,
            bound: &typed.bound,
            ..self.source
        };
        let lowered = lower_with_values(source, self.options)?;
        Ok((typed, lowered))
    }
}

/// The fused graph with the same gradients as `old`.
fn training_graph(old: &TrainingGraph, fused: FusedGraph) -> TrainingGraph {
    let moved = |id: NodeId| fused.nodes[id.index()];
    let wanted = old.wanted.iter().filter_map(|e| Some(Entry::new(moved(e.node)?, e.index))).collect();
    TrainingGraph {
        n_forward_nodes: fused.n_forward_nodes,
        n_forward_heads: old.n_forward_heads,
        wanted,
        head_grads: old.head_grads.iter().map(|id| id.and_then(moved)).collect(),
        graph: fused.graph,
    }
}

/// Copies of the descriptions `descs` in row-major layout: the form in which a call describes its outputs to a backend.
fn row_major(descs: &[TensorDesc]) -> Vec<TensorDesc> {
    descs.iter().map(|desc| desc.with_layout(Layout::RowMajor)).collect()
}

fn n_kernels(program: &Program) -> usize {
    program.steps.iter().filter(|step| !step.is_view()).count()
}
