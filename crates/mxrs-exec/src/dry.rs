//! Planning without binding: what a graph would need, before any array exists.

use crate::bind::{Given, known};
use crate::joined::Joined;
use crate::lower::{Bound, Source, lower};
use crate::machine::Planned;
use crate::options::BindOptions;
use crate::program::{Origin, Program};
use crate::report::{StepReport, step_reports};
use mxrs_graph::memory::{PlanReport, StorageId};
use mxrs_graph::{Graph, MemoryPlan, Placement};
use mxrs_types::{Result, Shape, WriteReq};
use std::sync::Arc;

/// Memory of one tensor of a program, over time and address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTensor {
    /// Step that makes it.
    pub name: String,
    /// First byte in the arena.
    pub offset_bytes: usize,
    /// Bytes.
    pub size_bytes: usize,
    /// First step that uses it.
    pub first: usize,
    /// Last step that uses it.
    pub last: usize,
    /// Whether it is temporary memory of one kernel.
    pub is_scratch: bool,
}

/// What a graph would need.
#[derive(Clone, Debug)]
pub struct PlannedGraph {
    /// Steps in order, without those that pack constants.
    pub steps: Vec<StepReport>,
    /// How many of them are forward.
    pub n_forward: usize,
    /// Steps that compute something again.
    pub n_recomputed: usize,
    /// The planner's figures.
    pub report: PlanReport,
    /// Bytes of the arena.
    pub arena_bytes: usize,
    /// Most bytes of scratch of one step.
    pub workspace_bytes: usize,
    /// Bytes of arguments, auxiliary states, head gradients.
    pub bound_bytes: usize,
    /// Bytes of output and gradient arrays.
    pub output_bytes: usize,
    /// Bytes of packed constants.
    pub packed_bytes: usize,
    /// Everything in the arena.
    pub tensors: Vec<PlannedTensor>,
}

/// Chooses kernels and layouts and plans memory as [`Executor::simple_bind`](crate::Executor::simple_bind) would, for
/// inference or (with [`BindOptions::gradients`]) a training step, and allocates nothing.
///
/// # Errors
/// As `simple_bind`, out of memory excepted.
pub fn plan_graph(
    graph: &Graph,
    inputs: &[(&str, Shape)],
    options: &BindOptions,
    is_train: bool,
) -> Result<PlannedGraph> {
    let known = known(graph, inputs, &[] as &[Given<'_>], options)?;
    let is_input = |name: &str| inputs.iter().any(|(input, _)| *input == name);
    let bound = graph.variables().iter().enumerate().map(|(index, id)| {
        let is_constant = !is_input(&graph.node(*id).name) && !graph.is_label(*id);
        (*id, Bound { index, is_constant })
    });
    let bound = bound.collect();
    let program = if is_train {
        Joined::new(&Arc::new(graph.clone()), &known, &bound, options)?.lower(options)?
    } else {
        let n_heads = graph.heads().len();
        lower(
            Source {
                graph,
                n_forward_nodes: graph.n_nodes(),
                shapes: &known.shapes,
                dtypes: &known.dtypes,
                bound: &bound,
                output_reqs: &vec![WriteReq::Write; n_heads],
                n_forward_heads: n_heads,
                is_train: false,
            },
            options,
        )?
    };
    let planned = Planned::new(program, &options.plan)?;
    Ok(describe(&planned.program, &planned.plan))
}

fn describe(program: &Program, plan: &MemoryPlan) -> PlannedGraph {
    let bytes = |of: fn(Origin) -> bool| {
        program.values.iter().filter(|v| of(v.origin)).map(|v| v.desc.size_bytes()).sum::<usize>()
    };
    let steps: Vec<StepReport> = step_reports(program).into_iter().filter(|s| !s.is_prepare).collect();
    PlannedGraph {
        n_forward: program.n_forward,
        n_recomputed: program.steps.iter().filter(|s| s.is_clone).count(),
        report: plan.report.clone(),
        arena_bytes: plan.arenas.iter().map(|(_, bytes)| bytes).sum(),
        workspace_bytes: program.steps.iter().map(|s| s.scratch_bytes).max().unwrap_or(0),
        bound_bytes: bytes(|o| matches!(o, Origin::Bound(_))),
        output_bytes: bytes(|o| matches!(o, Origin::Output(_))),
        packed_bytes: bytes(|o| o == Origin::Packed),
        tensors: tensors(program, plan),
        steps,
    }
}

/// Storages with the steps they are used in; tensors that share memory in place are one.
fn tensors(program: &Program, plan: &MemoryPlan) -> Vec<PlannedTensor> {
    let mut found: Vec<Option<PlannedTensor>> = vec![None; plan.storages.len()];
    let mut touch = |id: StorageId, step: usize, name: &str, is_scratch: bool| {
        let storage = &plan.storages[id.index()];
        let tensor = found[id.index()].get_or_insert_with(|| PlannedTensor {
            name: name.into(),
            offset_bytes: storage.offset_bytes,
            size_bytes: storage.size_bytes,
            first: step,
            last: step,
            is_scratch,
        });
        tensor.last = step;
    };
    for (index, step) in program.steps.iter().enumerate() {
        for value in step.outputs.iter().chain(&step.inputs) {
            if let Placement::Storage(id) = plan.placements[*value] {
                touch(id, index, &step.name, false);
            }
        }
        if let Some(id) = plan.scratch[index] {
            touch(id, index, &step.name, true);
        }
    }
    found.into_iter().flatten().collect()
}
